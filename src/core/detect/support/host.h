// What the detectors of the machine share: episodes in which a figure of one thing (a mount, a process, a GPU) is bad.
// The figures come only when they change, so a value holds until the next one.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/detect/detector.h"
#include "core/incident.h"
#include "core/state.h"

namespace mw::detect {

/// All series of one figure, one for each thing and each source.
std::vector<const Series*> host_series(const State& state, std::string_view signal);
/// The figure of one thing; nullptr when there is none.
const Series* host_series(const State& state, std::string_view signal, std::string_view thing);
/// Its last value at or before `at`.
std::optional<double> host_value(const State& state, std::string_view signal, std::string_view thing, Time at);

struct Episode {
  Point first;                 ///< where it began
  Time detected;               ///< when it had lasted long enough
  double worst = 0;            ///< up to `detected`
  std::optional<Point> ended;  ///< the first point that is good again
};
struct EpisodeRule {
  std::function<bool(const Point&)> bad;   ///< begins an episode
  std::function<bool(const Point&)> good;  ///< ends one; may be stricter than "not bad"
  Duration persist;                        ///< that it must last
  bool low = true;                         ///< which value is the worst: the lowest, or the highest
};
/// Episodes of one thing, in order. One that has not lasted long enough by the watch's last event is not reported yet.
std::vector<Episode> episodes(const State& state, const Series& series, const EpisodeRule& rule);

/// A finding on an episode; its place is the source that measured it.
Finding host_finding(const State& state, std::string_view detector, std::string_view kind, Severity severity,
                     const Episode& episode, const Series& series, std::string summary);

/// The episodes that are reported: the first few of a thing that comes and goes.
constexpr size_t kEpisodesReported = 5;

}  // namespace mw::detect
