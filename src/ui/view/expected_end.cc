#include "ui/view/expected_end.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/text.h"
#include "core/detect/support/pause.h"
#include "core/incident_kind.h"
#include "core/written_span.h"
#include "ui/view/overview.h"
#include "ui/view/pace.h"

namespace mw {
namespace {

constexpr size_t kLastGaps = 10;                            // the last of the run whose pace counts by itself
constexpr double kEarly = 0.1;                              // of the time that is left
constexpr double kLate = 0.2;                               // likewise: more runs slow down than speed up
constexpr double kUnsaid = 0.35;                            // likewise: what a stated step time leaves out
constexpr double kGoesOn = 1;                               // of the change between the halves of what was seen
constexpr double kOverdueSteps = 10, kOverdueSeconds = 60;  // a pace that is none any more

/// What the trainer says that the steps of the attempt that goes on take.
std::vector<StepGap> gaps_as_stated(const State& state) {
  std::vector<StepGap> gaps;
  const Series* series = state.find("time.step");
  if (series == nullptr) return gaps;
  for (const Point& point : series->points()) {
    if (point.attempt + 1U == state.attempts.size() && std::isfinite(point.value) && point.value > 0) {
      gaps.push_back({point.value, 1});
    }
  }
  return gaps;
}

double pace(const std::vector<StepGap>& gaps, size_t from, size_t to) {
  double seconds = 0, steps = 0;
  for (size_t i = from; i < to; ++i) {
    seconds += gaps[i].seconds;
    steps += gaps[i].steps;
  }
  return steps > 0 ? seconds / steps : 0;
}

/// Lowest and highest seconds per step that the rest of the run may have.
std::pair<double, double> paces(const std::vector<StepGap>& gaps) {
  const size_t n = gaps.size();
  double least = pace(gaps, 0, n), most = least;
  const auto widen = [&least, &most](double one) {
    least = std::min(least, one);
    most = std::max(most, one);
  };
  for (const size_t last : {n / 2, n / 4, kLastGaps}) {
    if (last >= kLeastGaps && last < n) widen(pace(gaps, n - last, n));
  }
  if (n >= 2 * kLeastGaps) {
    const double before = pace(gaps, 0, n / 2), now = pace(gaps, n / 2, n);
    widen(std::clamp(now + kGoesOn * (now - before), now / 2, 2 * now));
  }
  return {least, most};
}

/// Of the attempt that goes on, which may have begun again below what an earlier one reached.
int64_t last_step_now(const State& state) {
  const int64_t own = state.attempts.empty() ? kNoStep : state.attempts.back().last_step;
  return own != kNoStep || state.steps().count == 0 ? own : state.steps().last;
}

/// Files that end as those of a run that is no more.
bool has_ended(const State& state) {
  return std::any_of(state.incidents.begin(), state.incidents.end(), [](const Incident& one) {
    const bool end = one.kind == "died-silently" || one.kind == "interrupted" || one.kind == "preempted";
    return one.open && one.severity != Severity::kInfo &&
           (end || (ends_runs(one.kind) && one.severity == Severity::kCritical));
  });
}

/// "2026-01-15T15:00Z"
std::string minute_of(Time at) {
  const std::string text = when(at);
  const size_t colon = text.rfind(':');
  return colon == std::string::npos ? text : cat(text.substr(0, colon), "Z");
}

}  // namespace

ExpectedEnd expected_end(const State& state) {
  const int64_t last = last_step_now(state);
  if (state.verdict != "running" && state.verdict != "unknown") return {};
  if (state.total_steps <= 0 || last == kNoStep || last >= state.total_steps) return {};
  if (!state.last_at.known() || has_ended(state) || detect::is_paused(state)) return {};
  std::vector<StepGap> gaps = step_gaps(state);
  double late = kLate;
  if (gaps.size() < kLeastGaps) {
    gaps = gaps_as_stated(state);
    late = kUnsaid;
  }
  if (gaps.size() < kLeastGaps) return {};
  const auto [least, most] = paces(gaps);
  if (!(least > 0)) return {};
  const Time known = stepped_at(state, last), now = ran_until(state);
  const Time stepped = known.known() ? known : now;
  const double waited = (now - stepped).seconds();
  if (waited > std::max(kOverdueSeconds, kOverdueSteps * most)) return {};
  const auto left = static_cast<double>(state.total_steps - last);
  const auto end = [&](double seconds) {  // the present step may take longer, those after it take their time
    return std::max(stepped + Duration::seconds(seconds), now + Duration::seconds(seconds * (left - 1) / left));
  };
  return {end(left * least * (1 - kEarly)), end(left * most * (1 + late))};
}

std::string expected_end_text(const ExpectedEnd& end) {
  if (!end.known()) return "";
  std::string from = minute_of(end.earliest), to = minute_of(end.latest);
  if (from == to) return from;
  const bool same_day = from.substr(0, from.find('T')) == to.substr(0, to.find('T'));
  return cat(from, " to ", same_day ? to.substr(to.find('T') + 1) : to);
}

}  // namespace mw
