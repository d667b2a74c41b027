// Reading all bytes of a checkpoint found it sane, and its weights or its optimizer as they were in the save before,
// though the trainer trained.
#include "base/text.h"
#include "core/detect/detector.h"
#include "core/detect/support/scans.h"

namespace mw::detect {
namespace {

using How = event::CheckpointRead::How;
using Read = std::pair<Moment, event::CheckpointRead>;

bool is_still(const event::CheckpointRead& read) { return read.how == How::kSane && !read.what.empty(); }

Finding finding_of(const Read& read) {
  const auto& [moment, one] = read;
  Finding finding;
  finding.kind = finding.detector = "checkpoint-frozen";
  finding.severity = Severity::kWarning;
  finding.onset = finding.detected = moment;
  finding.summary =
      cat("Training does not reach the checkpoint of step ", one.step, ": ", one.what, " (", one.path, ")");
  finding.evidence.push_back({moment.where, cat(one.path, ": ", one.what), "", kNoStep, 0});
  finding.suggests.push_back({"training-changes-nothing", 0.8, "as reading all bytes of both shows"});
  return finding;
}

/// One finding for saves in a row in one folder; over with the first in which something moved.
void judge(const State& state, const Knowledge&, std::vector<Finding>& out) {
  const std::vector<Read>& reads = state.checkpoint_reads;
  for (size_t i = 0; i < reads.size(); ++i) {
    if (!is_still(reads[i].second)) continue;
    const std::string folder = folder_of(reads[i].second.path);
    const auto same = [&folder](const event::CheckpointRead& other) {
      return other.how != How::kSkipped && folder_of(other.path) == folder;
    };
    const auto* before = last_before(reads, i, same);
    if (before != nullptr && is_still(*before)) continue;  // reported
    Finding finding = finding_of(reads[i]);
    resolve_by_later(finding, reads, i, [&](const auto& later) {
      return same(later) && later.how == How::kSane && !is_still(later) && later.step > reads[i].second.step;
    });
    out.push_back(std::move(finding));
  }
}

}  // namespace

extern const Detector checkpoint_frozen;
const Detector checkpoint_frozen{"checkpoint-frozen",
                                 "Every weight of a checkpoint, or every moment of its optimizer, is as it was in the "
                                 "save before, though the trainer "
                                 "trained at a learning rate above 0.",
                                 {"checkpoint-frozen"},
                                 {},
                                 judge};

}  // namespace mw::detect
