// Responses grow far beyond their level without reward to show for it, or until more and more of them are cut off.
// Moderate growth with reward is how reasoning training works.
#include <algorithm>
#include <cmath>
#include <optional>

#include "base/numbers.h"
#include "base/text.h"
#include "core/detect/tools/further.h"
#include "core/detect/tools/stats.h"
#include "core/detect/tools/track.h"
#include "core/judge_memory.h"

namespace mw::detect {
namespace {

constexpr Knob kHistory{"history", 5, "points", "A level needs a few points", "own"};
constexpr Knob kWidth{"width", 10, "points", "Baseline window", "own"};
constexpr Knob kFactor{"factor", 2, "x", "Times the level right before",
                       "field guide 4.3 rule 14 (1.5 x in 20 steps without gain), above prompt-mix noise"};
constexpr Knob kDelta{"delta", 50, "tokens", "And at least this much more", "own"};
constexpr Knob kPersist{"persist", 3, "points", "It stays", "failure catalogue (3 steps)"};
constexpr Knob kHarm{"reward_loss", 0.15, "ratio", "Fall of the reward that makes it a warning",
                     "field guide 4.3 rule 14"};
constexpr Knob kSlowFactor{"slow_factor", 2.5, "x",
                           "A slow rise: times the lowest level so far, while the reward falls", "own"};
constexpr Knob kCapFactor{"cap_factor", 3, "x",
                          "Towards the limit of an answer: times the lowest level so far, while more and more are cut "
                          "off",
                          "own; runs that learn to reason seen: up to 3, with hardly an answer cut off"};
constexpr Knob kCapDelta{"cap_delta", 200, "tokens", "Likewise: and at least this much more", "own"};
constexpr Knob kCapPersist{"cap_persist", 5, "points", "Likewise: it stays", "as truncation"};
constexpr Knob kCut{"cut", 0.2, "ratio", "Likewise: of the answers are cut off", "field guide 4.3 rule 13"};
constexpr Knob kWhole{"whole", 0.1, "ratio", "Likewise: at most, before the lengths grew", "own"};
constexpr Knob kPays{
    "pays", 0.25, "ratio",
    "Likewise: rise of the reward, of its own height, in the later half of the growth, for which it is "
    "information",
    "own"};
constexpr Knob kKnobs[] = {kHistory,   kWidth,    kFactor,     kDelta, kPersist, kHarm, kSlowFactor,
                           kCapFactor, kCapDelta, kCapPersist, kCut,   kWhole,   kPays};

void add_finding(const State& state, const Track& track, const Rise& rise, std::optional<size_t> harmed,
                 std::vector<Finding>& out) {
  const Point& onset = track.points[rise.left];
  const Point& now = track.points[harmed.value_or(rise.detected)];
  const auto cut = shift_of(state, "response.truncated", onset, now, 5);
  const bool truncated = cut && cut->after >= 0.5;  // the detector of truncation reports this chain
  Finding finding = make_finding("length-explosion", "length-explosion",
                                 harmed && !truncated ? Severity::kWarning : Severity::kInfo, onset, now,
                                 cat("Mean response length rose from ", rise.base, " to ", rise.peak,
                                     " tokens since step ", onset.step, and_further(track, change_of(rise))));
  add_figures(finding, track, rise.left > 0 ? rise.left - 1 : 0, rise.detected);
  finding.suggests.push_back({"length-explosion-truncation", 0.6,
                              cat("length is ", format_short(rise.peak / rise.base, 2), " times its level")});
  if (rise.ended) resolve(finding, track.points[*rise.ended]);
  out.push_back(std::move(finding));
}

/// The first point of the rise at which so many answers are cut off, as the median of the last records.
std::optional<size_t> cut_off_at(const Series& cut, const Track& track, const Rise& rise) {
  ValueCursor cursor(&cut);
  std::vector<double> shares;
  const size_t end = std::min(rise.ended.value_or(track.size()), track.size());
  for (size_t i = rise.left; i < end; ++i) {
    shares.push_back(cursor.at(track.points[i]).value_or(0));
    if (i >= rise.detected && median_of_last(shares, points_of(kCapPersist)) >= kCut.value) return i;
  }
  return std::nullopt;
}

/// Since the answers were half as far, by factors, on the way to where they are at `now`.
bool reward_pays(const State& state, const Track& track, const Rise& rise, size_t now) {
  const double middle = std::sqrt(rise.base * median_of_last(track.slice(0, now + 1), points_of(kPersist)));
  size_t half = now;
  while (half > rise.left && track.values[half - 1] > middle) --half;
  const auto reward = outcome_of(state, track.points[half], track.points[now]);
  return reward && reward->rose(kPays.value);
}

/// Answers that grow several-fold until more and more of them are cut off. Whether the finding was made.
bool judge_towards_cap(const State& state, KeptTrack& track, std::vector<Finding>& out) {
  const Series* const cut = state.find("response.truncated");
  if (cut == nullptr || !(cut->max() >= kCut.value)) return false;
  const RiseRule rule{2 * points_of(kHistory), points_of(kWidth), kCapFactor.value, kCapDelta.value,
                      points_of(kCapPersist)};
  for (Rise rise : track.rises("length-explosion, towards the limit", rule)) {
    const auto before = shift_of(cut, track.points[rise.left], track.points[rise.detected], points_of(kWidth));
    const auto now = cut_off_at(*cut, track, rise);
    if (!before || !now || before->before > kWhole.value) continue;
    add_finding(state, track, rise, std::nullopt, out);
    Finding& finding = out.back();
    finding.detected = moment_of(track.points[*now]);
    finding.severity = reward_pays(state, track, rise, *now) ? Severity::kInfo : Severity::kWarning;
    const double share = value_at(cut, track.points[*now]).value_or(0);
    finding.summary +=
        cat("; ", format_short(100 * share, 3), " % of them are cut off at step ", track.points[*now].step);
    add_figure(finding, cut->signal, track.points[*now].step, share);
    return true;
  }
  return false;
}

void judge(const State& state, const Knowledge&, JudgeMemory& memory, std::vector<Finding>& out) {
  const RiseRule rule{
      points_of(kHistory), points_of(kWidth), kFactor.value, kDelta.value, points_of(kPersist), 0, false};
  RiseRule slow = rule;
  slow.factor = kSlowFactor.value;
  slow.from_lowest = true;
  for (KeptTrack& track : memory.tracks(state, state.find("response.length"))) {
    if (judge_towards_cap(state, track, out)) continue;
    bool grave = false;
    for (const Rise& rise : track.rises("length-explosion", rule)) {
      const auto harmed = harmed_at(state, track, rise, kHarm.value);
      grave |= harmed.has_value();
      add_finding(state, track, rise, harmed, out);
    }
    for (const Rise& rise : grave ? std::vector<Rise>{} : track.rises("length-explosion, slow", slow)) {
      const auto harmed = harmed_at(state, track, rise, kHarm.value);
      if (harmed) add_finding(state, track, rise, harmed, out);
    }
  }
}

}  // namespace

extern const Detector length_explosion;
const Detector length_explosion{
    "length-explosion",
    "Responses grow far beyond their level while the reward falls, or until many are cut off.",
    {"length-explosion"},
    kKnobs,
    judge};

}  // namespace mw::detect
