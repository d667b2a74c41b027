// A block of status lines that stays below what a command writes to the same terminal.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ui/live/output_cursor.h"

namespace mw {

struct ScreenSize {
  size_t rows = 24, columns = 80;
  bool operator==(const ScreenSize&) const = default;
};

/// Makes the bytes for the terminal; writes nothing itself. Between two calls the cursor rests where the output goes
/// on, and the block lies in the rows below. So the output comes through byte for byte, whatever it draws; a resized
/// terminal keeps the place; and whoever kills midwatch finds a cursor that is where it should be.
class LiveScreen {
 public:
  /// What to write for `bytes` of the command.
  std::string output(std::string_view bytes, ScreenSize size);
  /// For whole lines of midwatch's own; they begin on a row of their own.
  std::string say(std::string_view lines, ScreenSize size);
  /// The block is `lines` from now on, each narrower than the terminal; none: no block. "" where it stands so already.
  std::string show(const std::vector<std::string>& lines, ScreenSize size);
  /// Takes the block away and leaves the cursor at the beginning of a row.
  std::string close();
  /// What takes the block away and nothing else, for whoever must do that at any moment; "" while there is none.
  std::string erasure() const;
  /// Somebody else took it away.
  void was_erased() { drawn_ = false; }

 private:
  std::string drawing(ScreenSize size);
  std::string erasing();

  OutputCursor cursor_;
  std::vector<std::string> lines_;
  ScreenSize size_;
  bool drawn_ = false;
  bool wrap_ = false;  // the block was drawn while the row above was full
};

}  // namespace mw
