#include "app/start_local.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>

#include "act/supervise/rollback_plan.h"
#include "act/supervise/run_files.h"
#include "act/supervise/run_ownership.h"
#include "app/find_run.h"
#include "app/start_fence.h"
#include "base/digest.h"
#include "base/text.h"
#include "base/units.h"
#include "core/checkpoint_trust.h"
#include "core/resume_advice.h"
#include "core/shipments.h"
#include "platform/clock.h"
#include "platform/real/posix_disk.h"
#include "platform/system.h"
#include "platform/uses.h"
#include "read/recorder.h"
#include "sense/checkpoints/deep_read.h"
#include "sense/checkpoints/manifest.h"
#include "sense/checkpoints/parts.h"
#include "sense/checkpoints/quarantine.h"
#include "sense/checkpoints/roots.h"
#include "sense/checkpoints/scan.h"
#include "sense/checkpoints/verify.h"

namespace mw {
namespace {

using How = event::CheckpointSeen::How;

constexpr size_t kLooked = 64;        // checkpoints, as before a restart
constexpr size_t kBefore = 8;         // older ones among which one with weights is looked for
constexpr int64_t kSmall = 64 << 10;  // bytes of a file that says nothing of what is trained
constexpr double kAlike = 0.02;       // of the bytes of a file of two saves of one run
constexpr size_t kRead = size_t{8} << 20;
constexpr size_t kRuns = 8;  // whose journals are read: the latest begun

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

/// "global_step40/x.pt" of step 40 as that of step 60: "global_step60/x.pt".
std::string of_step(std::string path, int64_t from, int64_t to) {
  const std::string before = cat(from), after = cat(to);
  for (size_t at = path.find(before); at != std::string::npos; at = path.find(before, at + after.size()))
    path.replace(at, before.size(), after);
  return path;
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
    const auto other = role_pointed(*steps);
    if (!other.ok()) return other.error();
    if (*other && (!pointed || **other < *pointed)) pointed = *other;
    std::vector<LocalCheckpoint> found;
    for (size_t i = steps->size(); i-- > 0 && (*steps)[i] > scope_.after && found.size() < kLooked;) {
      auto one = look_at(*steps, i);
      if (!one.ok()) return one.error();
      one->named = !pointed || one->step <= *pointed;
      if (one->usable() && !role_of(one->step).empty()) one->roles = {role_of(one->step)};
      if (one->usable()) judge_contents(*one);
      found.push_back(std::move(*one));
      if (found.back().usable()) break;
    }
    return found;
  }

  Result<LocalCheckpoint> one(int64_t number) {
    const auto steps = checkpoint_steps(disk_, scope_.root, scope_.layout);
    if (!steps.ok() && steps.error().code != Error::Code::kNotFound) return steps.error();
    const auto at =
        steps.ok() ? std::find(steps->begin(), steps->end(), number) : std::vector<int64_t>::const_iterator();
    if (!steps.ok() || at == steps->end()) return LocalCheckpoint();
    MW_TRY(read_savers());
    return look_at(*steps, static_cast<size_t>(at - steps->begin()));
  }

 private:
  /// Of what nobody has a checksum of: its files, and all of their bytes.
  void judge_contents(LocalCheckpoint& one) {
    if (scope_.threads <= 0 || (scope_.after == kNoStep && !one.own)) return;
    if (!one.own) one.why = unlike_run(one);
    one.alien = !one.why.empty();
    if (one.alien) return;
    one.why = wrong_in(one.path);
    if (one.why.empty() && !role_of(one.step).empty()) one.why = wrong_in(role_of(one.step));
    if (one.why.empty()) return;
    one.how = LocalCheckpoint::How::kBroken;
    (*scope_.wrong)[one.path] = one.why;
  }

  /// Is each large file of the store's newest there, and about as large? Numbers of steps in names may differ.
  std::string unlike_run(const LocalCheckpoint& one) const {
    for (const auto& [path, bytes] : scope_.like) {
      if (bytes < kSmall) continue;
      auto info = disk_.info(cat(one.path, "/", path));
      if (!info.ok()) info = disk_.info(cat(one.path, "/", of_step(path, scope_.after, one.step)));
      const std::string as = cat(" as in step ", scope_.after, " of the run in the store");
      if (!info.ok()) return cat(path, " is not in it,", as);
      const auto size = static_cast<double>(info->size), shipped = static_cast<double>(bytes);
      if (std::abs(size - shipped) > kAlike * shipped)
        return cat(path, " has ", format_bytes(size), " and not ", format_bytes(shipped), as);
    }
    return "";
  }

  /// What reading all of it shows; "" also where that was done since anybody wrote to it.
  std::string wrong_in(const std::string& path) const {
    const std::string home = home_of(scope_.home);
    const auto then = load_manifest(disk_, home, path);
    if (then.ok() && then->verdict == "whole" && is_untouched(path, *then)) return "";
    VerifyOptions options;
    options.deep = true;
    options.threads = scope_.threads;
    options.now = make_posix_clock()->now();
    options.progress = [this](int64_t done, int64_t all) {
      if (scope_.progress) scope_.progress(done, all);
      return true;
    };
    const auto verdict = verify_checkpoint(disk_, path, options);
    if (!verdict.ok()) return "";
    const event::CheckpointRead read = read_of(*verdict, {path, verdict->step, home, 1, options.now});
    if (may_be_remembered(*verdict, nullptr)) (void)save_manifest(disk_, home, manifest_of(*verdict, options.now)).ok();
    using Read = event::CheckpointRead::How;
    return read.how == Read::kSuspect || read.how == Read::kCorrupt ? read.what : "";
  }

  /// What another role has of that step; "": there is no other role that the run trains.
  std::string role_of(int64_t step) const {
    return role_steps_.empty() ? "" : cat(other_role_of(scope_.root), "/", with_step(scope_.layout.folder, step));
  }

  /// What the other role's pointer names, as far as that is there.
  Result<std::optional<int64_t>> role_pointed(const std::vector<int64_t>& steps) {
    const std::string other = other_role_of(scope_.root);
    const auto theirs = other.empty() ? std::vector<int64_t>() : checkpoint_steps(disk_, other, scope_.layout);
    if (!theirs.ok() && is_silent(theirs.error())) return theirs.error();
    if (!theirs.ok() || theirs->empty()) return std::optional<int64_t>();
    if (is_left_behind(other, *theirs, steps)) return std::optional<int64_t>();
    role_steps_ = *theirs;
    const auto pointer = ask_pointer(disk_, other, scope_.layout);
    if (!pointer.ok()) return pointer.error();
    const auto named = *pointer ? step_in(scope_.layout.pointer_text, **pointer) : std::nullopt;
    return named && std::binary_search(theirs->begin(), theirs->end(), *named) ? named : std::optional<int64_t>();
  }

  /// A resume takes both roles: why it cannot take the other one at that step; "": it can.
  std::string against_role(int64_t step) const {
    const std::string path = role_of(step);
    if (path.empty()) return "";
    if (!std::binary_search(role_steps_.begin(), role_steps_.end(), step))
      return cat(basename(other_role_of(scope_.root)), " has no step ", step, ", and a resume takes both roles");
    std::optional<CheckpointVerdict> verdict;
    const CheckpointScan scan = scan_checkpoint(disk_, path, step, nullptr, &verdict);
    if (scan.there && is_unfit(scan.seen))
      return cat(path, ": ", scan.seen.how == How::kBroken ? scan.seen.what : event::lacks_sentence(scan.seen));
    const bool fits = verdict && verdict->resumable != CheckpointVerdict::Resumable::kNo;
    const bool whole = scan.there && scan.verified && !scan.doubtful && fits;
    const bool usual = scope_.unproven && scan.there && !scan.doubtful && !scan.partial;
    return whole || usual ? "" : cat("the files of ", path, " do not prove that it is whole");
  }

  std::string path_of(int64_t step) const { return cat(scope_.root, "/", with_step(scope_.layout.folder, step)); }

  /// It declared that folder, or one above it.
  bool may_save_there(const RunSpec& spec) const {
    return std::any_of(spec.checkpoints.begin(), spec.checkpoints.end(),
                       [this](const std::string& one) { return lies_in(scope_.root, real_path_to_be(disk_, one)); });
  }

  Result<void> read_savers() {
    std::vector<Saver> all;
    for (const std::string& folder : recorded_runs(disk_, scope_.home)) {
      auto spec = load_run_spec(disk_, folder);
      if (!spec.ok() || !may_save_there(*spec)) continue;
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
      out.why = cat("it was saved before the store's newest was shipped, at ", format_utc(scope_.since),
                    ", and that is of an earlier step: the run had left it behind by then");
    if (const auto known = scope_.wrong->find(out.path); known != scope_.wrong->end()) {
      out.how = LocalCheckpoint::How::kBroken;
      out.why = known->second;
    }
    if (out.why.empty()) out.why = remembered(out.path);
    if (out.why.empty()) out.why = against_role(out.step);
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
    return is_untouched(path, *then) ? cat("all of it was read at ", format_utc(then->at), " and found ", then->verdict)
                                     : "";
  }

  bool is_untouched(const std::string& path, const CheckpointManifest& then) const {
    return std::all_of(then.files.begin(), then.files.end(), [&](const ManifestFile& file) {
      const auto now = disk_.info(cat(path, "/", file.path));
      return now.ok() && now->changed == file.changed && now->size == file.bytes;
    });
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
  std::vector<int64_t> role_steps_;  // of another role that is resumed with this one; ascending
};

}  // namespace

Result<std::vector<LocalCheckpoint>> look_at_local(Disk& disk, const LocalScope& scope) {
  return LocalLook(disk, scope).run();
}

Result<LocalCheckpoint> look_at_local_one(Disk& disk, const LocalScope& scope, int64_t number) {
  return LocalLook(disk, scope).one(number);
}

Result<std::string> unlike_shipped(Disk& disk, const std::string& folder, const vault::CheckpointManifest& shipped,
                                   const std::function<void(int64_t, int64_t)>& progress) {
  for (const vault::ManifestFile& file : shipped.files) {
    const auto info = disk.info(vault::place_of(shipped, folder, file.path));
    if (!info.ok() && info.error().code == Error::Code::kNotFound) return cat(file.path, " is not in it");
    if (!info.ok()) return info.error();
    if (info->size != file.size) return cat(file.path, " has ", info->size, " bytes and not ", file.size);
  }
  const int64_t all = shipped.bytes();
  int64_t done = 0;
  for (const vault::ManifestFile& file : shipped.files) {
    const auto open = disk.open_read(vault::place_of(shipped, folder, file.path));
    if (!open.ok()) return open.error();
    ContentHash hash;
    std::string bytes;
    for (uint64_t at = 0; at < static_cast<uint64_t>(file.size); at += bytes.size()) {
      MW_TRY((*open)->read_at(at, kRead, bytes));
      if (bytes.empty()) return cat(file.path, " became shorter meanwhile");
      hash.add(bytes);
      done += static_cast<int64_t>(bytes.size());
      if (progress) progress(done, all);
    }
    if (hash.hex() != file.hash) return cat(file.path, " has other bytes");
  }
  return std::string();
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
  return cat(done->folder, said_of_exposed(*done));
}

}  // namespace mw
