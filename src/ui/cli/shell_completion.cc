// Completion scripts. What follows "--" is a command of its own and completed as one.
#include <algorithm>
#include <map>

#include "base/text.h"
#include "ui/cli/declared.h"
#include "ui/cli/verb_groups.h"

namespace mw {
namespace {

/// Prints the names of the runs that midwatch knows, one a line.
constexpr std::string_view kRunNames = R"(midwatch runs --json 2>/dev/null | grep -o '"name":"[^"]*"' | cut -d'"' -f4)";

bool names_a_run(const ArgSpec::Option& option) { return option.name == "run"; }

std::string words_of(const ArgSpec::Option& option) {
  std::string out = cat("--", option.name);
  if (option.letter != 0) out += cat(" -", std::string(1, option.letter));
  return out;
}

std::string joined(const std::vector<std::string>& words, std::string_view between) {
  std::string out;
  for (const std::string& word : words) out += cat(out.empty() ? "" : between, word);
  return out;
}

/// `text` in single quotes for a shell; bash and zsh leave and enter the quotes, fish escapes.
std::string quoted(std::string_view text, bool fish = false) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') {
      out += fish ? "\\'" : "'\\''";
    } else if (c == '\\' && fish) {
      out += "\\\\";
    } else {
      out += c == '\n' ? ' ' : c;
    }
  }
  return out + "'";
}

/// The words that may stand first: a group once.
std::vector<std::string> first_words(const std::vector<DeclaredVerb>& verbs) {
  std::vector<std::string> out;
  for (const DeclaredVerb& one : verbs) {
    const std::string_view group = group_of(one.verb->name);
    const std::string word(group.empty() ? one.verb->name : group);
    if (std::find(out.begin(), out.end(), word) == out.end()) out.push_back(word);
  }
  return out;
}

/// Each group with the words that may stand second.
std::map<std::string, std::vector<std::string>> second_words(const std::vector<DeclaredVerb>& verbs) {
  std::map<std::string, std::vector<std::string>> out;
  for (const DeclaredVerb& one : verbs) {
    const std::string_view group = group_of(one.verb->name);
    if (!group.empty()) out[std::string(group)].emplace_back(one.verb->name.substr(group.size() + 1));
  }
  return out;
}

/// "runs" is a verb, and the group of "runs show".
bool is_verb(std::string_view group, const std::vector<DeclaredVerb>& verbs) {
  return std::any_of(verbs.begin(), verbs.end(), [&](const DeclaredVerb& one) { return one.verb->name == group; });
}

// ---- bash

/// What may follow an option that takes a value, as a branch of a case over "verb --option".
std::string bash_values(const DeclaredVerb& one) {
  std::string out;
  for (const ArgSpec::Option& option : one.spec.options) {
    if (option.value.empty()) continue;
    std::string pattern = cat("\"", one.verb->name, " --", option.name, "\"");
    if (option.letter != 0) pattern += cat("|\"", one.verb->name, " -", std::string(1, option.letter), "\"");
    out += cat("    ", pattern, ") ");
    if (!option.choices.empty()) {
      out += cat("COMPREPLY=($(compgen -W ", quoted(joined(option.choices, " ")), " -- \"$cur\"))");
    } else if (names_a_run(option)) {
      out += "COMPREPLY=($(compgen -W \"$(_midwatch_runs)\" -- \"$cur\"))";
    } else {
      out += "COMPREPLY=($(compgen -f -- \"$cur\"))";
    }
    out += "; return ;;\n";
  }
  return out;
}

std::string bash(const std::vector<DeclaredVerb>& verbs) {
  std::string names, values, options, groups;
  for (const std::string& word : first_words(verbs)) names += cat(word, " ");
  for (const auto& [group, words] : second_words(verbs)) {
    groups += cat("    ", group, ") if ((COMP_CWORD == 2)) && [[ $cur != -* ]]; then COMPREPLY=($(compgen -W ",
                  quoted(joined(words, " ")), " -- \"$cur\")); return; fi; case ${COMP_WORDS[2]} in ",
                  joined(words, "|"), ") verb=\"$verb ${COMP_WORDS[2]}\" ;; esac ;;\n");
  }
  for (const DeclaredVerb& one : verbs) {
    values += bash_values(one);
    std::string words;
    for (const ArgSpec::Option& option : one.spec.options) words += cat(words.empty() ? "" : " ", words_of(option));
    if (one.verb->takes_command) words += " --";
    options += cat("    \"", one.verb->name, "\") words=", quoted(words), " ;;\n");
  }
  return cat("# bash completion for midwatch; made by `midwatch completion bash`\n",  //
             "_midwatch_runs() { ", kRunNames, "; }\n",                               //
             "_midwatch() {\n"
             "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} verb=${COMP_WORDS[1]} words= i\n"
             "  COMPREPLY=()\n"
             "  if ((COMP_CWORD == 1)); then\n"
             "    COMPREPLY=($(compgen -W ",
             quoted(names + "--help --version"),
             " -- \"$cur\"))\n"
             "    return\n"
             "  fi\n"
             "  for ((i = 2; i < COMP_CWORD; ++i)); do\n"
             "    if [[ ${COMP_WORDS[i]} == -- ]]; then\n"
             "      if ((i + 1 == COMP_CWORD)); then COMPREPLY=($(compgen -c -f -- \"$cur\"))\n"
             "      else COMPREPLY=($(compgen -f -- \"$cur\")); fi\n"
             "      return\n"
             "    fi\n"
             "  done\n"
             "  case $verb in\n",
             groups,
             "  esac\n"
             "  case \"$verb $prev\" in\n",
             values, "  esac\n  case $verb in\n", options,
             "  esac\n"
             "  if [[ $cur == -* ]]; then COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
             "  else COMPREPLY=($(compgen -f -- \"$cur\")); fi\n"
             "}\n"
             "complete -o filenames -o bashdefault -F _midwatch midwatch\n");
}

// ---- zsh

/// In a specification of _arguments, ':' and brackets have a meaning.
std::string zsh_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == ':' || c == '[' || c == ']' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string zsh_option(const ArgSpec::Option& option) {
  std::string value;
  if (!option.value.empty()) {
    value = cat(":", zsh_text(option.value), ":");
    if (!option.choices.empty()) {
      value += cat("(", joined(option.choices, " "), ")");
    } else {
      value += names_a_run(option) ? "_midwatch_runs" : "_files";
    }
  }
  const std::string tail = cat("[", zsh_text(option.help), "]", value);
  std::string out = cat("      ", quoted(cat("*--", option.name, tail)), " \\\n");
  if (option.letter != 0) out += cat("      ", quoted(cat("*-", std::string(1, option.letter), tail)), " \\\n");
  return out;
}

std::string zsh(const std::vector<DeclaredVerb>& verbs) {
  std::string names, cases, groups;
  for (const auto& [group, words] : second_words(verbs)) {
    if (!is_verb(group, verbs)) names += cat("    ", quoted(cat(group, ":", zsh_text(joined(words, ", ")))), "\n");
    groups += cat("    ", group, ") if ((CURRENT == 3)) && [[ ${words[3]} != -* ]]; then compadd -- ",
                  joined(words, " "), "; return; fi; case ${words[3]} in ", joined(words, "|"),
                  ") verb=\"$verb ${words[3]}\"; shift words; ((CURRENT -= 1)) ;; esac ;;\n");
  }
  for (const DeclaredVerb& one : verbs) {
    const std::string_view group = group_of(one.verb->name);
    if (group.empty()) names += cat("    ", quoted(cat(one.verb->name, ":", zsh_text(one.verb->summary))), "\n");
    cases += cat("    ", quoted(one.verb->name), ") _arguments \\\n");
    for (const ArgSpec::Option& option : one.spec.options) cases += zsh_option(option);
    cases += "      '*: :_files' ;;\n";
  }
  return cat("#compdef midwatch\n# zsh completion for midwatch; made by `midwatch completion zsh`\n",  //
             "_midwatch_runs() { compadd -- ${(f)\"$(", kRunNames, ")\"} }\n",
             "_midwatch() {\n  local -a verbs\n  verbs=(\n", names,
             "  )\n"
             "  local dashes=${words[(i)--]}\n"
             "  if ((dashes > 2 && dashes < CURRENT)); then\n"
             "    words=(${words[dashes + 1,-1]}); ((CURRENT -= dashes)); _normal; return\n"
             "  fi\n"
             "  if ((CURRENT == 2)); then _describe command verbs; return; fi\n"
             "  local verb=${words[2]}\n"
             "  case $verb in\n",
             groups,
             "  esac\n"
             "  words=(${words[2,-1]}); ((CURRENT -= 1))\n"
             "  case $verb in\n",
             cases, "  esac\n}\n_midwatch \"$@\"\n");
}

// ---- fish

std::string fish(const std::vector<DeclaredVerb>& verbs) {
  std::string out = "# fish completion for midwatch; made by `midwatch completion fish`\n";
  out += cat("function __midwatch_runs; ", kRunNames, "; end\n");
  for (const auto& [group, words] : second_words(verbs)) {
    if (is_verb(group, verbs)) continue;
    out += cat("complete -c midwatch -f -n __fish_use_subcommand -a ", group, " -d ", quoted(joined(words, ", "), true),
               "\n");
  }
  for (const DeclaredVerb& one : verbs) {
    const std::string_view group = group_of(one.verb->name);
    const std::string when = group.empty() ? "__fish_use_subcommand" : cat("'__fish_seen_subcommand_from ", group, "'");
    const std::string_view word = group.empty() ? one.verb->name : one.verb->name.substr(group.size() + 1);
    out += cat("complete -c midwatch -f -n ", when, " -a ", word, " -d ", quoted(one.verb->summary, true), "\n");
    for (const ArgSpec::Option& option : one.spec.options) {
      out += cat("complete -c midwatch -n '__fish_seen_subcommand_from ", one.verb->name, "' -l ", option.name);
      if (option.letter != 0) out += cat(" -s ", std::string(1, option.letter));
      if (!option.choices.empty()) {
        out += cat(" -x -a ", quoted(joined(option.choices, " "), true));
      } else if (names_a_run(option)) {
        out += " -x -a '(__midwatch_runs)'";
      } else if (!option.value.empty()) {
        out += " -r";
      }
      out += cat(" -d ", quoted(option.help, true), "\n");
    }
  }
  return out;
}

}  // namespace

std::string completion_script(std::string_view shell, std::span<const Verb* const> verbs) {
  if (shell == "bash") return bash(declared(verbs));
  if (shell == "zsh") return zsh(declared(verbs));
  if (shell == "fish") return fish(declared(verbs));
  return {};
}

}  // namespace mw
