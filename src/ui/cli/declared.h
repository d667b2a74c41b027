// The command line as its tables declare it, for what is made from them: completions of shells, the manual page.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ui/cli/args.h"
#include "ui/cli/verb.h"

namespace mw {

struct DeclaredVerb {
  const Verb* verb = nullptr;
  ArgSpec spec;
};

/// All verbs that are shown in --help, in its order.
std::vector<DeclaredVerb> declared(std::span<const Verb* const> verbs);

/// What `--help` says of exit statuses.
extern const std::string_view kExitCodes;

/// A completion script for "bash", "zsh" or "fish"; "" for any other shell.
std::string completion_script(std::string_view shell, std::span<const Verb* const> verbs);

/// The manual page, section 1, for man(1). `date`: "2026-11-23", may be empty.
std::string manual_page(std::span<const Verb* const> verbs, std::string_view version, std::string_view date);

}  // namespace mw
