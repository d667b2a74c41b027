#include "core/cost.h"

#include <cmath>
#include <cstdio>

#include "base/text.h"

namespace mw {
namespace {

constexpr double kHour = 3600;
constexpr double kWhole = 10'000;  // from here on cents say nothing

}  // namespace

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
  double seconds = 0;
  for (const AttemptState& attempt : state.attempts) {
    if (attempt.began.at.known() && attempt.last.at > attempt.began.at)
      seconds += (attempt.last.at - attempt.began.at).seconds();
  }
  return seconds;
}

std::string money_text(double money) {
  char text[64];
  std::snprintf(text, sizeof text, money < kWhole ? "%.2f" : "%.0f", money);
  return text;
}

std::string cost_text(double seconds, double cost_per_hour) {
  if (cost_per_hour <= 0) return "";
  return cat(money_text(seconds / kHour * cost_per_hour), " at ", money_text(cost_per_hour), " an hour");
}

}  // namespace mw
