#include "read/files/utf16_text.h"

#include <algorithm>
#include <utility>

#include "base/byte_set.h"
#include "base/text.h"
#include "base/utf8.h"

namespace mw {
namespace {

constexpr size_t kPiece = size_t{64} << 10;  // plain bytes handed over at once
constexpr size_t kHeadBytes = 4096;          // bytes of a head
constexpr uint32_t kReplacement = 0xfffd;

bool is_text_byte(unsigned char c) {
  return (c >= 0x20 && c < 0x7f) || c == '\n' || c == '\r' || c == '\t' || c == 0x1b;
}

uint16_t unit_of(unsigned char first, unsigned char second, Utf16 order) {
  return order == Utf16::kLittleEndian ? static_cast<uint16_t>(second << 8 | first)
                                       : static_cast<uint16_t>(first << 8 | second);
}

/// Units of a head: all, and those that are ASCII text; no NUL may be among them.
struct Units {
  size_t all = 0, ascii = 0;
  bool nul = false;
};

Units units_of(std::string_view head, Utf16 order) {
  Units units;
  for (size_t i = 0; i + 1 < std::min(head.size(), kHeadBytes); i += 2) {
    const uint16_t unit = unit_of(static_cast<unsigned char>(head[i]), static_cast<unsigned char>(head[i + 1]), order);
    ++units.all;
    units.ascii += unit < 0x80 && is_text_byte(static_cast<unsigned char>(unit));
    units.nul = units.nul || unit == 0;
  }
  return units;
}

}  // namespace

std::optional<Utf16> utf16_of(std::string_view head) {
  constexpr size_t kFew = 8;  // units that would show nothing without a byte order
  for (const Utf16 order : {Utf16::kLittleEndian, Utf16::kBigEndian}) {
    const std::string_view mark = order == Utf16::kLittleEndian ? "\xff\xfe" : "\xfe\xff";
    const bool marked = head.substr(0, 2) == mark;
    const Units units = units_of(marked ? head.substr(2) : head, order);
    if (units.nul) continue;
    if (marked && units.ascii * 50 >= units.all) return order;
    if (!marked && units.all >= kFew && units.ascii * 4 >= units.all * 3) return order;
  }
  return std::nullopt;
}

Result<void> Utf16Text::feed(std::string_view bytes, const Sink& sink) {
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (narrow_) {
      out_.push_back(c);
    } else if (!half_) {
      half_ = byte;
    } else {
      const unsigned char first = *half_;
      half_.reset();
      const uint16_t value = unit_of(first, byte, order_);
      if (!may_be_narrow(first, byte)) {
        settle_narrow(false);
        if (begun_ || value != 0xfeff) unit(value);
      }
      begun_ = true;
    }
    if (out_.size() >= kPiece) {
      sink(out_);
      out_.clear();
    }
  }
  if (!out_.empty()) sink(out_);
  out_.clear();
  return {};
}

/// Two letters of one byte each make one of East Asia: a row of those in which blanks or line ends would stand is text
/// of another encoding. The pair is kept until that is known.
bool Utf16Text::may_be_narrow(unsigned char first, unsigned char second) {
  constexpr size_t kSure = 64;  // bytes
  static constexpr ByteSet kBetween(" \n");
  if (!begun_ || !is_text_byte(first) || !is_text_byte(second)) return false;
  held_.push_back(static_cast<char>(first));
  held_.push_back(static_cast<char>(second));
  if (held_.size() < kSure) return true;
  const auto between = std::count_if(held_.begin(), held_.end(), [](char c) { return kBetween.holds(c); });
  settle_narrow(between >= 2);
  return true;
}

void Utf16Text::settle_narrow(bool narrow) {
  if (held_.empty()) return;
  std::string held;
  held.swap(held_);
  if (narrow) {
    line_.append(std::exchange(parts_, 0), '\n');
    hand_over();
    out_.append(held);
    narrow_ = true;
    return;
  }
  for (size_t i = 0; i + 1 < held.size(); i += 2) {
    unit(unit_of(static_cast<unsigned char>(held[i]), static_cast<unsigned char>(held[i + 1]), order_));
  }
}

void Utf16Text::unit(uint16_t value) {
  const bool is_high = value >= 0xd800 && value < 0xdc00, is_low = value >= 0xdc00 && value < 0xe000;
  if (high_ != 0 && is_low) {
    const uint32_t code = 0x10000 + ((high_ - 0xd800) << 10) + (value - 0xdc00U);
    high_ = 0;
    return character(code);
  }
  if (high_ != 0) character(kReplacement);
  high_ = is_high ? value : 0;
  if (!is_high) character(is_low ? kReplacement : value);
}

void Utf16Text::character(uint32_t code) {
  if (code == '\n') return end_line();
  append_utf8(line_, code);
  width_ += code == '\r' ? 0 : code >= 0x10000 ? 2 : 1;  // as .NET counts
  if (width_ > full_ && line_.size() >= kPiece) hand_over();
}

void Utf16Text::hand_over() {
  out_.append(line_);
  line_.clear();
  before_ = 0;
}

void Utf16Text::end_line() {
  constexpr size_t kMost = 1000;  // lines that are put together
  learn_width();
  if (full_ > 0 && width_ == full_ && parts_ < kMost) {
    if (line_.ends_with('\r')) line_.pop_back();
    before_ = line_.size();
    ++parts_;
  } else {
    line_.append(parts_ + 1, '\n');
    parts_ = 0;
    hand_over();
  }
  width_ = 0;
}

/// Of what a program says of its errors PowerShell makes a record of its own, cut at the width of its window: the
/// widest of its lines, where several are as wide.
void Utf16Text::learn_width() {
  constexpr size_t kNarrowest = 16, kWidest = 1000, kAgain = 3;
  widths_[lines_++ % kKept] = width_;
  const std::string_view line = trim(std::string_view(line_).substr(before_));
  if (full_ > 0 || !line.starts_with("+ CategoryInfo")) return;
  const size_t widest = *std::max_element(widths_.begin(), widths_.end());
  if (widest < kNarrowest || widest > kWidest) return;
  if (std::count(widths_.begin(), widths_.end(), widest) >= static_cast<std::ptrdiff_t>(kAgain)) full_ = widest;
}

Result<void> Utf16Text::finish(const Sink& sink) {
  settle_narrow(false);
  if (high_ != 0) character(kReplacement);
  high_ = 0;
  line_.append(std::exchange(parts_, 0), '\n');
  hand_over();
  if (!out_.empty()) sink(out_);
  out_.clear();
  if (!half_) return {};
  half_.reset();
  return Error{Error::Code::kTruncated, "the file ends in the middle of a character of UTF-16",
               "what came before is kept; the file may still be being written"};
}

}  // namespace mw
