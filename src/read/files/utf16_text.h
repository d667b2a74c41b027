// Text in UTF-16, as Windows PowerShell redirects it, becomes UTF-8: the same lines with the same numbers.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "read/files/plain_stream.h"

namespace mw {

enum class Utf16 : uint8_t { kLittleEndian, kBigEndian };

/// By the byte order mark, or, in text that has none, by every second byte being NUL. `head`: the start of a file, cut
/// anywhere. A binary file that happens to begin so is none: text has blanks, digits and line ends.
std::optional<Utf16> utf16_of(std::string_view head);

/// Half a character at the end of a piece waits. Unpaired surrogates become U+FFFD. Where another program appended text
/// of one byte a character, that is handed on as it is. Lines that PowerShell cut at the width of its window are put
/// together, in the place of the first; the others are left empty, so that numbers stay those of the file.
class Utf16Text final : public PlainStream {
 public:
  explicit Utf16Text(Utf16 order) : order_(order) {}
  Result<void> feed(std::string_view bytes, const Sink& sink) override;
  Result<void> finish(const Sink& sink) override;

 private:
  static constexpr size_t kKept = 20;  // widths of lines
  void unit(uint16_t value);
  void character(uint32_t code);
  void end_line();
  void hand_over();
  void learn_width();
  bool may_be_narrow(unsigned char first, unsigned char second);
  void settle_narrow(bool narrow);

  Utf16 order_;
  bool begun_ = false;
  std::optional<unsigned char> half_;  // the first byte of a character
  uint32_t high_ = 0;                  // a high surrogate that waits for its partner
  bool narrow_ = false;                // from here on one byte is a character
  std::string held_;                   // what may be such text already
  std::string out_;
  std::string line_;                    // what was not handed over of the line
  size_t before_ = 0;                   // bytes of it that stood in lines before, which were full
  size_t parts_ = 0;                    // those lines
  size_t width_ = 0;                    // of the line in the file
  size_t full_ = 0;                     // width of the window; 0: not known
  std::array<size_t, kKept> widths_{};  // of the lines before
  size_t lines_ = 0;
};

}  // namespace mw
