#include "app/ship_beside.h"

#include <algorithm>
#include <utility>

#include "act/supervise/run_files.h"
#include "act/vault/ship.h"
#include "act/vault/ship_logs.h"
#include "app/fleet_beat.h"
#include "app/harbour.h"
#include "app/ship.h"
#include "base/digest.h"
#include "base/numbers.h"
#include "base/secrets.h"
#include "base/text.h"
#include "platform/durable.h"
#include "platform/low_priority.h"
#include "platform/real/posix_disk.h"
#include "sense/checkpoints/below_declared.h"
#include "sense/checkpoints/parts.h"
#include "sense/checkpoints/recover_slot.h"
#include "sense/fingerprint/fingerprinting.h"

namespace mw {
namespace {

constexpr Duration kNap = Duration::millis(100);  // after which a pause looks whether it is to end

/// The doors of a transfer that somebody may end.
vault::VaultDoors stoppable(const Harbour& harbour, Disk& disk, ObjectStore& store, const vault::StopFlag& stop) {
  vault::VaultDoors doors = harbour.doors(disk, {});
  return {doors.disk,
          store,
          doors.clock,
          [stop](Duration left) {
            for (; left.ns > 0 && !stop->load(); left.ns -= kNap.ns) sleep_for(std::min(left, kNap));
          },
          doors.free_bytes,
          nullptr};
}

/// What the newest attempt is made of, for whoever goes on with the run: by then it is in the store, too. It holds no
/// secret (sense/fingerprint). Without it the checkpoint is shipped all the same.
void add_fingerprint(Disk& disk, ObjectStore& store, const vault::Keys& keys, const std::string& run_folder,
                     std::vector<std::pair<std::string, std::string>>& facts) {
  const std::string attempts = cat(run_folder, "/", kAttemptsFolder);
  const auto names = disk.list(attempts);
  int64_t newest = 0;
  for (const std::string& name : names.ok() ? *names : std::vector<std::string>())
    newest = std::max(newest, parse_int(name).value_or(0));
  const auto text = read_small(disk, cat(attempts, "/", newest, "/", kFingerprintFile));
  const auto seen = text.ok() ? parse_fingerprint(*text) : Result<Fingerprint>(text.error());
  if (!seen.ok()) return;
  const std::string hash = content_hash(*text);
  if (!store.head(keys.fingerprint(hash)).ok() && !store.put(keys.fingerprint(hash), *text, {}).ok()) return;
  facts.emplace_back("configuration", configuration_digest(*seen));
  facts.emplace_back("fingerprint", hash);
}

/// Who ships.
struct Shipper {
  std::string owner, run_folder;
  std::vector<std::string> roots;  ///< that were declared
};

/// Where a machine that goes on with the run puts it below the folder that is declared there.
void add_below(Disk& disk, const std::vector<std::string>& roots, std::string folder,
               std::vector<std::pair<std::string, std::string>>& facts) {
  if (!other_role_of(folder).empty()) folder = folder_of(folder);
  for (const std::string& root : roots) {
    const bool itself = plain_path(folder) == plain_path(root);
    const auto below = below_declared(disk, {root}, folder);
    if (!itself && (!below.ok() || below->empty())) continue;
    facts.emplace_back(kBelowFact, itself ? "." : below->substr(plain_path(root).size() + 1));
    return;
  }
}

/// AReaL writes all its saves to one place, of which the log names a part: the whole of it is shipped, as of the step
/// that it says now. Second names would keep nothing, as its files are written over in place.
Result<void> take_slot(Disk& disk, vault::ShipOptions& options) {
  const std::string slot = recover_slot_of(disk, options.push.folder);
  const int64_t step = slot.empty() ? kNoStep : step_of_slot(disk, slot);
  if (step == kNoStep || !is_slot_complete(disk, slot)) {
    return Error{Error::Code::kInvalid,
                 cat("the checkpoint is still being written: recover_info beside ", options.push.folder,
                     " is not of these weights yet"),
                 ""};
  }
  options.push.folder = slot;
  options.push.step = step;
  return {};
}

Result<vault::Pushed> ship_now(Disk& disk, const StoreAddress& address, const Shipper& who, const ShipJob& job,
                               vault::SeenConditions& conditions, const vault::StopFlag& stop) {
  lower_own_priority();
  const auto harbour = open_harbour(disk, address, [stop] { return stop->load(); });
  if (!harbour.ok()) return harbour.error();
  vault::StoppableStore store(*(*harbour)->store, stop);
  vault::ShipOptions options;
  options.push.prefix = (*harbour)->prefix;
  options.push.folder = job.what.path;
  options.push.step = job.what.step;
  options.push.layout = job.layout;
  options.push.framework = job.framework;
  options.push.run = job.facts;
  add_fingerprint(disk, store, {(*harbour)->prefix}, who.run_folder, options.push.run);
  options.push.owner = random_word();
  options.push.older = job.what.back;
  options.push.aside = job.what.aside;
  options.push.alone = true;
  options.push.conditions = &conditions;
  options.push.pace = pace_of(address);
  MW_TRY(bound_push(*(*harbour)->store, (*harbour)->prefix, options.push));
  const bool slot = is_part_of_slot(job.what.path);
  if (slot) MW_TRY(take_slot(disk, options));
  if (const auto info = disk.info(job.what.path); info.ok() && info->kind == FileInfo::Kind::kFile) {
    options.push.folder = folder_of(job.what.path);
    options.push.file = basename(job.what.path);
    return vault::push(stoppable(**harbour, disk, store, stop), options.push);
  }
  options.least_bytes = job.least_bytes;
  MW_TRY(add_parts(disk, options.push));
  for (auto& [name, value] : options.push.run) {
    if (name == "folder") value = folder_of(options.push.folder);
  }
  add_below(disk, who.roots, folder_of(options.push.folder), options.push.run);
  if (options.push.folder != job.what.path) options.least_bytes = 0;  // another role's, or the whole slot
  options.owner = who.owner;
  options.links = job.links && !slot;
  options.beside = job.beside;
  return vault::ship(stoppable(**harbour, disk, store, stop), options);
}

Result<int64_t> ship_logs_now(Disk& disk, const StoreAddress& address, vault::LogShipper& logs,
                              const vault::StopFlag& stop) {
  lower_own_priority();
  const auto harbour = open_harbour(disk, address, [stop] { return stop->load(); });
  if (!harbour.ok()) return harbour.error();
  vault::StoppableStore store(*(*harbour)->store, stop);
  return logs.ship(stoppable(**harbour, disk, store, stop));
}

/// What the environment of the run says, its own first.
std::vector<std::pair<std::string, std::string>> facts_of(const RunSpec& spec, const std::string& run_folder) {
  std::vector<std::pair<std::string, std::string>> facts;
  for (auto& [name, value] : run_facts()) {
    if (name == "wandb_run_id" || name == "machine") facts.emplace_back(name, value);
  }
  if (const auto own = spec.environment.find("WANDB_RUN_ID"); own != spec.environment.end()) {
    std::erase_if(facts, [](const auto& fact) { return fact.first == "wandb_run_id"; });
    facts.emplace_back("wandb_run_id", redact_secrets(clip(own->second, 200)));
  }
  facts.emplace_back("midwatch_run", basename(run_folder));
  return facts;
}

}  // namespace

std::unique_ptr<ShipTask> ship_beside(const Doors& doors, const RunSpec& spec, const std::string& run_folder,
                                      std::function<CheckpointLayout(const std::string& framework)> layout,
                                      std::function<void(const std::string& sentence)> say) {
  const StoreAddress address = store_of(spec);
  const std::shared_ptr<Disk> disk = make_posix_disk();
  const std::string owner = spec.nonce.empty() ? std::string(basename(run_folder)) : spec.nonce;
  ShipScope scope;
  const auto conditions = std::make_shared<vault::SeenConditions>();  // one checkpoint is shipped at a time
  scope.ship = [disk, address, who = Shipper{owner, run_folder, spec.checkpoints}, conditions](
                   const ShipJob& job, const vault::StopFlag& stop) {
    return ship_now(*disk, address, who, job, *conditions, stop);
  };
  const auto probe = open_harbour(*disk, address);
  const std::string prefix = probe.ok() ? (*probe)->prefix : "";
  const auto logs = std::make_shared<vault::LogShipper>(prefix, run_folder, std::string(basename(run_folder)),
                                                        std::vector<std::string>{"journal", "output"});
  scope.ship_logs = [disk, address, logs](const vault::StopFlag& stop) {
    return ship_logs_now(*disk, address, *logs, stop);
  };
  scope.there = [disk](const std::string& path) { return disk->info(path).ok(); };
  scope.layout = std::move(layout);
  scope.say = std::move(say);
  scope.place = redact_secrets(spec.store);
  scope.facts = facts_of(spec, run_folder);
  scope.wait = spec.store_wait;
  scope.received = spec.first_shipped;
  return std::make_unique<ShipTask>(doors.clock, std::move(scope));
}

}  // namespace mw
