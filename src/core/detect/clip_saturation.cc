// The ratio clip bites far more often than the algorithm should let it.
#include "base/text.h"
#include "core/detect/tools/back.h"
#include "core/detect/tools/stats.h"
#include "core/detect/tools/track.h"
#include "core/judge_memory.h"

namespace mw::detect {
namespace {

constexpr Knob kToken{"token_level", 0.3, "ratio", "Token-level PPO, GRPO, DAPO",
                      "field guide 4.3 rule 9 (healthy GRPO 0.0013; 0.3 critical)"};
constexpr Knob kSequence{"sequence_level", 0.6, "ratio", "GSPO clips whole sequences: 0.15 is healthy",
                         "arXiv 2507.18071"};
constexpr Knob kHistory{"history", 5, "points", "Warm-up", "field guide 4.1"};
constexpr Knob kPersist{"persist", 5, "points", "It stays", "failure catalogue, clip-ratio-saturated (5 steps)"};
constexpr Knob kBack{"back", 10, "points", "At the limit or below it, in a row, end it", "hysteresis"};
constexpr Knob kKnobs[] = {kToken, kSequence, kHistory, kPersist, kBack};

/// The mismatch of engine and trainer explains clipping, where it rose at the same time.
void add_causes(const State& state, const Point& onset, const Point& now, Finding& finding) {
  finding.suggests.push_back({"clip-ratio-saturated", 0.6, "most updates are clipped away"});
  if (const auto gap = shift_of(state, "mismatch.logp_diff", onset, now); gap && gap->relative() > 1) {
    finding.suggests.push_back(
        {"train-inference-mismatch", 0.4, cat("log-probability difference rose to ", gap->after)});
  }
}

void judge(const State& state, const Knowledge&, JudgeMemory& memory, std::vector<Finding>& out) {
  const std::string algorithm = algorithm_of(state);
  const bool sequence = contains(algorithm, "gspo") || contains(algorithm, "sequence");
  const double limit = sequence ? kSequence.value : kToken.value;
  for (const Track& track : memory.tracks(state, state.find("clip.frac"))) {
    const StretchRule rule{limit, points_of(kPersist), points_of(kBack), points_of(kHistory)};
    for (const Stretch& stretch : stretches_of(track, rule)) {
      const Point &onset = track.points[stretch.first], &now = track.points[stretch.detected];
      Finding finding =
          make_finding("clip-saturation", "clip-saturation", Severity::kWarning, onset, now,
                       cat("Clip fraction ", track.values[stretch.detected], " for ", rule.persist, " records; ", limit,
                           " is much for ", algorithm.empty() ? "token-level clipping" : algorithm));
      add_figures(finding, track, stretch.first, stretch.detected);
      add_causes(state, onset, now, finding);
      if (stretch.ended) resolve(finding, track.points[*stretch.ended]);
      out.push_back(std::move(finding));
    }
  }
}

}  // namespace

extern const Detector clip_saturation;
const Detector clip_saturation{"clip-saturation",
                               "The clip fraction stays far above what the algorithm should show.",
                               {"clip-saturation"},
                               kKnobs,
                               judge};

}  // namespace mw::detect
