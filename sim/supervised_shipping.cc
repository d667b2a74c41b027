#include "sim/supervised_shipping.h"

#include <algorithm>
#include <array>

#include "act/vault/latest.h"
#include "act/vault/manifest.h"
#include "act/vault/push.h"
#include "base/checksum.h"
#include "base/text.h"
#include "sense/checkpoints/last_whole.h"

namespace mw::sim {
namespace {

using Fault = FakeStore::Fault;

const std::string kPrefix = "team/run";
constexpr double kOften = 0.03;    // of the ticks
constexpr uint64_t kLongest = 40;  // calls after which most pushes are over
constexpr int64_t kMostTicks = 3;  // that pass within one: midwatch has no turn meanwhile
constexpr int64_t kPart = 4;       // bytes

std::string folder_of_step(int64_t step) { return cat(kCheckpointsFolder, "/global_step_", step); }

}  // namespace

SupervisedShipping::SupervisedShipping(SupervisedWorld& world, const CheckpointLayout& layout, uint64_t seed)
    : world_(world), layout_(layout), dice_(seed * 7919 + 5), store_(seed * 13 + 3) {
  store_.changed_at = [this](const std::string& key) {
    if (key.starts_with(vault::Keys{kPrefix}.manifests())) manifest_call_ = store_.calls() - 1;
    check_latest(key);
  };
}

void SupervisedShipping::turn() {
  if (world_.disk.dead() || !dice_.chance(kOften)) return;
  const int64_t step = newest();
  if (step == kNoStep) return;
  disturb(step);
  const bool well = push(step);
  store_.heal();
  store_.before_call = nullptr;
  digest_ = fnv1a(cat(step, well ? " shipped" : " failed"), digest_);
}

void SupervisedShipping::end_well() {
  world_.disk.set_faults({});
  world_.disk.process_died();
  const int64_t step = newest();
  if (step == kNoStep || !world_.problem.empty()) return;
  // Of a first save without weights nothing shows a scan that it lacks something; whoever verifies it sees it.
  const bool whole = files_of(step).count("policy.bin") != 0;
  if (push(step) != whole) world_.wrong(whole ? "a push that nothing disturbs fails" : "no weights were shipped");
  if (whole && latest_ < step) world_.wrong(cat("step ", step, " was shipped, and latest names step ", latest_));
}

/// As a restart would choose it.
int64_t SupervisedShipping::newest() {
  const LastWhole found = find_last_whole(world_.disk, {std::string(kCheckpointsFolder)}, layout_, kNoStep);
  if (found.from != kNoStep) return found.kept;
  const std::string pointer = cat(kCheckpointsFolder, "/", layout_.pointer);
  if (!world_.disk.exists(pointer)) return kNoStep;
  for (const auto& seen : found.seen) {
    if (seen.how != event::CheckpointSeen::How::kBroken) return seen.step;
  }
  return kNoStep;
}

SupervisedShipping::Files SupervisedShipping::files_of(int64_t step) const {
  const std::string folder = folder_of_step(step);
  Files out;
  for (const std::string& path : world_.disk.paths()) {
    if (path.starts_with(folder + "/")) out[path.substr(folder.size() + 1)] = world_.disk.content(path);
  }
  return out;
}

void SupervisedShipping::look(int64_t step) {
  auto& all = seen_[folder_of_step(step)];
  Files now = files_of(step);
  if (std::find(all.begin(), all.end(), now) == all.end()) all.push_back(std::move(now));
}

/// A fault at one call, once or from then on, the trainer that goes on in the middle, or one that still writes to the
/// very checkpoint that is being sent.
void SupervisedShipping::disturb(int64_t step) {
  const uint64_t how = dice_.below(5), at = dice_.below(kLongest);
  constexpr std::array<Fault, 5> kFaults = {Fault::kBefore, Fault::kAfter, Fault::kCut, Fault::kFlipped,
                                            Fault::kSilent};
  if (how <= 1) store_.fail_at(at, kFaults[dice_.below(how == 0 ? 2 : kFaults.size())], how == 0);
  const uint64_t turn = store_.calls() + at;
  if (how == 3 && world_.runs() && !world_.has_foreign) {
    store_.before_call = [this, step, turn] {
      if (store_.calls() != turn) return;
      world_.write_late(step);
      look(step);
      changed_call_ = turn;
    };
  }
  if (how != 2) return;
  const auto ticks = 1 + static_cast<int64_t>(dice_.below(kMostTicks));
  store_.before_call = [this, step, turn, ticks] {
    if (store_.calls() != turn) return;
    const Files before = files_of(step);
    for (int64_t i = 0; i < ticks; ++i) {
      world_.pass();
      look(step);
    }
    if (files_of(step) != before) changed_call_ = turn;
  };
}

vault::VaultDoors SupervisedShipping::doors(FakeStore& store) {
  return {world_.disk,
          store,
          clock_,
          [this](Duration time) { clock_.pass(time); },
          [](const std::string&) -> Result<int64_t> { return int64_t{1} << 40; },
          nullptr};
}

bool SupervisedShipping::push(int64_t step) {
  look(step);
  vault::PushOptions options;
  options.prefix = kPrefix;
  options.folder = folder_of_step(step);
  options.step = step;
  options.layout = layout_.folder;
  options.owner = hex_of(dice_.next());
  options.older = latest_ > step;  // the run was put back to before what was shipped
  options.pace.parallel = 1;
  options.settle = {};
  options.part_bytes = kPart;
  ++pushes_;
  clock_.pass(Duration::seconds(1));
  store_.set_time(clock_.now());
  changed_call_ = UINT64_MAX;
  manifest_call_ = 0;
  const auto pushed = vault::push(doors(store_), options);
  // Each file is compared while it is sent; what changes after that, or is new, only the last look at the tree can see.
  // Between that and the manifest there is no other call.
  if (pushed.ok() && !pushed->there && changed_call_ < manifest_call_) {
    world_.wrong("a checkpoint was shipped that was being written");
  }
  return pushed.ok();
}

/// After every change of the store `latest` names a checkpoint with a manifest, all of whose files are there as the
/// trainer had them at one moment: never a mixture of two saves.
void SupervisedShipping::check_latest(const std::string& changed) {
  FakeStore now = store_;
  now.heal();
  now.before_call = nullptr;
  now.changed_at = nullptr;
  const vault::Keys keys{kPrefix};
  const auto pointer = vault::LatestPointer(doors(now), keys, "").read();
  if (!pointer.ok()) return world_.wrong(cat("latest cannot be read: ", pointer.error().what));
  if (pointer->step == kNoStep) return;
  latest_ = pointer->step;
  const auto object = now.objects().find(keys.manifest(pointer->checkpoint));
  const auto manifest = object == now.objects().end() ? Result<vault::CheckpointManifest>(Error{})
                                                      : vault::parse_manifest(object->second.bytes);
  if (!manifest.ok()) return world_.wrong(cat("latest names ", pointer->checkpoint, ", which has no manifest"));
  Files shipped;
  for (const auto& file : manifest->files) {
    const auto found = now.objects().find(keys.files(pointer->checkpoint) + file.path);
    if (found == now.objects().end()) {
      return world_.wrong(cat("latest names ", pointer->checkpoint, " without ", file.path, ", after ", changed));
    }
    shipped[file.path] = found->second.bytes;
  }
  const auto& all = seen_[folder_of_step(pointer->step)];
  if (std::find(all.begin(), all.end(), shipped) == all.end()) {
    world_.wrong(cat("latest names step ", pointer->step, " as the trainer never had it"));
  }
}

}  // namespace mw::sim
