#include "read/match/required_literals.h"

#include <doctest/doctest.h>

#include <algorithm>

namespace mw {
namespace {

using Strings = std::vector<std::string>;

Strings any(std::string_view expression) { return required_literals(expression).any; }

TEST_CASE("the rarest literal that must be there is found") {
  CHECK(any("out of memory") == Strings{"out of memory"});
  CHECK(any("^\\[rank\\d+\\]: Watchdog caught") == Strings{"]: Watchdog caught"});
  CHECK(any("Xid \\(PCI:[0-9a-f:.]+[^)]*\\): 13,") == Strings{"Xid (PCI:"});
  CHECK(any("No space left.*device") == Strings{"No space left"});
  CHECK(any("step (?P<step>\\d+)/(?P<total>\\d+) done") == Strings{" done"});
  CHECK(any("reward/[a-z]+=(nan|inf)").size() == 2);
  CHECK(any("loss=\\d+\\.\\d+ grad_norm=nan") == Strings{" grad_norm=nan"});
  CHECK(any("colou?r code") == Strings{"color code", "colour code"});
  CHECK(any("[Ee]rror 42!") == Strings{"Error 42!", "error 42!"});
}

TEST_CASE("alternatives give sets") {
  CHECK(any("killed by (SIGKILL|SIGBUS)") == Strings{"killed by SIGBUS", "killed by SIGKILL"});
  CHECK(any("(?:CUDA|HIP) error: \\w+") == Strings{"HIP error: ", "CUDA error: "});
  CHECK(any("EngineDead|engine \\d+ died") == Strings{"engine ", "EngineDead"});
  CHECK(any("abc|abcdef").size() == 1);
  CHECK(any("(Timeout\\d+|Refused.*) it").size() == 2);
}

TEST_CASE("what need not be there is not asked for") {
  CHECK(any("(optional thing)?required") == Strings{"required"});
  CHECK(any("(maybe)*sure thing") == Strings{"sure thing"});
  CHECK(any("(maybe){0,3}sure thing") == Strings{"sure thing"});
  CHECK(any("(certainly)+x") == Strings{"certainlyx"});
  CHECK(any("(certain){2}x") == Strings{"certainx"});
  CHECK(any("loss[ =:]+inf") == Strings{" inf", ":inf", "=inf"});
  CHECK(any("\\d+ \\w+").empty());
  CHECK(any("abc|\\d+").empty());
  CHECK(any("a|b").empty());
  CHECK(any("ab").empty());
  CHECK(any("^\\^C") == Strings{"^C"});
  CHECK(any("x*").empty());
}

TEST_CASE("other literals are named, too") {
  const RequiredLiterals required = required_literals("GPU \\d+ fell off the bus at \\w+ node");
  CHECK(required.any == Strings{" fell off the bus at "});
  CHECK(required.also == std::vector<Strings>{{"GPU "}, {" node"}});
  CHECK(required_literals("(red|green) \\d+ of \\w+ colours (here|away)!").also ==
        std::vector<Strings>{{"red ", "green "}, {" of "}});
}

TEST_CASE("where no case is heeded, the other literals are in small letters") {
  const RequiredLiterals required = required_literals("(?i)\\bTime limit\\b.{0,20}\\b(Reached|spent)\\b");
  CHECK(required.any_case);
  CHECK(required.whole == Strings{"time limit"});
  CHECK(required.also == std::vector<Strings>{{"spent", "reached"}});
  CHECK(holds_also("TIME LIMIT was Reached", required));
  CHECK_FALSE(holds_also("TIME LIMIT was not mentioned", required));
  CHECK_FALSE(holds_also("time's limit was reached", required));
  const RequiredLiterals spelled =
      required_literals("(?i)\\b(?:finished|completed|done) (?:with )?(?:the )?training\\b");
  CHECK(spelled.whole.size() == 12);
  CHECK(spelled.also.empty());
  CHECK(holds_also("We are Done with Training.", spelled));
  CHECK_FALSE(holds_also("Done with the data, training", spelled));
  CHECK(required_literals("(?i)h\xe9llo \\d+ world").also == std::vector<Strings>{{" world"}});
  const RequiredLiterals many = required_literals("(?i)(train|finetune|grpo|rloo|dpo|ppo|rlhf|sft)\\d");
  CHECK_FALSE(many.understood);  // in too many spellings
  CHECK(many.also.size() == 1);
  CHECK(many.whole.empty());  // they are not sought by how they begin
}

TEST_CASE("what is not understood is left to RE2") {
  for (const std::string_view expression : {"(?i)e.r", "\\x{41}bcd", "\\pLabc", "\\Qa.b\\E", "a**", "(abc", "abc)",
                                            "[abc", "abc\\", "*abc", "a{5,2}bc", "[[:alpha:]]abc", "a{2000}bc"}) {
    CAPTURE(expression);
    CHECK_FALSE(required_literals(expression).understood);
    CHECK(required_literals(expression).any.empty());
  }
  CHECK_FALSE(required_literals(std::string(500, '(') + std::string(500, ')')).understood);
}

TEST_CASE("a leading flag that heeds no case gives all spellings of a few bytes") {
  const Strings spellings = any("(?i)\\bout of ids\\b");
  CHECK(spellings.size() == 8);  // of "out "
  for (const char* spelling : {"out ", "OUT ", "Out ", "oUt "}) {
    CHECK(std::find(spellings.begin(), spellings.end(), spelling) != spellings.end());
  }
}

TEST_CASE("classes and braces are read as RE2 does") {
  CHECK(any("[]x]abcd").size() == 2);
  CHECK(any("[^]]abcd") == Strings{"abcd"});
  CHECK(any("[a-]bcd").size() == 2);
  CHECK(any("[\\]\\-]bcd").size() == 2);
  CHECK(any("{'loss': ") == Strings{"{'loss': "});
  CHECK(any("x{a}bc") == Strings{"x{a}bc"});
  CHECK(any("\\bkey=\\d") == Strings{"key="});
  CHECK(any("^(?:\\x1b\\[[0-9;]*m|\\s)*Some\\x45rror: ") == Strings{"SomeError: "});
}

TEST_CASE("the longest match that there can be") {
  const auto most = [](std::string_view expression) { return required_literals(expression).most; };
  CHECK(most("abc") == 3);
  CHECK(most("^abc\\b$") == 3);
  CHECK(most("ab(c|defg)?x{2,4}[0-9].\\d") == 2 + 4 + 4 + 3);
  CHECK(most("(?i)\\btraining\\b[^.,]{0,20}\\bdone\\b") == 8 + 20 + 4);
  CHECK(most("(?:ab){3}c") == 7);
  for (const char* endless : {"abc.*", "abc+", "ab{2,}c", "abc(d*|e)", "(a.*)?bcd", "abc(?-i)d"}) {
    CHECK(most(endless) == RequiredLiterals::kNoLimit);
  }
}

}  // namespace
}  // namespace mw
