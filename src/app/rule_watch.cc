#include "app/rule_watch.h"

#include <algorithm>

#include "base/text.h"
#include "base/units.h"
#include "core/user_rule.h"

namespace mw {
namespace {

constexpr size_t kNamesShown = 3;
constexpr std::string_view kMidwatch = "midwatch";

/// "; the closest are a, b", or "".
std::string closest(std::string_view name, const std::vector<std::string>& names) {
  std::vector<std::string_view> known(names.begin(), names.end());
  std::string text;
  for (size_t i = 0; i < kNamesShown; ++i) {
    const std::string_view near = nearest(name, known);
    if (near.empty()) break;
    text += cat(text.empty() ? "; the closest are " : ", ", near);
    known.erase(std::find(known.begin(), known.end(), near));
  }
  return text;
}

}  // namespace

std::vector<std::string> idle_rules(const State& state, const Knowledge& knowledge, int64_t steps) {
  std::vector<std::string> idle;
  if (knowledge.rules.empty() || state.steps().count < steps) return idle;
  for (const UserRule& rule : knowledge.rules) {
    if (figures_of(state, rule).seen()) continue;
    idle.push_back(cat("rule ", rule.name, " does nothing so far: nothing called ", rule.signal, " was seen",
                       closest(rule.signal, figure_names(state))));
  }
  return idle;
}

std::optional<Duration> RuleWatch::turn(const State& state, bool quiet, EventWriter& writer) {
  constexpr Duration kForEver = Duration::seconds(3600);
  if (reported_ || knowledge_.rules.empty()) return kForEver;
  const Duration now = clock_.steady();
  if (!quiet || now.ns < due_.ns) return kPeriod;
  due_ = {now.ns + kPeriod.ns};
  report(state, writer);
  return reported_ ? kForEver : kPeriod;
}

void RuleWatch::report(const State& state, EventWriter& writer) {
  if (reported_ || knowledge_.rules.empty() || state.steps().count < kSteps) return;
  reported_ = true;
  for (const std::string& text : idle_rules(state, knowledge_, kSteps)) {
    // The names that are close may have changed since another midwatch reported it.
    const std::string head = text.substr(0, text.find(" does nothing so far"));
    const bool known = std::any_of(state.notes.begin(), state.notes.end(), [&head](const auto& note) {
      return note.second.who == kMidwatch && note.second.text.starts_with(head);
    });
    if (known) continue;
    if (say_) say_(text);
    reported_ = writer.note({std::string(kMidwatch), text}, clock_.now()).ok() && reported_;
  }
}

}  // namespace mw
