// The attempts of a run as a table: why each began, how far it came, what ended it, what was lost.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/state.h"

namespace mw {

/// How an attempt ended where nothing else is known of its end, and where it ran to its own.
inline constexpr std::string_view kNoEndSeen = "no end was seen", kEndComplete = "complete";

struct AttemptRow {
  size_t number = 0;                           ///< from 1
  std::string why;                             ///< it began, in the words of its log; "" where they say nothing
  Time began, last;                            ///< unknown where its lines have no clock
  double seconds = 0;                          ///< that it lasted, by whatever shows it; 0: nothing does
  int64_t first = kNoStep, reached = kNoStep;  ///< steps that were really done
  int64_t resumed_at = kNoStep;
  std::string end;   ///< "exit 1: HTTP 502 from the judge", "goes on", "no end was seen"
  std::string lost;  ///< "4 steps, 7h 30m": done, and not in what the next attempt resumed from; "" when nothing
};

std::vector<AttemptRow> attempt_rows(const State& state);

/// The step from which an attempt's own work counts: that of the checkpoint it resumed from; else the one before its
/// first, which is none where it began at the beginning (many trainers report every tenth step only).
int64_t begun_from(const State& state, size_t attempt);

/// How long it lasted; "" where that is not known.
std::string lasted(const AttemptRow& row);

/// "1 to 12", "none".
std::string steps_done(const AttemptRow& row);

}  // namespace mw
