// Runs a program to its end, within a time, with something on its standard input.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace mw {

struct ProgramRequest {
  std::vector<std::string> command;                ///< looked up in PATH
  std::string folder;                              ///< its working directory; "": this process's
  std::map<std::string, std::string> environment;  ///< on top of this process's
  std::string input;  ///< a file on its standard input, so that /dev/stdin may be opened more than once
  Duration limit = Duration::seconds(60);  ///< then it is asked to end (SIGTERM), it and all of its process group
  Duration grace = Duration::seconds(5);   ///< then it is killed
  size_t output_limit = size_t{1} << 20;   ///< bytes of stdout and stderr that are kept, the first ones
};

struct ProgramEnd {
  int code = -1;      ///< exit status; -1: a signal ended it
  int signal = 0;     ///< that signal
  bool late = false;  ///< it did not end within its time
  std::string output;
  uint64_t dropped = 0;  ///< bytes of output beyond the limit
};

/// Blocks until it has ended. It has a session of its own, so that a Ctrl-C at this process's terminal does not reach
/// it, and what it leaves behind in its process group is ended with it. Error: it could not be started.
Result<ProgramEnd> run_program(const ProgramRequest& request);

}  // namespace mw
