// A good part of the generations comes back empty or aborted, and did not before: an engine that gives up requests, or
// a policy that ends at once. They are trained on as answers that are wrong.
#include "base/numbers.h"
#include "base/text.h"
#include "core/detect/tools/track.h"
#include "core/judge_memory.h"

namespace mw::detect {
namespace {

constexpr Knob kHistory{"history", 5, "points", "A level needs a few points", "own"};
constexpr Knob kWidth{"width", 10, "points", "Baseline window", "own"};
constexpr Knob kFactor{"factor", 4, "x", "Times its level: who samples more than he needs aborts some in each step",
                       "own"};
constexpr Knob kDelta{"delta", 0.25, "ratio", "Of all generations, and above the level", "own"};
constexpr Knob kPersist{"persist", 5, "points", "It stays", "own"};
constexpr Knob kKnobs[] = {kHistory, kWidth, kFactor, kDelta, kPersist};

void judge(const State& state, const Knowledge&, JudgeMemory& memory, std::vector<Finding>& out) {
  const RiseRule rule{points_of(kHistory), points_of(kWidth), kFactor.value, kDelta.value, points_of(kPersist)};
  for (KeptTrack& track : memory.tracks(state, state.find("response.aborted"))) {
    for (const Rise& rise : track.rises("aborted-answers", rule)) {
      Finding finding =
          make_finding("aborted-answers", "environment-fault", Severity::kWarning, track.points[rise.onset],
                       track.points[rise.detected],
                       cat(format_short(100 * rise.peak, 3), " % of the generations ", rise.ended ? "came" : "come",
                           " back empty or aborted since step ", track.points[rise.onset].step, "; before it were ",
                           format_short(100 * rise.base, 3), " %"));
      add_figures(finding, track, rise.onset > 0 ? rise.onset - 1 : 0, rise.detected);
      finding.suggests.push_back({"engine-aborts-answers", 0.6, "the run's own share of aborted or empty answers"});
      if (rise.ended) resolve(finding, track.points[*rise.ended]);
      out.push_back(std::move(finding));
    }
  }
}

}  // namespace

extern const Detector aborted_answers;
const Detector aborted_answers{"aborted-answers",
                               "A good part of the generations comes back empty or aborted.",
                               {"environment-fault"},
                               kKnobs,
                               judge};

}  // namespace mw::detect
