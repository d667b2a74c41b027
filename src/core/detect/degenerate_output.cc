// Responses repeat themselves.
#include "base/text.h"
#include "core/detect/tools/track.h"
#include "core/judge_memory.h"

namespace mw::detect {
namespace {

constexpr Knob kShare{"share", 0.2, "ratio", "Share of responses that end in loops",
                      "failure catalogue, repetition-degeneration (20 %); field guide 4.3 rule 15 (5 %)"};
constexpr Knob kPersist{"persist", 3, "points", "It stays", "own"};
constexpr Knob kKnobs[] = {kShare, kPersist};

void judge(const State& state, const Knowledge&, JudgeMemory& memory, std::vector<Finding>& out) {
  for (const Track& track : memory.tracks(state, state.find("response.repetition"))) {
    size_t streak = 0;
    for (size_t i = 0; i < track.size(); ++i) {
      streak = track.values[i] > kShare.value ? streak + 1 : 0;
      if (streak < points_of(kPersist)) continue;
      const size_t first = i + 1 - streak;
      Finding finding = make_finding(
          "degenerate-output", "degenerate-output", Severity::kWarning, track.points[first], track.points[i],
          cat(format_short(100 * track.values[i], 3), " % of the responses repeat themselves"));
      add_figures(finding, track, first, i);
      finding.suggests.push_back({"repetition-degeneration", 0.6, "responses repeat themselves"});
      out.push_back(std::move(finding));
      break;
    }
  }
}

}  // namespace

extern const Detector degenerate_output;
const Detector degenerate_output{
    "degenerate-output", "Responses repeat themselves.", {"degenerate-output"}, kKnobs, judge};

}  // namespace mw::detect
