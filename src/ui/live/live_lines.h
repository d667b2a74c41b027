// How a run that is being watched stands, in one to three lines.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/requests.h"
#include "ui/cli/verb.h"

namespace mw {

/// Lines of at most `cells` cells: what is watched and how far it is, its reward and newest checkpoint, then what is
/// wrong and what is not seen. What matters least is left out where the terminal is narrow. `watched` is what a person
/// calls the run. Text of the run is escaped; colours as the console wants them.
std::vector<std::string> live_lines(const State& state, const LiveFacts& facts, std::string_view watched, size_t cells,
                                    const Console& console);

/// The newest checkpoint of the run that is whole; where no files were looked at, the newest that was saved.
struct NewestCheckpoint {
  bool seen = false;       ///< there is one
  int64_t step = kNoStep;  ///< where the log or the disk says it
  bool whole = false;      ///< its files were looked at and are whole; else only the log says that it was saved
};
NewestCheckpoint newest_checkpoint(const State& state);

}  // namespace mw
