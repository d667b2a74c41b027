// What is wrong with a command line, in the words of its usage line.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "ui/cli/verb.h"

namespace mw {

/// Why `words` (without the program's name) are no command line, with the usage line and an example of the verb, or
/// what was probably meant. `trouble`: the parser's own sentence, for what is not recognised here.
Error wrong_words(std::span<const std::string> words, std::string_view trouble, std::span<const Verb* const> verbs);

/// That the group `group` ("checkpoint") has no verb `word`.
Error no_such_verb(std::string_view group, std::string_view word, std::span<const Verb* const> verbs);

/// What a word of a verb is called in its help: "PLACE" for "place".
std::string shown_name(std::string_view positional);

}  // namespace mw
