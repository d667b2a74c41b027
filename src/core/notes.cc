#include "core/notes.h"

#include <algorithm>
#include <cctype>

namespace mw {
namespace {

std::string kind_of(const State& state, const Moment& moment, const std::string& who) {
  for (const Supervision::Request& request : state.supervision.requests) {
    if (request.at != moment.at || request.who != who) continue;
    if (request.what == kLesson || request.what == kTag || request.what == kUntag) return request.what;
  }
  return "";
}

}  // namespace

std::vector<PersonsNote> notes_of(const State& state) {
  std::vector<PersonsNote> notes;
  for (const auto& [moment, note] : state.notes)
    notes.push_back({moment, note.who, note.text, kind_of(state, moment, note.who)});
  return notes;
}

std::vector<std::string> tags_of(const State& state) {
  std::vector<std::string> tags;
  for (const PersonsNote& note : notes_of(state)) {
    if (note.kind != kTag && note.kind != kUntag) continue;
    std::erase(tags, note.text);
    if (note.kind == kTag) tags.push_back(note.text);
  }
  return tags;
}

bool is_tag(std::string_view text) {
  constexpr unsigned char kAscii = 0x80;
  return !text.empty() && text.size() <= kTagBytes && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return c >= kAscii || std::isalnum(c) != 0 ||
           std::string_view("-_.:/+").find(static_cast<char>(c)) != std::string_view::npos;
  });
}

}  // namespace mw
