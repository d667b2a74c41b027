#include "core/detect/support/other_weights.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "base/one_of.h"
#include "base/text.h"
#include "core/detect/tools/stats.h"

namespace mw::detect {
namespace {

constexpr size_t kBefore = 10;       // records of the level before
constexpr size_t kLeast = 4;         // fewer are none
constexpr size_t kAfter = 3;         // records that show where the attempt begins
constexpr size_t kOff = 2;           // records by which the onset may be put beside it
constexpr double kFallen = 0.6;      // of the whole fall, that these first records show
constexpr int64_t kRunBegins = 3;    // the first step that a whole run's log has at the latest
constexpr double kAsAtFirst = 0.25;  // of what had been gained: what is left of it then
constexpr double kLikely = 0.8, kSure = 0.9;
constexpr double kOthers = 0.25;  // weight that is left to a fall that comes of itself
constexpr std::array<std::string_view, 2> kOfItself = {"reward-drop-gradual", "performance-collapse-single-step"};

/// Index of the first record of the attempt with which the fall came; 0: it came with none.
size_t first_of_attempt(const Track& track, const Point& onset) {
  const auto at = std::find_if(track.points.begin(), track.points.end(),
                               [&](const Point& p) { return p.step >= onset.step && p.attempt >= onset.attempt; });
  const auto index = static_cast<size_t>(at - track.points.begin());
  const size_t from = index > kOff ? index - kOff : 0;
  for (size_t i = std::max<size_t>(from, 1); i <= std::min(index + kOff, track.size() - 1); ++i) {
    if (track.points[i].attempt > track.points[i - 1].attempt) return i;
  }
  return 0;
}

double median_between(const Track& track, size_t from, size_t to) {
  const auto values = track.slice(from, to);
  return median({values.begin(), values.end()});
}

}  // namespace

void suggest_other_weights(const Track& track, const Point& onset, Finding& finding) {
  const size_t first = track.size() == 0 ? 0 : first_of_attempt(track, onset);
  if (first < kLeast || first + kAfter > track.size()) return;
  const auto end = std::find_if(track.points.begin(), track.points.end(),
                                [&](const Point& p) { return p.step > finding.detected.step; });
  const size_t until = std::max(first + kAfter, static_cast<size_t>(end - track.points.begin()));
  const double before = median_between(track, first - std::min(first, kBefore), first);
  const double at_once = median_between(track, first, first + kAfter);
  const double after = median_between(track, first, until);
  if (!(after < before) || before - at_once < kFallen * (before - after)) return;
  const bool whole = track.points.front().attempt == 0 && track.points.front().step <= kRunBegins;
  const double start = median_between(track, 0, std::min(kLeast, first));
  const bool as_at_first = whole && before > start && at_once - start <= kAsAtFirst * (before - start);
  for (Finding::Suggestion& one : finding.suggests) {
    if (is_one_of(one.cause, kOfItself)) one.weight = std::min(one.weight, kOthers);
  }
  std::string reason = cat("the reward is lower from the first record of attempt ", track.points[first].attempt + 1,
                           " on, which goes on from step ", track.points[first].step,
                           as_at_first ? ", and back where the run began" : "");
  finding.suggests.insert(finding.suggests.begin(),
                          {std::string(kOtherWeights), as_at_first ? kSure : kLikely, std::move(reason)});
}

}  // namespace mw::detect
