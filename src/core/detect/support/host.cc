#include "core/detect/support/host.h"

#include <algorithm>

namespace mw::detect {
namespace {

Moment moment_of_host(const State& state, const Point& point, Time at) {
  const int64_t measured = at == point.at ? point.step : kNoStep;
  Moment moment{measured != kNoStep ? measured : state.step_at(at), at, point.where, point.attempt, true};
  moment.by_clock = measured == kNoStep && moment.step != kNoStep;
  return moment;
}

}  // namespace

std::vector<const Series*> host_series(const State& state, std::string_view signal) {
  std::vector<const Series*> found;
  for (const Series& series : state.host) {
    if (series.signal == signal && !series.empty()) found.push_back(&series);
  }
  return found;
}

const Series* host_series(const State& state, std::string_view signal, std::string_view thing) {
  for (const Series& series : state.host) {
    if (series.signal == signal && series.raw == thing && !series.empty()) return &series;
  }
  return nullptr;
}

std::optional<double> host_value(const State& state, std::string_view signal, std::string_view thing, Time at) {
  const Series* series = host_series(state, signal, thing);
  if (series == nullptr) return std::nullopt;
  const std::vector<Point>& points = series->points();
  const auto after =
      std::upper_bound(points.begin(), points.end(), at, [](Time value, const Point& p) { return value < p.at; });
  if (after == points.begin()) return std::nullopt;
  return std::prev(after)->value;
}

std::vector<Episode> episodes(const State& state, const Series& series, const EpisodeRule& rule) {
  std::vector<Episode> found;
  const std::vector<Point>& points = series.points();
  for (size_t i = 0; i < points.size() && found.size() < kEpisodesReported; ++i) {
    if (!rule.bad(points[i])) continue;
    Episode episode;
    episode.first = points[i];
    episode.worst = points[i].value;
    episode.detected = points[i].at + rule.persist;
    size_t next = i + 1;
    while (next < points.size() && !rule.good(points[next])) {
      if (points[next].at <= episode.detected) {
        episode.worst =
            rule.low ? std::min(episode.worst, points[next].value) : std::max(episode.worst, points[next].value);
      }
      ++next;
    }
    const Time until = next < points.size() ? points[next].at : std::max(state.last_at, points.back().at);
    if (next < points.size()) episode.ended = points[next];
    i = next;
    if (until >= episode.detected) found.push_back(episode);
  }
  return found;
}

Finding host_finding(const State& state, std::string_view detector, std::string_view kind, Severity severity,
                     const Episode& episode, const Series& series, std::string summary) {
  Finding finding;
  finding.kind = kind;
  finding.detector = detector;
  finding.severity = severity;
  finding.onset = moment_of_host(state, episode.first, episode.first.at);
  finding.detected = moment_of_host(state, episode.first, episode.detected);
  if (episode.detected > episode.first.at) finding.detected.where.line = 0;  // the clock shows it, no record does
  finding.summary = std::move(summary);
  Evidence evidence;
  evidence.where = episode.first.where;
  evidence.signal = series.signal;
  evidence.step = finding.onset.step;
  evidence.value = episode.first.value;
  finding.evidence.push_back(std::move(evidence));
  if (episode.ended) {
    finding.resolved = true;
    finding.resolved_at = moment_of_host(state, *episode.ended, episode.ended->at);
  }
  return finding;
}

}  // namespace mw::detect
