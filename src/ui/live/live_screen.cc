#include "ui/live/live_screen.h"

#include <algorithm>

#include "base/text.h"

namespace mw {
namespace {

constexpr size_t kLeastRows = 6, kLeastColumns = 20;  // a smaller terminal shows the output alone
constexpr std::string_view kSave =
                               "\x1b"
                               "7",
                           kRestore =
                               "\x1b"
                               "8";  // with colours
constexpr std::string_view kIndex =
    "\x1b"
    "D";  // a row down in the same column; the last row makes the screen scroll
constexpr std::string_view kPlain = "\x1b[0m", kEraseRight = "\x1b[K", kEraseBelow = "\x1b[J";

std::string up(size_t rows) { return rows == 0 ? "" : cat("\x1b[", rows, "A"); }
std::string down(size_t rows) { return rows == 0 ? "" : cat("\x1b[", rows, "B"); }

/// Makes sure that so many rows are below the cursor, which stays where it is.
std::string room(size_t rows) {
  std::string out;
  for (size_t i = 0; i < rows; ++i) out += kIndex;
  return out + up(rows);
}

}  // namespace

std::string LiveScreen::erasure() const {
  if (!drawn_) return "";
  const size_t below = cursor_.below();
  return cat(room(below + 1), kSave, down(below + 1), "\r", kPlain, kEraseBelow, kRestore);
}

std::string LiveScreen::erasing() {
  std::string out = erasure();
  drawn_ = false;
  return out;
}

std::string LiveScreen::drawing(ScreenSize size) {
  if (lines_.empty() || size.rows < kLeastRows || size.columns < kLeastColumns || !cursor_.between() ||
      cursor_.draws_screen())
    return erasing();
  const size_t below = cursor_.below(), count = std::min(lines_.size(), size.rows / 3);
  std::string out = cat(room(below + count), kSave, kPlain, down(below));
  for (size_t i = 0; i < count; ++i) out += cat("\r\n", lines_[i], kPlain, kEraseRight);
  out += cat(kEraseBelow, kRestore);
  drawn_ = true;
  wrap_ = cursor_.at_edge();
  size_ = size;
  return out;
}

std::string LiveScreen::output(std::string_view bytes, ScreenSize size) {
  if (bytes.empty()) return "";
  std::string out = erasing();
  // A row that was full when the block was drawn: terminals forget that as the cursor moves. A control character would
  // not have gone to the next row.
  const auto first = static_cast<unsigned char>(bytes.front());
  if (!out.empty() && wrap_ && first >= 0x20 && first != 0x7f) out += "\r\n";
  cursor_.feed(bytes, size.columns, size.rows);
  return cat(out, bytes, drawing(size));
}

std::string LiveScreen::say(std::string_view lines, ScreenSize size) {
  if (lines.empty()) return "";
  if (!cursor_.between()) return std::string(lines);
  std::string out = erasing();
  if (!cursor_.fresh()) out += cat(down(cursor_.below()), "\r\n");
  cursor_.begin_row();
  cursor_.feed(lines, size.columns, size.rows);
  return cat(out, lines, drawing(size));
}

std::string LiveScreen::show(const std::vector<std::string>& lines, ScreenSize size) {
  if (drawn_ && lines == lines_ && size == size_) return "";
  lines_ = lines;
  return drawing(size);
}

std::string LiveScreen::close() {
  std::string out = erasing();
  lines_.clear();
  if (!cursor_.between() || cursor_.draws_screen()) return out;
  if (!cursor_.fresh()) out += cat(down(cursor_.below()), "\r\n");
  cursor_.begin_row();
  return out;
}

}  // namespace mw
