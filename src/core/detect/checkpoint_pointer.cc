// The file that names the framework's newest checkpoint is missing, or names one that is not there, not whole, or no
// longer the newest, and stays so.
#include "base/text.h"
#include "core/detect/detector.h"
#include "core/detect/support/scans.h"
#include "core/pointer_words.h"

namespace mw::detect {
namespace {

using Scan = std::pair<Moment, event::PointerSeen>;

constexpr Knob kKnobs[] = {
    {"reported", 5, "pointers", "Of an actor and a critic there is one each; more of them say no more", "own"},
};

/// It leads to none, or to one that is not whole.
std::string wrong(const event::PointerSeen& seen) {
  std::string out = is_missing(seen)
                        ? cat(basename(seen.path), ", by which the trainer finds its newest checkpoint, is missing in ",
                              folder_of(seen.path), ". An attempt that resumes by it begins from nothing")
                        : cat(basename(seen.path), " in ", folder_of(seen.path), " is wrong: ", seen.what,
                              ". An attempt that resumes by it fails or begins from nothing");
  if (seen.whole == kNoStep) return out + "; no whole checkpoint was seen beside it";
  return out + cat("; the newest whole one is that of step ", seen.whole, " (", seen.whole_path, ")");
}

/// A resume by it works, and costs steps.
std::string behind(const event::PointerSeen& seen) {
  return cat(basename(seen.path), " in ", folder_of(seen.path), " is behind: ", seen.what, " (", seen.whole_path,
             ") and saves since did not move it. An attempt that resumes by it loses the ", seen.whole - seen.step,
             " steps between them, and those of each further save");
}

Finding finding_of(const Scan& scan) {
  const auto& [moment, seen] = scan;
  Finding finding;
  finding.kind = finding.detector = "checkpoint-pointer";
  finding.severity = Severity::kWarning;
  finding.onset = finding.detected = moment;
  finding.summary = is_behind(seen) ? behind(seen) : wrong(seen);
  finding.evidence.push_back({moment.where, cat(seen.path, ": ", seen.what), "", kNoStep, 0});
  const bool removed = is_removed(seen);
  const char* cause = is_behind(seen)    ? "checkpoint-pointer-behind"
                      : is_missing(seen) ? "checkpoint-pointer-missing"
                      : removed          ? "checkpoint-removed-under-pointer"
                                         : "checkpoint-pointer-wrong";
  finding.suggests.push_back({cause, removed ? 0.6 : 0.8, "as the folder shows"});
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
const Detector checkpoint_pointer{"checkpoint-pointer",
                                  "The file that names the newest checkpoint is missing, or names one that is not "
                                  "there, not whole, or older than what "
                                  "further saves left, and does so while training and saving go on.",
                                  {"checkpoint-pointer"},
                                  kKnobs,
                                  judge};

}  // namespace mw::detect
