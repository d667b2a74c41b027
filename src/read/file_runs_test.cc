// Which files of one folder are runs of their own.
#include <doctest/doctest.h>

#include <cmath>

#include "base/text.h"
#include "read/folder_runs.h"
#include "read/older_runs.h"

namespace mw {
namespace {

using Names = std::vector<std::string>;

struct File {
  std::string path;
  int seed = 1;
  int64_t first = 1, last = 60;
  std::string kind = "text";
  bool norm_of_all = false;  ///< the norm of the gradients is that of the first seed
  double began = 0;          ///< by its clocks, seconds; 0: it has none
  int64_t moved = 0;         ///< steps by which its figures stand later
  int64_t still = 0;         ///< up to this step nothing is learnt
  int64_t every = 1;         ///< steps between two records
  bool rewarded = true;
  int64_t outage = 1'000;  ///< from this step on reward, loss and gradients are zero
  int64_t plan = 0;        ///< steps; 0: it names none
};

State state_of_files(const std::vector<File>& files) {
  State state;
  for (uint32_t source = 0; source < files.size(); ++source) {
    const File& file = files[source];
    fold(state, {{}, {source, 0}, event::SourceOpened{source, file.path, file.kind, 0, 0, 0}});
    if (file.plan > 0) fold(state, {{}, {source, 0}, event::Planned{file.plan}});
    for (int64_t step = file.first; step <= file.last; step += file.every) {
      const auto figure = [&file, step](int seed, double by) {
        if (step >= file.outage) return 0.0;
        return 0.5 + 0.4 * std::sin(seed * 1.7 + static_cast<double>(step - file.moved) * by);
      };
      const double seconds = file.began + 30 * static_cast<double>(step);
      event::Measured measured{
          step,
          false,
          {{"loss.total", "loss", figure(file.seed, 1.1)},
           {"grad_norm", "grad_norm", step <= file.still ? 0 : figure(file.norm_of_all ? 1 : file.seed, 3.1)},
           {"kl.ref", "kl", 0.001 * static_cast<double>(step)}}};
      if (file.rewarded) measured.readings.push_back({"reward.mean", "reward", figure(file.seed, 2.3)});
      fold(state, {file.began > 0 ? Time::from_seconds(seconds) : Time{},
                   {source, static_cast<uint64_t>(step)},
                   std::move(measured)});
    }
  }
  return state;
}

std::vector<Names> runs(const std::vector<File>& files) { return runs_in_files(state_of_files(files)); }

TEST_CASE("logs of two seeds, days or settings beside each other are two runs") {
  CHECK(runs({{"logs/run_seed1.log", 1}, {"logs/run_seed2.log", 2}}) ==
        std::vector<Names>{{"logs/run_seed1.log"}, {"logs/run_seed2.log"}});
  CHECK(runs({{"logs/train_0501.log", 1}, {"logs/train_0503.log", 2}}).size() == 2);
  CHECK(runs({{"logs/baseline.jsonl", 1, 1, 60, "jsonl"}, {"logs/no_kl.jsonl", 2, 1, 60, "jsonl"}}).size() == 2);
  CHECK(runs({{"logs/seed1.log", 1}, {"logs/seed2.log", 2, 1, 30}}).size() == 2);
  CHECK(runs({{"a.log", 1}, {"b.log", 2}, {"c.log", 3}}).size() == 3);
}

TEST_CASE("arms of an experiment that are called as machines, devices and jobs are have gradients of their own") {
  for (const std::string path :
       {"o/gpu*.log", "o/node_*.log", "o/worker*.jsonl", "m/2026-01-15/10-00-00/*/train.log", "o/77*/train.log",
        "o/gpu_*/train.log", "o/wandb/run-20260115_10000*-ab*/files/output.log"}) {
    const auto named = [&path](int number) {
      std::string out;
      for (const char c : path) out += c == '*' ? std::to_string(number) : std::string(1, c);
      return out;
    };
    CAPTURE(path);
    CHECK(runs({{named(0), 1}, {named(1), 2, 1, 30}, {named(2), 3}}).size() == 3);
    CHECK(runs({{named(0), 1}, {named(1), 2, 1, 60, "text", true}}).empty());  // ranks
    CHECK(runs({{named(0), 1}, {named(1), 1}}).empty());
    CHECK(runs({{named(0), 1, 1, 60, "text", false, 0, 0, 40}, {named(1), 2, 1, 60, "text", false, 0, 0, 40}}).size() ==
          2);
    CHECK(runs({{named(0), 1}, {named(1), 2, 1, 8}}).empty());     // too few steps to say so
    CHECK(runs({{named(0), 1}, {named(1), 2, 51, 120}}).empty());  // goes on
  }
  CHECK(runs({{"o/attempt_0/0/stdout.log", 1}, {"o/attempt_0/1/stdout.log", 2}}).empty());  // torchrun's
  CHECK(runs({{"o/0/train.log", 1}, {"o/0/err.txt", 9, 1, 0}, {"o/1/train.log", 2}, {"o/1/err.txt", 9, 1, 0}}) ==
        std::vector<Names>{{"o/0/train.log", "o/0/err.txt"}, {"o/1/train.log", "o/1/err.txt"}});
}

TEST_CASE("views, ranks, and what continues in another file are one run") {
  for (const auto& files : std::vector<std::vector<File>>{
           {{"out/run.log", 1}, {"out/metrics.csv", 1, 1, 60, "csv"}},
           {{"out/rank0.log", 1}, {"out/rank1.log", 2}},
           {{"out/train.csv", 1, 1, 60, "csv"}, {"out/eval.csv", 2, 1, 60, "csv"}},
           {{"out/actor.log", 1}, {"out/critic.log", 2}},
           {{"out/log_0.txt", 1}, {"out/log_1.txt", 2, 1, 60, "text", true}},
           {{"out/run_1.log", 1}, {"out/run_2.log", 2, 51, 120}},
           {{"out/run.log", 1}, {"out/run_restart.log", 2}},
           {{"out/events.1", 1, 1, 60, "tfevents"}, {"out/events.2", 2, 1, 60, "tfevents"}},
           {{"out/a/train.log", 1}, {"out/b/train.log", 2}},
           {{"out/run_1.log", 1}},
           {},
       }) {
    CAPTURE(files.empty() ? std::string() : files.front().path);
    CHECK(runs(files).empty());
  }
}

TEST_CASE("a run that was begun from a step of another one is no later attempt of it") {
  const auto with = [](double began, int64_t first, int64_t last, int64_t plan = 0) {
    return runs({{"o/lr1.log", 1, 1, 60, "text", false, 1e9, 0, 0, 1, true, 1000, plan},
                 {"o/lr3_from30.log", 2, first, last, "text", false, began, 0, 0, 1, true, 1000, plan}})
        .size();
  };
  CHECK(with(1e9 - 300, 31, 60) == 2);       // while the other one is at work
  CHECK(with(1e9 + 7200, 31, 60) == 0);      // attempts
  CHECK(with(1e9 + 7200, 31, 60, 60) == 2);  // all that was planned had been done
  CHECK(with(1e9 + 7200, 31, 90, 90) == 0);  // more is planned
  CHECK(with(1e9 - 300, 58, 90) == 0);       // the one before hung, and was killed later
}

TEST_CASE("the logs of two stages of a training are two runs") {
  const File rl = {"o/grpo.log", 1, 1, 200};
  const auto beside = [&rl](const std::string& path, int64_t every, bool rewarded) {
    return runs({rl, {path, 2, every, 300, "text", false, 0, 0, 0, every, rewarded}}).size();
  };
  CHECK(beside("o/sft.log", 5, false) == 2);
  CHECK(beside("o/sft.log", 1, false) == 2);
  CHECK(beside("o/sft.log", 20, false) == 2);  // its first record is of a step in the middle
  CHECK(beside("o/critic.log", 5, false) == 0);
  CHECK(runs({rl, {"o/sft.log", 1, 5, 300, "text", false, 0, 0, 0, 5, false}}).empty());  // its figures
}

TEST_CASE("runs of a sweep that are hit by one outage have the rest of their figures") {
  std::vector<File> sweep;
  for (int i = 1; i <= 4; ++i) {
    File file = {"o/lr" + std::to_string(i) + "e-7.log", i, 1, 120};
    file.outage = 61;
    sweep.push_back(file);
  }
  CHECK(runs(sweep).size() == 4);
}

TEST_CASE("an older run's figures beside a newer one's log are another run's") {
  const File log = {"o/train.log", 1, 1, 40, "text", false, 1e9};
  const auto beside = [&log](const File& metrics) { return runs({log, metrics}); };
  const std::vector<Names> two = {{"o/metrics.jsonl"}, {"o/train.log"}};
  CHECK(beside({"o/metrics.jsonl", 2, 1, 60, "jsonl", false, 1e9 - 3 * 86400}) == two);
  CHECK(beside({"o/metrics.jsonl", 2, 1, 60, "jsonl"}) == two);                       // by the norms
  CHECK(beside({"o/metrics.jsonl", 2, 1, 60, "jsonl", true}).empty());                // a rank's own rewards
  CHECK(beside({"o/metrics.jsonl", 1, 1, 60, "jsonl", false, 1e9 - 86400}).empty());  // the same figures
  CHECK(beside({"o/metrics.jsonl", 1, 1, 60, "jsonl", false, 1e9, 1}).empty());       // counted from one
  CHECK(beside({"o/eval_metrics.jsonl", 2, 1, 60, "jsonl", false, 1e9 - 86400}).empty());
}

TEST_CASE("an older run's records below the folder of a newer one's log are another run's") {
  const File log = {"o/train.log", 1, 1, 40, "text", false, 1e9};
  const auto beside = [&log](const File& record) { return runs({log, record}).size(); };
  const double before = 1e9 - 3 * 86400;
  CHECK(beside({"o/wandb/run-1/run-ab12.wandb", 2, 1, 60, "wandb", false, before}) == 2);
  CHECK(beside({"o/runs/Nov17/events.out.tfevents.1", 2, 1, 60, "tfevents", false, before}) == 2);
  CHECK(beside({"o/old/metrics.jsonl", 2, 1, 60, "jsonl", false, before}) == 2);
  CHECK(beside({"o/checkpoint-60/trainer_state.json", 2, 1, 60, "json"}) == 2);            // by the norms
  CHECK(beside({"o/checkpoint-60/trainer_state.json", 1, 1, 60, "json"}) == 0);            // the same figures
  CHECK(beside({"o/wandb/run-1/run-ab12.wandb", 2, 1, 60, "wandb", false, 1e9}) == 0);     // at the same time
  CHECK(beside({"o/wandb/run-1/run-ab12.wandb", 1, 1, 60, "wandb", false, before}) == 0);  // a clock that is wrong
  CHECK(beside({"o/old/metrics.jsonl", 2, 1, 60, "jsonl", true, before}) == 0);  // one of the figures is the same
  CHECK(beside({"o/rank_1/metrics.csv", 2, 1, 60, "csv"}) == 0);
  CHECK(beside({"o/critic/metrics.csv", 2, 1, 60, "csv"}) == 0);
  const File old_record = {"o/wandb/run-1/run-1.wandb", 2, 1, 60, "wandb", false, before};
  const File record = {"o/wandb/run-2/run-2.wandb", 1, 1, 40, "wandb", false, 1e9};
  CHECK(runs({old_record, record}).size() == 2);
  CHECK(runs({log, old_record, record}) ==
        std::vector<Names>{{"o/train.log", "o/wandb/run-2/run-2.wandb"}, {"o/wandb/run-1/run-1.wandb"}});
  // A log that was written while both were is of both: the second is another attempt.
  CHECK(runs({{"o/nohup.out", 3, 1, 9000, "text", false, before}, old_record, record}).empty());
}

TEST_CASE("a run takes the files with its figures and its name with it") {
  CHECK(runs({{"l/seed1.log", 1},
              {"l/seed2.log", 2},
              {"l/second.csv", 2, 1, 60, "csv"},
              {"l/seed1.err", 9, 1, 0},
              {"l/nohup.out", 9, 1, 0}}) ==
        std::vector<Names>{{"l/nohup.out"}, {"l/seed1.log", "l/seed1.err"}, {"l/seed2.log", "l/second.csv"}});
}

TEST_CASE("a log that appears beside one that is further and counts from the beginning is another run's") {
  const auto begins = [](const std::string& path, int seed, int64_t step, bool quiet = false) {
    State state = state_of_files({{"out/run1.log", 1}});
    fold(state, {{}, {1, 0}, event::SourceOpened{1, path, "text", 0, 0, 0}});
    const State other = state_of_files({{path, seed, step, step}});
    event::Measured measured{step, false, {}};
    for (const Series& series : other.series)
      measured.readings.push_back({series.signal, series.raw, series.points().back().value});
    return begins_another_run(state, 1, measured, [quiet](const std::string&) { return quiet; });
  };
  CHECK(begins("out/run2.log", 2, 1));
  CHECK_FALSE(begins("out/run2.log", 1, 1));   // the same figures
  CHECK_FALSE(begins("out/run2.log", 2, 58));  // goes on
  CHECK_FALSE(begins("out/rank1.log", 2, 1));
  CHECK_FALSE(begins("out/eval/run2.log", 2, 1));
  CHECK(begins("out/new.log", 2, 1, true));  // the other one was not written for long
  CHECK(begins("later/run2.log", 2, 1, true));
  CHECK_FALSE(begins("out/rank1.log", 2, 1, true));
  CHECK_FALSE(begins("out/new.log", 1, 1, true));
  CHECK_FALSE(begins("out/new.log", 2, 61, true));
}

TEST_CASE("of several runs' logs the one that was written last is the run that is watched") {
  const auto older = [](const std::vector<File>& files, const std::vector<int64_t>& seconds_ago) {
    std::vector<FoundFile> found;
    for (size_t i = 0; i < files.size(); ++i) {
      FileInfo info;
      info.changed = {(10'000 - seconds_ago[i]) * 1'000'000'000};
      found.push_back({files[i].path, info, false, {}});
    }
    return older_runs(state_of_files(files), found);
  };
  const std::vector<File> two = {{"out/new.log", 1, 1, 6}, {"out/old.log", 2, 1, 30}};
  CHECK(older(two, {0, 5000}) == Names{"out/old.log"});
  CHECK(older(two, {0, 6}) == Names{"out/old.log"});  // written before the newer one, and yet further
  CHECK(older(two, {0, 2}).empty());
  CHECK(older({{"o/b/train.log", 1, 1, 6}, {"o/a/train.log", 2}, {"o/a/cfg/x.yaml", 9, 1, 0}}, {0, 900, 5000}) ==
        Names{"o/a/train.log", "o/a/cfg/x.yaml"});
  CHECK(older({{"out/new.log", 1, 1, 60}, {"out/old.log", 2, 1, 30}}, {0, 5000}) == Names{"out/old.log"});
  CHECK(older({{"out/new.log", 1, 1, 60}, {"out/old.log", 2, 1, 30}}, {0, 30}).empty());
  CHECK(older({{"out/new.log", 1, 1, 6}, {"out/old.log", 2}, {"out/old.err", 9, 1, 0}, {"out/new.err", 9, 1, 0}},
              {0, 900, 900, 900}) == Names{"out/old.log", "out/old.err"});
  CHECK(older({{"out/run.log", 1, 1, 30}, {"out/run.csv", 1, 1, 25, "csv"}}, {0, 900}).empty());  // a view
  CHECK(older({{"out/run2.log", 1, 21, 40}, {"out/run1.log", 2, 1, 30}}, {0, 900}).empty());      // resumed
  CHECK(older({{"out/rank0.log", 1, 1, 30}, {"out/rank1.log", 2, 1, 20}}, {0, 900}).empty());     // it hangs
  CHECK(older({{"out/log_0.txt", 1, 1, 30}, {"out/log_1.txt", 2, 1, 20, "text", true}}, {0, 900}).empty());
  CHECK(older({{"out/log_0.txt", 1, 1, 30}, {"out/log_1.txt", 2, 1, 20}}, {0, 900}) == Names{"out/log_1.txt"});
  CHECK(older({{"out/train.log", 1, 1, 30}, {"out/metrics.jsonl", 2, 1, 60, "jsonl"}}, {0, 900}) ==
        Names{"out/metrics.jsonl"});
  CHECK(older({{"out/train.log", 1, 1, 30}, {"out/metrics.jsonl", 1, 1, 60, "jsonl"}}, {0, 900}).empty());
  CHECK(older({{"out/eval.log", 1, 1, 3}, {"out/train.log", 2, 1, 30}}, {0, 900}).empty());
  CHECK(older({{"out/checkpoint-9/log.jsonl", 1, 1, 3, "jsonl"}, {"out/train.log", 2}}, {0, 900}).empty());
}

}  // namespace
}  // namespace mw
