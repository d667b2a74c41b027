#include "app/start_local.h"

#include <unistd.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>

#include "act/supervise/rollback_plan.h"
#include "act/supervise/run_files.h"
#include "act/supervise/run_ownership.h"
#include "app/find_run.h"
#include "app/start_fence.h"
#include "base/text.h"
#include "core/checkpoint_trust.h"
#include "core/resume_advice.h"
#include "core/shipments.h"
#include "platform/real/posix_disk.h"
#include "platform/system.h"
#include "platform/uses.h"
#include "read/recorder.h"
#include "sense/checkpoints/manifest.h"
#include "sense/checkpoints/quarantine.h"
#include "sense/checkpoints/scan.h"

namespace mw {
namespace {

using How = event::CheckpointSeen::How;

constexpr size_t kLooked = 64;  // checkpoints, as before a restart
constexpr size_t kBefore = 8;   // older ones among which one with weights is looked for
constexpr size_t kRuns = 8;     // whose journals are read: the latest begun

/// A recorded run that declared the folder.
struct Saver {
  std::string folder;
  RunSpec spec;
  State state;
  Ownership own;
  Time began;
};

std::string plain_place(std::string place) {
  if (place.starts_with("file://")) place.erase(0, 7);
  while (place.size() > 1 && place.ends_with('/')) place.pop_back();
  return contains(place, "://") ? place : absolute_path(place);
}

class LocalLook {
 public:
  LocalLook(Disk& disk, const LocalScope& scope) : disk_(disk), scope_(scope) {}

  Result<std::vector<LocalCheckpoint>> run() {
    const auto steps = checkpoint_steps(disk_, scope_.root, scope_.layout);
    if (!steps.ok() && steps.error().code != Error::Code::kNotFound) return steps.error();
    if (!steps.ok() || steps->empty() || steps->back() <= scope_.after) return std::vector<LocalCheckpoint>();
    MW_TRY(read_savers());
    const auto pointer = ask_pointer(disk_, scope_.root, scope_.layout);
    if (!pointer.ok()) return pointer.error();
    std::optional<int64_t> pointed = *pointer ? step_in(scope_.layout.pointer_text, **pointer) : std::nullopt;
    if (pointed && !std::binary_search(steps->begin(), steps->end(), *pointed)) pointed.reset();
    std::vector<LocalCheckpoint> found;
    for (size_t i = steps->size(); i-- > 0 && (*steps)[i] > scope_.after && found.size() < kLooked;) {
      auto one = look_at(*steps, i);
      if (!one.ok()) return one.error();
      one->named = !pointed || one->step <= *pointed;
      found.push_back(std::move(*one));
      if (found.back().usable()) break;
    }
    return found;
  }

 private:
  std::string path_of(int64_t step) const { return cat(scope_.root, "/", with_step(scope_.layout.folder, step)); }

  Result<void> read_savers() {
    std::vector<Saver> all;
    for (const std::string& folder : recorded_runs(disk_, scope_.home)) {
      auto spec = load_run_spec(disk_, folder);
      if (!spec.ok() || !declares(disk_, *spec, scope_.root)) continue;
      const auto info = disk_.info(run_spec_path(disk_, folder));
      if (info.ok()) all.push_back({folder, std::move(*spec), {}, {}, info->changed});
    }
    std::stable_sort(all.begin(), all.end(), [](const Saver& a, const Saver& b) { return a.began > b.began; });
    if (all.size() > kRuns) all.resize(kRuns);
    for (Saver& one : all) {
      auto state = read_recorded(disk_, one.folder);
      if (!state.ok()) continue;
      one.state = std::move(*state);
      auto own = ownership_of(disk_, one.folder, one.spec, one.state, scope_.layout);
      if (!own.ok()) return own.error();
      one.own = std::move(*own);
      savers_.push_back(std::move(one));
    }
    return {};
  }

  Result<LocalCheckpoint> look_at(const std::vector<int64_t>& steps, size_t index) {
    LocalCheckpoint out;
    out.step = steps[index];
    out.path = path_of(out.step);
    std::optional<CheckpointVerdict> verdict;
    const CheckpointScan scan =
        scan_checkpoint(disk_, out.path, step_of_number(scope_.layout, out.step), older(steps, index), &verdict);
    const bool fits = verdict && verdict->resumable != CheckpointVerdict::Resumable::kNo;
    if (scan.there && is_unfit(scan.seen)) {
      out.how = LocalCheckpoint::How::kBroken;
      out.why = scan.seen.how == How::kBroken ? scan.seen.what : event::lacks_sentence(scan.seen);
    } else if (scan.there && scan.verified && !scan.doubtful && fits) {
      out.how = LocalCheckpoint::How::kWhole;
    } else if (!scan.there || !scope_.unproven || scan.doubtful || scan.partial || !scan.seen.doubt.empty()) {
      out.why = "its files do not prove that it is whole";
    }
    if (out.why.empty() && scope_.since.known() && scan.newest <= scope_.since)
      out.why = "it was saved before the store was led back to an earlier step";
    if (out.why.empty()) out.why = remembered(out.path);
    MW_TRY(ask_savers(scan, out));
    return out;
  }

  /// The latest run that saved it decides; where none is proven to have, each of them may speak against it.
  Result<void> ask_savers(const CheckpointScan& scan, LocalCheckpoint& out) {
    for (const Saver& one : savers_) {
      const auto whose = whose_is(disk_, one.own, scope_.root, scope_.layout, out.step);
      if (!whose.ok()) return whose.error();
      const bool ships = !one.spec.store.empty();
      const bool ours = ships && plain_place(one.spec.store) == plain_place(scope_.place);
      if (*whose == Whose::kOwn && ships && !ours) out.other = basename(one.folder);
      out.own = *whose == Whose::kOwn && ours;
      if (*whose != Whose::kForeign && out.why.empty()) out.why = against(one.state, scan);
      if (*whose == Whose::kOwn) break;
    }
    return {};
  }

  /// What a person's `verify --deep` found wrong, while nobody wrote to it since.
  std::string remembered(const std::string& path) {
    const auto then = load_manifest(disk_, home_of(scope_.home), path);
    if (!then.ok() || then->verdict == "whole") return "";
    const bool untouched = std::all_of(then->files.begin(), then->files.end(), [&](const ManifestFile& file) {
      const auto now = disk_.info(cat(path, "/", file.path));
      return now.ok() && now->changed == file.changed && now->size == file.bytes;
    });
    return untouched ? cat("all of it was read at ", format_utc(then->at), " and found ", then->verdict) : "";
  }

  static std::string against(const State& state, const CheckpointScan& scan) {
    const auto reads = unsound_reads(state);
    const auto read = reads.find(scan.seen.path);
    if (read != reads.end() && read->second.tree_state == scan.state) return read->second.what;
    const auto all = shipments(state);
    const bool held = std::any_of(all.begin(), all.end(), [&scan](const Shipment& one) {
      return one.path == scan.seen.path && one.how == Shipment::How::kHeld;
    });
    if (held) return "it was saved since the onset of a trouble, or its run went on without it";
    const auto advice = resume_advice(state);
    const int64_t step = scan.seen.step;
    const bool tainted = advice && step != kNoStep &&
                         ((advice->onset != kNoStep && step > advice->onset) ||
                          std::find(advice->suspect.begin(), advice->suspect.end(), step) != advice->suspect.end());
    return tainted ? cat("it was saved since the onset of a trouble at step ", advice->onset) : "";
  }

  /// One of the last few before it that has weights.
  const CheckpointScan* older(const std::vector<int64_t>& steps, size_t index) {
    for (size_t i = 0; i < kBefore && index-- > 0; ++i) {
      const auto [known, anew] = scans_.try_emplace(steps[index]);
      if (anew)
        known->second =
            scan_checkpoint(disk_, path_of(steps[index]), step_of_number(scope_.layout, steps[index]), nullptr);
      if (known->second.seen.how != How::kBroken && !known->second.weights.empty()) return &known->second;
    }
    return nullptr;
  }

  Disk& disk_;
  const LocalScope& scope_;
  std::vector<Saver> savers_;  // the latest begun first
  std::map<int64_t, CheckpointScan> scans_;
};

}  // namespace

Result<std::vector<LocalCheckpoint>> look_at_local(Disk& disk, const LocalScope& scope) {
  return LocalLook(disk, scope).run();
}

Result<std::string> move_broken(Disk& disk, const LocalScope& scope, const std::string& run_folder, Time now,
                                const std::vector<int64_t>& steps, int64_t keep, const std::string& why) {
  const auto used = used_below(*make_posix_system(), scope.root, ::getpid());
  QuarantinePlan plan;
  plan.root = scope.root;
  plan.label = quarantine_label(run_folder, 0, now);
  plan.keep = keep;
  for (const int64_t step : steps) {
    const std::string name = with_step(scope.layout.folder, step), path = cat(scope.root, "/", name);
    if (const auto use = used.find(name); use != used.end())
      return Error{Error::Code::kDenied, cat("process ", use->second.pid, " ", use->second.how, " in ", path), ""};
    const auto info = disk.info(path);
    if (!info.ok()) return info.error();
    plan.items.push_back({step, {info->device, info->inode}});
  }
  std::sort(plan.items.begin(), plan.items.end(), [](const auto& a, const auto& b) { return a.step < b.step; });
  const auto done = quarantine(disk, scope.layout, plan, quarantine_note(run_folder, 0, now, why));
  if (!done.ok()) return done.error();
  return cat(scope.root, "/", kQuarantineFolder, "/", plan.label);
}

}  // namespace mw
