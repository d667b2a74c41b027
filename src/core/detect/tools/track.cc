#include "core/detect/tools/track.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "core/detect/tools/stats.h"

namespace mw::detect {
namespace {

/// A step counter that goes back to less than this share of the stretch has started over.
constexpr double kStartsOver = 0.5;

/// Steps beyond this are garbage, not steps.
constexpr int64_t kMostSteps = 1'000'000'000'000;

bool starts_over(const std::vector<Point>& points, const Point& next) {
  const int64_t first = points.front().step, last = points.back().step;
  if (next.step > last) return false;
  return static_cast<double>(next.step - first) < kStartsOver * static_cast<double>(last - first) || last == first;
}

/// Inserts in step order. After a resume that goes back by a little, the new attempt's points replace the old ones;
/// within one attempt a record that comes late (buffered output, several writers) goes where it belongs.
void push(Track& track, const Point& point) {
  size_t at = track.size();
  while (at > 0 && track.points[at - 1].step >= point.step) {
    if (track.points[at - 1].attempt != point.attempt) {
      track.points.resize(at - 1);
      track.values.resize(at - 1);
    } else if (track.points[at - 1].step == point.step) {
      track.points[at - 1] = point;
      track.values[at - 1] = point.value;
      return;
    }
    --at;
  }
  at = std::min(at, track.size());
  track.points.insert(track.points.begin() + static_cast<std::ptrdiff_t>(at), point);
  track.values.insert(track.values.begin() + static_cast<std::ptrdiff_t>(at), point.value);
}

/// Where the rise that crossed its threshold at `first` left its level.
size_t walk_back(const Track& track, size_t first, double level, double threshold) {
  constexpr double kLeft = 0.25;    // share of the way to the threshold that counts as having left the level
  constexpr size_t kFarthest = 20;  // points that an onset may lie before the threshold was crossed
  const double left = level + kLeft * (threshold - level);
  size_t onset = first;
  while (onset > 0 && first - onset < kFarthest && track.values[onset - 1] > left) --onset;
  return onset;
}

std::optional<size_t> ended_at(const Track& track, size_t from, double limit, size_t persist) {
  size_t low = 0;
  for (size_t i = from; i < track.size(); ++i) {
    low = track.values[i] < limit ? low + 1 : 0;
    if (low >= persist) return i;
  }
  return std::nullopt;
}

Track reciprocal(const Track& track) {
  Track out;
  out.series = track.series;
  for (const Point& point : track.points) {
    Point inverse = point;
    inverse.value = 1 / std::max(point.value, 1e-9);
    out.points.push_back(inverse);
    out.values.push_back(inverse.value);
  }
  return out;
}

}  // namespace

std::vector<Track> tracks_of(const Series* series) {
  std::vector<Track> out;
  if (series == nullptr) return out;
  for (Point point : series->points()) {
    if (!std::isfinite(point.value)) continue;
    // a trainer that names no steps: its records are counted
    if (point.step == kNoStep) point.step = out.empty() ? 1 : out.back().points.back().step + 1;
    if (point.step < 0 || point.step > kMostSteps) continue;
    if (out.empty() || starts_over(out.back().points, point)) {
      out.emplace_back();
      out.back().series = series;
    }
    push(out.back(), point);
  }
  return out;
}

const Series* reward_series(const State& state) {
  for (const std::string_view name : {"reward.mean", "reward.pass_rate", "return.mean"}) {
    const Series* series = state.find(name);
    if (series != nullptr && !series->empty()) return series;
  }
  const Series* only = nullptr;
  for (const Series& series : state.series) {
    if (series.signal.rfind("reward.component.", 0) != 0 || series.empty()) continue;
    if (only != nullptr) return nullptr;  // several parts: which of them is the reward is not known
    only = &series;
  }
  return only;
}

RewardScale reward_scale(const State& state, const Track& track, size_t end) {
  RewardScale scale{0, -INFINITY};
  const Point& now = track.points[end];
  const auto widen = [&](double value) {
    scale.floor = std::min(scale.floor, value);
    scale.ceiling = std::max(scale.ceiling, value);
  };
  for (size_t i = 0; i <= end; ++i) widen(track.values[i]);
  for (const std::string_view name : {"reward.min", "reward.max"}) {
    const Series* series = state.find(name);
    if (series == nullptr || track.series->signal != "reward.mean") continue;
    for (const Point& point : series->points()) {
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

namespace {

/// The threshold for a rise that would begin at `i`.
struct Threshold {
  size_t base_at = 0;
  double base = 0, value = INFINITY;
};

/// Nearly the highest of the recent points before `end` that belong to no earlier rise.
double shown_before(const Track& track, size_t skip, size_t end, const std::vector<Rise>& earlier, double novel) {
  std::vector<double> recent;
  for (size_t i = end; i > skip && recent.size() < kRecent; --i) {
    const bool covered = std::any_of(earlier.begin(), earlier.end(), [i](const Rise& rise) {
      return i - 1 >= rise.onset && i - 1 <= rise.ended.value_or(rise.detected);
    });
    if (!covered) recent.push_back(track.values[i - 1]);
  }
  return recent.empty() ? -INFINITY : quantile(recent, novel);
}

}  // namespace

std::vector<Rise> rises(const Track& track, const RiseRule& rule) {
  std::vector<Rise> out;
  RiseRule shifted = rule;
  const size_t skip = std::min(rule.skip, track.size());
  shifted.history += skip;
  std::vector<double> medians = rolling_median(track.slice(skip, track.size()), rule.width);
  medians.insert(medians.begin(), skip, INFINITY);
  const size_t start = std::max<size_t>(shifted.history, 1);
  Threshold limit;
  size_t streak = 0, lowest = start - 1;  // index of the lowest rolling median so far
  for (size_t i = start; i < track.size() && out.size() < kRisesTold; ++i) {
    if (medians[i - 1] < medians[lowest]) lowest = i - 1;
    if (streak == 0) {
      const size_t base_at = rule.from_lowest ? lowest : i - 1;
      const double base = medians[base_at];
      limit = {base_at, base, std::max(base * rule.factor, base + rule.delta)};
      if (track.values[i] > limit.value)
        limit.value = std::max(limit.value, shown_before(track, skip, i, out, rule.novel));
    }
    streak = track.values[i] > limit.value ? streak + 1 : 0;
    if (streak < rule.persist) continue;
    Rise rise;
    rise.first = i + 1 - streak;
    rise.detected = i;
    rise.base = limit.base;
    rise.base_at = limit.base_at;
    rise.onset = walk_back(track, rise.first, medians[rise.first - 1], limit.value);
    const auto over = track.slice(rise.first, i + 1);
    rise.peak = median({over.begin(), over.end()});
    rise.ended = ended_at(track, i + 1, limit.base + 0.5 * (limit.value - limit.base), rule.persist);
    out.push_back(rise);
    if (!rise.ended) break;
    for (; i < *rise.ended; ++i) {
      if (medians[i] < medians[lowest]) lowest = i;
    }
    streak = 0;
  }
  return out;
}

std::vector<Rise> falls(const Track& track, const RiseRule& rule) {
  const Track inverse = reciprocal(track);
  RiseRule inverted = rule;
  inverted.delta = 0;
  std::vector<Rise> out;
  for (Rise fall : rises(inverse, inverted)) {
    fall.base = 1 / fall.base;
    fall.peak = 1 / fall.peak;
    if (fall.base - fall.peak >= rule.delta) out.push_back(fall);
  }
  return out;
}

double Shift::relative() const { return before == 0 ? 0 : (after - before) / std::abs(before); }

std::optional<Shift> shift_of(const Series* series, const Point& onset, const Point& now, size_t width) {
  if (series == nullptr) return std::nullopt;
  std::vector<double> before, after;
  for (const Point& point : series->points()) {
    if (!std::isfinite(point.value) || point.attempt > now.attempt || point.step > now.step) continue;
    if (point.step < onset.step) {
      before.push_back(point.value);
    } else if (point.attempt == now.attempt) {
      after.push_back(point.value);
    }
  }
  if (before.empty() || after.empty()) return std::nullopt;
  const auto tail = [width](std::vector<double>& all) {
    if (all.size() > width) all.erase(all.begin(), all.end() - static_cast<std::ptrdiff_t>(width));
    return median(all);
  };
  return Shift{tail(before), tail(after)};
}

std::optional<Shift> shift_of(const State& state, std::string_view signal, const Point& onset, const Point& now,
                              size_t width) {
  return shift_of(state.find(signal), onset, now, width);
}

std::optional<Outcome> outcome_of(const Series* reward, const Point& onset, const Point& now, size_t width) {
  if (reward == nullptr) return std::nullopt;
  std::vector<double> before, after;
  double floor = 0;
  for (const Point& point : reward->points()) {
    if (!std::isfinite(point.value) || point.attempt > now.attempt || point.step > now.step) continue;
    if (point.step < onset.step) {
      before.push_back(point.value);
      floor = std::min(floor, point.value);
    } else if (point.attempt == now.attempt) {
      after.push_back(point.value);
    }
  }
  if (before.empty() || after.empty()) return std::nullopt;
  const auto keep_last = [width](std::vector<double>& all) {
    if (all.size() > width) all.erase(all.begin(), all.end() - static_cast<std::ptrdiff_t>(width));
  };
  keep_last(before);
  keep_last(after);
  Outcome out{median(before), median(after)};
  out.range = std::max(out.before - floor, std::abs(out.before));
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
  std::vector<double> values;
  for (const Point& point : series->points()) {
    if (point.attempt == attempt && point.step >= from && point.step <= to && std::isfinite(point.value)) {
      values.push_back(point.value);
    }
  }
  if (values.empty()) return std::nullopt;
  return median(values);
}

std::optional<double> value_at(const Series* series, const Point& at) {
  if (series == nullptr) return std::nullopt;
  std::optional<double> found;
  for (const Point& point : series->points()) {
    if (point.attempt > at.attempt || (point.attempt == at.attempt && point.step > at.step)) break;
    if (std::isfinite(point.value)) found = point.value;
  }
  return found;
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
