// A checkpoint that the trainer counts as saved and that the disk shows not to be whole.
#include <algorithm>
#include <optional>
#include <set>
#include <string_view>

#include "base/text.h"
#include "core/checkpoint_trust.h"
#include "core/detect/detector.h"
#include "core/detect/support/scans.h"

namespace mw::detect {
namespace {

using How = event::CheckpointSeen::How;
using Scan = std::pair<Moment, event::CheckpointSeen>;

constexpr Knob kKnobs[] = {
    {"reported", 5, "checkpoints", "Where every save fails the first ones say it all", "own"},
    {"doubted", 2, "checkpoints",
     "In a run of which none was whole yet; a single one may be of a save that was cut short", "own"},
};

/// Was it saved after the other?
bool is_newer(const event::CheckpointSeen& one, const event::CheckpointSeen& other) {
  if (one.step == kNoStep || other.step == kNoStep) return is_named_later(one.path, other.path);
  return one.step > other.step;
}

/// Whether the trouble is over: it was finished after all, or a later one beside it is whole.
bool heals(const event::CheckpointSeen& broken, const event::CheckpointSeen& later) {
  if (later.path == broken.path) return !is_unfit(later);
  return later.how == How::kWhole && is_newer(later, broken) && folder_of(later.path) == folder_of(broken.path);
}

/// An earlier one lacked the same, and a later one beside it had all: so this run saves.
bool is_usual(const std::vector<Scan>& scans, size_t index) {
  const event::CheckpointSeen& seen = scans[index].second;
  if (seen.how == How::kBroken) return false;
  for (size_t i = 0; i < index; ++i) {
    const event::CheckpointSeen& earlier = scans[i].second;
    const bool alike = earlier.lacks == seen.lacks && earlier.how != How::kBroken && earlier.path != seen.path;
    if (!alike || folder_of(earlier.path) != folder_of(seen.path)) continue;
    const bool had_all = std::any_of(scans.begin(), scans.end(), [&](const Scan& one) {
      return one.second.how == How::kWhole && one.second.lacks.empty() && is_newer(one.second, earlier) &&
             folder_of(one.second.path) == folder_of(seen.path);
    });
    if (had_all) return true;
  }
  return false;
}

/// It was found behind others of which a newer one is whole: nothing would resume from it.
bool is_behind(const std::vector<Scan>& scans, size_t index) {
  const event::CheckpointSeen& seen = scans[index].second;
  const auto end = scans.begin() + static_cast<std::ptrdiff_t>(index);
  return seen.step != kNoStep &&
         std::any_of(scans.begin(), end, [&seen](const Scan& one) { return heals(seen, one.second); });
}

Finding finding_of(const std::vector<Scan>& scans, size_t index) {
  const auto& [moment, seen] = scans[index];
  Finding finding;
  finding.kind = "checkpoint-incomplete";
  finding.detector = "checkpoint-looks";
  const bool broken = seen.how == How::kBroken;
  finding.severity = broken && !is_behind(scans, index) ? Severity::kCritical : Severity::kWarning;
  finding.onset = finding.detected = moment;
  const std::string what = broken ? seen.what : event::lacks_sentence(seen);
  finding.summary = cat("The checkpoint", seen.step == kNoStep ? "" : cat(" of step ", seen.step),
                        broken ? " is not whole: " : " is none to resume from: ", what, " (", seen.path, ")");
  finding.evidence.push_back({moment.where, cat(seen.path, ": ", what), "", kNoStep, 0});
  if (!broken) finding.suggests.push_back({"ckpt-optimizer-state-missing", 0.8, "as its files on the disk show"});
  if (!seen.sign.empty()) finding.suggests.push_back({seen.sign, 0.8, "as its files on the disk show"});
  return finding;
}

/// Nothing that the run saved so far can be gone back to, as far as is known of its framework. It is no proof, as a
/// later save may hold what these lack: nothing is done to them.
void judge_doubted(const std::vector<Scan>& scans, std::vector<Finding>& out) {
  std::set<std::string_view> doubted;
  std::optional<Finding> finding;
  for (size_t i = 0; i < scans.size() && !finding; ++i) {
    const auto& [moment, seen] = scans[i];
    if (is_gone(seen)) continue;
    if (seen.how == How::kWhole || (seen.how == How::kUnknown && seen.doubt.empty())) return;
    if (!is_doubted(seen)) continue;
    doubted.insert(seen.path);
    if (static_cast<double>(doubted.size()) < kKnobs[1].value) continue;
    finding.emplace();
    finding->kind = "checkpoint-incomplete";
    finding->detector = "checkpoint-looks";
    finding->onset = finding->detected = moment;
    finding->summary =
        cat("None of the run's checkpoints so far can be resumed from, unless its weights are elsewhere: ", seen.doubt,
            " (", seen.path, ")");
    finding->evidence.push_back({moment.where, cat(seen.path, ": ", seen.doubt), "", kNoStep, 0});
    finding->suggests.push_back({"ckpt-metadata-only", 0.6, "as their files on the disk show"});
    resolve_by_later(*finding, scans, i, [](const auto& later) { return later.how == How::kWhole; });
  }
  if (finding) out.push_back(std::move(*finding));
}

void judge(const State& state, const Knowledge&, std::vector<Finding>& out) {
  const std::vector<Scan>& scans = state.checkpoint_scans;
  judge_doubted(scans, out);
  size_t reported = 0;
  for (size_t i = 0; i < scans.size() && static_cast<double>(reported) < kKnobs[0].value; ++i) {
    const event::CheckpointSeen& seen = scans[i].second;
    if (!is_unfit(seen) || is_usual(scans, i)) continue;
    const auto* before = last_before(scans, i, [&seen](const auto& other) { return other.path == seen.path; });
    if (before != nullptr && is_unfit(*before)) continue;  // reported
    Finding finding = finding_of(scans, i);
    resolve_by_later(finding, scans, i, [&seen](const auto& later) { return heals(seen, later); });
    out.push_back(std::move(finding));
    ++reported;
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
