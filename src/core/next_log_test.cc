#include "core/next_log.h"

#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "base/text.h"
#include "core/attempts.h"

namespace mw {
namespace {

constexpr Time at(int64_t second) { return {(1'767'000'000 + second) * 1'000'000'000}; }

/// A run that is stopped after step 120, 30 s each, and goes on 40 minutes later.
struct Files {
  State state;

  void open(uint32_t source, const std::string& path, const char* kind = "text") {
    fold(state, {{}, {source, 0}, event::SourceOpened{source, path, kind, 0, 0, 0}});
  }
  /// `seed`: of the noise that the figures have.
  void steps(uint32_t source, int64_t first, int64_t last, int64_t late, bool clock = true, int seed = 1) {
    for (int64_t i = first; i <= last; ++i) {
      const double value = 0.5 + 0.3 * std::sin(static_cast<double>(seed) + 2.3 * static_cast<double>(i));
      fold(state, {clock ? at(30 * i + late) : Time{},
                   {source, ++lines[source]},
                   event::Measured{i, false, {{"reward.mean", "reward", value}}}});
    }
  }
  void say(uint32_t source, EventBody body, Time when = {}) {
    fold(state, {when, {source, ++lines[source]}, std::move(body)});
  }
  void stop(uint32_t source) {
    say(source, event::Ended{event::Ended::How::kInterrupted, 0, "CANCELLED DUE TO TIME LIMIT"}, at(30 * 121));
  }
  uint64_t lines[4] = {};
};

constexpr int64_t kLate = 2400;

void check_two(const State& state, int64_t first) {
  REQUIRE(state.attempts.size() == 2);
  CHECK(state.attempts[0].first_step == 1);
  CHECK(state.attempts[0].last_step == 120);
  CHECK(state.attempts[1].first_step == first);
  CHECK(state.attempts[1].last_step == 200);
  CHECK(!state.attempts[1].ended);
  for (const Series& series : state.series) {
    for (const Point& point : series.points()) CHECK((point.attempt == 1) == (point.step >= first));
  }
}

TEST_CASE("the log of the next attempt, whatever sink is read before or after it") {
  for (const bool clock : {true, false}) {
    for (const bool sink_first : {true, false}) {
      CAPTURE(clock);
      CAPTURE(sink_first);
      Files run;
      const auto sink = [&] {
        run.open(0, "metrics.jsonl", "jsonl");
        run.steps(0, 1, 120, 0, clock);
        run.steps(0, 121, 200, kLate, clock);
      };
      if (sink_first) sink();
      run.open(1, "slurm-7701.out");
      run.steps(1, 1, 120, 0);
      run.stop(1);
      run.open(2, "slurm-7702.out");
      run.steps(2, 121, 200, kLate);
      if (!sink_first) sink();
      check_two(run.state, 121);
      CHECK(run.state.attempts[0].ended.has_value());
    }
  }
}

TEST_CASE("logs without a clock, after a word of the end") {
  Files run;
  run.open(1, "slurm-7701.out");
  run.steps(1, 1, 120, 0, false);
  run.stop(1);
  run.open(2, "slurm-7702.out");
  run.steps(2, 121, 200, 0, false);
  check_two(run.state, 121);
}

TEST_CASE("a run that does the same steps again with the same figures") {
  Files run;
  run.open(1, "slurm-7701.out");
  run.steps(1, 1, 120, 0);
  run.stop(1);
  run.open(2, "slurm-7702.out");
  run.steps(2, 101, 200, kLate);
  REQUIRE(run.state.attempts.size() == 2);
  CHECK(run.state.attempts[1].first_step == 101);
  CHECK(run.state.attempts[0].last_step == 120);
}

TEST_CASE("a rotated log, a rank that began later and an evaluation afterwards are no attempts") {
  Files rotated, rank, evaluation;
  rotated.open(1, "train_1.log");
  rotated.steps(1, 1, 120, 0);
  rotated.open(2, "train_2.log");
  rotated.steps(2, 121, 200, 0);
  CHECK(rotated.state.attempts.size() == 1);

  rank.open(1, "node_0.log");
  rank.steps(1, 1, 200, 0);
  rank.stop(1);
  rank.open(2, "node_1.log");
  rank.steps(2, 50, 120, 5);
  CHECK(rank.state.attempts.size() == 1);

  evaluation.open(1, "train.log");
  evaluation.steps(1, 1, 200, 0);
  evaluation.say(1, event::Ended{event::Ended::How::kComplete, 0, "done"}, at(30 * 201));
  evaluation.open(2, "eval.log");
  evaluation.steps(2, 100, 120, 9000);
  CHECK(evaluation.state.attempts.size() == 1);
}

TEST_CASE("a start within one log whose line has no clock") {
  Files run;
  run.open(0, "metrics.jsonl", "jsonl");
  run.steps(0, 1, 120, 0);
  run.steps(0, 121, 200, kLate);
  run.open(1, "train.log");
  run.steps(1, 1, 120, 0);
  run.stop(1);
  run.say(1, event::Resumed{120, "ckpt/120"});
  run.steps(1, 121, 200, kLate);
  check_two(run.state, 121);
  CHECK(run.state.attempts[1].began.at.known());
}

TEST_CASE("a log whose name makes place for the next one's is the attempt before, also without clocks") {
  const auto attempts = [](const std::string& old, const std::string& now) {
    Files run;
    run.open(0, old);
    run.steps(0, 1, 120, 0, false);
    run.say(0, event::Ended{event::Ended::How::kFailed, 1, "CUDA out of memory"});
    run.open(1, now);
    run.steps(1, 118, 200, 0, false, 2);
    return run.state.attempts.size();
  };
  for (const std::string old : {"o/train.log.old", "o/train.log.bak", "o/train_old.log", "o/train.log.20261120",
                                "o/train-2026-11-20.log", "o/train.prev.log"})
    CHECK(attempts(old, "o/train.log") == 2);
  CHECK(attempts("o/run_a/train.log", "o/run_b/train.log") == 2);
  CHECK(attempts("o/rank_0/train.log", "o/rank_1/train.log") == 1);
  CHECK(attempts("o/eval.log", "o/train.log") == 1);
}

}  // namespace
}  // namespace mw
