// Exit codes of the program.
#pragma once

namespace mw {

/// Exit codes of every verb; the table in README.md.
enum class Exit : int {
  kOk = 0,         ///< done
  kFailed = 1,     ///< an operating error that has no code of its own
  kUsage = 2,      ///< the command line is wrong
  kNoInput = 3,    ///< a path is missing, unreadable or empty
  kUnknown = 4,    ///< nothing in the input is a log or metric file that midwatch knows how to read
  kPartial = 5,    ///< results are partial: part of the input could not be read (the output says which)
  kDiskFull = 6,   ///< the output or the journal could not be written
  kUndone = 7,     ///< nothing was done: somebody must say yes first
  kActed = 8,      ///< midwatch fleet did something
  kPerson = 9,     ///< midwatch fleet waits for a person
  kIncident = 10,  ///< an incident of --fail-on was found, a checkpoint is not whole, preflight found an error
  kTaken = 11,     ///< midwatch onstart: a run lives in that folder of checkpoints, and nothing was begun
};

}  // namespace mw
