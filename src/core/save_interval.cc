#include "core/save_interval.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/text.h"
#include "core/detect/tools/stats.h"

namespace mw {
namespace {

constexpr size_t kRecent = 100;        // points of a figure, the last ones
constexpr size_t kSaves = 3;           // that make a cadence
constexpr double kWorthSaying = 0.02;  // of the time

/// The median of the last points; 0 when there is none.
double recent(const State& state, std::string_view signal) {
  const Series* series = state.find(signal);
  std::vector<double> values;
  for (size_t i = series == nullptr ? 0 : series->points().size(); i-- > 0 && values.size() < kRecent;) {
    const double value = series->points()[i].value;
    if (std::isfinite(value) && value > 0) values.push_back(value);
  }
  return values.empty() ? 0 : detect::median(values);
}

/// Steps between the saves of the last attempt; 0 while there are too few.
int64_t cadence(const State& state) {
  std::vector<double> gaps;
  int64_t last = kNoStep;
  for (const auto& [moment, saved] : state.checkpoints) {
    if (moment.attempt + 1U != state.attempts.size() || saved.step == kNoStep) continue;
    if (last != kNoStep && saved.step > last) gaps.push_back(static_cast<double>(saved.step - last));
    last = saved.step;
  }
  return gaps.size() + 1 < kSaves ? 0 : static_cast<int64_t>(detect::median(gaps));
}

/// What a failure costs on average, and the saves, as a share of the time.
double cost(double interval_s, const SaveInterval& of) { return of.save_s / interval_s + interval_s / 2 / of.lasts_s; }

std::string steps_text(int64_t steps, double step_s) {
  return cat(steps, steps == 1 ? " step (" : " steps (",
             format_duration(Duration::seconds(static_cast<double>(steps) * step_s)), ")");
}

}  // namespace

double step_seconds(const State& state) { return recent(state, "time.step"); }

double save_seconds(const State& state) {
  if (const double measured = recent(state, "time.save"); measured > 0) return measured;
  const auto phase = state.phases.find("save");
  return phase == state.phases.end() || phase->second.times == 0
             ? 0
             : phase->second.seconds_sum / static_cast<double>(phase->second.times);
}

std::optional<SaveInterval> save_interval(const State& state) {
  if (state.attempts.size() < 2 || !state.first_at.known() || state.last_at <= state.first_at) return std::nullopt;
  SaveInterval out;
  out.save_s = save_seconds(state);
  out.step_s = step_seconds(state);
  out.steps = cadence(state);
  out.lasts_s = (state.last_at - state.first_at).seconds() / static_cast<double>(state.attempts.size() - 1);
  if (out.save_s <= 0 || out.step_s <= 0 || out.steps <= 0) return std::nullopt;
  const double best_s = std::sqrt(2 * out.save_s * out.lasts_s);
  out.best = std::max<int64_t>(1, std::llround(best_s / out.step_s));
  out.lost =
      cost(static_cast<double>(out.steps) * out.step_s, out) - cost(static_cast<double>(out.best) * out.step_s, out);
  return out;
}

std::string save_advice(const State& state) {
  const auto found = save_interval(state);
  if (!found || found->lost < kWorthSaying) return "";
  return cat("every ", steps_text(found->steps, found->step_s), "; every ", steps_text(found->best, found->step_s),
             " would cost least: a save takes ", format_duration(Duration::seconds(found->save_s)),
             ", an attempt lasts ", format_duration(Duration::seconds(found->lasts_s)), " on average (",
             format_short(found->lost * 100, 2), " % of the time)");
}

std::string save_change(const State& state, std::string_view setting) {
  const auto found = save_interval(state);
  if (!found || found->lost < kWorthSaying || setting.empty()) return "";
  return cat(setting, ": ", found->steps, " -> ", found->best);
}

}  // namespace mw
