// Two runs that write to one log or metrics file at once: its step counter goes to and fro between two chains, each of
// which rises, and where both have been at a step their figures differ. Ranks of one run do a step together; what comes
// late, or several times a step, makes no two chains.
#include "base/text.h"
#include "core/detect/detector.h"
#include "core/detect/support/two_writers.h"

namespace mw::detect {
namespace {

constexpr Knob kKnobs[] = {kTurns, kBack, kShared, kDiffer, kStray, kSignals};

Finding finding_of(const State& state, uint32_t source, const TwoWriters& shown) {
  const std::string file =
      source < state.sources.size() ? std::string(basename(state.sources[source].path)) : "one file";
  const std::string_view count = shown.by_epochs ? "epochs" : "steps";
  Finding finding =
      make_finding("interleaved-runs", "interleaved-runs", Severity::kWarning, shown.onset, shown.detected,
                   cat("Two runs write to ", file, " at once: its ", count, " go to and fro (by then between ",
                       shown.heads, "), and the same ", count, " have two sets of figures (", shown.names,
                       "); what is said here of the run is put together from both"));
  finding.suggests.push_back({"two-writers-same-output", 0.8, cat(count, " that interleave")});
  return finding;
}

void judge(const State& state, const Knowledge&, std::vector<Finding>& out) {
  for (const auto& [source, shown] : two_writers(state)) out.push_back(finding_of(state, source, shown));
}

}  // namespace

extern const Detector interleaved_runs;
const Detector interleaved_runs{
    "interleaved-runs", "Two runs write to one log or metrics file at once.", {"interleaved-runs"}, kKnobs, judge};

}  // namespace mw::detect
