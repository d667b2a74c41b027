// Several starts of a program in one log (">>", one file name for all jobs) begin with the same lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace mw {

/// Keeps what the first lines of a log say, and finds where they come again behind the failure of a program. Numbers in
/// them do not count. What any script prints of its machine (a date, the table of nvidia-smi) is no word of a program.
class FirstLines {
 public:
  static constexpr size_t kLines = 3;   ///< fewer may come again by chance
  static constexpr size_t kLeast = 2;   ///< where a traceback follows at once
  static constexpr size_t kReach = 40;  ///< lines from a failure: its echoes, and what a launcher says of it

  static constexpr uint64_t kStart = 2000;  ///< lines within which a program begins its work

  struct Place {
    uint64_t number = 0;
    Time at;
  };
  /// The place of the first of them where `text`, a line of no traceback, is the last one of those that come again.
  std::optional<Place> read(std::string_view text, uint64_t number, Time at);
  /// A program may have ended there.
  void failed();
  /// A traceback or a record begins: what comes now are no first lines, and nothing has ended.
  void went_on();
  /// Does it want the lines that come, whatever they hold?
  bool reads() const { return usable_ && (collects_ || left_ > 0); }

 private:
  std::vector<uint64_t> first_;  // hashes
  bool collects_ = true;
  bool usable_ = true;  // they do not come again of themselves, as where many processes print them
  size_t same_ = 0;     // of the last lines that were read, so many are the first ones
  size_t left_ = 0;     // lines in which they may come again
  Place begin_;
};

}  // namespace mw
