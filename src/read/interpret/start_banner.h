// A program that names its environment when it starts (versions, devices), and whose log has the same lines again
// behind work that it had only announced: the start before ended without a word. A log file that is opened for
// appending holds all starts and none of the errors that went to the console.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "read/interpret/first_lines.h"

namespace mw {

class StartBanner {
 public:
  static constexpr size_t kLines = 8;         ///< of the banner that are compared; numbers in them do not count
  static constexpr size_t kNamed = 3;         ///< of them that name a part of the environment with its version
  static constexpr double kApart = 20;        ///< s; the processes of one start print theirs sooner
  static constexpr uint64_t kReach = 20'000;  ///< lines of a log in which it is looked for

  /// The place where the banner begins again, where `text` is the last line of it and what stood before it was under
  /// way.
  std::optional<FirstLines::Place> read(std::string_view text, uint64_t number, Time at);
  bool reads() const { return usable_; }

 private:
  bool collect(uint64_t hash, std::string_view text, Time at);

  std::vector<uint64_t> lines_;  // hashes
  size_t named_ = 0;
  size_t same_ = 0;  // of the last lines that were read, so many are those of the banner
  bool usable_ = true;
  bool under_way_ = false;  // what the line before says: work that it announces
  bool left_open_ = false;  // what the line before the banner that may be coming again said
  Time last_begin_;
  FirstLines::Place begin_;
};

/// Does the line announce work that is yet to be done: "Loading model: tiny", "[2/5] Building the index..."?
bool announces_work(std::string_view text);

}  // namespace mw
