// What the keeper is to start: a file in its folder, so that its own command line names nothing of the run.
// Frameworks' clean-up scripts kill processes by the words in their command lines ("sglang", "ray", "python").
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "platform/disk.h"

namespace mw {

struct Launch {
  int64_t attempt = 0;  ///< its number, for the lines that the keeper puts around its output; 0: no such lines
  std::vector<std::string> command;                ///< program and arguments, as execvp takes them
  std::string folder;                              ///< working directory of the command
  std::map<std::string, std::string> environment;  ///< set for the command, on top of what the keeper inherited
  std::string input;                               ///< file that is its stdin, from its beginning; "": it has none
  std::string output;                              ///< file that gets its stdout and stderr, appended
  uint64_t rotate_bytes = 256ULL << 20;  ///< beyond it the file becomes OUTPUT.1 (.2, …) and a new one begins
  std::string marker;  ///< in the environment of all that comes from the command (kMarkerVariable); "": none
  std::string nonce;   ///< in the keeper's own lines, and required in files that steer it; "": neither
};

/// Names within a keeper's folder.
inline constexpr std::string_view kLaunchFile = "launch.json";
inline constexpr std::string_view kRecordFolder = "record";     ///< a journal of what the keeper did and saw
inline constexpr std::string_view kSpareFile = "record.spare";  ///< holds the last records where the disk was full
inline constexpr std::string_view kReasonFile = "reason";       ///< why midwatch ends the command: a phrase below
inline constexpr std::string_view kHeldBackFile = "held-back";  ///< the command is forked and has not begun
inline constexpr std::string_view kWentFile = "went";  ///< held-back is renamed to it just before the command begins
inline constexpr std::string_view kPipeFile = "pipe";  ///< the command's stdout and stderr, while it runs

/// Why midwatch ends a command. The last line of the attempt's output states it in place of the exit status, which
/// would report only that the command was killed.
inline constexpr std::string_view kByBreaker = "by midwatch's circuit breaker";
inline constexpr std::string_view kByRequest = "as midwatch was told to stop";

/// What the reason file holds.
std::string reason_text(std::string_view phrase, std::string_view nonce);

/// The lines that a keeper puts before and behind an attempt's output, which knowledge/dialects/midwatch.toml reads.
/// With the run's nonce, if there is one, so that what the command prints is not taken for them.
std::string began_line(int64_t attempt, Time at, int64_t pid, std::string_view nonce);
/// `outcome`: "exit status 1", "exit status -9, ended by signal 9", "how is not known", …
std::string ended_line(int64_t attempt, Time at, std::string_view outcome, std::string_view nonce);
/// How began_line() of `attempt` begins.
std::string began_words(int64_t attempt);

std::string launch_text(const Launch& launch);
/// The launch file of a keeper's folder; unset where there is none, or where midwatch did not write the file and no
/// keeper has begun there.
Result<std::optional<Launch>> launch_in(Disk& disk, const std::string& keeper_folder);
/// kInvalid with the key that is wrong.
Result<Launch> parse_launch(std::string_view text);

}  // namespace mw
