#include "ui/cli/wrong_words.h"

#include <doctest/doctest.h>

#include "base/text.h"

namespace mw {
namespace {

std::string said(std::vector<std::string> words, std::string_view trouble = "an argument was not expected") {
  const Error error = wrong_words(words, trouble, all_verbs());
  return error.what + " | " + error.hint;
}

TEST_CASE("what was probably meant") {
  CHECK(said({"stauts"}) == "there is no verb 'stauts' | Did you mean midwatch status? midwatch --help lists all.");
  CHECK(said({"xyzzy"}) == "there is no verb 'xyzzy' | midwatch --help lists all.");
  CHECK(said({"run", "python3", "train.py"}).find("midwatch run -- python3 train.py") != std::string::npos);
  CHECK(said({"run", "--restart", "3", "--", "x"}).find("Did you mean --restarts?") != std::string::npos);
  CHECK(said({}).find("what should be done?") == 0);
  CHECK(said({"prune"}).find("Did you mean midwatch checkpoint prune?") != std::string::npos);
  const Error none = no_such_verb("checkpoint", "prnue", all_verbs());
  CHECK(none.what == "there is no verb 'checkpoint prnue'");
  CHECK(contains(none.hint, "Did you mean midwatch checkpoint prune?"));
  CHECK(contains(none.hint, "comes one of: list, verify, diff,"));
}

TEST_CASE("an option of the verb beside it is named with that verb") {
  CHECK(said({"checkpoint list", "ck", "--deep"}) ==
        "midwatch checkpoint list has no option --deep | midwatch checkpoint verify has --deep. midwatch checkpoint "
        "list --help shows what it takes.");
  CHECK(contains(said({"fleet watch", "run.toml", "--dry-run"}), "| midwatch fleet launch has --dry-run. "));
  CHECK(contains(said({"checkpoint list", "--jsn"}), "Did you mean --json? "));
  CHECK_FALSE(contains(said({"status", "--deep"}), "verify"));  // of another group: it may mean something else
}

TEST_CASE("a word that is missing is named as in the usage line, with what it is and an example") {
  CHECK(said({"checkpoint diff"}) ==
        "BEFORE is missing: a checkpoint | Usage: midwatch checkpoint diff [OPTIONS] BEFORE AFTER, as in: midwatch "
        "checkpoint diff ckpts/global_step_30 ckpts/global_step_40");
  CHECK(said({"checkpoint push", "ck", "--quiet"}).find("PLACE is missing: s3://BUCKET/RUN, or a folder") == 0);
  CHECK(said({"checkpoint push", "--step", "40"}).find("PATH is missing") == 0);  // 40 is the option's
  CHECK(said({"checkpoint push", "-q"}).find("PATH is missing") == 0);
}

TEST_CASE("a word too many, an option without its value, an option that is none") {
  CHECK(said({"checkpoint diff", "a", "b", "c", "d"}).find("'c' is one word too many | Usage: ") == 0);
  CHECK(said({"status", "a", "b"}).find("'b' is one word too many | Usage: midwatch status [OPTIONS] [NAME]") == 0);
  CHECK(said({"checkpoint list", "--run"}).find("--run stands without its value: NAME, the run") == 0);
  CHECK(said({"checkpoint push", "a", "b", "--limit", "--json"}).find("--limit stands without its value") == 0);
  CHECK(said({"checkpoint push", "a", "--step=3"}).find("PLACE is missing") == 0);
  CHECK(said({"checkpoint diff", "-z"}).find("midwatch checkpoint diff has no option -z") == 0);
  CHECK(said({"stop", "one", "--run", "two"}, "--run: At Most 1 required but received 2")
            .find("--run and a word beside it name two things") == 0);
  CHECK(said({"--foo"}).find("midwatch has no option --foo before a verb") == 0);
  CHECK(said({"replay", "a"}, "--rows: not a number").find("--rows: not a number") == 0);
}

TEST_CASE("every verb says of itself what a stranger got wrong, and shows how it is used") {
  for (const Verb* verb : all_verbs()) {
    if (verb->hidden) continue;
    ArgSpec spec;
    verb->declare(spec);
    const std::string name(verb->name);
    CAPTURE(name);
    for (const ArgSpec::Option& option : spec.options) {
      if (option.value.empty()) continue;
      CHECK(contains(said({name, cat("--", option.name)}), cat("--", option.name, " ", option.value)));
    }
    const bool needs = !spec.positionals.empty() && spec.positionals.front().required;
    const bool many =
        std::any_of(spec.positionals.begin(), spec.positionals.end(), [](const auto& p) { return p.many; });
    if (needs) CHECK(contains(said({name}), cat("Usage: midwatch ", name, " [OPTIONS]")));
    if (needs) CHECK(contains(said({name}), ", as in: midwatch "));
    if (!many && !verb->takes_command) CHECK(contains(said({name, "a", "b", "c", "d"}), "is one word too many"));
  }
}

}  // namespace
}  // namespace mw
