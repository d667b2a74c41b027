// What is wrong with a framework's pointer to its newest checkpoint, in the words of event::PointerSeen::what: one
// place for those who write them and those who go by them.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/text.h"
#include "core/event.h"

namespace mw {

inline constexpr std::string_view kPointerMissing = "it is missing";

/// It names a whole checkpoint, and further saves did not move it.
inline std::string pointer_behind(int64_t names, int64_t newest) {
  return cat("it still names step ", names, ", though step ", newest, " is whole");
}

inline bool is_missing(const event::PointerSeen& seen) { return seen.what == kPointerMissing; }
inline bool is_behind(const event::PointerSeen& seen) { return seen.what == pointer_behind(seen.step, seen.whole); }
inline bool is_removed(const event::PointerSeen& seen) {
  return seen.step != kNoStep && seen.what.ends_with("which is not there");
}

}  // namespace mw
