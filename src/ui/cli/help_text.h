// Help that fits a terminal.
#pragma once

#include <string>
#include <string_view>

namespace mw {

/// Help text in which no line is longer than `width`, where it can be broken: what follows is indented as the text of
/// the line is. Examples stay as they are, since they are copied.
std::string fit_help(std::string_view text, size_t width);

}  // namespace mw
