// A checkpoint that the trainer counts as saved and that the disk shows not to be whole.
#include <algorithm>

#include "base/text.h"
#include "core/detect/detector.h"

namespace mw::detect {
namespace {

using How = event::CheckpointSeen::How;
using Look = std::pair<Moment, event::CheckpointSeen>;

constexpr Knob kKnobs[] = {
    {"told", 5, "checkpoints", "Where every save fails the first ones tell all that is to be told", "own"},
};

/// Whether the trouble is over: it was finished after all, or a later one beside it is whole.
bool heals(const event::CheckpointSeen& broken, const event::CheckpointSeen& later) {
  if (later.path == broken.path) return later.how != How::kBroken;
  return later.how == How::kWhole && later.step > broken.step && folder_of(later.path) == folder_of(broken.path);
}

Finding finding_of(const Look& look) {
  const auto& [moment, seen] = look;
  Finding finding;
  finding.kind = "checkpoint-incomplete";
  finding.detector = "checkpoint-looks";
  finding.severity = Severity::kCritical;
  finding.onset = finding.detected = moment;
  finding.summary = cat("The checkpoint", seen.step == kNoStep ? "" : cat(" of step ", seen.step),
                        " is not whole: ", seen.what, " (", seen.path, ")");
  finding.evidence.push_back({moment.where, cat(seen.path, ": ", seen.what), "", kNoStep, 0});
  if (!seen.sign.empty()) finding.suggests.push_back({seen.sign, 0.8, "as its files on the disk show"});
  return finding;
}

void judge(const State& state, const Knowledge&, std::vector<Finding>& out) {
  const std::vector<Look>& looks = state.looks;
  size_t told = 0;
  for (size_t i = 0; i < looks.size() && static_cast<double>(told) < kKnobs[0].value; ++i) {
    if (looks[i].second.how != How::kBroken) continue;
    const auto before = std::find_if(looks.rbegin() + static_cast<ptrdiff_t>(looks.size() - i), looks.rend(),
                                     [&](const Look& look) { return look.second.path == looks[i].second.path; });
    if (before != looks.rend() && before->second.how == How::kBroken) continue;  // told
    Finding finding = finding_of(looks[i]);
    const auto healed = std::find_if(looks.begin() + static_cast<ptrdiff_t>(i), looks.end(),
                                     [&](const Look& look) { return heals(looks[i].second, look.second); });
    finding.resolved = healed != looks.end();
    if (finding.resolved) finding.resolved_at = healed->first;
    out.push_back(std::move(finding));
    ++told;
  }
}

}  // namespace

extern const Detector checkpoint_looks;
const Detector checkpoint_looks{
    "checkpoint-looks",
    "A checkpoint that counts as saved is not whole on the disk: weights are missing or cut.",
    {"checkpoint-incomplete"},
    kKnobs,
    judge};

}  // namespace mw::detect
