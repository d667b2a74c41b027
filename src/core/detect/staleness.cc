// Samples lag behind the policy by more weight versions than the run allows.
#include <array>
#include <optional>

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
constexpr Knob kOldest{"oldest", 2, "x",
                       "Of the bound, where only the oldest sample of a step is logged and no bound is named",
                       "ages between none and the oldest one's have half of it as their mean"};
constexpr Knob kKnobs[] = {kDefault, kPersist, kBack, kOldest};

std::optional<double> named_bound(const State& state) {
  for (const std::string_view key :
       {"max_staleness", "max_staleness_steps", "max_head_offpolicyness", "max_off_policy_steps", "staleness_bound"}) {
    const auto found = state.config.find(std::string(key));
    if (found == state.config.end()) continue;
    const auto value = parse_double(found->second);
    if (value && *value > 0) return *value;
  }
  return std::nullopt;
}

/// `oldest`: they are those of the oldest sample of each step.
void judge_ages(JudgeMemory& memory, const State& state, const Series* ages, double bound, bool oldest,
                std::vector<Finding>& out) {
  for (const Track& track : memory.tracks(state, ages)) {
    for (const Stretch& stretch : stretches_of(track, {bound, points_of(kPersist), points_of(kBack)})) {
      Finding finding = make_finding("staleness", "staleness", Severity::kWarning, track.points[stretch.first],
                                     track.points[stretch.detected],
                                     cat(oldest ? "The oldest samples " : "Samples ", stretch.ended ? "were " : "are ",
                                         track.values[stretch.detected], " weight versions old",
                                         oldest ? "" : " on average", "; the bound is ", bound));
      add_figures(finding, track, stretch.first, stretch.detected);
      finding.suggests.push_back(
          {"policy-lag-growing", 0.6,
           oldest ? "age of the oldest samples over the bound" : "mean policy age over the bound"});
      if (stretch.ended) resolve(finding, track.points[*stretch.ended]);
      out.push_back(std::move(finding));
    }
  }
}

void judge(const State& state, const Knowledge&, JudgeMemory& memory, std::vector<Finding>& out) {
  const auto named = named_bound(state);
  if (const Series* mean = state.find("staleness"); mean != nullptr && !mean->empty())
    return judge_ages(memory, state, mean, named.value_or(kDefault.value), false, out);
  judge_ages(memory, state, state.find("staleness.max"), named.value_or(kOldest.value * kDefault.value), true, out);
}

}  // namespace

extern const Detector staleness;
const Detector staleness{
    "staleness", "Samples lag behind the policy by more than the bound.", {"staleness"}, kKnobs, judge};

}  // namespace mw::detect
