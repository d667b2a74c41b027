// What the keeper is told to start: a file in its folder, so that its own command line names nothing of the run.
// Frameworks' clean-up scripts kill processes by the words in their command lines ("sglang", "ray", "python").
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace mw {

struct Launch {
  int64_t attempt = 0;  ///< its number, for the lines that the keeper puts around its output; 0: no such lines
  std::vector<std::string> command;                ///< program and arguments, as execvp takes them
  std::string folder;                              ///< working directory of the command
  std::map<std::string, std::string> environment;  ///< set for the command, on top of what the keeper inherited
  std::string output;                              ///< file that gets its stdout and stderr, appended
  uint64_t rotate_bytes = 256ULL << 20;  ///< beyond it the file becomes OUTPUT.1 (.2, …) and a new one begins
};

/// Names within a keeper's folder.
inline constexpr std::string_view kLaunchFile = "launch.json";
inline constexpr std::string_view kRecordFolder = "record";  ///< a journal of what the keeper did and saw
inline constexpr std::string_view kReasonFile = "reason";    ///< midwatch ends the command: one of the phrases below
inline constexpr std::string_view kPipeFile = "pipe";        ///< the command's stdout and stderr, while it runs

/// Why midwatch ends a command. It stands in the last line of the attempt's output in place of the exit status, which
/// would only say that it was killed.
inline constexpr std::string_view kByBreaker = "by midwatch's circuit breaker";
inline constexpr std::string_view kAsTold = "as midwatch was told to stop";

/// The lines that a keeper puts before and behind an attempt's output, which knowledge/dialects/midwatch.toml reads.
std::string began_line(int64_t attempt, Time at, int64_t pid);
/// `outcome`: "exit status 1", "exit status -9, ended by signal 9", "how is not known", …
std::string ended_line(int64_t attempt, Time at, std::string_view outcome);

std::string launch_text(const Launch& launch);
/// kInvalid with the key that is wrong.
Result<Launch> parse_launch(std::string_view text);

}  // namespace mw
