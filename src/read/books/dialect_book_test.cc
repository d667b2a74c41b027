#include "read/books/dialect_book.h"

#include <doctest/doctest.h>

#include <string>

namespace mw {
namespace {

constexpr std::string_view kAcme = R"(
id = "acme"
family = "trainer"
eval = ["val/*"]
ignore = ["noise/*"]
[steps]
keys = ["global_step"]
offset = 1
[[sign]]
text = "acme.main"
weight = 5
[[sign]]
in = "metric"
text = "acme/*"
[[line]]
make = "metrics"
literals = ["step:", "iter:"]
regex = '^(?:step|iter):(?P<step>\d+) - '
[metrics]
"a" = "reward.mean"
"r/*" = "reward.component.*"
"r/long/*" = "reward.std"
"kept" = { signal = "filtered", scale = -1, offset = 1 }
"val/loss" = "eval.loss"
)";

TEST_CASE("a dialect is read, and its metric names mean something") {
  DialectBook book;
  const auto added = book.add(kAcme, "acme.toml");
  REQUIRE_MESSAGE(added.ok(), (added.ok() ? "" : added.error().what));
  const auto id = book.find("acme");
  REQUIRE(id);
  CHECK(book.dialects()[*id].framework == "acme");
  CHECK(book.dialects()[*id].step_offset == 1);
  CHECK(book.meaning(id, "a").signal == "reward.mean");
  CHECK(book.meaning(id, "r/x").signal == "reward.component.x");
  CHECK(book.meaning(id, "r/long/x").signal == "reward.std");
  CHECK(book.meaning(id, "kept").offset == 1);
  CHECK(book.meaning(id, "noise/x").ignored);
  CHECK(book.meaning(id, "val/acc").signal == "eval.val/acc");
  CHECK(book.meaning(id, "val/loss").signal == "eval.loss");
  CHECK(book.meaning(id, "val/loss").eval);
  CHECK(book.meaning(std::nullopt, "a").signal.empty());
}

TEST_CASE("no trainer's rule for the parts of its reward takes what anybody calls the reward") {
  const auto book = DialectBook::built_in();
  REQUIRE(book.ok());
  const auto trl = book->find("trl");
  REQUIRE(trl);
  CHECK(book->meaning(trl, "rewards/mean").signal == "reward.mean");
  CHECK(book->meaning(trl, "train/rewards/mean").signal == "reward.mean");
  CHECK(book->meaning(trl, "rewards/std").signal == "reward.std");
  CHECK(book->meaning(trl, "rewards/format_reward/mean").signal == "reward.component.format_reward/mean");
}

TEST_CASE("what a dialect builds upon knows that a name is no result of an evaluation") {
  DialectBook book;
  REQUIRE(book.add(kAcme, "acme.toml").ok());
  const auto added = book.add(
      "id = \"more\"\nfamily = \"trainer\"\nextends = \"acme\"\neval = [\"noise/*\", \"held/*\"]\n", "more.toml");
  REQUIRE_MESSAGE(added.ok(), (added.ok() ? "" : added.error().what));
  const auto id = book.find("more");
  REQUIRE(id);
  CHECK(book.meaning(id, "noise/seconds").ignored);
  CHECK_FALSE(book.meaning(id, "held/acc").ignored);
  CHECK(book.meaning(id, "held/acc").signal == "eval.held/acc");
}

TEST_CASE("a metric name with '_' for '/' means the same, and speaks for its trainer") {
  const auto book = DialectBook::built_in();
  REQUIRE(book.ok());
  const auto verl = book->find("verl");
  CHECK(book->meaning(verl, "critic/score/mean").signal == "reward.mean");
  CHECK(book->meaning(verl, "critic_score_mean").signal == "reward.mean");
  CHECK(book->meaning(verl, "actor_grad_norm").signal == "grad_norm");
  REQUIRE(book->only_trainer_with("actor/pg_clipfrac_lower"));
  CHECK(book->only_trainer_with("actor_pg_clipfrac_lower") == book->only_trainer_with("actor/pg_clipfrac_lower"));
}

TEST_CASE("patterns and their targets go together") {
  DialectBook book;
  REQUIRE(book.add(kAcme, "acme.toml").ok());
  const auto patterns = book.patterns(100);
  REQUIRE(patterns.size() == book.pattern_count());
  REQUIRE(patterns.size() > 3);
  CHECK(patterns[0].expression == "acme.main");
  CHECK(patterns[1].expression == "step:");
  CHECK(patterns[2].expression == "iter:");
  CHECK(patterns[2].id == 102);
  CHECK(book.target(2).kind == DialectBook::Target::Kind::kShape);
  CHECK(book.target(2).index == 0);
  CHECK(book.shape_regex(0, 0) != nullptr);
}

TEST_CASE("what is wrong with a file is said with its line") {
  const auto what = [](std::string_view text) {
    const auto dialect = parse_dialect(text, "x.toml");
    return dialect.ok() ? std::string() : dialect.error().what;
  };
  CHECK(what("id = \"x\"\nfamily = \"trainer\"\ncolour = 3\n").find("x.toml:3") != std::string::npos);
  CHECK(what("id = \"x\"\n").find("family") != std::string::npos);
  CHECK(what("id = \"x\"\nfamily=\"layer\"\n[metrics]\n\"a\" = \"no.such\"\n").find("no.such") != std::string::npos);
  CHECK(what("id = \"x\"\nfamily=\"layer\"\n[[line]]\nmake = \"dance\"\nliteral = \"abc\"\n").find("dance") !=
        std::string::npos);
  CHECK(what("id = \"x\"\nfamily=\"layer\"\n[[line]]\nmake = \"step\"\nliteral = \"a\"\n").find("3 bytes") !=
        std::string::npos);
  DialectBook book;
  CHECK(!book.add("id = \"x\"\nfamily=\"layer\"\n[[line]]\nmake = \"step\"\nliteral = \"abc\"\nregex='('\n", "x").ok());
}

TEST_CASE("every built-in dialect loads") {
  const auto book = DialectBook::built_in();
  REQUIRE_MESSAGE(book.ok(), (book.ok() ? "" : book.error().what));
  for (const Dialect& dialect : book->dialects()) {
    CHECK_MESSAGE(!dialect.title.empty(), dialect.id);
    if (dialect.family == Dialect::Family::kTrainer) CHECK_MESSAGE(!dialect.signs.empty(), dialect.id);
  }
}

}  // namespace
}  // namespace mw
