// What a command's output does to the cursor of a terminal, as far as something drawn below that output must know.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace mw {

/// Follows the output byte by byte, in pieces of any size. It is no terminal: rows are counted only below the highest
/// one that the command goes back to, and what it cannot follow it says.
class OutputCursor {
 public:
  /// `columns` and `rows` are the terminal's size now.
  void feed(std::string_view bytes, size_t columns, size_t rows);
  /// No character and no escape sequence is unfinished: something else may be written here.
  bool between() const { return state_ == State::kGround && utf8_left_ == 0; }
  /// The cursor is at the beginning of a row that nothing was written to.
  bool fresh() const { return fresh_; }
  /// The row is full: the terminal goes on in the next one as soon as another character comes.
  bool at_edge() const { return edge_; }
  /// Rows of the output below the cursor, where the command went up to change what it wrote (nested progress bars).
  size_t below() const { return below_; }
  /// The command places its text on the screen by itself, so nothing can be drawn beside it: for good where it saves
  /// positions, sets a scroll region or takes the alternate screen; else until that has scrolled away.
  bool draws_screen() const { return own_screen_ || lost_rows_ > 0; }
  /// Somebody else ended the row: what comes next begins a fresh one, with nothing below.
  void begin_row();

 private:
  enum class State : uint8_t { kGround, kEscape, kIntermediate, kSequence, kString, kStringEscape };
  void ground(unsigned char byte, size_t columns, size_t rows);
  void escape(unsigned char byte);
  void sequence(char last, size_t rows);
  void printed(size_t cells, size_t columns);
  void line_feed();
  size_t number() const { return first_ == 0 ? 1 : first_; }

  State state_ = State::kGround;
  size_t utf8_left_ = 0;
  uint32_t point_ = 0;
  size_t column_ = 0, below_ = 0, first_ = 0, lost_rows_ = 0;
  bool fresh_ = true, edge_ = false, own_screen_ = false;
  bool private_ = false, in_first_ = true;
};

}  // namespace mw
