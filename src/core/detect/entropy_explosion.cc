// Entropy rises far above its level and stays: the policy dissolves into noise.
#include <algorithm>
#include <optional>

#include "base/text.h"
#include "core/detect/tools/further.h"
#include "core/detect/tools/track.h"
#include "core/judge_memory.h"

namespace mw::detect {
namespace {

constexpr Knob kHistory{"history", 4, "points", "A level needs a few points", "own"};
constexpr Knob kWidth{"width", 10, "points", "Baseline window", "own"};
constexpr Knob kFactor{"factor", 2.5, "x", "Times the lowest level so far", "field guide 4.3 rule 6 (2 x)"};
constexpr Knob kDelta{"delta", 0.4, "nats", "And at least this much above it: small entropies double easily",
                      "field guide 4.3 rule 6 (1-2 nats)"};
constexpr Knob kNotable{"notable", 0.15, "nats", "Above it: worth a line, as information", "own"};
constexpr Knob kPersist{"persist", 3, "points", "It stays", "failure catalogue, entropy-explosion (3 steps)"};
constexpr Knob kHarm{"reward_loss", 0.2, "ratio", "Fall of the reward that makes it grave", "field guide 4.3 rule 6"};
constexpr Knob kCut{"truncated", 0.2, "ratio", "Rise of the truncated share that makes it grave",
                    "field guide 4.3 rule 6"};
constexpr Knob kNoise{"noise", 2, "nats",
                      "Below this a rising reward excuses it; above, the text is noise whatever the reward says",
                      "field guide 4.3 rule 6"};
constexpr Knob kDense{"dense", 1, "nats", "Below this no text is noise: without harm it is information",
                      "healthy runs seen: 0.1 to 3"};
constexpr Knob kRandom{"random", 9, "nats",
                       "No level is needed to judge it: as if each token were drawn from 8,000. Sums over an answer's "
                       "tokens, which some trainers call entropy, do not begin as low as `text`",
                       "ln of vocabularies of 32,000 to 256,000 tokens is 10.4 to 12.5"};
constexpr Knob kText{"text", 4, "nats", "What the first record of a language model that writes text lies below",
                     "healthy runs seen: 0.1 to 3"};
constexpr Knob kLost{"lost", 6, "nats",
                     "Of a policy that began to write text: noise, whatever a reward says or where none is known",
                     "e^6: as if each token were drawn from 400"};
constexpr Knob kHotter{"hotter", 3, "records",
                       "Before the rise, in which a higher sampling temperature in the run's own figures explains it",
                       "own"};
constexpr Knob kWarmer{"warmer", 1.1, "x", "By so much the sampling temperature rises at least", "own"};
constexpr double kHottest = 10;  // more is no temperature that tokens are drawn with, but a machine's
constexpr Knob kKnobs[] = {kHistory, kWidth, kFactor,  kDelta, kPersist, kHarm,   kCut,   kNoise,
                           kRandom,  kText,  kNotable, kDense, kLost,    kHotter, kWarmer};

Severity severity_of(const State& state, const Point& onset, const Point& now, double peak, Finding& finding) {
  const auto reward = outcome_of(state, onset, now, 5);
  const auto cut = shift_of(state, "response.truncated", onset, now, 5);
  const bool worse = reward && reward->share() < -kHarm.value;
  const bool longer = cut && cut->after - cut->before > kCut.value;
  if (worse) {
    add_figure(finding, "reward.mean", now.step, reward->after);
    finding.suggests.front().reason += cat("; reward fell from ", reward->before, " to ", reward->after);
  }
  if (longer)
    finding.suggests.push_back({"length-explosion-truncation", 0.3, cat("truncated share rose to ", cut->after)});
  if (worse || longer) return Severity::kCritical;
  if (reward && reward->share() > 0.05 && peak < kNoise.value) return Severity::kInfo;
  if (reward && !(reward->share() < -0.05) && peak < kDense.value) return Severity::kInfo;
  return reward ? Severity::kWarning : Severity::kInfo;
}

/// "sampling_temperature rose from 1 to 1.6 at step 40": the run's own figures say that it draws more freely from there
/// on, so that more entropy is what was wanted; "": they do not.
std::string hotter(const State& state, const Track& track, const Rise& rise) {
  const size_t before = std::min<size_t>(rise.onset, points_of(kHotter)), last = track.size() - 1;
  const int64_t from = track.points[rise.onset - before].step;
  const int64_t to = track.points[std::min(last, rise.onset + 1)].step;
  for (const Series& series : state.series) {
    const std::string_view name = series.raw.empty() ? series.signal : series.raw;
    if (!contains_folded(name, "temperature") || contains_folded(name, "gpu")) continue;
    const std::vector<Point>& points = series.points();
    for (size_t i = 1; i < points.size() && points[i].step <= to; ++i) {
      const Point &was = points[i - 1], &is = points[i];
      const bool here = is.step >= from && is.attempt == track.points[rise.onset].attempt && was.attempt == is.attempt;
      if (!here || !(was.value > 0) || !(is.value >= kWarmer.value * was.value) || is.value > kHottest) continue;
      return cat(name, " rose from ", was.value, " to ", is.value, " at step ", is.step);
    }
  }
  return "";
}

constexpr double kMostTokens = 13;  // nats: more than any vocabulary allows

/// From `from` on, the first record of `persist` in a row between `least` nats and what a vocabulary allows, and the
/// record that shows it.
struct Stay {
  size_t first = 0, detected = 0;
};
std::optional<Stay> stays_above(const Track& track, size_t from, double least) {
  size_t streak = 0;
  for (size_t i = from; i < track.size(); ++i) {
    streak = track.values[i] >= least && track.values[i] <= kMostTokens ? streak + 1 : 0;
    if (streak == points_of(kPersist)) return Stay{i + 1 - streak, i};
  }
  return std::nullopt;
}

/// Information that is more once the text is noise.
void judge_lost(const Track& track, const Rise& rise, Finding& finding) {
  if (finding.severity != Severity::kInfo || rise.ended || track.values[0] >= kText.value) return;
  const std::optional<Stay> lost = stays_above(track, rise.onset, kLost.value);
  if (!lost) return;
  finding.severity = Severity::kWarning;
  finding.detected = moment_of(track.points[std::max(lost->detected, rise.detected)]);
}

/// Tokens drawn at random, before the run had a level of its own.
void judge_random(const Track& track, std::vector<Finding>& out) {
  if (track.size() == 0 || track.values[0] >= kText.value) return;
  const std::optional<Stay> stay = stays_above(track, 1, kRandom.value);
  if (!stay) return;
  const Point &onset = track.points[stay->first], &now = track.points[stay->detected];
  Finding finding =
      make_finding("entropy-explosion", "entropy-explosion", Severity::kCritical, onset, now,
                   cat("Entropy is ", now.value, " nats since step ", onset.step, ": the tokens are all but random"));
  add_figures(finding, track, stay->first - 1, stay->detected);
  finding.suggests.push_back({"entropy-explosion", 0.6, cat("entropy ", now.value, " nats")});
  out.push_back(std::move(finding));
}

void judge(const State& state, const Knowledge&, JudgeMemory& memory, std::vector<Finding>& out) {
  const RiseRule rule{points_of(kHistory), points_of(kWidth), kFactor.value, kDelta.value, points_of(kPersist)};
  RiseRule slight = rule;
  slight.delta = kNotable.value;
  for (KeptTrack& track : memory.tracks(state, state.find("entropy"))) {
    std::vector<Rise> found = track.rises("entropy-explosion", rule);
    const bool grave = !found.empty();
    const size_t before = out.size();
    if (!grave) judge_random(track, out);
    if (out.size() > before) continue;
    if (!grave) found = track.rises("entropy-explosion, slight", slight);
    for (const Rise& rise : found) {
      const Point &left = track.points[rise.left], &onset = track.points[rise.onset];
      const Point& now = track.points[rise.detected];
      Finding finding = make_finding("entropy-explosion", "entropy-explosion", Severity::kWarning, left, now,
                                     cat("Entropy rose from ", rise.base, " to ", rise.peak, " nats since step ",
                                         left.step, and_further(track, change_of(rise))));
      add_figures(finding, track, rise.left > 0 ? rise.left - 1 : 0, rise.detected);
      finding.suggests.push_back(
          {"entropy-explosion", 0.6, cat("entropy ", rise.peak, " against a level of ", rise.base)});
      finding.severity = severity_of(state, onset, now, rise.peak, finding);
      if (rise.ended) {
        resolve(finding, track.points[*rise.ended]);
        if (finding.severity == Severity::kCritical) finding.severity = Severity::kWarning;
      }
      if (!grave) finding.severity = Severity::kInfo;
      if (const std::string schedule = hotter(state, track, rise); !schedule.empty()) {
        finding.severity = Severity::kInfo;
        finding.summary += cat("; ", schedule);
      }
      judge_lost(track, rise, finding);
      out.push_back(std::move(finding));
    }
  }
}

}  // namespace

extern const Detector entropy_explosion;
const Detector entropy_explosion{
    "entropy-explosion", "Entropy rises far above its level and stays there.", {"entropy-explosion"}, kKnobs, judge};

}  // namespace mw::detect
