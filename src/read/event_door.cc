#include "read/event_door.h"

#include <tuple>
#include <type_traits>
#include <utility>

#include "base/text.h"
#include "core/event_fields.h"

namespace mw {
namespace {

constexpr size_t kLeastSecret = 8;  // bytes of a text that may hold one
constexpr size_t kNameBytes = 16;   // bytes of a figure's name, likewise: names are many, and short

template <typename Body>
constexpr bool kByPath = std::is_same_v<Body, event::SourceOpened> || std::is_same_v<Body, event::ReadAs> ||
                         std::is_same_v<Body, event::Recognised>;

}  // namespace

void EventDoor::clean(std::string& text) const {
  if (text.size() < kLeastSecret) return;
  text = redact_secrets(text);
  if (known_ != nullptr && !known_->empty()) text = known_->hide(text);
}

void EventDoor::clean_name(Reading& reading) {
  if (reading.raw().size() < kNameBytes || harmless_.contains(reading.name())) return;
  std::string name = reading.raw();
  clean(name);
  if (name != reading.raw()) return reading.rename(std::move(name));
  // A name that nobody else holds will not come again.
  if (harmless_.size() < kNamesLimit && reading.name().use_count() > 1) harmless_.insert(reading.name());
}

void EventDoor::pass(Event& event) {
  std::visit(
      [this](auto& body) {
        using Body = std::decay_t<decltype(body)>;
        if constexpr (std::is_same_v<Body, event::Measured>) {
          for (Reading& reading : body.readings) clean_name(reading);
        } else if constexpr (std::is_same_v<Body, event::Configured>) {
          clean(body.key);
          body.value = redacted_setting(body.key, body.value);
          clean(body.value);
        } else if constexpr (std::is_same_v<Body, event::Changed>) {
          body.before = redacted_setting(body.name, body.before);
          body.after = redacted_setting(body.name, body.after);
          clean(body.before);
          clean(body.after);
        } else if constexpr (std::is_same_v<Body, event::Intended>) {
          clean(body.why);
        } else if constexpr (!kByPath<Body>) {
          std::apply(
              [this, &body](const auto&... field) {
                const auto each = [this](auto& value) {
                  if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::string>) clean(value);
                };
                (each(body.*(field.member)), ...);
              },
              EventTable<Body>::table);
        }
      },
      event.body);
}

}  // namespace mw
