#include "ui/view/pace.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/text.h"
#include "base/time.h"
#include "core/host_figures.h"

namespace mw {
namespace {

constexpr size_t kPaceSteps = 20;   // steps whose median is the pace
constexpr size_t kPaceLeast = 3;    // steps whose clocks show a pace
constexpr double kOtherPace = 1.5;  // times what a step took before: the pace of now is not that of the run

double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  const size_t middle = values.size() / 2;
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(middle), values.end());
  return values[middle];
}

/// Where the points begin that show the pace of now: the last ones, of the latest attempt alone once it has enough.
size_t pace_begin(const std::vector<Point>& points) {
  const size_t last = points.size() > kPaceSteps ? points.size() - kPaceSteps : 0;
  size_t own = points.size();
  while (own > last && points[own - 1].attempt == points.back().attempt) --own;
  return points.size() - own > kPaceLeast ? own : last;
}

/// The points that show the pace of now, or those before them.
struct Stretch {
  size_t begin = 0, end = 0;
  Stretch(const std::vector<Point>& points, bool before)
      : begin(before ? 0 : pace_begin(points)), end(before ? pace_begin(points) : points.size()) {}
};

/// Seconds per step between the points of a stretch, by their clocks.
std::vector<double> paces_by_clock(const Series& series, Stretch stretch) {
  const auto& points = series.points();
  std::vector<double> paces;
  for (size_t i = std::max<size_t>(1, stretch.begin); i < stretch.end; ++i) {
    const Point &before = points[i - 1], &point = points[i];
    if (before.attempt != point.attempt) continue;
    if (point.step == kNoStep || before.step == kNoStep || point.step <= before.step) continue;
    if (!point.at.known() || !before.at.known() || point.at <= before.at) continue;
    paces.push_back((point.at - before.at).seconds() / static_cast<double>(point.step - before.step));
  }
  return paces;
}

/// A trainer that samples for several steps at once has one slow step in every few: the mean of whole rounds, the
/// latest ones. 0 where the slow ones come at no fixed distance.
double mean_of_rounds(const std::vector<double>& values) {
  constexpr double kSlow = 3;     // times the usual step
  constexpr size_t kRounds = 64;  // steps of a round at most
  const double usual = median_of(values);
  std::vector<size_t> slow;
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] > kSlow * usual) slow.push_back(i);
  }
  if (usual <= 0 || slow.size() < 2) return 0;
  const size_t round = slow[1] - slow[0];
  for (size_t i = 2; i < slow.size(); ++i) {
    if (slow[i] - slow[i - 1] != round) return 0;
  }
  if (round < 2 || round > kRounds || slow.front() >= round || values.size() - slow.back() > round) return 0;
  const size_t whole = values.size() / round * round;
  return std::accumulate(values.end() - static_cast<std::ptrdiff_t>(whole), values.end(), 0.0) /
         static_cast<double>(whole);
}

/// What the trainer calls the time of a step is sometimes that of a part of it: then its clock counts.
double stated_pace(const Series& series, Stretch stretch) {
  const auto& points = series.points();
  std::vector<double> said;
  for (size_t i = stretch.begin; i < stretch.end; ++i) {
    if (std::isfinite(points[i].value)) said.push_back(points[i].value);
  }
  const double rounds = mean_of_rounds(said), stated = rounds > 0 ? rounds : median_of(said);
  const std::vector<double> clock = paces_by_clock(series, stretch);
  if (clock.size() < kPaceLeast) return stated;
  const double by_clock = median_of(clock);
  return by_clock > kPartOfStep * stated ? by_clock : stated;
}

/// The median of the last kPaceSteps gaps; 0 where there are too few.
double median_pace(const std::vector<StepGap>& gaps) {
  if (gaps.size() < kPaceLeast) return 0;
  std::vector<double> paces;
  for (size_t i = gaps.size() - std::min(gaps.size(), kPaceSteps); i < gaps.size(); ++i) {
    paces.push_back(gaps[i].seconds / gaps[i].steps);
  }
  return median_of(std::move(paces));
}

/// Seconds per step; 0 when not known.
struct Pace {
  double now = 0, before = 0;  ///< of the last steps, and of those before them, both by the same series
};

Pace pace_of(const State& state) {
  if (const Series* s = state.find("time.step"); s != nullptr && !s->empty()) {
    return {stated_pace(*s, Stretch(s->points(), false)), stated_pace(*s, Stretch(s->points(), true))};
  }
  for (const Series& s : state.series) {
    if (of_machine(s.raw)) continue;  // sampled by the second, not by the step
    const std::vector<double> now = paces_by_clock(s, Stretch(s.points(), false));
    if (now.size() < kPaceLeast) continue;
    const std::vector<double> before = paces_by_clock(s, Stretch(s.points(), true));
    return {median_of(now), before.size() < kPaceLeast ? 0 : median_of(before)};
  }
  const double by_bar = median_pace(gaps_by_bar(state));
  return {by_bar > 0 ? by_bar : median_pace(gaps_by_watch(state)), 0};
}

}  // namespace

double seconds_per_step(const State& state) { return pace_of(state).now; }

std::string pace_text(const State& state) {
  const auto [now, before] = pace_of(state);
  if (now <= 0) return "";
  const std::string text = format_duration(Duration::seconds(now)) + " per step";
  const bool changed = before > 0 && std::max(now, before) >= kOtherPace * std::min(now, before);
  return changed ? cat(text, " of late, ", format_duration(Duration::seconds(before)), " before") : text;
}

}  // namespace mw
