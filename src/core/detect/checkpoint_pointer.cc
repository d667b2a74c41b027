// The file that names the framework's newest checkpoint names one that is not there, or not whole, and stays so.
#include "base/text.h"
#include "core/detect/detector.h"
#include "core/detect/support/scans.h"

namespace mw::detect {
namespace {

using Scan = std::pair<Moment, event::PointerSeen>;

constexpr Knob kKnobs[] = {
    {"reported", 5, "pointers", "Of an actor and a critic there is one each; more of them say no more", "own"},
};

Finding finding_of(const Scan& scan) {
  const auto& [moment, seen] = scan;
  Finding finding;
  finding.kind = finding.detector = "checkpoint-pointer";
  finding.severity = Severity::kWarning;
  finding.onset = finding.detected = moment;
  finding.summary = cat(basename(seen.path), " in ", folder_of(seen.path), " is wrong: ", seen.what,
                        ". An attempt that resumes by it fails or begins from nothing");
  finding.summary += seen.whole == kNoStep
                         ? std::string("; no whole checkpoint was seen beside it")
                         : cat("; the newest whole one is that of step ", seen.whole, " (", seen.whole_path, ")");
  finding.evidence.push_back({moment.where, cat(seen.path, ": ", seen.what), "", kNoStep, 0});
  const bool removed = seen.step != kNoStep && contains(seen.what, "not there");
  finding.suggests.push_back({removed ? "checkpoint-removed-under-pointer" : "checkpoint-pointer-wrong",
                              removed ? 0.6 : 0.8, "as the folder shows"});
  return finding;
}

void judge(const State& state, const Knowledge&, std::vector<Finding>& out) {
  const std::vector<Scan>& scans = state.pointers;
  size_t reported = 0;
  for (size_t i = 0; i < scans.size() && static_cast<double>(reported) < kKnobs[0].value; ++i) {
    if (scans[i].second.right) continue;
    const auto same = [&](const event::PointerSeen& other) { return other.path == scans[i].second.path; };
    const auto* before = last_before(scans, i, same);
    if (before != nullptr && !before->right) continue;  // reported
    Finding finding = finding_of(scans[i]);
    resolve_by_later(finding, scans, i, [&same](const auto& later) { return same(later) && later.right; });
    out.push_back(std::move(finding));
    ++reported;
  }
}

}  // namespace

extern const Detector checkpoint_pointer;
const Detector checkpoint_pointer{
    "checkpoint-pointer",
    "The file that names the newest checkpoint names one that is not there, or not whole, and does so while training "
    "and saving go on.",
    {"checkpoint-pointer"},
    kKnobs,
    judge};

}  // namespace mw::detect
