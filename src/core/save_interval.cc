#include "core/save_interval.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/text.h"
#include "core/detect/tools/stats.h"
#include "core/shipments.h"

namespace mw {
namespace {

constexpr size_t kRecent = 100;        // points of a figure, the last ones
constexpr size_t kSaves = 3;           // that make a cadence
constexpr double kWorthSaying = 0.02;  // of the time
// Without a failure so far: Jeffreys' estimate of a rate is half an event in the time that was seen, and a run of less
// than a day has not shown much.
constexpr double kSeenLeast = 86400, kHalfAnEvent = 2;

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

/// Daly 2006 (Future Generation Computer Systems 22, equation 37), of which the first factor is Young's. What a restart
/// takes is lost with each failure however often the run saves: it moves nothing.
double optimum(double save_s, double lasts_s) {
  if (save_s >= 2 * lasts_s) return lasts_s;
  const double share = save_s / (2 * lasts_s);
  return std::sqrt(2 * save_s * lasts_s) * (1 + std::sqrt(share) / 3 + share / 9) - save_s;
}

/// s that it took to ship a checkpoint, as the median of the last ones; 0: none was shipped.
double upload_seconds(const State& state) {
  std::vector<double> took;
  for (const ActionState& action : state.actions) {
    if (is_ship(action) && action.done && action.ok && action.seconds > 0) took.push_back(action.seconds);
  }
  return took.empty() ? 0 : detect::median(std::move(took));
}

/// How long an attempt lasts on average; 0: not known.
double attempt_seconds(const State& state) {
  const double seen = (state.last_at - state.first_at).seconds();
  const auto failures = static_cast<double>(state.attempts.size() - 1);
  return failures > 0 ? seen / failures : seen >= kSeenLeast ? kHalfAnEvent * seen : 0;
}

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
  if (state.attempts.empty() || !state.first_at.known() || state.last_at <= state.first_at) return std::nullopt;
  SaveInterval out;
  out.save_s = save_seconds(state);
  out.step_s = step_seconds(state);
  out.steps = cadence(state);
  out.lasts_s = attempt_seconds(state);
  out.failed = state.attempts.size() > 1;
  out.upload_s = upload_seconds(state);
  if (out.save_s <= 0 || out.step_s <= 0 || out.steps <= 0 || out.lasts_s <= 0) return std::nullopt;
  // Where the next save comes before the last one is in the store, what a lost machine leaves there grows no newer.
  const double best_s = std::max(optimum(out.save_s, out.lasts_s), out.upload_s);
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
             found->upload_s > 0 ? cat(", shipping it ", format_duration(Duration::seconds(found->upload_s))) : "",
             found->failed ? ", an attempt lasts " : ", and an attempt that has not failed yet may last ",
             format_duration(Duration::seconds(found->lasts_s)), " on average (", format_short(found->lost * 100, 2),
             " % of the time)");
}

std::string save_change(const State& state, std::string_view setting) {
  const auto found = save_interval(state);
  if (!found || found->lost < kWorthSaying || setting.empty()) return "";
  return cat(setting, ": ", found->steps, " -> ", found->best);
}

}  // namespace mw
