#include "read/folder_runs.h"

#include <doctest/doctest.h>

#include <cmath>

#include "base/text.h"

namespace mw {
namespace {

using Names = std::vector<std::string>;

TEST_CASE("siblings with files of the same names may be runs") {
  CHECK(folders_like_runs("out/", {"out/run-a/train.log", "out/run-b/train.log"}) == Names{"out/run-a", "out/run-b"});
  CHECK(folders_like_runs("out", {"out/2026-01-01/12-00-00/train.log", "out/2026-01-02/09-00-00/train.log"}) ==
        Names{"out/2026-01-01", "out/2026-01-02"});
  CHECK(folders_like_runs("/", {"/run-a/train.log", "/run-b/train.log"}) == Names{"/run-a", "/run-b"});
  CHECK(folders_like_runs("out", {"out/a/tb/events.out.tfevents.17", "out/b/tb/events.out.tfevents.18"}) ==
        Names{"out/a", "out/b"});
  CHECK(folders_like_runs("out", {"out/project/a/metrics.jsonl", "out/project/b/metrics.jsonl"}) ==
        Names{"out/project/a", "out/project/b"});
}

TEST_CASE("components of one run are not") {
  for (const Names& files : std::vector<Names>{
           {"out/rank_0/stdout.log", "out/rank_1/stdout.log"},
           {"out/0/stdout.log", "out/1/stdout.log"},
           {"out/train/events.out.tfevents.1", "out/eval/events.out.tfevents.2"},
           {"out/checkpoint-100/trainer_state.json", "out/checkpoint-200/trainer_state.json"},
           {"out/attempt_1/train.log", "out/attempt_2/train.log"},
           {"out/wandb/run-20260101-ab/run-ab.wandb", "out/wandb/run-20260102-cd/run-cd.wandb"},
           {"out/trainer/log.txt", "out/orchestrator/log.txt"},
           {"out/run-a/train.log", "out/logs/train.log"},
           {"out/a.log", "out/b.log"},
           {},
       }) {
    CAPTURE(files.empty() ? std::string() : files.front());
    CHECK(folders_like_runs("out", files).empty());
  }
}

/// Steps from `first` to `last` of a run whose figures come from `seed`, from the time `began` in seconds on.
void measure_steps(State& state, uint32_t source, const std::string& path, int seed, int64_t first, int64_t last,
                   int64_t began) {
  fold(state, {{}, {source, 0}, event::SourceOpened{source, path, "jsonl", 0, 0, 0}});
  for (int64_t step = first; step <= last; ++step) {
    const double reward = 0.5 + 0.2 * std::sin(seed * 1.7 + static_cast<double>(step) * 2.3);
    fold(state, {Time{(1'770'000'000 + began + step * 60) * 1'000'000'000},
                 {source, static_cast<uint64_t>(step)},
                 event::Measured{step, false, {{"reward.mean", "reward", reward}, {"loss.total", "loss", 0.0}}}});
  }
}

const Names kTwo{"out/a", "out/b"};

TEST_CASE("two runs differ at the steps that both have, at the same time or one after the other") {
  for (const int64_t began : {0, 100'000}) {
    State state;
    measure_steps(state, 0, "out/a/m.jsonl", 1, 1, 40, 0);
    measure_steps(state, 1, "out/b/m.jsonl", 2, 1, 30, began);
    CHECK(runs_in_folders(state, kTwo) == std::vector<Names>{{"out/a"}, {"out/b"}});
  }
}

TEST_CASE("the same figures in two folders are one run") {
  State state;
  measure_steps(state, 0, "out/a/m.jsonl", 1, 1, 40, 0);
  measure_steps(state, 1, "out/b/m.jsonl", 1, 1, 40, 0);
  CHECK(runs_in_folders(state, kTwo).empty());
}

TEST_CASE("what continues in a second folder is one run, beside another") {
  State state;
  measure_steps(state, 0, "out/a/m.jsonl", 1, 1, 40, 0);
  measure_steps(state, 1, "out/b/m.jsonl", 2, 31, 80, 10'000);
  CHECK(runs_in_folders(state, kTwo).empty());
}

TEST_CASE("what was begun from a step of a run that was still at work, or done, is another run") {
  for (const int64_t began : {-900, 10'000}) {
    State state;
    measure_steps(state, 0, "out/a/m.jsonl", 1, 1, 60, 0);
    if (began > 0) fold(state, {{}, {0, 0}, event::Planned{60}});
    measure_steps(state, 1, "out/b/m.jsonl", 2, 31, 60, began);
    CHECK(runs_in_folders(state, kTwo) == std::vector<Names>{{"out/a"}, {"out/b"}});
  }
}

TEST_CASE("what logs each fifth step begins with the fifth, and continues nothing") {
  State state;
  measure_steps(state, 0, "out/a/m.jsonl", 1, 1, 60, 0);
  fold(state, {{}, {1, 0}, event::SourceOpened{1, "out/b/m.jsonl", "jsonl", 0, 0, 0}});
  for (int64_t step = 5; step <= 90; step += 5) {
    fold(state, {Time{(1'770'100'000 + step * 60) * 1'000'000'000},
                 {1, static_cast<uint64_t>(step)},
                 event::Measured{step, false, {{"loss.total", "loss", 1.0 / static_cast<double>(step)}}}});
  }
  CHECK(runs_in_folders(state, kTwo) == std::vector<Names>{{"out/a"}, {"out/b"}});
}

TEST_CASE("of two that it may continue it is the one with the similar name") {
  State state;
  measure_steps(state, 0, "out/lr-1e-6/m.jsonl", 1, 1, 40, 0);
  measure_steps(state, 1, "out/lr-1e-6-resumed/m.jsonl", 2, 31, 80, 10'000);
  measure_steps(state, 2, "out/kl-0/m.jsonl", 3, 1, 40, 100);
  CHECK(runs_in_folders(state, {"out/kl-0", "out/lr-1e-6", "out/lr-1e-6-resumed"}) ==
        std::vector<Names>{{"out/kl-0"}, {"out/lr-1e-6", "out/lr-1e-6-resumed"}});
}

TEST_CASE("a file with steps outside the folders makes it one run, one without does not") {
  State state;
  measure_steps(state, 0, "out/a/m.jsonl", 1, 1, 40, 0);
  measure_steps(state, 1, "out/b/m.jsonl", 2, 1, 40, 0);
  fold(state, {{}, {2, 0}, event::SourceOpened{2, "out/launcher.log", "text", 0, 0, 0}});
  CHECK(runs_in_folders(state, kTwo).size() == 2);
  measure_steps(state, 3, "out/all.jsonl", 1, 1, 40, 0);
  CHECK(runs_in_folders(state, kTwo).empty());
}

TEST_CASE("a folder in which nothing trained is no second run, but one beside two") {
  State state;
  measure_steps(state, 0, "out/a/m.jsonl", 1, 1, 40, 0);
  CHECK(runs_in_folders(state, kTwo).empty());
  measure_steps(state, 1, "out/b/m.jsonl", 2, 1, 40, 0);
  CHECK(runs_in_folders(state, {"out/a", "out/b", "out/c"}).size() == 3);
}

/// The log of a start that failed, so long after the beginning of time here.
void fail_at(State& state, uint32_t source, const std::string& path, int64_t began) {
  const Time at{(1'770'000'000 + began) * 1'000'000'000};
  fold(state, {{}, {source, 0}, event::SourceOpened{source, path, "text", 0, 0, 0}});
  fold(state, {at, {source, 1}, event::Planned{100}});
  event::TraceSeen trace;
  trace.exception = "ImportError";
  fold(state, {at, {source, 2}, std::move(trace)});
}

TEST_CASE("a start that failed at another time is a run of its own, a component that fails beside one is not") {
  for (const int64_t began : {100'000, -5'000}) {
    State state;
    measure_steps(state, 0, "out/a/m.jsonl", 1, 1, 40, 0);
    fail_at(state, 1, "out/b/train.log", began);
    CHECK(runs_in_folders(state, kTwo) == std::vector<Names>{{"out/a"}, {"out/b"}});
  }
  State state;
  measure_steps(state, 0, "out/a/m.jsonl", 1, 1, 40, 0);
  fail_at(state, 1, "out/b/judge.log", 1200);
  CHECK(runs_in_folders(state, kTwo).empty());
}

TEST_CASE("without a clock and without a figure in common other steps are another run's") {
  const auto runs = [](int64_t last) {
    State state;
    for (uint32_t source = 0; source < 2; ++source) {
      fold(state, {{}, {source, 0}, event::SourceOpened{source, source == 0 ? "out/a/x" : "out/b/x", "text", 0, 0, 0}});
      for (int64_t step = 1; step <= (source == 0 ? 60 : last); ++step) {
        const std::string name = source == 0 ? "reward.mean" : "entropy";
        const double value = 0.01 * static_cast<double>(step);
        fold(state, {{}, {source, static_cast<uint64_t>(step)}, event::Measured{step, false, {{name, name, value}}}});
      }
    }
    return runs_in_folders(state, kTwo).size();
  };
  CHECK(runs(60) == 0);
  CHECK(runs(59) == 2);
  CHECK(runs(20) == 2);
}

}  // namespace
}  // namespace mw
