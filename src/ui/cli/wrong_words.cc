#include "ui/cli/wrong_words.h"

#include <algorithm>
#include <cctype>
#include <vector>

#include "base/text.h"
#include "base/units.h"
#include "ui/cli/verb_groups.h"

namespace mw {
namespace {

/// "Did you mean X? ", or "".
std::string did_you_mean(std::string_view word, std::span<const std::string_view> known, std::string_view before) {
  const std::string_view near = nearest(word, known);
  return near.empty() ? "" : cat("Did you mean ", before, near, "? ");
}

/// "midwatch checkpoint diff [OPTIONS] BEFORE AFTER".
std::string usage_of(const Verb& verb, const ArgSpec& spec) {
  std::string out = cat("midwatch ", verb.name, " [OPTIONS]");
  for (const ArgSpec::Option& option : spec.options) {
    if (option.bare && spec.positionals.empty()) out += cat(" [", option.value, "]");
  }
  for (const ArgSpec::Positional& one : spec.positionals) {
    out += cat(" ", one.required ? "" : "[", shown_name(one.name), one.many ? "..." : "", one.required ? "" : "]");
  }
  return cat(out, verb.takes_command ? " -- COMMAND..." : "");
}

/// The first example of the verb that fits in one line, without what is said of it.
std::string example_of(const Verb& verb) {
  for (std::string_view line : split(verb.examples, '\n')) {
    if (!line.starts_with("  midwatch ") || line.ends_with("\\")) continue;
    line.remove_prefix(2);
    line = line.substr(0, std::min(line.find("  "), line.find(" #")));
    return std::string(line);
  }
  return "";
}

std::string how_to_use(const Verb& verb, const ArgSpec& spec) {
  const std::string example = example_of(verb);
  return cat("Usage: ", usage_of(verb, spec), example.empty() ? "" : cat(", as in: ", example));
}

/// The words of a command line by what they are for.
struct Sorted {
  std::string unknown;                         ///< an option that the verb does not have
  const ArgSpec::Option* valueless = nullptr;  ///< it stands there without its value
  std::vector<std::string_view> words;         ///< all others
};

const ArgSpec::Option* option_named(const ArgSpec& spec, std::string_view word) {
  const auto found = std::find_if(spec.options.begin(), spec.options.end(), [word](const ArgSpec::Option& option) {
    return word.starts_with("--") ? word.substr(2) == option.name : word.size() > 1 && word[1] == option.letter;
  });
  return found == spec.options.end() ? nullptr : &*found;
}

bool is_option(std::string_view word) {
  return word.size() > 1 && word[0] == '-' &&
         (word[1] == '-' || std::isalpha(static_cast<unsigned char>(word[1])) != 0);
}

Sorted sorted(std::span<const std::string> words, const ArgSpec& spec) {
  Sorted out;
  for (size_t i = 1; i < words.size() && words[i] != "--"; ++i) {
    const std::string_view word = words[i], name = split(word, '=').front();
    if (!is_option(word)) {
      out.words.push_back(word);
      continue;
    }
    if (name == "--help" || name == "-h") continue;
    const ArgSpec::Option* option = option_named(spec, name);
    if (option == nullptr) {
      if (out.unknown.empty()) out.unknown = name.starts_with("--") ? name : name.substr(0, 2);
      continue;
    }
    const bool within = name.size() < word.size() || (!name.starts_with("--") && name.size() > 2);
    if (option->value.empty() || within) continue;
    const bool given = i + 1 < words.size() && !is_option(words[i + 1]) && words[i + 1] != "--";
    if (given) ++i;
    if (!given && out.valueless == nullptr) out.valueless = option;
  }
  return out;
}

Error wrong(std::string what, std::string hint) { return {Error::Code::kInvalid, std::move(what), std::move(hint)}; }

/// "midwatch checkpoint verify has --deep. ": verbs beside it that have the option which it lacks; "" where none has.
std::string has_it(const Verb& verb, std::string_view option) {
  constexpr size_t kNamed = 2;
  std::vector<std::string_view> found;
  for (const Verb* other : all_verbs()) {
    if (other->hidden || !contains(verb.name, " ") || split(other->name, ' ')[0] != split(verb.name, ' ')[0]) continue;
    ArgSpec spec;
    other->declare(spec);
    if (option_named(spec, option) != nullptr) found.push_back(other->name);
  }
  if (found.empty() || found.size() > kNamed) return "";
  return cat("midwatch ", found[0], found.size() > 1 ? cat(" and midwatch ", found[1], " have ") : " has ", option,
             ". ");
}

Error of_verb(const Verb& verb, std::span<const std::string> words, std::string_view trouble) {
  ArgSpec spec;
  verb.declare(spec);
  std::vector<std::string_view> options{"help"};
  for (const ArgSpec::Option& option : spec.options) options.push_back(option.name);
  const std::string help = cat("midwatch ", verb.name, " --help shows what it takes.");
  const Sorted given = sorted(words, spec);
  if (!given.unknown.empty()) {
    const bool letter = !given.unknown.starts_with("--");
    std::string hint = letter ? "" : has_it(verb, given.unknown);
    if (!letter && hint.empty()) hint = did_you_mean(std::string_view(given.unknown).substr(2), options, "--");
    return wrong(cat("midwatch ", verb.name, " has no option ", given.unknown), cat(hint, help));
  }
  if (given.valueless != nullptr) {
    const ArgSpec::Option& option = *given.valueless;
    return wrong(cat("--", option.name, " stands without its value: ", option.value, ", ", option.help),
                 cat("Write midwatch ", verb.name, " --", option.name, " ", option.value, ". ", help));
  }
  size_t takes = 0;
  for (const ArgSpec::Positional& one : spec.positionals) {
    if (one.required && given.words.size() <= takes)
      return wrong(cat(shown_name(one.name), " is missing: ", one.help), how_to_use(verb, spec));
    takes = one.many ? given.words.size() : takes + 1;
  }
  for (const ArgSpec::Option& option : spec.options) {
    if (option.bare && spec.positionals.empty()) takes = 1;
  }
  if (verb.takes_command && !given.words.empty())
    return wrong("the command to run stands behind --",
                 cat(usage_of(verb, spec), ": midwatch ", verb.name, " -- python3 train.py"));
  if (contains(trouble, "At Most 1")) {
    for (const ArgSpec::Option& option : spec.options) {
      if (option.bare && trouble.starts_with(cat("--", option.name, ":")))
        return wrong(cat("--", option.name, " and a word beside it name two things"), how_to_use(verb, spec));
    }
  }
  if (given.words.size() > takes)
    return wrong(cat("'", given.words[takes], "' is one word too many"), how_to_use(verb, spec));
  return wrong(std::string(trouble), help);
}

/// The name, or, of a verb in a group, the word alone: "prune" for "checkpoint prune".
std::string nearest_verb(std::string_view word, std::span<const Verb* const> verbs) {
  std::vector<std::string_view> names;
  for (const Verb* verb : verbs) {
    if (!group_of(verb->name).empty() && verb->name.substr(verb->name.find(' ') + 1) == word)
      return std::string(verb->name);
    if (!verb->hidden) names.push_back(verb->name);
  }
  return std::string(nearest(word, names));
}

}  // namespace

std::string shown_name(std::string_view positional) {
  std::string out(positional);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](char c) { return static_cast<char>(std::toupper(static_cast<unsigned char>(c))); });
  return out;
}

Error no_such_verb(std::string_view group, std::string_view word, std::span<const Verb* const> verbs) {
  std::vector<std::string_view> words;
  std::string all;
  for (const Verb* verb : verbs) {
    if (group_of(verb->name) != group || verb->hidden) continue;
    words.push_back(verb->name.substr(group.size() + 1));
    all += cat(all.empty() ? "" : ", ", words.back());
  }
  return wrong(cat("there is no verb '", group, " ", word, "'"),
               cat(did_you_mean(word, words, cat("midwatch ", group, " ")), "After midwatch ", group,
                   " comes one of: ", all, "."));
}

Error wrong_words(std::span<const std::string> words, std::string_view trouble, std::span<const Verb* const> verbs) {
  constexpr std::string_view kBegin =
      "midwatch --help lists the verbs; midwatch replay PATH is a good one to begin with.";
  if (words.empty()) return wrong("what should be done?", std::string(kBegin));
  if (words.front().starts_with('-'))
    return wrong(cat("midwatch has no option ", words.front(), " before a verb"), std::string(kBegin));
  const auto verb =
      std::find_if(verbs.begin(), verbs.end(), [&](const Verb* one) { return one->name == words.front(); });
  if (verb != verbs.end()) return of_verb(**verb, words, trouble);
  const std::string near = nearest_verb(words.front(), verbs);
  return wrong(cat("there is no verb '", words.front(), "'"),
               cat(near.empty() ? "" : cat("Did you mean midwatch ", near, "? "), "midwatch --help lists all."));
}

}  // namespace mw
