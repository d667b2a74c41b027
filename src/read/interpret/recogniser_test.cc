#include "read/interpret/recogniser.h"

#include <doctest/doctest.h>

namespace mw {
namespace {

constexpr std::string_view kOwn = R"(
id = "own"
family = "trainer"
[[sign]]
texts = ["own.trainer", "own/trainer"]
weight = 2
[metrics]
"own/score" = "reward.mean"
"own/kl" = "kl.ref"
"own/entropy" = "entropy"
"own/lr" = "lr"
"shared/loss" = "loss.total"
"reward" = "reward.mean"
)";
constexpr std::string_view kOther = R"(
id = "other"
family = "trainer"
[[sign]]
text = "other.trainer"
weight = 4
[metrics]
"shared/loss" = "loss.total"
)";
constexpr std::string_view kEngine = R"(
id = "engine"
family = "engine"
[[sign]]
text = "engine ready"
weight = 5
)";
constexpr std::string_view kLayer = R"toml(
id = "layer"
family = "layer"
[[sign]]
text = "optimizer.step()"
weight = 2
)toml";
constexpr std::string_view kGenericNames = R"(
id = "generic"
family = "layer"
[metrics]
"reward" = "reward.mean"
)";

DialectBook book() {
  DialectBook made;
  for (const std::string_view toml : {kOwn, kOther, kEngine, kLayer, kGenericNames}) {
    REQUIRE(made.add(toml, "x.toml").ok());
  }
  return made;
}

TEST_CASE("each of a sign's texts counts once") {
  const DialectBook known = book();
  Recogniser recogniser(known);
  recogniser.text("calls own.trainer and own.trainer");
  CHECK(recogniser.answer().framework == "own");
  const double once = recogniser.answer().confidence;
  recogniser.text("again own.trainer");
  CHECK(recogniser.answer().confidence == once);
  recogniser.text("at own/trainer/loop.py");
  CHECK(recogniser.answer().confidence > once);
}

TEST_CASE("metric names that only one trainer has a rule for name it") {
  const DialectBook known = book();
  CHECK(known.only_trainer_with("own/score") == known.find("own"));
  CHECK(!known.only_trainer_with("shared/loss"));  // two have it
  CHECK(!known.only_trainer_with("reward"));       // anyone may call it so
  CHECK(!known.only_trainer_with("nobody/has/it"));
  Recogniser recogniser(known);
  for (const std::string_view name : {"own/score", "own/kl", "shared/loss", "reward"}) {
    recogniser.name(Sign::In::kMetric, name);
  }
  CHECK(!recogniser.answer().dialect);
  for (const std::string_view name : {"own/entropy", "own/lr"}) recogniser.name(Sign::In::kMetric, name);
  CHECK(recogniser.answer().framework == "own");
}

TEST_CASE("a name is the sign of every dialect that has it, whole or with a star, and only where it is meant") {
  constexpr std::string_view kFirst = R"(
id = "first"
family = "trainer"
[[sign]]
in = "metric"
text = "b/score"
weight = 3
[[sign]]
in = "config"
text = "a/score"
weight = 5
)";
  constexpr std::string_view kSecond = R"(
id = "second"
family = "trainer"
[[sign]]
in = "metric"
text = "b/*"
weight = 4
[[sign]]
in = "metric"
text = "b/score"
weight = 2
)";
  DialectBook known;
  REQUIRE((known.add(kFirst, "x.toml").ok() && known.add(kSecond, "y.toml").ok()));
  Recogniser recogniser(known);
  recogniser.name(Sign::In::kMetric, "a/score");  // a setting's name
  recogniser.name(Sign::In::kConfig, "b/score");  // a figure's
  CHECK(!recogniser.answer().dialect);
  recogniser.name(Sign::In::kMetric, "b/score");  // 3 for the first, the stronger of 2 and 4 for the second
  CHECK(recogniser.answer().framework == "second");
  recogniser.name(Sign::In::kConfig, "a/score");  // 5 more for the first
  CHECK(recogniser.answer().framework == "first");
}

TEST_CASE("one name of a figure is one sign of a trainer, and by itself none that names it") {
  constexpr std::string_view kTrainer = R"(
id = "third"
family = "trainer"
[[sign]]
in = "metric"
texts = ["answer_length", "answer_*", "answer_std"]
weight = 4
)";
  DialectBook known;
  REQUIRE(known.add(kTrainer, "x.toml").ok());
  Recogniser recogniser(known);
  recogniser.name(Sign::In::kMetric, "answer_length");
  CHECK(!recogniser.answer().dialect);
  recogniser.name(Sign::In::kMetric, "answer_std");
  CHECK(recogniser.answer().framework == "third");
}

TEST_CASE("an engine names a run only when nothing shows a training") {
  const DialectBook known = book();
  Recogniser alone(known);
  alone.text("engine ready");
  CHECK(alone.answer().framework == "engine");
  alone.text("optimizer.step()");
  CHECK(alone.answer().framework == "custom");
  Recogniser records(known);
  records.text("engine ready");
  for (uint64_t i = 0; i < Recogniser::kUnknownRecords; ++i) records.unknown_trainer();
  CHECK(records.answer().framework == "custom");
  Recogniser trainer(known);
  trainer.text("engine ready, other.trainer");
  CHECK(trainer.answer().framework == "other");
}

TEST_CASE("a version is reported with the framework that it is of") {
  const DialectBook known = book();
  Recogniser recogniser(known);
  recogniser.set_version(*known.find("engine"), "1.2");
  recogniser.text("other.trainer");
  CHECK(recogniser.answer().version.empty());
  recogniser.set_version(*known.find("other"), "3.4");
  CHECK(recogniser.answer().version == "3.4");
}

}  // namespace
}  // namespace mw
