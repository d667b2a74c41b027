#include "core/entropy_forecast.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "base/text.h"
#include "core/detect/tools/stats.h"

namespace mw {
namespace {

constexpr size_t kFirstLevel = 5;     // records whose median is the first level ...
constexpr size_t kFirstOnes = 3;      // ... or of so few, if that is more: as entropy-collapse has it
constexpr size_t kLeastRecords = 30;  // fewer are a beginning
constexpr size_t kMostRecords = 400;  // older ones are history
constexpr double kGoodFit = 0.8;      // R²
constexpr double kFarAway = 1e9;      // steps
constexpr size_t kLawRecords = 40;    // pairs of entropy and reward
constexpr double kLawFit = 0.6;       // R² of the law: a reward is noisier than the entropy
constexpr double kLawSpan = 0.2;      // by which exp(H) must have changed
constexpr double kMostEntropy = 20;   // nats; beyond any vocabulary

/// y = level + slope * (x - x_mean), by least squares.
struct Line {
  double x_mean = 0, level = 0, slope = 0;
  double fit = 0;  ///< R²
  double at(double x) const { return level + slope * (x - x_mean); }
  double where(double y) const { return x_mean + (y - level) / slope; }
};

std::optional<Line> line_through(std::span<const double> x, std::span<const double> y) {
  if (x.size() < 3) return std::nullopt;
  Line line{detect::mean(x), detect::mean(y)};
  double mixed = 0, total = 0, spread = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    spread += (x[i] - line.x_mean) * (x[i] - line.x_mean);
    mixed += (x[i] - line.x_mean) * (y[i] - line.level);
    total += (y[i] - line.level) * (y[i] - line.level);
  }
  if (!(spread > 0) || !(total > 0)) return std::nullopt;
  line.slope = mixed / spread;
  line.fit = line.slope * mixed / total;
  return line;
}

/// Brings the sums to the records from..to of `logs`.
const EntropyLogs::Sums& summed(EntropyLogs& logs, size_t from, size_t to) {
  EntropyLogs::Sums& sums = logs.sums;
  if (sums.from > from || sums.to > to) sums = {from, from};
  for (; sums.to < to; ++sums.to) {
    const double x = logs.steps[sums.to] - logs.steps.front(), y = logs.values[sums.to] - logs.values.front();
    sums.x += x, sums.y += y, sums.xx += x * x, sums.xy += x * y, sums.yy += y * y;
    sums.size_x += x * x, sums.size_y += y * y;
  }
  for (; sums.from < from; ++sums.from) {
    const double x = logs.steps[sums.from] - logs.steps.front(), y = logs.values[sums.from] - logs.values.front();
    sums.x -= x, sums.y -= y, sums.xx -= x * x, sums.xy -= x * y, sums.yy -= y * y;
  }
  return sums;
}

/// Whether it is sure that the line through the records from..to does not fall, or fits badly.
bool surely_no_line(EntropyLogs& logs, size_t from, size_t to) {
  constexpr double kError = 1e-10;  // of a sum of thousands of terms, relative to all of them
  const EntropyLogs::Sums& sums = summed(logs, from, to);
  const auto n = static_cast<double>(to - from);
  const double error = kError * (sums.size_x + sums.size_y);
  const double spread = sums.xx - sums.x * sums.x / n - error, total = sums.yy - sums.y * sums.y / n - error;
  const double mixed = sums.xy - sums.x * sums.y / n;
  if (!(spread > 0) || !(total > 0)) return false;
  const double most = std::abs(mixed) + error;
  return mixed > error || most * most < (kGoodFit - 1e-6) * spread * total;
}

double first_level(const detect::Track& track) {
  const auto head = track.slice(0, kFirstLevel), ones = track.slice(0, kFirstOnes);
  return std::max(detect::median({head.begin(), head.end()}), detect::median({ones.begin(), ones.end()}));
}

/// Up to index `end`; what is older than a forecast looks is dropped.
void extend(EntropyLogs& logs, const detect::Track& entropy, size_t end, int64_t begin) {
  if (logs.values.size() > 2 * kMostRecords) {
    const auto old = static_cast<ptrdiff_t>(logs.values.size() - kMostRecords);
    logs.steps.erase(logs.steps.begin(), logs.steps.begin() + old);
    logs.values.erase(logs.values.begin(), logs.values.begin() + old);
    logs.first += static_cast<size_t>(old);
    logs.sums = {};
  }
  for (size_t i = logs.first + logs.values.size(); i <= end; ++i) {
    if (!(entropy.values[i] > 0)) logs.positive_since = i + 1;
    logs.steps.push_back(std::log(static_cast<double>(entropy.points[i].step - begin)));
    logs.values.push_back(std::log(entropy.values[i]));
  }
}

}  // namespace

std::optional<EntropyForecast> forecast_entropy(const detect::Track& entropy, size_t end) {
  EntropyLogs logs;
  logs.first = end + 1 - std::min(end + 1, kMostRecords);
  return forecast_entropy(entropy, end, logs);
}

std::optional<EntropyForecast> forecast_entropy(const detect::Track& entropy, size_t end, EntropyLogs& kept) {
  if (end >= entropy.size() || end + 1 < kLeastRecords) return std::nullopt;
  const size_t since = end + 1 - std::min(end + 1, kMostRecords);
  const int64_t begin = entropy.points.front().step - 1;  // the power counts from the run's beginning
  extend(kept, entropy, end, begin);
  if (kept.positive_since > since || surely_no_line(kept, since - kept.first, end + 1 - kept.first)) {
    return std::nullopt;
  }
  EntropyForecast out;
  out.floor = EntropyForecast::kFloor * first_level(entropy);
  out.last_step = entropy.points[end].step;
  out.first_step = entropy.points[since].step;
  const size_t count = end + 1 - since;
  const std::span<const double> steps = std::span(kept.steps).subspan(since - kept.first, count);
  const std::span<const double> logs = std::span(kept.values).subspan(since - kept.first, count);
  const std::optional<Line> line = line_through(steps, logs);
  if (!line || !(out.floor > 0) || line->slope >= 0 || line->fit < kGoodFit) return std::nullopt;
  const double where = line->where(std::log(out.floor));
  if (where > std::log(kFarAway)) return std::nullopt;
  out.step = begin + std::llround(std::exp(where));
  out.level = std::exp(line->at(steps.back()));
  return out.step > out.last_step ? std::optional(out) : std::nullopt;
}

std::optional<EntropyForecast> forecast_entropy(const State& state) {
  if (state.attempts.empty() || state.attempts.back().ended) return std::nullopt;
  const std::vector<detect::Track> tracks = detect::tracks_of(state.find("entropy"));
  if (tracks.empty() || tracks.back().points.back().attempt + 1U != state.attempts.size()) return std::nullopt;
  auto out = forecast_entropy(tracks.back(), tracks.back().size() - 1);
  if (!out) return out;
  const bool soon = state.total_steps > 0 ? out->step <= state.total_steps : out->in_steps() <= out->kHorizon;
  return soon ? out : std::nullopt;
}

double EntropyLaw::reward_at(double entropy) const { return b - a * std::exp(entropy); }

std::optional<EntropyLaw> entropy_law(const State& state) {
  const std::vector<detect::Track> tracks = detect::tracks_of(state.find("entropy"));
  const Series* rewards = detect::reward_series(state);
  if (tracks.empty() || rewards == nullptr) return std::nullopt;
  std::vector<double> x, y;
  detect::ValueCursor reward(rewards);
  for (const Point& point : tracks.back().points) {
    const std::optional<double> value = reward.at(point);
    if (!value || point.value > kMostEntropy) continue;
    x.push_back(std::exp(point.value));
    y.push_back(*value);
  }
  if (x.size() < kLawRecords) return std::nullopt;
  const auto [least, most] = std::minmax_element(x.begin(), x.end());
  const std::optional<Line> line = line_through(x, y);
  if (!line || line->slope >= 0 || line->fit < kLawFit || *most - *least < kLawSpan) return std::nullopt;
  return EntropyLaw{-line->slope, line->at(0)};
}

std::string entropy_forecast_text(const State& state) {
  const std::optional<EntropyForecast> next = forecast_entropy(state);
  if (!next) return "";
  std::string text = cat("a tenth of its first level (", format_short(next->floor, 3), " nats) at about step ",
                         next->step, ", ", format_short(next->level, 3), " nats now");
  if (const std::optional<EntropyLaw> law = entropy_law(state)) {
    text += cat("; the reward would then be about ", format_short(law->reward_at(next->floor), 3), " (",
                format_short(law->reward_at(next->level), 3), " now), by R = b - a*exp(H)");
  }
  return text;
}

}  // namespace mw
