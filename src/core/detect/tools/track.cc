#include "core/detect/tools/track.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/text.h"
#include "core/detect/support/reward_count.h"
#include "core/detect/tools/stats.h"
#include "core/signal.h"

namespace mw::detect {
namespace {

/// A step counter that goes back to less than this share of the stretch has started over.
constexpr double kStartsOver = 0.5;

/// Steps beyond this are garbage, not steps.
constexpr int64_t kMostSteps = 1'000'000'000'000;

constexpr int64_t kAnyStep = std::numeric_limits<int64_t>::min();

/// The points of a part at steps from..to lie within; all of them, where its steps are in order.
std::pair<size_t, size_t> within(const std::vector<Point>& points, const Series::Part& part, int64_t from, int64_t to) {
  if (!part.in_order) return {part.begin, part.end};
  const auto begin = points.begin() + static_cast<std::ptrdiff_t>(part.begin);
  const auto end = points.begin() + static_cast<std::ptrdiff_t>(part.end);
  const auto low = std::partition_point(begin, end, [from](const Point& point) { return point.step < from; });
  const auto high = std::partition_point(low, end, [to](const Point& point) { return point.step <= to; });
  return {static_cast<size_t>(low - points.begin()), static_cast<size_t>(high - points.begin())};
}

/// Adds the last finite values of the part at steps from..to, the last one first, until there are `most`.
void gather(const Series& series, const Series::Part& part, int64_t from, int64_t to, size_t most,
            std::vector<double>& values) {
  const std::vector<Point>& points = series.points();
  const auto [low, high] = within(points, part, from, to);
  for (size_t i = high; i > low && values.size() < most; --i) {
    const Point& point = points[i - 1];
    if (point.step >= from && point.step <= to && std::isfinite(point.value)) values.push_back(point.value);
  }
}

struct Around {
  std::vector<double> before, after;  ///< the last one first
};

/// The last `width` values before `onset`, and those from there to `now`.
Around around(const Series& series, const Point& onset, const Point& now, size_t width) {
  Around out;
  const std::vector<Series::Part>& parts = series.parts();
  for (size_t i = parts.size(); i-- > 0 && (out.before.size() < width || out.after.size() < width);) {
    if (parts[i].attempt > now.attempt) continue;
    if (parts[i].attempt == now.attempt) gather(series, parts[i], onset.step, now.step, width, out.after);
    if (onset.step == kAnyStep) continue;
    gather(series, parts[i], kAnyStep, std::min(onset.step - 1, now.step), width, out.before);
  }
  return out;
}

/// The lowest value before `onset`, 0 at most.
double floor_before(const Series& series, const Point& onset, const Point& now) {
  double floor = 0;
  if (series.min() >= 0 || onset.step == kAnyStep) return floor;
  const int64_t to = std::min(onset.step - 1, now.step);
  for (const Series::Part& part : series.parts()) {
    if (part.attempt > now.attempt) continue;
    const auto [low, high] = within(series.points(), part, kAnyStep, to);
    for (size_t i = low; i < high; ++i) {
      const Point& point = series.points()[i];
      if (point.step <= to && std::isfinite(point.value)) floor = std::min(floor, point.value);
    }
  }
  return floor;
}

}  // namespace

size_t put_in_order(Track& track, const Point& point) {
  size_t at = track.size();
  while (at > 0 && track.points[at - 1].step >= point.step) {
    if (track.points[at - 1].attempt != point.attempt) {
      track.points.resize(at - 1);
      track.values.resize(at - 1);
    } else if (track.points[at - 1].step == point.step) {
      track.points[at - 1] = point;
      track.values[at - 1] = point.value;
      return at - 1;
    }
    --at;
  }
  at = std::min(at, track.size());
  track.points.insert(track.points.begin() + static_cast<std::ptrdiff_t>(at), point);
  track.values.insert(track.values.begin() + static_cast<std::ptrdiff_t>(at), point.value);
  return at;
}

std::optional<Point> as_taken(const Point& point, const Point* last) {
  if (!std::isfinite(point.value)) return std::nullopt;
  Point taken = point;
  if (taken.step == kNoStep) taken.step = last == nullptr ? 1 : last->step + 1;
  if (taken.step < 0 || taken.step > kMostSteps) return std::nullopt;
  return taken;
}

bool starts_over(const Track& track, const Point& next) {
  const int64_t first = track.points.front().step, last = track.points.back().step;
  if (next.step > last) return false;
  return static_cast<double>(next.step - first) < kStartsOver * static_cast<double>(last - first) || last == first;
}

std::vector<Track> tracks_of(const Series* series) {
  std::vector<Track> out;
  if (series == nullptr) return out;
  for (const Point& point : series->points()) {
    const auto taken = as_taken(point, out.empty() ? nullptr : &out.back().points.back());
    if (!taken) continue;
    if (out.empty() || starts_over(out.back(), *taken)) {
      out.emplace_back();
      out.back().series = series;
    }
    put_in_order(out.back(), *taken);
  }
  return out;
}

const Series* reward_series(const State& state) {
  for (const std::string_view name : {"reward.mean", "reward.pass_rate", "return.mean"}) {
    const Series* series = state.find(name);
    if (series != nullptr && !series->empty()) return series;
  }
  const Series* only = nullptr;
  const Series* listed = nullptr;  // of the answers that were printed: a sample of what a part says
  for (const Series& series : state.series) {
    if (series.signal.rfind("reward.component.", 0) != 0 || series.empty()) continue;
    if (series.signal == kListedRewards) {
      listed = &series;
      continue;
    }
    if (counts_rewards(series.signal)) continue;
    if (only != nullptr) return nullptr;  // several parts: which of them is the reward is not known
    only = &series;
  }
  return only != nullptr ? only : listed;
}

void FloorStreak::see(double value) {
  if (value < lowest_) {
    left_ = seen_;
    lowest_ = value;
    steps_ = 1;
    longest_before_ = 0;
  } else if (value == lowest_) {
    ++steps_;
  } else {
    left_ = true;
    longest_before_ = std::max(longest_before_, steps_);
    steps_ = 0;
  }
  seen_ = true;
}

RewardScale reward_scale(const State& state, const Track& track, size_t end) {
  const auto values = track.slice(0, end + 1);
  const auto [lowest, highest] = std::minmax_element(values.begin(), values.end());
  return reward_scale(state, track, end, *lowest, *highest);
}

RewardScale reward_scale(const State& state, const Track& track, size_t end, double lowest, double highest) {
  RewardScale scale{std::min(0.0, lowest), highest};
  const Point& now = track.points[end];
  const auto widen = [&](double value) {
    scale.floor = std::min(scale.floor, value);
    scale.ceiling = std::max(scale.ceiling, value);
  };
  for (const std::string_view name : {"reward.min", "reward.max"}) {
    const Series* series = state.find(name);
    if (series == nullptr || track.series->signal != "reward.mean") continue;
    for (const Point& point : series->points()) {
      if (series->min() >= scale.floor && series->max() <= scale.ceiling) break;  // nothing there is beyond
      if (point.attempt == now.attempt && point.step <= now.step && std::isfinite(point.value)) widen(point.value);
    }
  }
  if (scale.floor >= 0 && scale.ceiling <= 1) scale.ceiling = 1;
  return scale;
}

bool solved(const State& state, const RewardScale& scale, double level, double most) {
  if (state.find("reward.max") != nullptr) return scale.share(level) > most;
  for (const double round : {0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 10.0, 20.0, 50.0, 100.0}) {
    if (scale.ceiling <= round) return level - scale.floor > most * (round - scale.floor);
  }
  return false;
}

double Shift::relative() const { return before == 0 ? 0 : (after - before) / std::abs(before); }

std::optional<Shift> shift_of(const Series* series, const Point& onset, const Point& now, size_t width) {
  if (series == nullptr) return std::nullopt;
  Around values = around(*series, onset, now, width);
  if (values.before.empty() || values.after.empty()) return std::nullopt;
  return Shift{median(std::move(values.before)), median(std::move(values.after))};
}

std::optional<Shift> shift_of(const State& state, std::string_view signal, const Point& onset, const Point& now,
                              size_t width) {
  return shift_of(state.find(signal), onset, now, width);
}

std::optional<Outcome> outcome_of(const Series* reward, const Point& onset, const Point& now, size_t width) {
  if (reward == nullptr) return std::nullopt;
  auto [before, after] = around(*reward, onset, now, width);
  if (before.empty() || after.empty()) return std::nullopt;
  std::reverse(before.begin(), before.end());
  std::reverse(after.begin(), after.end());
  Outcome out{median(before), median(after)};
  out.range = std::max(out.before - floor_before(*reward, onset, now), std::abs(out.before));
  out.error = std::max(noise(before), noise(after)) *
              std::sqrt(1 / static_cast<double>(before.size()) + 1 / static_cast<double>(after.size()));
  return out;
}

std::optional<Outcome> outcome_of(const State& state, const Point& onset, const Point& now, size_t width) {
  return outcome_of(reward_series(state), onset, now, width);
}

std::optional<size_t> harmed_at(const State& state, const Track& track, const Rise& rise, double by) {
  const size_t reach = rise.detected + std::max(kHarmPoints, 3 * (rise.detected - rise.onset));
  const size_t end = std::min({track.size(), rise.ended.value_or(track.size()), reach});
  for (size_t i = rise.detected; i < end; i += 1 + (i - rise.detected) / 8) {
    const auto outcome = outcome_of(state, track.points[rise.onset], track.points[i], 10);
    if (outcome && outcome->fell(by)) return i;
  }
  return std::nullopt;
}

std::optional<double> level_between(const Series* series, uint16_t attempt, int64_t from, int64_t to) {
  if (series == nullptr) return std::nullopt;
  std::vector<double> values = last_values(*series, attempt, from, to, series->points().size());
  if (values.empty()) return std::nullopt;
  return median(std::move(values));
}

std::vector<double> last_values(const Series& series, uint16_t attempt, int64_t from, int64_t to, size_t most) {
  std::vector<double> values;
  for (size_t i = series.parts().size(); i-- > 0;) {
    if (series.parts()[i].attempt == attempt) gather(series, series.parts()[i], from, to, most, values);
  }
  std::reverse(values.begin(), values.end());
  return values;
}

namespace {

bool is_beyond(const Point& point, const Point& at) {
  return point.attempt > at.attempt || (point.attempt == at.attempt && point.step > at.step);
}

}  // namespace

std::optional<double> value_at(const Series* series, const Point& at) {
  if (series == nullptr) return std::nullopt;
  const std::vector<Point>& points = series->points();
  size_t end = 0;  // of the points that are not beyond it
  for (const Series::Part& part : series->parts()) {
    if (part.attempt > at.attempt) break;
    end = part.end;
    if (part.attempt < at.attempt || part.most <= at.step) continue;
    end = part.in_order ? within(points, part, kAnyStep, at.step).second : part.begin;
    while (end < part.end && !is_beyond(points[end], at)) ++end;
    break;
  }
  while (end > 0 && !std::isfinite(points[end - 1].value)) --end;
  return end == 0 ? std::nullopt : std::optional(points[end - 1].value);
}

std::optional<double> ValueCursor::at(const Point& point) {
  if (series_ == nullptr) return std::nullopt;
  if (next_ > 0 && (point.attempt < last_.attempt || (point.attempt == last_.attempt && point.step < last_.step))) {
    next_ = 0;
    found_.reset();
  }
  last_ = point;
  const std::vector<Point>& points = series_->points();
  for (; next_ < points.size() && !is_beyond(points[next_], point); ++next_) {
    if (std::isfinite(points[next_].value)) found_ = points[next_].value;
  }
  return found_;
}

std::string algorithm_of(const State& state) {
  const auto found = state.config.find("algorithm");
  return found == state.config.end() ? std::string() : to_lower(found->second);
}

bool follows_teacher(const State& state) {
  for (const std::string_view word : {"distill", "opd", "teacher"}) {
    if (contains(algorithm_of(state), word)) return true;
  }
  return std::any_of(state.series.begin(), state.series.end(), [](const Series& series) {
    const std::string name = to_lower(series.raw);
    return !series.empty() && (contains(name, "teacher") || contains(name, "distill"));
  });
}

bool has_reward(const State& state) { return reward_series(state) != nullptr; }

bool says_spread(const State& state) {
  return state.find("reward.std") != nullptr || state.find("advantage.std") != nullptr ||
         state.find("reward.zero_std_groups") != nullptr;
}

size_t points_until(const Track& track, int64_t step) {
  const auto after = std::partition_point(track.points.begin(), track.points.end(),
                                          [step](const Point& point) { return point.step <= step; });
  return static_cast<size_t>(after - track.points.begin());
}

Moment moment_of(const Point& point) { return {point.step, point.at, point.where, point.attempt}; }

Finding make_finding(std::string_view detector, std::string_view kind, Severity severity, const Point& onset,
                     const Point& detected, std::string summary) {
  Finding finding;
  finding.detector = detector;
  finding.kind = kind;
  finding.severity = severity;
  finding.onset = moment_of(onset);
  finding.detected = moment_of(detected);
  finding.summary = std::move(summary);
  return finding;
}

void add_figure(Finding& finding, std::string_view signal, int64_t step, double value) {
  Evidence evidence;
  evidence.signal = signal;
  evidence.step = step;
  evidence.value = value;
  finding.evidence.push_back(std::move(evidence));
}

void add_figure(Finding& finding, const Track& track, size_t index) {
  const std::string& name = track.series->signal.empty() ? track.series->raw : track.series->signal;
  add_figure(finding, name, track.points[index].step, track.points[index].value);
  finding.evidence.back().where = track.points[index].where;
}

void add_figures(Finding& finding, const Track& track, size_t from, size_t to, size_t limit) {
  if (from > to || limit == 0) return;
  const size_t count = to - from + 1;
  const size_t shown = std::min(count, limit);
  for (size_t k = 0; k < shown; ++k) {
    add_figure(finding, track, shown == 1 ? to : from + k * (count - 1) / (shown - 1));
  }
}

void resolve(Finding& finding, const Point& at) {
  finding.resolved = true;
  finding.resolved_at = moment_of(at);
}

}  // namespace mw::detect
