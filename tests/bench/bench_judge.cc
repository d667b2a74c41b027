// CPU that judging costs a live watch: of one more step, and of a tick that brings nothing, by the length of the run,
// with the knowledge that is built in.
//
//   bench_judge [--detectors]     also what each detector takes at 10,000 steps: of a judgement that remembers nothing,
//                                 and of one more step
#include <algorithm>
#include <cstring>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "bench.h"
#include "core/advance.h"
#include "core/detect/detector.h"
#include "read/books/knowledge_base.h"

namespace {

using namespace mw;

// What a trainer shows, and around which level: the first 32 are what detectors look at.
struct Shown {
  const char* signal;
  double level, noise;
};
constexpr Shown kShown[] = {{"reward.mean", 0.45, 0.05},
                            {"reward.std", 0.3, 0.03},
                            {"reward.max", 1, 0},
                            {"reward.min", 0, 0},
                            {"reward.pass_rate", 0.4, 0.05},
                            {"reward.zero_std_groups", 0.3, 0.05},
                            {"loss.total", 0.02, 0.02},
                            {"loss.policy", 0.01, 0.02},
                            {"loss.value", 0.2, 0.02},
                            {"loss.kl", 0.001, 0.0001},
                            {"entropy", 0.6, 0.02},
                            {"kl.ref", 0.05, 0.005},
                            {"kl.step", 0.001, 0.0001},
                            {"grad_norm", 0.3, 0.05},
                            {"lr", 1e-6, 0},
                            {"clip.frac", 0.002, 0.0005},
                            {"ratio.mean", 1, 0.001},
                            {"mismatch.kl", 0.001, 0.0002},
                            {"mismatch.logp_diff", 0.01, 0.001},
                            {"mismatch.ratio", 1, 0.002},
                            {"staleness", 1, 0.2},
                            {"response.length", 900, 60},
                            {"response.length_max", 4096, 0},
                            {"response.truncated", 0.03, 0.01},
                            {"response.repetition", 0.01, 0.005},
                            {"response.aborted", 0.001, 0.0005},
                            {"format.pass_rate", 0.97, 0.01},
                            {"tools.failure_rate", 0.02, 0.01},
                            {"env.error_rate", 0.005, 0.002},
                            {"time.step", 30, 2},
                            {"time.rollout", 18, 1},
                            {"throughput.tokens", 40000, 2000}};
constexpr size_t kSignals = 50;
constexpr double kSecondsPerStep = 30;
constexpr double kMeasuredCpu = 6;   // s of CPU after which enough was measured
constexpr size_t kMostSteps = 4200;  // a long series is thinned once in 4,096 steps
constexpr size_t kTicks = 200;

/// A run whose figures stay at their level, but for noise; now and then a gradient jumps and heals.
struct Kind {
  uint32_t sources = 1;   ///< files with the same records
  bool troubled = false;  ///< lines of errors that it survives, steps without reward, and an entropy that is spent
};

class Run {
 public:
  Run(const Knowledge& knowledge, Kind kind) : knowledge_(knowledge), kind_(kind) {
    for (uint32_t i = 0; i < kind.sources; ++i) {
      fold(state_, {now_, {i, 0}, event::SourceOpened{i, "train-" + std::to_string(i), i == 0 ? "text" : "jsonl"}});
    }
  }
  /// Steps that nobody judged meanwhile.
  void go_on(int64_t steps) {
    for (; steps > 0; --steps) {
      for (Event& event : next()) fold(state_, event);
    }
  }
  void step() {
    for (const Event& event : next()) judge(event);
  }
  /// One more step that each detector judges alone; adds to the seconds that each took.
  void step_by_detector(std::vector<double>& took) {
    for (const Event& event : next()) fold(state_, event);
    memory_.begin();
    std::vector<Finding> out;
    for (size_t i = 0; i < all_detectors().size(); ++i) {
      const double began = bench::cpu_s();
      all_detectors()[i]->judge(state_, knowledge_, memory_, out);
      took[i] += bench::cpu_s() - began;
    }
  }
  void tick() {
    now_ = now_ + Duration::seconds(10);
    judge({now_, {}, event::Ticked{}});
  }
  const State& state() const { return state_; }
  const Knowledge& knowledge() const { return knowledge_; }

 private:
  void judge(const Event& event) {
    decided_.clear();
    advance(state_, event, knowledge_, memory_, Judge::kAlways, decided_);
  }

  std::vector<Event> next() {
    ++step_;
    now_ = now_ + Duration::seconds(kSecondsPerStep);
    event::Measured measured;
    measured.step = step_;
    for (size_t i = 0; i < kSignals; ++i) {
      if (i < std::size(kShown)) {
        const Shown& shown = kShown[i];
        const bool jumps = std::strcmp(shown.signal, "grad_norm") == 0 && step_ % 900 == 0;
        measured.readings.push_back(
            {shown.signal, shown.signal, (jumps ? 8 : 1) * (shown.level + shown.noise * any())});
      } else {
        measured.readings.push_back({"", "extra/" + std::to_string(i), any()});
      }
    }
    std::vector<Event> events;
    const auto line = static_cast<uint64_t>(step_) * 2;
    for (uint32_t i = 0; i < kind_.sources; ++i) events.push_back({now_, {i, line}, measured});
    if (kind_.troubled && step_ % 100 == 0) {
      events.push_back({now_, {0, line + 1}, event::Matched{kErrors[step_ / 100 % std::size(kErrors)], "an error"}});
    }
    return events;
  }

  double factor(std::string_view signal) const {
    if (signal == "grad_norm") return step_ % 900 == 0 ? 8 : 1;
    if (!kind_.troubled) return 1;
    if (signal == "reward.mean") return step_ % 11 == 0 ? 0 : 1;
    return signal == "entropy" && step_ > 300 ? 0.05 : 1;
  }

  /// Between -1 and 1, always the same sequence.
  double any() {
    seed_ = seed_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<double>(seed_ >> 11) / static_cast<double>(1ULL << 52) - 1;
  }

  static constexpr const char* kErrors[] = {"wandb-retrying-network", "api-connection-error-all-rollouts",
                                            "ray-actor-died"};

  const Knowledge& knowledge_;
  Kind kind_;
  State state_;
  JudgeMemory memory_;
  std::vector<Event> decided_;
  Time now_{1'760'000'000'000'000'000};
  int64_t step_ = 0;
  uint64_t seed_ = 4711;
};

void measure(bench::Table& table, const Knowledge& knowledge, int64_t steps, double most_ms, Kind kind = {}) {
  Run run(knowledge, kind);
  run.go_on(steps);
  run.step();  // the first judgement of a process begins at the beginning
  size_t done = 0;
  const double began = bench::cpu_s();
  double worst = 0, last = began;
  const size_t most = std::min(kMostSteps, static_cast<size_t>(steps));
  while (done < most && bench::cpu_s() - began < kMeasuredCpu) {
    run.step();
    ++done;
    const double now = bench::cpu_s();
    worst = std::max(worst, now - last);
    last = now;
  }
  const std::string what = kind.troubled ? ", troubled" : kind.sources > 1 ? ", logged twice" : "";
  const std::string at = " at " + std::to_string(steps) + " steps x " + std::to_string(kSignals) + " signals" + what;
  table.at_most("CPU of a step" + at, 1e3 * (last - began) / static_cast<double>(done), "ms", most_ms);
  table.figure("  the dearest of " + std::to_string(done), 1e3 * worst, "ms");
  const double idle = bench::cpu_s();
  size_t ticks = 0;
  while (ticks < kTicks && bench::cpu_s() - idle < kMeasuredCpu) {
    run.tick();
    ++ticks;
  }
  const double tick_s = (bench::cpu_s() - idle) / static_cast<double>(ticks);
  table.at_most("a core, idle, a tick every 10 s" + at, 100 * tick_s / 10, "%", 0.1);
}

void show_detectors(bench::Table& table, const Knowledge& knowledge, Kind kind) {
  Run run(knowledge, kind);
  run.go_on(10'000);
  for (const Detector* detector : all_detectors()) {
    constexpr size_t kTimes = 5;
    const double began = bench::cpu_s();
    size_t found = 0;
    for (size_t i = 0; i < kTimes; ++i) {
      std::vector<Finding> out;
      JudgeMemory none;
      detector->judge(run.state(), run.knowledge(), none, out);
      found = out.size();
    }
    const double ms = 1e3 * (bench::cpu_s() - began) / kTimes;
    if (ms > 0.02) table.figure(std::string(detector->name) + ", " + std::to_string(found) + " findings", ms, "ms");
  }
  constexpr size_t kSteps = 500;
  std::vector<double> took(all_detectors().size());
  run.step_by_detector(took);
  std::fill(took.begin(), took.end(), 0);
  for (size_t i = 0; i < kSteps; ++i) run.step_by_detector(took);
  for (size_t i = 0; i < took.size(); ++i) {
    const double ms = 1e3 * took[i] / kSteps;
    if (ms > 0.005) table.figure(std::string(all_detectors()[i]->name) + ", one more step", ms, "ms");
  }
}

}  // namespace

int main(int argc, char** argv) {
  const auto loaded = KnowledgeBase::load({});
  if (!loaded.ok()) return 2;
  const Knowledge& knowledge = (*loaded)->knowledge();
  bench::Table table;
  if (argc > 1 && std::strcmp(argv[1], "--detectors") == 0) show_detectors(table, knowledge, {1, argc > 2});
  measure(table, knowledge, 100, 2);
  measure(table, knowledge, 1'000, 2);
  measure(table, knowledge, 10'000, 2);
  measure(table, knowledge, 10'000, 2, {2, false});
  measure(table, knowledge, 10'000, 2, {1, true});
  measure(table, knowledge, 100'000, 5);
  table.figure("peak resident memory", bench::peak_rss_mb(), "MB");
  return table.status();
}
