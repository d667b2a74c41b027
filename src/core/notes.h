// What people wrote down about a run: notes, lessons for later runs, tags.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/state.h"

namespace mw {

/// Kinds of a note, as RunAsk::kind and PersonsNote::kind have them; "" is a plain note. In the journal a note of a
/// kind is two events of one moment and one person: `requested` with the kind, and `note` with the text.
inline constexpr std::string_view kLesson = "lesson", kTag = "tag", kUntag = "untag";

struct PersonsNote {
  Moment moment;
  std::string who, text;
  std::string kind;  ///< "", kLesson, kTag, kUntag
};

/// In the order of the journal, with what people tagged.
std::vector<PersonsNote> notes_of(const State& state);

/// The tags that stand: given, and not taken away since. In the order in which they were given.
std::vector<std::string> tags_of(const State& state);

/// May a run have that tag? Letters, digits and "-_.:/+" of any script, at most kTagBytes: what can be typed behind
/// --tag.
inline constexpr size_t kTagBytes = 64;
bool is_tag(std::string_view text);

}  // namespace mw
