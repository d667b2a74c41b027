// Colours, indented lines and headings of the terminal's answers.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "base/text.h"
#include "ui/cli/verb.h"
#include "ui/view/layout.h"

namespace mw {

class Painter {
 public:
  static constexpr int kNarrowest = 40;  ///< cells; a narrower terminal wraps the lines itself
  static constexpr int kWidest = 160;    ///< cells; longer lines are hard to read

  explicit Painter(const Console& console)
      : on_(console.colour), width_(static_cast<size_t>(std::clamp(console.width, kNarrowest, kWidest))) {}
  size_t width() const { return width_; }
  std::string bold(std::string_view text) const { return paint("1", text); }
  std::string dim(std::string_view text) const { return paint("2", text); }
  std::string red(std::string_view text) const { return paint("1;31", text); }
  std::string yellow(std::string_view text) const { return paint("1;33", text); }
  std::string green(std::string_view text) const { return paint("1;32", text); }
  std::string cyan(std::string_view text) const { return paint("36", text); }
  std::string of(Severity severity, std::string_view text) const {
    return severity == Severity::kCritical ? red(text) : severity == Severity::kWarning ? yellow(text) : dim(text);
  }

  std::string heading(std::string_view text) const { return cat("\n", bold(text), "\n"); }

  /// `text`, escaped and wrapped behind `head` (already escaped, not yet in colour), the further lines under its first
  /// character; at most `most` lines. `colour` is applied to the text, `head_colour` to the head.
  using Colour = std::string (Painter::*)(std::string_view) const;
  std::string hanging(std::string_view head, std::string_view text, size_t most, Colour colour = nullptr,
                      Colour head_colour = nullptr) const {
    const size_t indent = std::min(cells_of(head), width_ / 2);
    std::string out = head_colour != nullptr ? (this->*head_colour)(head) : std::string(head);
    const std::string safe = escape_terminal(text);
    const std::vector<std::string> lines = wrap(safe, width_ - indent, most);
    for (size_t i = 0; i < lines.size(); ++i) {
      if (i > 0) out += std::string(indent, ' ');
      out += colour != nullptr ? (this->*colour)(lines[i]) : lines[i];
      out += '\n';
    }
    if (lines.empty()) out += '\n';
    return out;
  }

 private:
  std::string paint(std::string_view code, std::string_view text) const {
    return on_ && !text.empty() ? cat("\x1b[", code, "m", text, "\x1b[0m") : std::string(text);
  }
  bool on_;
  size_t width_;
};

}  // namespace mw
