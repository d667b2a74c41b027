#include "core/detect/support/saves.h"

#include <algorithm>
#include <map>
#include <utility>

#include "core/detect/support/host.h"
#include "core/detect/tools/stats.h"

namespace mw::detect {
namespace {

using Key = std::pair<uint16_t, int64_t>;  // attempt and step

int64_t step_of(const Moment& moment, const event::CheckpointSaved& saved) {
  return saved.step != kNoStep ? saved.step : moment.step;
}

std::map<Key, double> seconds_by_step(const State& state) {
  std::map<Key, double> seconds;
  if (const auto phase = state.phases.find("save"); phase != state.phases.end()) {
    for (const Point& end : phase->second.ends) seconds[{end.attempt, end.step}] = end.value;
  }
  if (const Series* series = state.find("time.save"); series != nullptr) {
    for (const Point& point : series->points()) seconds[{point.attempt, point.step}] = point.value;
  }
  return seconds;
}

/// Of free space between two times, what it was at the first less the least of it.
double fall(const Series& free, Time from, Time to) {
  const std::vector<Point>& points = free.points();
  auto at =
      std::upper_bound(points.begin(), points.end(), from, [](Time value, const Point& p) { return value < p.at; });
  if (at == points.begin()) return 0;
  const double before = std::prev(at)->value;
  double least = before;
  for (; at != points.end() && at->at <= to; ++at) least = std::min(least, at->value);
  return before - least;
}

}  // namespace

double bytes_needed(const Series& sizes, Time at) {
  double most = 0;
  size_t seen = 0;
  const std::vector<Point>& points = sizes.points();
  for (size_t i = points.size(); i-- > 0 && static_cast<double>(seen) < kRecentCheckpoints;) {
    if (points[i].at > at || points[i].value < kLeastCheckpoint) continue;
    most = std::max(most, points[i].value);
    ++seen;
  }
  return most;
}

int64_t next_save_step(const State& state, Time at) {
  std::vector<double> gaps;
  int64_t last = kNoStep;
  for (const auto& [moment, saved] : state.checkpoints) {
    const int64_t step = step_of(moment, saved);
    if (step == kNoStep || (moment.at.known() && moment.at > at)) continue;
    if (last != kNoStep && step > last) gaps.push_back(static_cast<double>(step - last));
    last = step;
  }
  return last == kNoStep || gaps.empty() ? kNoStep : last + static_cast<int64_t>(median(gaps));
}

std::vector<SaveWindow> save_windows(const State& state) {
  std::vector<SaveWindow> out;
  const Series* const free = host_series(state, "disk.free", "/dev/shm");
  const std::map<Key, double> seconds = seconds_by_step(state);
  std::map<Key, Time> began;
  for (const auto& [moment, saved] : state.checkpoints) {
    const Key key{moment.attempt, step_of(moment, saved)};
    if (key.second == kNoStep || !moment.at.known()) continue;
    if (!saved.complete) {
      began.emplace(key, moment.at);
      continue;
    }
    if (!out.empty() && out.back().attempt == key.first && out.back().step == key.second) continue;
    SaveWindow save{key.first, key.second, {}, moment.at, 0};
    const auto start = began.find(key);
    const auto took = seconds.find(key);
    if (start != began.end()) {
      save.began = start->second;
    } else if (took != seconds.end() && took->second > 0) {
      save.began = moment.at + Duration::seconds(-took->second);
    } else {
      continue;
    }
    if (free != nullptr) save.shared = fall(*free, save.began, save.ended);
    out.push_back(save);
  }
  return out;
}

double shared_needed(const std::vector<SaveWindow>& saves, size_t last) {
  return last == 0 || last >= saves.size() ? 0 : std::min(saves[last - 1].shared, saves[last].shared);
}

}  // namespace mw::detect
