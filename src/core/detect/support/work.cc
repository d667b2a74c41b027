#include "core/detect/support/work.h"

#include <algorithm>
#include <iterator>

#include "core/detect/support/host.h"

namespace mw::detect {
namespace {

/// The mean of a figure that holds until its next value; below 0 when it is not known.
double mean_between(const Series& series, Time from, Time to) {
  double sum = 0, seconds = 0;
  const std::vector<Point>& points = series.points();
  for (size_t i = 0; i < points.size() && points[i].at < to; ++i) {
    const Time begins = std::max(points[i].at, from),
               ends = i + 1 < points.size() ? std::min(points[i + 1].at, to) : to;
    if (ends <= begins) continue;
    sum += points[i].value * (ends - begins).seconds();
    seconds += (ends - begins).seconds();
  }
  return seconds > 0 ? sum / seconds : -1;
}

/// The first of the last points up to `at` that are all at most `most`; unknown when the last one is above.
Time low_since(const Series& series, double most, Time at) {
  const std::vector<Point>& points = series.points();
  const auto end =
      std::upper_bound(points.begin(), points.end(), at, [](Time time, const Point& point) { return time < point.at; });
  Time from;
  for (auto point = end; point != points.begin() && std::prev(point)->value <= most;) from = (--point)->at;
  return from;
}

}  // namespace

Work work_at(const State& state, Time began, Time since, Time at) {
  Work work;
  const Series* cpu = host_series(state, "process.cpu", "run");
  const auto now = host_value(state, "process.cpu", "run", at);
  if (cpu == nullptr || !now) return work;
  work.before = mean_between(*cpu, began, since);
  if (*now >= kNoWork.value && *now >= kWorks.value * work.before) {
    work.does = Work::Does::kAsAlways;
    return work;
  }
  const double most = std::max(kNoWork.value, kRests.value * work.before);
  if (*now >= most) return work;
  work.from = low_since(*cpu, most, at);
  for (const Series* gpu : host_series(state, "gpu.busy")) {
    if (host_value(state, "gpu.busy", gpu->raw, at).value_or(0) > kGpuWorks.value) return work;
    work.from = std::max(work.from, low_since(*gpu, kGpuWorks.value, at));
  }
  work.does = Work::Does::kNothing;
  return work;
}

}  // namespace mw::detect
