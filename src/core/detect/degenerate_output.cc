// Responses repeat themselves.
#include "base/text.h"
#include "core/detect/tools/back.h"
#include "core/detect/tools/track.h"
#include "core/judge_memory.h"

namespace mw::detect {
namespace {

constexpr Knob kShare{"share", 0.2, "ratio", "Share of responses that end in loops",
                      "failure catalogue, repetition-degeneration (20 %); field guide 4.3 rule 15 (5 %)"};
constexpr Knob kPersist{"persist", 3, "points", "It stays", "own"};
constexpr Knob kBack{"back", 10, "points", "At that share or below it, in a row, end it", "hysteresis"};
constexpr Knob kKnobs[] = {kShare, kPersist, kBack};

void judge(const State& state, const Knowledge&, JudgeMemory& memory, std::vector<Finding>& out) {
  for (const Track& track : memory.tracks(state, state.find("response.repetition"))) {
    for (const Stretch& stretch : stretches_of(track, {kShare.value, points_of(kPersist), points_of(kBack)})) {
      Finding finding = make_finding("degenerate-output", "degenerate-output", Severity::kWarning,
                                     track.points[stretch.first], track.points[stretch.detected],
                                     cat(format_short(100 * track.values[stretch.detected], 3), " % of the responses ",
                                         stretch.ended ? "repeated" : "repeat", " themselves"));
      add_figures(finding, track, stretch.first, stretch.detected);
      finding.suggests.push_back({"repetition-degeneration", 0.6, "responses repeat themselves"});
      if (stretch.ended) resolve(finding, track.points[*stretch.ended]);
      out.push_back(std::move(finding));
    }
  }
}

}  // namespace

extern const Detector degenerate_output;
const Detector degenerate_output{
    "degenerate-output", "Responses repeat themselves.", {"degenerate-output"}, kKnobs, judge};

}  // namespace mw::detect
