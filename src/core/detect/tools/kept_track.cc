#include "core/detect/tools/kept_track.h"

#include <algorithm>

namespace mw::detect {

void KeptTrack::put(const Point& point) { altered(put_in_order(*this, point)); }

void KeptTrack::put_only(const Point& point) {
  points.assign(1, point);
  values.assign(1, point.value);
  altered(0);
}

void KeptTrack::altered(size_t lowest) {
  ++version_;
  if (lowest + kLatePoints < longest_) {
    walks_.clear();  // some have gone past it
    longest_ = 0;
  }
  longest_ = std::max(longest_, size());
}

std::deque<KeptTrack>& KeptTracks::up_to_date(const Series& series) {
  const std::vector<Point>& points = series.points();
  if (series.rewritten() != rewritten_ || points.size() < taken_) begin_anew(series);
  if (taken_ > 0 && !replace(points[taken_ - 1])) begin_anew(series);
  for (; taken_ < points.size(); ++taken_) take(points[taken_]);
  if (taken_ > 0) last_ = points.back();
  for (KeptTrack& track : tracks_) track.series = &series;
  return tracks_;
}

void KeptTracks::begin_anew(const Series& series) {
  tracks_.clear();
  taken_ = 0;
  rewritten_ = series.rewritten();
}

void KeptTracks::take(const Point& point) {
  const auto taken = as_taken(point, tracks_.empty() ? nullptr : &tracks_.back().points.back());
  if (!taken) return;
  if (tracks_.empty() || starts_over(tracks_.back(), *taken)) tracks_.emplace_back();
  tracks_.back().put(*taken);
}

/// The last point that was taken may have got a new value since. False where it cannot be taken back.
bool KeptTracks::replace(const Point& point) {
  if (point.at == last_.at && point.where == last_.where && point.value == last_.value) return true;
  const auto was = as_taken(last_, nullptr), is = as_taken(point, nullptr);
  if (!was) {
    if (is) take(point);
    return true;
  }
  if (!is || last_.step == kNoStep || point.step != last_.step) return false;
  KeptTrack& track = tracks_.back();
  if (track.size() == 1) {
    track.put_only(*is);
  } else {
    track.put(*is);
  }
  return true;
}

}  // namespace mw::detect
