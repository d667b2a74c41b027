#include "core/changes.h"

#include <algorithm>

#include "base/text.h"

namespace mw {
namespace {

constexpr size_t kSideBytes = 120;  // of a value

/// The first line, and how many there are besides.
std::string side(const std::string& text, std::string_view otherwise) {
  if (text.empty()) return std::string(otherwise);
  const size_t end = text.find('\n');
  const size_t more = count_lines(text);
  return cat(clip(trim(text.substr(0, end)), kSideBytes),
             more == 0 ? "" : cat(" (and ", more, more == 1 ? " more line)" : " more lines)"));
}

}  // namespace

std::string change_text(const event::Changed& change) {
  if (change.what == "nothing") return "nothing that midwatch compares";
  if (change.what == "more") return change.after;
  const bool variable = change.what == "environment";
  return cat(change.what, " ", change.name, ": ", side(change.before, variable ? "not set" : "not there"), " → ",
             side(change.after, variable ? "not set" : "not there"));
}

void put_change(JsonWriter& json, const event::Changed& change) {
  json.begin_object().key("attempt").integer(change.attempt).key("what").string(change.what);
  json.key("name").string(change.name).key("before").string(change.before).key("after").string(change.after);
  json.end_object();
}

std::vector<const event::Changed*> last_changes(const State& state) {
  std::vector<const event::Changed*> out;
  for (const event::Changed& change : state.changes) {
    if (change.attempt == state.changes.back().attempt && change.what != "nothing") out.push_back(&change);
  }
  return out;
}

}  // namespace mw
