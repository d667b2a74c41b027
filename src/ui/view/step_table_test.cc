#include "ui/view/step_table.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "ui/testing/fake_run.h"
#include "ui/view/evaluation_table.h"
#include "ui/view/overview.h"
#include "ui/view/replay_json.h"
#include "ui/view/series_csv.h"

namespace mw {
namespace {

const StepRow* row_of(const StepTable& table, std::string_view name) {
  for (const StepRow& row : table.rows) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

/// Ten steps, a minute apart, whose reward rises and whose rollouts become slower.
FakeRun ten_steps() {
  FakeRun run;
  for (int step = 1; step <= 10; ++step) {
    run.at = *parse_time(cat("2026-02-19T11:", step < 10 ? "0" : "", step, ":30Z"));
    run.say(event::Measured{step,
                            false,
                            {{"reward.mean", "reward", 0.125 * step},
                             {"lr", "lr", 1e-6},
                             {"entropy", "ent", 7.0},
                             {"response.length", "len", 14969.6 + step},
                             {"time.rollout", "gen", 100.0 * step}}});
  }
  return run;
}

TEST_CASE("the last steps stand side by side, with clock, change and trend") {
  const FakeRun run = ten_steps();
  const StepTable table = last_steps(run.state, 5);
  CHECK(table.steps == std::vector<int64_t>{6, 7, 8, 9, 10});
  CHECK(step_clocks(table).front() == "11:06:30");
  const StepRow* reward = row_of(table, "reward.mean");
  REQUIRE(reward != nullptr);
  CHECK(reward->values == std::vector<double>{0.75, 0.875, 1, 1.125, 1.25});
  CHECK(reward->change == "+0.12");
  CHECK(reward->trend == "rising");
  const StepRow* rollout = row_of(table, "time.rollout");
  REQUIRE(rollout != nullptr);
  CHECK(rollout->change == "+11 %");
  CHECK(step_value(*rollout, 900) == "15m 00s");
  const StepRow* length = row_of(table, "response.length");
  REQUIRE(length != nullptr);
  CHECK(step_value(*length, length->values.back()) == "14980");  // whole, and not 1.498e+04
  CHECK(length->trend == "flat");
  // What never changes is no row, but for what matters because it does not move.
  CHECK(row_of(table, "lr") == nullptr);
  CHECK(table.constant == "lr 1e-06");
  REQUIRE(row_of(table, "entropy") != nullptr);
  CHECK(row_of(table, "entropy")->change == "0");
}

TEST_CASE("steps around an onset are shown where they are not the last ones") {
  FakeRun run;
  for (int step = 1; step <= 100; ++step) run.measure(step, step < 40 ? 0.5 : 0.0);
  Moment onset;
  onset.step = 40;
  CHECK(steps_around(run.state, onset, 6).steps == std::vector<int64_t>{37, 38, 39, 40, 41, 42});
  onset.step = 1;
  CHECK(steps_around(run.state, onset, 6).steps == std::vector<int64_t>{1, 2, 3, 4, 5, 6});
  onset.step = 99;
  CHECK(steps_around(run.state, onset, 6).empty());
  onset.step = kNoStep;
  CHECK(steps_around(run.state, onset, 6).empty());
}

TEST_CASE("phases that the log only times are added up by step") {
  FakeRun run;
  for (int step = 1; step <= 3; ++step) {
    run.say(event::StepBegan{step});
    run.say(event::PhaseEnded{"rollout", 60.0 * step, kNoStep});
    run.say(event::PhaseEnded{"train", 5, kNoStep}).say(event::PhaseEnded{"train", 7.0 + step, kNoStep});
    run.measure(step, 0.5);
  }
  const StepTable table = last_steps(run.state, 5);
  const StepRow* train = row_of(table, "time.train");
  REQUIRE(train != nullptr);
  CHECK(train->values == std::vector<double>{13, 14, 15});
  REQUIRE(row_of(table, "time.rollout") != nullptr);
  CHECK(row_of(table, "time.rollout")->values == std::vector<double>{60, 120, 180});
  run.measure(2, 119.5, "time.rollout", "timing/generate");  // the metrics, which are a step behind the log
  CHECK(row_of(last_steps(run.state, 5), "time.rollout")->values[1] == 119.5);
  CHECK(row_of(last_steps(run.state, 5), "time.rollout")->values[2] == 180);
}

TEST_CASE("what only the log times is the same in the table of steps, that of metrics, JSON and CSV") {
  FakeRun run;
  for (int step = 1; step <= 3; ++step) {
    run.say(event::StepBegan{step}).say(event::PhaseEnded{"rollout", 100.0 * step + 0.4, kNoStep});
    if (step == 3) run.say(event::PhaseEnded{"save", 12, kNoStep});
    run.measure(step, 0.5);
    if (step < 3) run.measure(step, 100.0 * step, "time.rollout", "timing/generate");
  }
  CHECK(row_of(last_steps(run.state, 5), "time.rollout")->values == std::vector<double>{100, 200, 300.4});
  const std::vector<SignalLine> lines = canonical_metrics(run.state, {});
  const auto line = [&lines](std::string_view name) {
    return std::find_if(lines.begin(), lines.end(), [name](const SignalLine& one) { return one.name == name; });
  };
  REQUIRE(line("time.rollout") != lines.end());
  CHECK(line("time.rollout")->first == 100);
  CHECK(line("time.rollout")->last == 300.4);
  CHECK(line("time.rollout")->max == 300.4);
  REQUIRE(line("time.save") != lines.end());
  CHECK(line("time.save")->last == 12);
  CHECK(line("time.save")->series == nullptr);
  const std::string csv = series_csv(run.state);
  CHECK(csv.starts_with("attempt,step,time,reward.mean,time.rollout,time.save\n"));
  CHECK(contains(csv, "\n1,3,,0.5,300.4,12\n"));
  const std::string json = replay_json(run.state, {});
  CHECK(contains(json, "\"last\":300.4"));
  CHECK(contains(json, "\"time.save\":{\"raw\":[]"));
  CHECK(time_split(run.state, {}).front().seconds_per_step == doctest::Approx(600.4 / 3));
}

TEST_CASE("of a phase with more ends than are kept the last steps are shown, and no first figure") {
  FakeRun run;
  const auto steps = static_cast<int64_t>(PhaseState::kEndsKept) + 10;
  for (int64_t step = 1; step <= steps; ++step) {
    run.say(event::StepBegan{step}).say(event::PhaseEnded{"train", 7, kNoStep}).measure(step, 0.5);
  }
  const StepTable table = last_steps(run.state, 5);
  CHECK(contains(table.constant, "time.train"));
  const std::vector<SignalLine> lines = canonical_metrics(run.state, {});
  CHECK(std::none_of(lines.begin(), lines.end(), [](const SignalLine& line) { return line.name == "time.train"; }));
}

TEST_CASE("a step counter among the rewards is no reward, and a step without a figure has an empty cell") {
  FakeRun run;
  for (int step = 1; step <= 3; ++step) {
    run.measure(step, 0.5).measure(step, step, "reward.component.global_step", "reward/global_step");
  }
  run.measure(2, 9, "time.save", "save");
  const StepTable table = last_steps(run.state, 5);
  CHECK(row_of(table, "reward.component.global_step") == nullptr);
  REQUIRE(row_of(table, "time.save") != nullptr);
  CHECK(std::isnan(row_of(table, "time.save")->values[0]));
  CHECK(step_cells(*row_of(table, "time.save"))[0].empty());
  CHECK(step_cells(*row_of(table, "time.save"))[1] == "9.0 s");
  CHECK(step_value({"loss.policy", "1", {}, {}, "", ""}, -0.00114012, 8) == "-0.00114");
  CHECK(step_value({"loss.policy", "1", {}, {}, "", ""}, -2.1012e-11, 8) == "-2.1e-11");
  CHECK(row_of(table, "time.save")->change.empty());
}

TEST_CASE("a time that grew from next to nothing changed by what it is") {
  FakeRun run;
  run.measure(1, 0.5).measure(2, 0.5);
  run.measure(1, 0.0001, "time.save", "save").measure(2, 5.562, "time.save", "save");
  run.measure(1, 1, "time.sync", "sync").measure(2, 3, "time.sync", "sync");
  const StepTable table = last_steps(run.state, 5);
  CHECK(row_of(table, "time.save")->change == "+5.6 s");
  CHECK(row_of(table, "time.sync")->change == "+200 %");
}

TEST_CASE("a figure that is no number is shown as one") {
  FakeRun run;
  for (int step = 1; step <= 3; ++step) run.measure(step, 0.5).measure(step, std::nan(""), "kl.ref", "kl");
  const StepTable table = last_steps(run.state, 5);
  REQUIRE(row_of(table, "kl.ref") != nullptr);
  CHECK(step_cells(*row_of(table, "kl.ref")) == std::vector<std::string>{"nan", "nan", "nan"});
  CHECK(row_of(table, "kl.ref")->change.empty());
}

TEST_CASE("a reward function that is the reward is shown once") {
  FakeRun run;
  for (int step = 1; step <= 3; ++step) {
    run.measure(step, 0.5 * step).measure(step, 0.5 * step, "reward.component.reward_fn", "reward_fn");
    run.measure(step, 0.25 * step, "reward.component.other", "other");
  }
  const StepTable table = last_steps(run.state, 5);
  CHECK(row_of(table, "reward.component.reward_fn") == nullptr);
  CHECK(row_of(table, "reward.component.other") != nullptr);
}

TEST_CASE("a step whose reward is not there yet is shown with what is") {
  FakeRun run;
  for (int step = 1; step <= 3; ++step) run.measure(step, 0.5);
  run.measure(4, 0.25, "entropy", "ent");
  const StepTable table = last_steps(run.state, 5);
  CHECK(table.steps == std::vector<int64_t>{1, 2, 3, 4});
  REQUIRE(row_of(table, "entropy") != nullptr);
  CHECK(row_of(table, "entropy")->values.back() == 0.25);
}

TEST_CASE("clocks of several days name the day") {
  FakeRun run;
  run.at = *parse_time("2026-02-19T23:59:00Z");
  run.measure(1, 0.5);
  run.at = *parse_time("2026-02-20T00:59:00Z");
  run.measure(2, 0.5);
  CHECK(step_clocks(last_steps(run.state, 5)) == std::vector<std::string>{"02-19 23:59", "02-20 00:59"});
}

TEST_CASE("evaluations stand by step, results first") {
  FakeRun run;
  for (int step = 0; step <= 80; step += 10) {
    run.say(event::Measured{step, true, {{"", "eval/num_samples", 18.0}, {"", "eval/pass_at_1", 0.01 * step}}});
  }
  const EvaluationTable table = evaluation_table(run.state, {}, 6);
  CHECK(table.steps == std::vector<int64_t>{30, 40, 50, 60, 70, 80});
  CHECK(table.more == 3);
  REQUIRE(table.rows.size() == 2);
  CHECK(table.rows[0].name == "eval/pass_at_1");
  CHECK(table.rows[0].values.back() == doctest::Approx(0.8));
  CHECK(table.scores == 1);
}

}  // namespace
}  // namespace mw
