#include "ui/live/output_cursor.h"

#include <algorithm>

#include "ui/view/layout.h"

namespace mw {
namespace {

constexpr size_t kTab = 8;
constexpr size_t kMostNumber = 10'000;  // of an escape sequence; no screen is larger
constexpr size_t kAlternate = 1049, kAlternateOld = 47, kAlternateToo = 1047;

/// Cells of one character, by its number.
size_t cells(uint32_t point) {
  if (point < 0x300) return 1;
  char bytes[4] = {};
  size_t size = 0;
  if (point < 0x800) {
    bytes[size++] = static_cast<char>(0xc0 | (point >> 6));
  } else if (point < 0x10000) {
    bytes[size++] = static_cast<char>(0xe0 | (point >> 12));
    bytes[size++] = static_cast<char>(0x80 | ((point >> 6) & 0x3f));
  } else {
    bytes[size++] = static_cast<char>(0xf0 | (point >> 18));
    bytes[size++] = static_cast<char>(0x80 | ((point >> 12) & 0x3f));
    bytes[size++] = static_cast<char>(0x80 | ((point >> 6) & 0x3f));
  }
  bytes[size++] = static_cast<char>(0x80 | (point & 0x3f));
  return cells_of({bytes, size});
}

}  // namespace

void OutputCursor::begin_row() {
  column_ = below_ = 0;
  fresh_ = true;
  edge_ = false;
}

void OutputCursor::feed(std::string_view bytes, size_t columns, size_t rows) {
  for (const char character : bytes) {
    const auto byte = static_cast<unsigned char>(character);
    const bool cancelled = byte == 0x18 || byte == 0x1a;
    switch (state_) {
      case State::kGround:
        ground(byte, columns, rows);
        break;
      case State::kEscape:
        escape(byte);
        break;
      case State::kIntermediate:
        if (byte >= 0x30 || cancelled) state_ = State::kGround;
        break;
      case State::kSequence:
        if (cancelled) {
          state_ = State::kGround;
        } else if (byte == 0x1b) {
          state_ = State::kEscape;
        } else if (byte >= '<' && byte <= '?') {
          private_ = true;
        } else if (byte >= '0' && byte <= '9') {
          if (in_first_) first_ = std::min(kMostNumber, first_ * 10 + (byte - '0'));
        } else if (byte == ';' || byte == ':') {
          in_first_ = false;
        } else if (byte >= 0x40) {
          state_ = State::kGround;
          sequence(character, rows);
        } else if (byte < 0x20) {
          ground(byte, columns, rows);  // controls work within a sequence, too
        }
        break;
      case State::kString:
        if (byte == 0x07 || cancelled) state_ = State::kGround;
        if (byte == 0x1b) state_ = State::kStringEscape;
        break;
      case State::kStringEscape:
        state_ = byte == '\\' ? State::kGround : State::kString;
        break;
    }
  }
}

void OutputCursor::ground(unsigned char byte, size_t columns, size_t rows) {
  if (byte >= 0x80) {
    if ((byte & 0xc0) == 0x80) {
      if (utf8_left_ == 0) return;
      point_ = (point_ << 6) | (byte & 0x3fU);
      if (--utf8_left_ == 0) printed(cells(point_), columns);
      return;
    }
    if (byte >= 0xf8) return printed(1, columns);  // no UTF-8
    utf8_left_ = byte >= 0xf0 ? 3 : byte >= 0xe0 ? 2 : 1;
    point_ = byte & (0x3fU >> utf8_left_);
    return;
  }
  utf8_left_ = 0;
  if (byte >= 0x20) {
    if (byte != 0x7f) printed(1, columns);
    return;
  }
  switch (byte) {
    case '\r':
      column_ = 0;
      edge_ = false;
      break;
    case '\n':  // the terminal's driver adds the carriage return
      column_ = 0;
      [[fallthrough]];
    case '\v':
    case '\f':
      line_feed();
      break;
    case '\b':
      column_ -= column_ > 0 ? 1 : 0;
      edge_ = false;
      break;
    case '\t':
      column_ = std::min((column_ / kTab + 1) * kTab, std::max<size_t>(columns, 1) - 1);
      fresh_ = false;
      break;
    case 0x1b:
      state_ = State::kEscape;
      break;
    default:
      break;
  }
  lost_rows_ = std::min(lost_rows_, rows);
}

void OutputCursor::line_feed() {
  fresh_ = below_ == 0 && column_ == 0;  // else a row that was written before
  if (below_ > 0) --below_;
  edge_ = false;
  if (lost_rows_ > 0) --lost_rows_;
}

void OutputCursor::printed(size_t cells, size_t columns) {
  fresh_ = false;
  if (columns == 0 || cells == 0) return;
  if (column_ + cells > columns) {
    line_feed();
    fresh_ = false;
    column_ = 0;
  }
  column_ += cells;
  edge_ = column_ >= columns;
}

void OutputCursor::escape(unsigned char byte) {
  state_ = State::kGround;
  if (byte == '[') {
    state_ = State::kSequence;
    first_ = 0;
    private_ = false;
    in_first_ = true;
  } else if (byte == ']' || byte == 'P' || byte == 'X' || byte == '^' || byte == '_') {
    state_ = State::kString;
  } else if (byte >= 0x20 && byte < 0x30) {
    state_ = State::kIntermediate;
  } else if (byte == 'D' || byte == 'E') {
    if (byte == 'E') column_ = 0;
    line_feed();
  } else if (byte == 'M') {
    ++below_;
    fresh_ = false;
  } else if (byte == '7' || byte == '8') {
    own_screen_ = true;
  } else if (byte == 'c') {
    begin_row();
  } else if (byte == 0x1b) {
    state_ = State::kEscape;
  }
}

void OutputCursor::sequence(char last, size_t rows) {
  if (private_) {
    if (last == 'h' && (first_ == kAlternate || first_ == kAlternateOld || first_ == kAlternateToo)) own_screen_ = true;
    return;
  }
  edge_ = edge_ && last == 'm';
  switch (last) {
    case 'A':
    case 'F':
      below_ += number();
      fresh_ = false;
      break;
    case 'B':
    case 'E':
      below_ -= std::min(below_, number());
      fresh_ = false;
      break;
    case 'C':
      column_ += number();
      break;
    case 'D':
      column_ -= std::min(column_, number());
      break;
    case 'G':
    case '`':
      column_ = number() - 1;
      break;
    case 'J':
      if (first_ != 1) {  // what was below is erased
        below_ = 0;
        lost_rows_ = 0;
      }
      break;
    case 'H':
    case 'f':
    case 'd':
      lost_rows_ = std::max<size_t>(rows, 1);
      column_ = below_ = 0;
      fresh_ = false;
      break;
    case 'r':
    case 's':
    case 'u':
      own_screen_ = true;
      break;
    default:
      break;
  }
  if (last == 'E' || last == 'F') column_ = 0;
}

}  // namespace mw
