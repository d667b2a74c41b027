// Responses become very short or empty. Answers that get shorter while the reward holds are an economy, not a fault;
// where the reward is halved with them, the fall of the reward is no noise and has its cause here.
#include <optional>

#include "base/text.h"
#include "core/detect/support/short_pays.h"
#include "core/detect/tools/further.h"
#include "core/detect/tools/stats.h"
#include "core/detect/tools/track.h"
#include "core/judge_memory.h"

namespace mw::detect {
namespace {

constexpr Knob kHistory{"history", 3, "points", "A level needs a few points", "own"};
constexpr Knob kSlight{"slight", 1.5, "x", "So much shorter is worth a line, as information", "own"};
constexpr Knob kSlightPersist{"slight_persist", 2, "points", "The same", "own"};
constexpr Knob kWidth{"width", 10, "points", "Baseline window", "own"};
constexpr Knob kFactor{"factor", 2, "x", "Times shorter than the longest level so far", "field guide 4.3 rule 14"};
constexpr Knob kDelta{"delta", 20, "tokens", "And at least this much shorter", "own"};
constexpr Knob kPersist{"persist", 3, "points", "It stays", "own"};
constexpr Knob kHarm{"reward_loss", 0.15, "ratio", "Fall of the reward that makes it a warning",
                     "field guide 4.3 rule 14 (collapse with reward is a shortcut)"};
constexpr Knob kEmpty{"empty", 5, "x", "So much shorter that only a reward that rises excuses it",
                      "failure catalogue, length-collapse (a quarter)"};
constexpr Knob kGain{"reward_gain", 0.05, "ratio", "Rise of the reward, of its range, that excuses it", "own"};
constexpr Knob kHalved{"reward_halved", 0.5, "ratio",
                       "Fall of the reward, with answers that short, that is a collapse of its own",
                       "reward-collapse, low_share, which alone needs a longer history"};
constexpr Knob kKnobs[] = {kHistory, kWidth,  kFactor, kDelta,         kPersist, kHarm,    kEmpty,
                           kGain,    kSlight, kHalved, kSlightPersist, kOpposed, kPaysGain};

/// The reward that fell with the answers: reported though it alone would not stand out, as after three records.
void add_lost_reward(const State& state, const Track& track, const Rise& fall, std::vector<Finding>& out) {
  const auto halved = harmed_at(state, track, fall, kHalved.value);
  if (!halved || fall.base / fall.peak < kEmpty.value) return;
  const Point &onset = track.points[fall.onset], &now = track.points[*halved];
  const auto reward = outcome_of(state, onset, now);
  if (!reward || reward->before - reward->after >= reward->range) return;  // on the floor: zero-reward reports it
  Finding finding =
      make_finding("length-collapse", "reward-collapse", Severity::kWarning, onset, now,
                   cat("Reward fell from a level of ", format_short(reward->before, 4), " to ",
                       format_short(reward->after, 4), " when responses became short, since step ", onset.step));
  add_figures(finding, track, fall.onset > 0 ? fall.onset - 1 : 0, fall.detected);
  finding.suggests.push_back({"length-collapse", 0.7, "responses became very short at the same time"});
  if (fall.ended) resolve(finding, track.points[*fall.ended]);
  out.push_back(std::move(finding));
}

/// What had fallen falls once more, to a small part of what was left: no economy any more. Nothing of a fall that was
/// that deep at once.
std::optional<Rise> second_fall(const Track& track, const Rise& fall) {
  if (fall.base / fall.peak > kEmpty.value) return std::nullopt;
  const double limit = fall.peak / kEmpty.value;
  size_t streak = 0;
  for (size_t i = fall.detected + 1; i < fall.ended.value_or(track.size()); ++i) {
    streak = track.values[i] < limit ? streak + 1 : 0;
    if (streak < points_of(kPersist) || fall.peak - limit < kDelta.value) continue;
    Rise deeper = fall;
    deeper.first = deeper.onset = i + 1 - streak;
    while (deeper.onset > fall.detected && track.values[deeper.onset - 1] < fall.peak / kFactor.value) --deeper.onset;
    deeper.detected = i;
    deeper.base = fall.peak;
    deeper.peak = median_of_last(track.slice(0, i + 1), streak);
    return deeper;
  }
  return std::nullopt;
}

bool is_empty(const State& state, const Track& track, const Rise& fall) {
  const auto reward = outcome_of(state, track.points[fall.onset], track.points[fall.detected]);
  return fall.base / fall.peak > kEmpty.value && !(reward && reward->rose(kGain.value));
}

bool is_harmful(const State& state, const Track& track, const Rise& fall) {
  return harmed_at(state, track, fall, kHarm.value).has_value() || is_empty(state, track, fall);
}

void judge_fall(const State& state, const Track& track, const Rise& fall, bool grave, std::vector<Finding>& out) {
  const auto harmed = harmed_at(state, track, fall, kHarm.value);
  const bool loud = grave && is_harmful(state, track, fall);
  const Point& now = track.points[harmed.value_or(fall.detected)];
  Finding finding = make_finding(
      "length-collapse", "length-collapse", loud ? Severity::kWarning : Severity::kInfo, track.points[fall.onset], now,
      cat("Mean response length fell from ", fall.base, " to ", fall.peak, " tokens since step ",
          track.points[fall.onset].step, and_further(track, change_of(fall))));
  add_figures(finding, track, fall.onset > 0 ? fall.onset - 1 : 0, fall.detected);
  finding.suggests.push_back(
      {"length-collapse", 0.6, cat("length is ", format_short(100 * fall.peak / fall.base, 2), " % of its level")});
  if (const std::string pays = short_pays(state, track, fall); !pays.empty()) {
    finding.suggests.push_back({"length-collapse", 0.1, pays});
  }
  if (fall.ended) resolve(finding, track.points[*fall.ended]);
  out.push_back(std::move(finding));
  if (loud) add_lost_reward(state, track, fall, out);
}

void judge(const State& state, const Knowledge&, JudgeMemory& memory, std::vector<Finding>& out) {
  const RiseRule rule{points_of(kHistory), points_of(kWidth), kFactor.value, kDelta.value, points_of(kPersist)};
  RiseRule slight = rule;
  slight.factor = kSlight.value;
  slight.persist = points_of(kSlightPersist);
  for (KeptTrack& track : memory.tracks(state, state.find("response.length"))) {
    std::vector<Rise> found = track.falls("length-collapse", rule);
    const bool grave = !found.empty();
    if (!grave) found = track.falls("length-collapse, slight", slight);
    for (const Rise& fall : found) {
      const auto deeper = second_fall(track, fall);
      const bool part = deeper && is_harmful(state, track, *deeper);  // one decline is one alarm: the collapse itself
      judge_fall(state, track, fall, grave && !part, out);
      if (part) judge_fall(state, track, *deeper, grave, out);
    }
  }
}

}  // namespace

extern const Detector length_collapse;
const Detector length_collapse{"length-collapse",
                               "Responses become very short while the reward falls.",
                               {"length-collapse", "reward-collapse"},
                               kKnobs,
                               judge};

}  // namespace mw::detect
