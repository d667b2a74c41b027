#include "app/ship.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "act/supervise/run_files.h"
#include "act/vault/catalogue.h"
#include "act/vault/pull.h"
#include "act/vault/push.h"
#include "app/find_run.h"
#include "app/harbour.h"
#include "app/run_of_folder.h"
#include "app/start_fence.h"
#include "app/store_mark.h"
#include "app/store_runs.h"
#include "app/what_to_push.h"
#include "base/numbers.h"
#include "base/text.h"
#include "platform/lock.h"
#include "platform/paths.h"
#include "platform/real/posix_disk.h"
#include "platform/remove_tree.h"
#include "read/recorder.h"
#include "sense/checkpoints/find.h"
#include "sense/checkpoints/layouts/layout.h"
#include "sense/checkpoints/manifest.h"
#include "sense/checkpoints/parts.h"
#include "sense/checkpoints/recover_slot.h"
#include "sense/checkpoints/scan.h"
#include "sense/checkpoints/verify.h"

namespace mw {
namespace {

/// A store in a checkpoint is part of what would be shipped, and one in a folder of checkpoints is what a trainer finds
/// there.
Result<void> must_lie_apart(Disk& disk, const std::string& checkpoint, const PushRequest& request) {
  std::string place = request.store.place;
  if (place.starts_with("file://")) place.erase(0, 7);
  if (contains(place, "://")) return {};
  place = real_path_to_be(disk, absolute_path(place));
  const auto refuse = [&request](const std::string& folder, std::string_view what) {
    return Error{Error::Code::kInvalid, cat(request.store.place, " lies within ", what, ", ", folder),
                 cat("Nothing is put there. Name a place outside of it, such as ", folder_of(folder), "/store.")};
  };
  const std::string own = real_path(checkpoint), root = folder_of(own);
  const auto info = disk.info(own);
  if (info.ok() && info->kind == FileInfo::Kind::kFolder && is_within(place, own))
    return refuse(own, "the checkpoint that is to be shipped");
  const auto runs = recorded_runs(disk, "");
  const bool of_run = real_path(absolute_path(request.path)) == root || !pointers_beside(disk, own).empty() ||
                      std::any_of(runs.begin(), runs.end(), [&](const std::string& run) {
                        const auto spec = load_run_spec(disk, run);
                        return spec.ok() && declares(disk, *spec, root);
                      });
  if (of_run && is_within(place, root)) return refuse(root, "a run's folder of checkpoints");
  return {};
}

/// Every byte that came was compared with the store's manifest: a later verification compares with the same.
void remember(Disk& disk, PullAnswer& answer, const vault::CheckpointManifest& pulled, Time now) {
  CheckpointManifest kept;
  kept.path = answer.folder;
  kept.step = pulled.step;
  kept.framework = pulled.framework;
  kept.verdict = pulled.scanned;
  kept.at = now;
  for (const vault::ManifestFile& file : pulled.files) {
    if (vault::is_beside(file)) continue;
    const auto info = disk.info(cat(answer.folder, "/", file.path));
    if (!info.ok()) return;
    kept.files.push_back({file.path, file.size, info->changed, 0, file.hash});
  }
  const auto saved = save_manifest(disk, home_of(""), kept);
  if (!saved.ok()) answer.notes.push_back(cat("Its checksums could not be kept here: ", saved.error().what, "."));
}

}  // namespace

Result<void> add_parts(Disk& disk, vault::PushOptions& options) {
  const CheckpointParts parts = parts_of(disk, options.folder);
  if (!parts.missing.empty()) {
    return Error{Error::Code::kInvalid,
                 cat(options.folder, " is not all of its step: ", parts.root, "/", parts.missing, " is not there"),
                 std::string(vault::kBrokenHint)};
  }
  options.folder = parts.path;
  options.own = parts.own;
  for (const std::string& part : parts.beside) options.parts.push_back({part, cat(parts.root, "/", part)});
  return {};
}

std::vector<std::pair<std::string, std::string>> run_facts() {
  std::vector<std::pair<std::string, std::string>> facts;
  const auto add = [&](std::string_view name, std::string_view from) {
    const auto value = variable(from);
    if (value && !value->empty()) facts.emplace_back(name, redact_secrets(clip(*value, 200)));
  };
  add("wandb_run_id", "WANDB_RUN_ID");
  add("attempt", "MIDWATCH_ATTEMPT");
  add("midwatch_run", "MIDWATCH_RUN");
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) == 0) facts.emplace_back("machine", host.data());
  return facts;
}

Result<PushAnswer> ship_checkpoint(Disk& disk, const KnowledgeBase& knowledge, const PushRequest& request) {
  const auto what = what_to_push(disk, knowledge, request);
  if (!what.ok()) return what.error();
  MW_TRY(must_lie_apart(disk, what->path, request));
  const auto harbour = open_harbour(disk, request.store);
  if (!harbour.ok()) return harbour.error();
  const Duration began = (*harbour)->clock->steady();
  vault::PushOptions options;
  options.prefix = (*harbour)->prefix;
  const auto info = disk.info(what->path);
  const bool file = info.ok() && info->kind == FileInfo::Kind::kFile;
  options.folder = file ? folder_of(what->path) : what->path;
  if (file) options.file = basename(what->path);
  options.step = what->named.step;
  options.layout = what->named.layout;
  options.framework = what->named.framework;
  options.may_be = what->named.may_be;
  if (!file) MW_TRY(add_parts(disk, options));
  options.run = run_facts();
  options.owner = random_word();
  options.older = request.older;
  options.suspect = request.suspect;
  options.repair = true;
  options.beside = what->beside;
  options.one_framework = true;
  options.pace = pace_of(request.store);
  const vault::VaultDoors doors = (*harbour)->doors(disk, request.store);
  const auto verified = load_manifest(disk, home_of(""), what->path);
  if (verified.ok()) options.verified = &*verified;
  const auto pushed = vault::push(doors, options);
  if (!pushed.ok()) return pushed.error();
  PushAnswer answer;
  answer.path = what->path;
  answer.checkpoint = pushed->manifest.id;
  answer.step = pushed->manifest.step;
  answer.files = static_cast<int64_t>(pushed->manifest.files.size());
  answer.bytes = pushed->manifest.bytes();
  answer.sent = pushed->moved.moved;
  answer.there = pushed->there;
  answer.scanned = pushed->manifest.scanned;
  answer.lacks = pushed->manifest.lacks;
  answer.notes = what->notes;
  answer.verified = pushed->manifest.verified;
  answer.swaps = pushed->promise == vault::Promise::kSwap;
  answer.latest = pushed->latest == vault::Moved::kMoved  ? PushAnswer::Latest::kMoved
                  : pushed->latest == vault::Moved::kKept ? PushAnswer::Latest::kKept
                                                          : PushAnswer::Latest::kFenced;
  answer.latest_before = pushed->before.step;
  answer.epoch = pushed->before.epoch;
  answer.seconds = static_cast<double>((*harbour)->clock->steady().ns - began.ns) / 1e9;
  return answer;
}

Result<PullAnswer> fetch_checkpoint(Disk& disk, const PullRequest& request) {
  MW_TRY(must_be_there(disk, request.store.place));
  const auto harbour = open_harbour(disk, request.store);
  if (!harbour.ok()) return harbour.error();
  const Duration began = (*harbour)->clock->steady();
  vault::PullOptions options;
  options.prefix = (*harbour)->prefix;
  options.folder = absolute_path(request.folder);
  while (options.folder.size() > 1 && options.folder.ends_with('/')) options.folder.pop_back();
  options.step = request.step;
  options.pace = pace_of(request.store);
  options.make_way = request.make_way;
  options.discard = [](const std::string& partial) {
    (void)remove_tree(real_path(folder_of(partial)), std::string(basename(partial))).ok();
  };
  const auto locks = make_posix_locks();
  options.locks = locks.get();
  options.own = random_word();
  MW_TRY(disk.make_folders(folder_of(options.folder)));
  const vault::VaultDoors doors = (*harbour)->doors(disk, request.store);
  const auto pulled = vault::pull(doors, options);
  if (!pulled.ok() && pulled.error().code == Error::Code::kNotFound && pulled.error().hint.empty()) {
    const std::string runs = named_runs_below(**harbour);
    if (!runs.empty()) return runs_lie_below(request.store.place, runs);
  }
  if (!pulled.ok()) return pulled.error();
  const vault::CheckpointManifest& manifest = pulled->manifest;
  PullAnswer answer;
  answer.folder = options.folder;
  answer.checkpoint = manifest.id;
  answer.name = manifest.name;
  answer.step = manifest.step;
  answer.files = static_cast<int64_t>(manifest.files.size());
  answer.bytes = manifest.bytes();
  answer.received = pulled->moved.moved;
  answer.latest = pulled->latest;
  answer.pushed = manifest.pushed;
  answer.framework = manifest.framework;
  answer.layout = manifest.layout;
  answer.run = manifest.run;
  answer.notes = pulled->notes;
  for (const std::string& part : manifest.beside) {
    answer.beside.push_back(vault::place_of(manifest, answer.folder, cat(vault::kBeside, part)));
    answer.notes.push_back(cat(part, " belongs to it and lies in ", answer.beside.back(), "."));
  }
  remember(disk, answer, manifest, (*harbour)->clock->now());
  answer.seconds = static_cast<double>((*harbour)->clock->steady().ns - began.ns) / 1e9;
  return answer;
}

Result<RemoteAnswer> shipped_checkpoints(Disk& disk, const RemoteRequest& request) {
  MW_TRY(must_be_there(disk, request.store.place));
  const auto harbour = open_harbour(disk, request.store);
  if (!harbour.ok()) return harbour.error();
  const vault::VaultDoors doors = (*harbour)->doors(disk, request.store);
  auto found = vault::read_catalogue(doors, {(*harbour)->prefix}, request.check);
  if (!found.ok()) return found.error();
  RemoteAnswer answer;
  answer.notes = std::move(found->notes);
  answer.epoch = found->pointer.epoch;
  for (const vault::RemoteCheckpoint& one : found->checkpoints) {
    const vault::CheckpointManifest& of = one.manifest;
    answer.checkpoints.push_back({of.id, of.name, of.framework, of.scanned, of.verified, of.parent, of.step,
                                  static_cast<int64_t>(of.files.size()), of.bytes(), of.epoch, of.pushed, one.latest,
                                  one.trouble, of.run, one.given_up});
  }
  if (!found->checkpoints.empty()) return answer;
  if (const std::string runs = named_runs_below(**harbour); !runs.empty())
    answer.notes.push_back(cat(runs_lie_below(request.store.place, runs).what, "."));
  return answer;
}

std::function<Result<StoreSteps>()> steps_in_store(StoreAddress address) {
  return [address = std::move(address)]() -> Result<StoreSteps> {
    const std::shared_ptr<Disk> disk = make_posix_disk();
    const auto found = shipped_checkpoints(*disk, {address, true});
    if (!found.ok()) return found.error();
    StoreSteps steps;
    for (const auto& one : found->checkpoints) {
      if (one.trouble.empty()) steps.usable.insert(one.step);
      if (one.given_up) steps.given_up.insert(one.step);
    }
    return steps;
  };
}

}  // namespace mw
