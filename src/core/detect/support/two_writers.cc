#include "core/detect/support/two_writers.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/text.h"
#include "core/detect/tools/track.h"
#include "core/mixed_runs.h"

namespace mw::detect {
namespace {

/// One series, cut into the two chains.
class Chains {
 public:
  /// The point at which it is shown that there are two; nullptr: it is not shown.
  const Point* read(const std::vector<Point>& points) {
    for (const Point& point : points) {
      if (point.step == kNoStep || !std::isfinite(point.value)) continue;
      add(point);
      if (shown()) return &point;
    }
    return nullptr;
  }
  const Point* onset() const { return onset_; }  ///< the first record of the second chain
  /// The last steps of both, the higher one first.
  std::pair<int64_t, int64_t> heads() const {
    return {std::max(chains_[0].head, chains_[1].head), std::min(chains_[0].head, chains_[1].head)};
  }

 private:
  struct Chain {
    int64_t head = kNoStep;
    std::unordered_map<int64_t, double> values;  // by step
  };

  /// The record is of the chain that it lies closest above.
  void add(const Point& point) {
    ++records_;
    const size_t other = 1 - last_;
    const bool here = chains_[last_].head < point.step, there = chains_[other].head < point.step;
    if (!here && (!there || chains_[other].head == kNoStep)) return second(point);
    const bool closer = there && chains_[other].head > chains_[last_].head;
    if (here && !closer) return take(last_, point);
    if (chains_[last_].head - point.step >= std::llround(kBack.value)) ++turns_;
    take(other, point);
  }

  /// A record that lies above neither: a chain begins with it, unless there are two that take turns. Of attempts that
  /// follow each other the newest two are compared.
  void second(const Point& point) {
    if (turns_ > 1) {
      ++stray_;
      return;
    }
    if (last_ == 1) std::swap(chains_[0], chains_[1]);
    chains_[1] = {};
    records_ = 1;
    shared_ = differ_ = turns_ = stray_ = 0;
    onset_ = &point;
    take(1, point);
  }

  void take(size_t chain, const Point& point) {
    last_ = chain;
    chains_[chain].head = point.step;
    chains_[chain].values[point.step] = point.value;
    const Chain& other = chains_[1 - chain];
    const auto same = other.values.find(point.step);
    if (same == other.values.end()) return;
    ++shared_;
    if (figures_differ(same->second, point.value)) ++differ_;
  }

  bool shown() const {
    const auto share = [](size_t part, size_t of) { return static_cast<double>(part) / static_cast<double>(of); };
    return turns_ >= points_of(kTurns) && shared_ >= points_of(kShared) && share(differ_, shared_) >= kDiffer.value &&
           share(stray_, records_) <= kStray.value;
  }

  std::array<Chain, 2> chains_;
  size_t last_ = 0;  // the chain of the last record
  size_t records_ = 0, stray_ = 0, turns_ = 0, shared_ = 0, differ_ = 0;
  const Point* onset_ = nullptr;
};

/// A counter that hardly ever goes back: of most series that is all there is to see.
bool rises(const Series& series) {
  const auto& parts = series.parts();
  return parts.size() < points_of(kTurns) &&
         std::all_of(parts.begin(), parts.end(), [](const Series::Part& part) { return part.in_order; });
}

/// The epochs that the records of a file say, and how far two of one run lie apart.
struct Epochs {
  std::unordered_map<uint64_t, double> by_line;
  double apart = 0;
};

Epochs epochs_of(const Series& series) {
  Epochs epochs;
  std::vector<double> all;
  for (const Point& point : series.points()) {
    if (!std::isfinite(point.value)) continue;
    epochs.by_line[point.where.line] = point.value;
    all.push_back(point.value);
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  if (all.size() < points_of(kTurns)) return {};
  std::vector<double> gaps;
  for (size_t i = 1; i < all.size(); ++i) gaps.push_back(all[i] - all[i - 1]);
  std::nth_element(gaps.begin(), gaps.begin() + static_cast<ptrdiff_t>(gaps.size() / 2), gaps.end());
  epochs.apart = gaps[gaps.size() / 2];
  return epochs;
}

/// The points of a series with their epoch in the place of the step, counted in what two records lie apart.
std::vector<Point> by_epoch(const Series& series, const Epochs& epochs) {
  std::vector<Point> points;
  for (Point point : series.points()) {
    const auto epoch = epochs.by_line.find(point.where.line);
    if (epoch == epochs.by_line.end()) continue;
    point.step = std::llround(epoch->second / epochs.apart);
    points.push_back(point);
  }
  return points;
}

/// `apart`: of epochs; 0 of steps.
void add(TwoWriters& into, const Chains& chains, const Point& at, std::string_view signal, double apart) {
  if (++into.signals > points_of(kSignals)) return;
  into.names += cat(into.names.empty() ? "" : ", ", signal);
  if (into.signals == 1) into.onset = *chains.onset();
  if (into.signals > 1 && at.where.line < into.detected.where.line) return;
  into.detected = at;
  into.by_epochs = apart > 0;
  const auto [high, low] = chains.heads();
  const auto said = [apart](int64_t head) {
    return apart > 0 ? format_short(static_cast<double>(head) * apart, 3) : std::to_string(head);
  };
  into.heads = cat(said(low), " and ", said(high));
}

/// Of the records that name no step, the epochs of one file; nothing where they only rise, as mostly.
std::optional<Epochs> epochs_in(const State& state, uint32_t source) {
  for (const Series& series : state.series) {
    if (series.source != source || series.raw != "epoch") continue;
    size_t turns = 0;
    double last = -1;
    for (const Point& point : series.points()) {
      turns += point.value < last ? 1 : 0;
      last = point.value;
    }
    if (turns < points_of(kTurns)) return std::nullopt;
    Epochs epochs = epochs_of(series);
    return epochs.apart > 0 ? std::optional(std::move(epochs)) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

std::map<uint32_t, TwoWriters> two_writers(const State& state) {
  std::map<uint32_t, TwoWriters> files;
  std::map<uint32_t, std::optional<Epochs>> epochs;
  for (const std::string_view signal : kTellingSignals) {
    for (const Series& series : state.series) {
      if (series.signal != signal || series.empty()) continue;
      const auto known = epochs.find(series.source);
      const auto& own = known != epochs.end()
                            ? known->second
                            : epochs.emplace(series.source, epochs_in(state, series.source)).first->second;
      if (!own && rises(series)) continue;
      Chains chains;
      const std::vector<Point> points = own ? by_epoch(series, *own) : std::vector<Point>();
      const Point* const at = chains.read(own ? points : series.points());
      if (at != nullptr) add(files[series.source], chains, *at, signal, own ? own->apart : 0);
    }
  }
  std::erase_if(files, [](const auto& file) { return file.second.signals < points_of(kSignals); });
  return files;
}

}  // namespace mw::detect
