// Logs that were copied from a terminal (tmux capture-pane, screen -L, a mouse), which broke each line at its last
// column: the pieces are put together again.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace mw {

/// How a terminal broke the lines of a text.
struct TerminalWrap {
  size_t width = 0;                           ///< its columns
  bool lost_blanks = false;                   ///< a blank in the last column is gone, as at the end of any line
  std::set<std::string, std::less<>> begins;  ///< the bytes that several whole lines begin with
};

/// What the beginning of a text shows of it: that no line is longer than one width, that most long ones have just that,
/// that what follows those begins in many ways, neither like them nor like other lines, as pieces of lines do and
/// records of one width do not, and that some lines have three pieces. nullopt where it does not show all of that.
std::optional<TerminalWrap> find_terminal_wrap(std::string_view head);

/// Puts the lines of a text together that a terminal broke.
class UnwrapTerminal {
 public:
  explicit UnwrapTerminal(TerminalWrap wrap) : wrap_(std::move(wrap)) {}

  /// The whole lines of `bytes`, which begins with the line `number` of its file, and of what was held back before; the
  /// last of them is held back while it may go on. Of each line of the result numbers() has that of its first piece.
  std::string join(std::string_view bytes, uint64_t number);
  /// What is still held back.
  std::string rest();
  const std::vector<uint64_t>& numbers() const { return numbers_; }

 private:
  static constexpr size_t kLongest = size_t{256} << 10;  // bytes of one line
  void end_line(std::string& out);

  TerminalWrap wrap_;
  std::string held_;
  uint64_t held_number_ = 0;
  bool holds_ = false, lacks_blank_ = false;
  std::vector<uint64_t> numbers_;
  std::string scratch_;
};

}  // namespace mw
