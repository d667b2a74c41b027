#include "core/detect/support/work.h"

#include <algorithm>
#include <limits>

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

/// The first of the last points up to `at` that are all within the bounds; unknown when the last one is not.
Time within_since(const Series& series, double least, double most, Time at) {
  const std::vector<Point>& points = series.points();
  const auto end =
      std::upper_bound(points.begin(), points.end(), at, [](Time time, const Point& point) { return time < point.at; });
  Time from;
  for (auto point = end; point != points.begin();) {
    --point;
    if (point->value < least || point->value > most) break;
    from = point->at;
  }
  return from;
}

Time low_since(const Series& series, double most, Time at) {
  return within_since(series, -std::numeric_limits<double>::infinity(), most, at);
}

/// Since when a GPU spins; unknown when it does not, or its figures do not say.
Time spins_since(const State& state, const Series& busy, Time began, Time since, Time at) {
  const Series* memory = host_series(state, "gpu.memory.busy", busy.raw);
  const Series* power = host_series(state, "gpu.power", busy.raw);
  if (memory == nullptr || power == nullptr) return {};
  const Time full = within_since(busy, kSpinBusy.value, 1, at), untouched = low_since(*memory, kSpinMemory.value, at);
  if (!full.known() || !untouched.known()) return {};  // most GPUs: what is left walks through all that was measured
  const double memory_before = mean_between(*memory, began, since), power_before = mean_between(*power, began, since);
  if (memory_before < kSpinMemoryBefore.value || power_before <= 0) return {};
  const Time weak = low_since(*power, kSpinPower.value * power_before, at);
  return weak.known() ? std::max({full, untouched, weak}) : Time{};
}

/// Since when all GPUs that worked before spin; unknown when that is not so.
Time all_spin_since(const State& state, const Work& work, double processors, Time began, Time since, Time at) {
  Time from;
  double spinning = 0;
  for (const Series* gpu : host_series(state, "gpu.busy")) {
    if (low_since(*gpu, kGpuWorks.value, at).known() && mean_between(*gpu, began, since) <= kGpuWorks.value) continue;
    const Time spins = spins_since(state, *gpu, began, since, at);
    if (!spins.known()) return {};
    from = std::max(from, spins);
    ++spinning;
  }
  const double most = std::max(kSpinProcessors.value * work.before, kSpinEach.value * spinning);
  return processors <= most ? from : Time{};
}

}  // namespace

Work work_at(const State& state, Time began, Time since, Time at) {
  Work work;
  const Series* cpu = host_series(state, "process.cpu", "run");
  const auto now = host_value(state, "process.cpu", "run", at);
  if (cpu == nullptr || !now) return work;
  work.before = mean_between(*cpu, began, since);
  if (const Time spins = all_spin_since(state, work, *now, began, since, at); spins.known()) {
    work.does = Work::Does::kSpins;
    work.from = spins;
    return work;
  }
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
