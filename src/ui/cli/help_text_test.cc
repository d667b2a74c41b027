#include "ui/cli/help_text.h"

#include <doctest/doctest.h>

#include "ui/cli/verb.h"

namespace mw {
namespace {

TEST_CASE("help fits the terminal: what goes on stands below the text of its line") {
  CHECK(fit_help("Options:\n  --grace TIME=30s            from asking the command to end to killing it\n", 60) ==
        "Options:\n  --grace TIME=30s            from asking the command to end\n"
        "                              to killing it\n");
  CHECK(fit_help("A text that is broken at column seventy-seven or so, as sources are,\nends here.\n  a\n", 60) ==
        "A text that is broken at column seventy-seven or so, as\nsources are,\nends here.\n  a\n");
  CHECK(
      fit_help("A text that is broken at column seventy-seven or so, as all our sources are,\nends here.\n  a\n", 60) ==
      "A text that is broken at column seventy-seven or so, as all\nour sources are, ends here.\n  a\n");
  const std::string word(90, 'x');
  CHECK(fit_help(word, 60) == word + "\n");
}

TEST_CASE("a long example goes on behind a backslash") {
  CHECK(fit_help("  midwatch run --watch outputs/ --restarts 3 -- python -m verl\n", 40) ==
        "  midwatch run --watch outputs/ \\\n      --restarts 3 -- python -m verl\n");
  CHECK(fit_help("  midwatch checkpoint pull  Receive the newest one from an object store\n", 60) ==
        "  midwatch checkpoint pull  Receive the newest one from an\n                            object store\n");
}

TEST_CASE("every verb's help can be broken to 80 columns") {
  for (const Verb* verb : all_verbs()) {
    ArgSpec spec;
    verb->declare(spec);
    for (const ArgSpec::Option& option : spec.options) CHECK(option.help.find('\n') == std::string::npos);
  }
}

}  // namespace
}  // namespace mw
