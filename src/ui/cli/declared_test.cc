#include "ui/cli/declared.h"

#include <doctest/doctest.h>

#include "base/text.h"

namespace mw {
namespace {

std::string in_roff(std::string_view name) {
  std::string out;
  for (const char c : name) out += c == '-' ? std::string("\\-") : std::string(1, c);
  return out;
}

TEST_CASE("completions and the manual page have every verb and every option that --help has") {
  const std::string page = manual_page(all_verbs(), "0.1.0", "2026-11-23");
  for (const DeclaredVerb& one : declared(all_verbs())) {
    CAPTURE(std::string(one.verb->name));
    CHECK(contains(page, cat(".SS \\fBmidwatch ", one.verb->name, "\\fR")));
    for (const ArgSpec::Option& option : one.spec.options) {
      CAPTURE(option.name);
      CHECK(contains(page, cat("\\fB\\-\\-", in_roff(option.name), "\\fR")));
      CHECK(contains(completion_script("bash", all_verbs()), cat("--", option.name)));
      CHECK(contains(completion_script("zsh", all_verbs()), cat("'*--", option.name, "[")));
      CHECK(contains(completion_script("fish", all_verbs()),
                     cat("'__fish_seen_subcommand_from ", one.verb->name, "' -l ", option.name)));
    }
  }
  CHECK(completion_script("tcsh", all_verbs()).empty());
}

TEST_CASE("no line of the manual page is taken for a request by the formatter that is none") {
  const std::string page = manual_page(all_verbs(), "0.1.0", "");
  for (const std::string_view line : split(page, '\n')) {
    if (line.empty() || (line.front() != '.' && line.front() != '\'')) continue;
    CAPTURE(std::string(line));
    const std::string_view word = line.substr(0, line.find(' '));
    const bool known = word == ".TH" || word == ".SH" || word == ".SS" || word == ".TP" || word == ".PP" ||
                       word == ".nf" || word == ".fi" || word == ".br" || word == ".B" || word == ".I";
    CHECK(known);
  }
}

}  // namespace
}  // namespace mw
