#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/text.h"
#include "core/save_interval.h"
#include "sim/goodput_midwatch.h"
#include "sim/goodput_table.h"

namespace mw::sim::goodput {
namespace {

constexpr double kStart = 1'700'000'000;
constexpr uint64_t kPilots = 15;  // runs whose advice is asked for
constexpr int64_t kSweep[] = {1, 2, 3, 4, 5, 7, 10, 14, 20, 30, 50};

/// The state of a run as its log tells it.
State state_of(const std::vector<Trainer::Life>& lives, const Costs& costs) {
  State state;
  uint64_t line = 0;
  double at = kStart;
  const auto say = [&](decltype(Event::body) body) {
    fold(state, {Time::from_seconds(at), {0, ++line}, std::move(body)});
  };
  say(event::SourceOpened{0, "train.log", "text", 1000});
  for (const Trainer::Life& life : lives) {
    at = kStart + life.began;
    say(event::AttemptBegan{"launcher"});
    if (life.from > 0) say(event::Resumed{life.from, ""});
    at += costs.start;
    for (int64_t step = life.from + 1; step <= life.to; ++step) {
      at += costs.step;
      say(event::Measured{step, false, {{"time.step", "time", costs.step}}});
      if (step % costs.every != 0) continue;
      at += costs.save;
      say(event::Measured{step, false, {{"time.save", "save", costs.save}}});
      say(event::CheckpointSaved{step, "", true});
    }
  }
  return state;
}

/// Mean time between faults that cost steps.
double between_faults(const Setting& setting) {
  double sum = 0;
  for (size_t fault = 0; fault <= static_cast<size_t>(Fault::kOutbid); ++fault) sum += setting.per_day[fault];
  return kDay / sum;
}

int64_t in_steps(double seconds, const Costs& costs) {
  return std::max<int64_t>(1, std::llround(seconds / costs.step));
}

double mean_ettr(Plan plan, const Eyes& eyes, int64_t every) {
  plan.policies = {"midwatch-unattended"};
  plan.setting.costs.every = every;
  double good = 0, all = 0;
  const auto rows = play(plan, eyes);
  for (const Books& one : rows.front().runs) good += one.good, all += one.total();
  return good / all;
}

}  // namespace

int64_t advised_interval(const Plan& plan, const Eyes& eyes) {
  std::vector<int64_t> all;
  for (uint64_t i = 0; i < kPilots; ++i) {
    const World world(plan.setting, plan.seed + i);
    const auto policy = make_midwatch(world, eyes.acts, false);
    std::vector<Trainer::Life> log;
    live(world, *policy, plan.setting.costs.every, &log);
    if (const auto found = save_interval(state_of(log, plan.setting.costs))) all.push_back(found->best);
  }
  std::sort(all.begin(), all.end());
  return all.empty() ? plan.setting.costs.every : all[all.size() / 2];
}

std::string intervals_text(const Plan& plan, const Eyes& eyes) {
  const Costs& costs = plan.setting.costs;
  const double mean = between_faults(plan.setting);
  const double young = std::sqrt(2 * costs.save * mean);
  const double ratio = std::sqrt(costs.save / (2 * mean));
  const double daly = young * (1 + ratio / 3 + ratio * ratio / 9) - costs.save;
  struct Line {
    std::string name;
    int64_t every;
    double ettr;
  };
  std::vector<Line> lines = {{"Young", in_steps(young, costs), 0},
                             {"Daly", in_steps(daly, costs), 0},
                             {"midwatch's advice", advised_interval(plan, eyes), 0},
                             {"as the report", costs.every, 0}};
  for (Line& one : lines) one.ettr = mean_ettr(plan, eyes, one.every);
  Line best{"best of a sweep", 1, 0};
  for (const int64_t every : kSweep) {
    const double ettr = mean_ettr(plan, eyes, every);
    if (ettr > best.ettr) best = {best.name, every, ettr};
  }
  lines.push_back(best);
  std::string out =
      cat("World \"", plan.setting.name, "\", a save takes ", costs.save, " s, a fault every ",
          format_duration(Duration::seconds(mean)), ", ", plan.runs, " runs of ", plan.setting.days,
          " days, seeds from ", plan.seed, "\n\n| interval | steps | minutes | mean ETTR |\n|---|---|---|---|\n");
  for (const Line& one : lines) {
    char text[96];
    std::snprintf(text, sizeof text, " | %lld | %.1f | %.4f |\n", static_cast<long long>(one.every),
                  static_cast<double>(one.every) * costs.step / kMinute, one.ettr);
    out += cat("| ", one.name, text);
  }
  return out;
}

}  // namespace mw::sim::goodput
