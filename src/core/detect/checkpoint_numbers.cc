// A checkpoint that is whole by its structure and of which reading all bytes found numbers that are not sane, or bytes
// that are not those that were saved.
#include "base/text.h"
#include "core/checkpoint_trust.h"
#include "core/detect/detector.h"
#include "core/detect/support/scans.h"

namespace mw::detect {
namespace {

using How = event::CheckpointRead::How;
using Read = std::pair<Moment, event::CheckpointRead>;

constexpr Knob kKnobs[] = {
    {"reported", 5, "checkpoints", "Once numbers are not finite all later saves have them, too", "own"},
};

bool is_wrong(const Read& read) { return read.second.how == How::kSuspect || read.second.how == How::kCorrupt; }

/// A later one beside it, or a later save of it, has sane numbers.
bool heals(const event::CheckpointRead& wrong, const event::CheckpointRead& later) {
  if (later.how != How::kSane) return false;
  return later.path == wrong.path || (later.step > wrong.step && folder_of(later.path) == folder_of(wrong.path));
}

Finding finding_of(const State& state, const Read& read) {
  const auto& [moment, one] = read;
  Finding finding;
  finding.kind = "checkpoint-suspect";
  finding.detector = "checkpoint-numbers";
  finding.severity = Severity::kWarning;
  finding.onset = finding.detected = moment;
  finding.summary = cat("The checkpoint of step ", one.step, " is ", one.how == How::kCorrupt ? "corrupt" : "suspect",
                        ": ", one.what, " (", one.path, "). No restart resumes from it");
  const auto back = newest_sound(state, one.step, moment.at);
  finding.summary += back ? cat("; go back to step ", back->step, " (", back->path, ")")
                          : std::string("; no sound checkpoint from before it was seen");
  finding.evidence.push_back({moment.where, cat(one.path, ": ", one.what), "", kNoStep, 0});
  finding.suggests.push_back({one.how == How::kCorrupt ? "checkpoint-bytes-changed" : "checkpoint-numbers-not-sane",
                              0.8, "as reading all of its bytes shows"});
  return finding;
}

void judge(const State& state, const Knowledge&, std::vector<Finding>& out) {
  const std::vector<Read>& reads = state.checkpoint_reads;
  size_t reported = 0;
  for (size_t i = 0; i < reads.size() && static_cast<double>(reported) < kKnobs[0].value; ++i) {
    if (!is_wrong(reads[i]) || reads[i].second.step == kNoStep) continue;
    Finding finding = finding_of(state, reads[i]);
    resolve_by_later(finding, reads, i, [&](const auto& later) { return heals(reads[i].second, later); });
    out.push_back(std::move(finding));
    ++reported;
  }
}

}  // namespace

extern const Detector checkpoint_numbers;
const Detector checkpoint_numbers{
    "checkpoint-numbers",
    "Reading all bytes of a checkpoint found numbers of its weights that are NaN or infinite, or ten times as large or "
    "small as in the save before, or bytes without their checksum.",
    {"checkpoint-suspect"},
    kKnobs,
    judge};

}  // namespace mw::detect
