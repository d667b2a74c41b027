#include "core/entropy_forecast.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/prng.h"
#include "core/detect/detector.h"
#include "core/judge_memory.h"

namespace mw {
namespace {

using Course = std::function<double(double step)>;

/// `steps` records of both, the entropy with noise of the share `noise`.
State run_of(int steps, const Course& entropy, const Course& reward, double noise = 0.02) {
  State state;
  Prng random(7);
  for (int i = 1; i <= steps; ++i) {
    const double off = noise * (2 * random.unit() - 1);
    event::Measured measured{i, false, {{"entropy", "h", entropy(i) * (1 + off)}}};
    if (reward) measured.readings.push_back({"reward.mean", "r", reward(i) + 0.01 * off});
    fold(state, {{}, {0, static_cast<uint64_t>(i)}, std::move(measured)});
  }
  return state;
}

/// At a tenth of its first level, the 0.594 of step 2, at step 93.
double as_power(double step) { return 0.9 * std::pow(step, -0.6); }

size_t findings(const State& state, std::vector<Finding>* out = nullptr) {
  std::vector<Finding> found;
  JudgeMemory memory;
  for (const Detector* one : all_detectors()) {
    if (one->name == "entropy-forecast") one->judge(state, {}, memory, found);
  }
  if (out != nullptr) *out = found;
  return found.size();
}

TEST_CASE("an entropy that falls as a power of the steps is at a tenth of its first level when it should be") {
  for (const int now : {40, 60, 80}) {
    CAPTURE(now);
    const auto next = forecast_entropy(run_of(now, as_power, nullptr));
    REQUIRE(next.has_value());
    CHECK(next->step >= 88);
    CHECK(next->step <= 98);
    CHECK(next->in_steps() == next->step - now);
  }
  CHECK_FALSE(forecast_entropy(run_of(110, as_power, nullptr)).has_value());  // it is there
  CHECK_FALSE(forecast_entropy(run_of(29, as_power, nullptr)).has_value());   // a beginning
}

TEST_CASE("what levels off, stands, swings or rises has no end") {
  const auto none = [](const Course& entropy, double noise = 0.02) {
    return !forecast_entropy(run_of(90, entropy, nullptr, noise)).has_value();
  };
  CHECK(none([](double step) { return 0.3 + 0.5 * std::exp2(-step / 15); }));
  CHECK(none([](double) { return 0.5; }));
  CHECK(none([](double step) { return 0.5 + 0.2 * std::sin(step / 5); }));
  CHECK(none([](double step) { return 0.1 * std::exp2(step / 60); }));
  CHECK(none([](double step) { return 0.8 * std::exp2(-step / 300); }));  // too far away to be known
  CHECK(none([](double step) { return 0.9 * std::pow(step, -0.3); }));    // likewise
  CHECK(none(as_power, 0.99));                                            // too noisy
  CHECK(none([](double step) { return step < 80 ? as_power(step) : 0; }));
}

TEST_CASE("a floor behind the end of the plan, or of an attempt that is over, is no forecast") {
  State state = run_of(60, as_power, nullptr);
  fold(state, {{}, {0, 100}, event::Planned{85}});
  CHECK_FALSE(forecast_entropy(state).has_value());
  fold(state, {{}, {0, 101}, event::Planned{500}});
  CHECK(forecast_entropy(state).has_value());
  fold(state, {{}, {0, 102}, event::Ended{}});
  CHECK_FALSE(forecast_entropy(state).has_value());
}

TEST_CASE("the reward at the floor comes from the law, where the run follows it") {
  const auto by_law = [](double step) { return 0.9 - 0.3 * std::exp(as_power(step)); };
  const State state = run_of(60, as_power, by_law, 0.005);
  const auto law = entropy_law(state);
  REQUIRE(law.has_value());
  CHECK(law->a == doctest::Approx(0.3).epsilon(0.05));
  CHECK(law->b == doctest::Approx(0.9).epsilon(0.05));
  CHECK(entropy_forecast_text(state).find("the reward would then be about 0.5") != std::string::npos);
  CHECK_FALSE(entropy_law(run_of(60, as_power, [](double) { return 0.4; })).has_value());
  CHECK(entropy_forecast_text(State()).empty());
}

TEST_CASE("it is news where the reward stands, and only then") {
  std::vector<Finding> found;
  REQUIRE(findings(run_of(80, as_power, [](double) { return 0.4; }), &found) == 1);
  CHECK(found[0].severity == Severity::kInfo);
  CHECK(found[0].detected.step >= 45);  // the floor, at about step 93, is nearer than 50 steps
  CHECK(found[0].detected.step <= 60);
  CHECK(findings(run_of(80, as_power, [](double step) { return 0.2 + 0.005 * step; })) == 0);
  CHECK(findings(run_of(80, as_power, [](double) { return 0.97; })) == 0);  // solved
  CHECK(findings(run_of(80, as_power, nullptr)) == 0);
  CHECK(findings(run_of(40, as_power, [](double) { return 0.4; })) == 0);  // still far
}

TEST_CASE("with logarithms kept from record to record it is what it is without") {
  const auto dips = [](double step) { return step == 700 ? -0.1 : 30 * std::pow(step, -0.3); };
  const State state = run_of(1500, dips, nullptr);
  const std::vector<detect::Track> tracks = detect::tracks_of(state.find("entropy"));
  REQUIRE(tracks.size() == 1);
  EntropyLogs kept;
  size_t same = 0, known = 0;
  for (size_t i = 0; i < tracks[0].size(); ++i) {
    const auto with = forecast_entropy(tracks[0], i, kept), without = forecast_entropy(tracks[0], i);
    known += without ? 1 : 0;
    same += with.has_value() == without.has_value() &&
                    (!with || (with->step == without->step && with->level == without->level))
                ? 1
                : 0;
  }
  CHECK(same == tracks[0].size());
  CHECK(known > 0);
  CHECK(known < 1100);  // none whose records hold the dip
}

/// Whether the newest records up to `end` lie on a falling line of some fit, and that reaches the floor ahead.
bool falls_along_line(const detect::Track& track, size_t end, double* fit) {
  const size_t since = end + 1 - std::min<size_t>(end + 1, 400);
  const auto n = static_cast<double>(end + 1 - since);
  double x_mean = 0, y_mean = 0, spread = 0, mixed = 0, total = 0;
  for (size_t i = since; i <= end; ++i) {
    x_mean += std::log(static_cast<double>(track.points[i].step)) / n;
    y_mean += std::log(track.values[i]) / n;
  }
  for (size_t i = since; i <= end; ++i) {
    const double x = std::log(static_cast<double>(track.points[i].step)) - x_mean;
    const double y = std::log(track.values[i]) - y_mean;
    spread += x * x, mixed += x * y, total += y * y;
  }
  std::vector<double> first(track.values.begin(), track.values.begin() + 5), ones(first.begin(), first.begin() + 3);
  std::sort(first.begin(), first.end());
  std::sort(ones.begin(), ones.end());
  const double floor = EntropyForecast::kFloor * std::max(first[2], ones[1]), slope = mixed / spread;
  const double where = x_mean + (std::log(floor) - y_mean) / slope;
  *fit = slope * mixed / total;
  return slope < 0 && *fit >= 0.8 && where <= std::log(1e9) &&
         std::exp(where) > static_cast<double>(track.points[end].step) + 0.5;
}

TEST_CASE("whether there is a line is decided as the records themselves have it, where the fit is close, too") {
  size_t with = 0, close = 0, all = 0;
  for (const double noise : {0.05, 0.2, 0.35, 0.5, 0.65, 0.8}) {
    const State state = run_of(
        900, [](double step) { return 30 * std::pow(step, -0.3); }, nullptr, noise);
    const std::vector<detect::Track> tracks = detect::tracks_of(state.find("entropy"));
    EntropyLogs kept;
    for (size_t i = 29; i < tracks[0].size(); ++i, ++all) {
      double fit = 0;
      const bool expected = falls_along_line(tracks[0], i, &fit);
      close += std::abs(fit - 0.8) < 0.005 ? 1 : 0;
      with += expected ? 1 : 0;
      REQUIRE(forecast_entropy(tracks[0], i, kept).has_value() == expected);
    }
  }
  CHECK(with > 100);
  CHECK(with < all - 100);
  CHECK(close > 10);
}

}  // namespace
}  // namespace mw
