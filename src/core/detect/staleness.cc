// Samples lag behind the policy by more weight versions than the run allows.
#include <array>

#include "base/numbers.h"
#include "base/text.h"
#include "core/detect/tools/back.h"
#include "core/detect/tools/track.h"
#include "core/judge_memory.h"

namespace mw::detect {
namespace {

constexpr Knob kDefault{"bound", 10, "versions", "Where the run names no bound",
                        "field guide 4.3 rule 17 (>10: monitor closely)"};
constexpr Knob kPersist{"persist", 5, "points", "It stays", "own"};
constexpr Knob kBack{"back", 10, "points", "Within the bound in a row end it", "hysteresis"};
constexpr Knob kKnobs[] = {kDefault, kPersist, kBack};

double bound_of(const State& state) {
  for (const std::string_view key :
       {"max_staleness", "max_staleness_steps", "max_head_offpolicyness", "max_off_policy_steps", "staleness_bound"}) {
    const auto found = state.config.find(std::string(key));
    if (found == state.config.end()) continue;
    const auto value = parse_double(found->second);
    if (value && *value > 0) return *value;
  }
  return kDefault.value;
}

void judge(const State& state, const Knowledge&, JudgeMemory& memory, std::vector<Finding>& out) {
  const double bound = bound_of(state);
  for (const Track& track : memory.tracks(state, state.find("staleness"))) {
    for (const Stretch& stretch : stretches_of(track, {bound, points_of(kPersist), points_of(kBack)})) {
      Finding finding = make_finding("staleness", "staleness", Severity::kWarning, track.points[stretch.first],
                                     track.points[stretch.detected],
                                     cat("Samples ", stretch.ended ? "were " : "are ", track.values[stretch.detected],
                                         " weight versions old on average; the bound is ", bound));
      add_figures(finding, track, stretch.first, stretch.detected);
      finding.suggests.push_back({"policy-lag-growing", 0.6, "mean policy age over the bound"});
      if (stretch.ended) resolve(finding, track.points[*stretch.ended]);
      out.push_back(std::move(finding));
    }
  }
}

}  // namespace

extern const Detector staleness;
const Detector staleness{
    "staleness", "Samples lag behind the policy by more than the bound.", {"staleness"}, kKnobs, judge};

}  // namespace mw::detect
