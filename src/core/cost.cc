#include "core/cost.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/text.h"
#include "core/written_span.h"

namespace mw {
namespace {

constexpr double kHour = 3600;
constexpr double kWhole = 10'000;  // from here on cents say nothing

/// Nobody saw it end, as midwatch itself or the machine had gone: the last sign of the watch before counts, not the
/// time when the next watch found it gone.
Time last_seen(const State& state, const SupervisedAttempt& attempt) {
  Time watch;
  for (const auto& [at, began] : state.supervision.watches) {
    if (at > attempt.started_at && at <= attempt.exited_at) watch = at;
  }
  if (!watch.known()) return attempt.exited_at;
  Time seen = attempt.started_at;
  for (const Tick& tick : state.ticks) {
    if (tick.at < watch) seen = std::max(seen, tick.at);
  }
  return seen;
}

double supervised_seconds(const State& state) {
  double seconds = 0;
  for (const SupervisedAttempt& attempt : state.supervision.attempts) {
    const Time end = supervised_end(state, attempt);
    if (attempt.started_at.known() && end > attempt.started_at) seconds += (end - attempt.started_at).seconds();
  }
  return seconds;
}

/// Where no line has a clock: as long as the steps say that they took. Those that were not seen took as long.
double seconds_of_steps(const State& state) {
  const Series* took = state.find("time.step");
  if (took == nullptr || took->empty()) return 0;
  double sum = 0;
  size_t count = 0;
  for (const Point& point : took->points()) {
    if (!std::isfinite(point.value) || point.value < 0) continue;
    sum += point.value;
    ++count;
  }
  const State::Span steps = state.steps();
  const auto spanned = static_cast<size_t>(std::max<int64_t>(steps.last - steps.first + 1, 0));
  return count == 0 ? 0 : sum / static_cast<double>(count) * static_cast<double>(std::max(spanned, count));
}

}  // namespace

Time began_by_clock(const State& state, const AttemptState& attempt) {
  if (attempt.began.at.known() || !attempt.last.at.known()) return attempt.began.at;
  Time first;
  for (const Series& series : state.series) {
    for (const Point& point : series.points()) {
      if (point.attempt != attempt.began.attempt || !point.at.known()) continue;
      if (!first.known() || point.at < first) first = point.at;
      break;  // a series has the points of an attempt in order
    }
  }
  return first;
}

double attempt_seconds(const State& state, const AttemptState& attempt) {
  // The lines with which it begins, and that on which it failed, may have none of the clocks around them.
  const auto clock_of = [&state](const Moment& moment) -> const LineClock* {
    const bool line = moment.where.line != 0 && moment.where.source < state.sources.size();
    return line ? &state.sources[moment.where.source].clock : nullptr;
  };
  Time since = began_by_clock(state, attempt), until = attempt.last.at;
  const LineClock *first = clock_of(attempt.began), *last = clock_of(attempt.last);
  if (!since.known() && first != nullptr) since = first->after(attempt.began.where.line);
  if (!until.known() && last != nullptr) until = last->before(attempt.last.where.line);
  const double by_clock = since.known() && until > since ? (until - since).seconds() : 0;
  return std::max(by_clock, seconds_by_bar(attempt));
}

Time supervised_end(const State& state, const SupervisedAttempt& attempt) {
  if (!attempt.exited) return &attempt == &state.supervision.attempts.back() ? state.last_at : attempt.started_at;
  return attempt.known ? attempt.exited_at : last_seen(state, attempt);
}

double cost_per_hour(const State& state) {
  double rate = 0;
  Time at;
  for (const Series& series : state.host) {
    if (series.raw != kCostPerHour || series.empty() || series.points().back().at < at) continue;
    at = series.points().back().at;
    rate = series.last();
  }
  return std::isfinite(rate) && rate > 0 ? rate : 0;
}

void set_cost_per_hour(State& state, double cost) {
  std::erase_if(state.host, [](const Series& series) { return series.raw == kCostPerHour; });
  Series series;
  series.raw = kCostPerHour;
  series.add({kNoStep, cost, state.last_at, {}, 0}, 1);
  state.host.push_back(std::move(series));
}

double run_seconds(const State& state) {
  // The lines of many trainers have no clock; who started the command knows when it did.
  double seconds = supervised_seconds(state);
  if (seconds > 0) return seconds;
  for (const AttemptState& attempt : state.attempts) seconds += attempt_seconds(state, attempt);
  const Time since = written_since(state), until = std::max(written_until(state), ran_until(state));
  if ((seconds <= 0 || state.attempts.size() == 1) && since.known() && until > since)
    seconds = std::max(seconds, (until - since).seconds());  // its records may have no clock where other lines do
  return seconds > 0 ? seconds : seconds_of_steps(state);
}

std::string money_text(double money) {
  char text[64];
  std::snprintf(text, sizeof text, money < kWhole ? "%.2f" : "%.0f", money);
  return text;
}

std::string cost_text(double seconds, double cost_per_hour) {
  if (cost_per_hour <= 0) return "";
  if (seconds <= 0) return cat("not known: no clock and no duration, at ", money_text(cost_per_hour), " an hour");
  return cat(money_text(seconds / kHour * cost_per_hour), " at ", money_text(cost_per_hour), " an hour");
}

}  // namespace mw
