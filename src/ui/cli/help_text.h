// What is said of the command line itself: help that fits a terminal, and what was probably meant.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "ui/cli/verb.h"

namespace mw {

/// Help text in which no line is longer than `width`, where it can be broken: what follows is indented as the text of
/// the line is. Examples stay as they are, since they are copied.
std::string fit_help(std::string_view text, size_t width);

/// Why `words` (without the program's name) are no command line, and what was probably meant. `trouble` is the parser's
/// own sentence.
Error wrong_words(std::span<const std::string> words, std::string_view trouble, std::span<const Verb* const> verbs);

}  // namespace mw
