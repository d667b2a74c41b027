#include "ui/cli/verb_groups.h"

#include <algorithm>

#include "base/text.h"

namespace mw {

std::string_view group_of(std::string_view verb) {
  const size_t space = verb.find(' ');
  return space == std::string_view::npos ? std::string_view() : verb.substr(0, space);
}

std::string one_word(std::string_view verb) {
  std::string out(verb);
  std::replace(out.begin(), out.end(), ' ', '-');
  return out;
}

std::vector<char*> with_joined(std::vector<char*> words, std::span<const Verb* const> verbs, std::string& storage) {
  if (words.size() < 3) return words;
  const std::string name = cat(std::string_view(words[1]), " ", std::string_view(words[2]));
  for (const Verb* verb : verbs) {
    if (verb->name != name) continue;
    storage = one_word(name);
    words[1] = storage.data();
    words.erase(words.begin() + 2);
    break;
  }
  return words;
}

std::string with_spaces(std::string text, std::span<const Verb* const> verbs) {
  for (const Verb* verb : verbs) {
    if (group_of(verb->name).empty()) continue;
    const std::string joined = one_word(verb->name);
    for (size_t at = text.find(joined); at != std::string::npos; at = text.find(joined, at + 1)) {
      text.replace(at, joined.size(), verb->name);
    }
  }
  return text;
}

std::optional<std::string> group_help(std::span<char* const> words, std::span<const Verb* const> verbs) {
  if (words.size() < 2) return std::nullopt;
  std::string out;
  for (const Verb* verb : verbs) {
    if (verb->name == words[1]) return std::nullopt;  // "runs" is a verb itself, beside "runs show"
    if (group_of(verb->name) != words[1]) continue;
    std::string name(verb->name);
    name.resize(std::max<size_t>(name.size(), 20), ' ');
    out += cat("  midwatch ", name, "  ", verb->summary, "\n");
  }
  if (out.empty()) return std::nullopt;
  return cat("Usage: midwatch ", std::string_view(words[1]), " VERB [OPTIONS]\n\n", out);
}

}  // namespace mw
