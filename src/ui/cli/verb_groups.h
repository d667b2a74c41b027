// Verbs of two words: "checkpoint push" is the verb push of the group checkpoint.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ui/cli/verb.h"

namespace mw {

/// "checkpoint" of "checkpoint push"; "" of a verb of one word.
std::string_view group_of(std::string_view verb);
/// As one word, for parsers that know no others: "checkpoint-push".
std::string one_word(std::string_view verb);
/// The words of a command line, with those of a group's verb joined into one; `storage` keeps that.
std::vector<char*> with_joined(std::vector<char*> words, std::span<const Verb* const> verbs, std::string& storage);
/// `text` with joined names of verbs as they are written.
std::string with_spaces(std::string text, std::span<const Verb* const> verbs);
/// What a group has, when the command line names a group and no verb of it.
std::optional<std::string> group_help(std::span<char* const> words, std::span<const Verb* const> verbs);

}  // namespace mw
