#include "sim/vault.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "act/vault/catalogue.h"
#include "act/vault/pull.h"
#include "act/vault/push.h"
#include "act/vault/unfinished.h"
#include "base/checksum.h"
#include "base/prng.h"
#include "base/text.h"
#include "platform/fake/fake_disk.h"
#include "platform/fake/fake_locks.h"
#include "platform/fake/fake_store.h"
#include "sim/judged.h"

namespace mw::sim {
namespace {

using Fault = FakeStore::Fault;
using Files = std::map<std::string, std::string>;  // content by path

constexpr int64_t kPart = 16;          // bytes of a part: files of some hundred bytes have many
constexpr uint64_t kLongestPush = 60;  // calls to the store after which a push of the largest tree is over, about
const std::string kPrefix = "team/run";

struct Machine {
  explicit Machine(uint64_t seed) : disk(seed) {}
  FakeDisk disk;
  FakeLocks locks;
  std::vector<int64_t> steps;  // that it saved
  std::set<int64_t> broken;    // of these
};

class World : Judged<VaultVerdict> {
 public:
  World(uint64_t seed, bool aloud)
      : Judged(aloud),
        dice_(seed),
        conditions_(static_cast<FakeStore::Conditions>(dice_.below(3))),
        store_(seed * 7 + 1, conditions_) {
    store_.set_page(1 + dice_.below(8));
    store_.changed_at = [this](const std::string& key) { check_store(key); };
    for (uint64_t i = 0; i < 2 + dice_.below(2); ++i) machines_.push_back(std::make_unique<Machine>(seed * 31 + i));
  }

  VaultVerdict run() {
    const uint64_t actions = 4 + dice_.below(9);
    for (uint64_t i = 0; i < actions && ok(); ++i) act();
    if (ok()) end_well();
    if (ok()) damage();
    return out_;
  }

 private:
  // ---- what machines do

  void act() {
    Machine& machine = *machines_[dice_.below(machines_.size())];
    const uint64_t what = dice_.below(10);
    if (dice_.chance(0.1)) clock_.pass(vault::kUnfinished);
    if (machine.steps.empty() || what < 3) {
      save(machine, false);
    } else if (what < 8) {
      push_disturbed(machine);
    } else {
      pull_disturbed(machine);
    }
  }

  std::string folder_of_step(int64_t step) const { return cat("/ck/global_step_", step); }

  void write(Machine& machine, const std::string& path, const std::string& bytes) {
    clock_.pass(Duration::seconds(1));
    machine.disk.set_time(clock_.now());
    machine.disk.unlink(path);
    machine.disk.write(path, bytes);
  }

  std::string random_bytes(uint64_t most) {
    std::string bytes(dice_.below(most + 1), ' ');
    for (char& c : bytes) c = static_cast<char>(dice_.below(256));
    return bytes;
  }

  void save(Machine& machine, bool newest) {
    const int64_t step = newest ? next_step_ += 10 : static_cast<int64_t>(10 * (1 + dice_.below(6)));
    if (std::find(machine.steps.begin(), machine.steps.end(), step) != machine.steps.end()) return;
    next_step_ = std::max(next_step_, step);
    const std::string folder = folder_of_step(step);
    (void)machine.disk.make_folders(folder + "/sub").ok();
    const uint64_t files = 1 + dice_.below(4);
    for (uint64_t i = 0; i < files; ++i) {
      const std::string name = cat(dice_.chance(0.4) ? "/sub" : "", "/shard_", i, ".dat");
      write(machine, folder + name, random_bytes(dice_.chance(0.3) ? 120 : 20));
    }
    machine.steps.push_back(step);
    if (!newest && dice_.chance(0.1)) {  // of which nothing may be shipped
      write(machine, folder + "/model.safetensors", "");
      machine.broken.insert(step);
    }
    say(cat("saved step ", step));
  }

  Files files_in(Machine& machine, const std::string& folder) const {
    Files out;
    for (const std::string& path : machine.disk.paths()) {
      if (path.starts_with(folder + "/")) out[path.substr(folder.size() + 1)] = machine.disk.content(path);
    }
    return out;
  }

  vault::VaultDoors doors(Machine& machine, ObjectStore& store) {
    return {machine.disk,
            store,
            clock_,
            [this](Duration time) { clock_.pass(time); },
            [](const std::string&) -> Result<int64_t> { return int64_t{1} << 40; },
            nullptr};
  }

  Result<vault::Pushed> push(Machine& machine, int64_t step, bool older) {
    vault::PushOptions options;
    options.prefix = kPrefix;
    options.folder = folder_of_step(step);
    options.step = step;
    options.owner = hex_of(dice_.next());
    options.older = older;
    options.repair = dice_.below(2) == 0;
    options.pace.parallel = 1;
    options.settle = {};
    options.part_bytes = kPart;
    const auto tree = vault::walk(machine.disk, options.folder);
    if (tree.ok()) truth_[vault::checkpoint_id(step, tree->state())] = files_in(machine, options.folder);
    const auto all = doors(machine, store_);
    store_.set_time(clock_.now());
    ++out_.pushes;
    changed_call_ = UINT64_MAX;
    manifest_call_ = 0;
    older_allowed_ += older ? 1 : 0;
    auto pushed = vault::push(all, options);
    older_allowed_ -= older ? 1 : 0;
    say(cat("push of step ", step, ": ",
            pushed.ok() ? cat("latest ", static_cast<int>(pushed->latest)) : pushed.error().what));
    if (!pushed.ok()) return pushed;
    ++out_.whole;
    out_.fenced += pushed->latest == vault::Moved::kFenced ? 1 : 0;
    // Between the last comparison of the tree and the manifest there is no other call.
    if (!pushed->there && changed_call_ < manifest_call_) wrong("a checkpoint was shipped that was being written");
    if (machine.broken.count(step) != 0) wrong("a broken checkpoint was shipped");
    if (!is_whole(pushed->manifest.id)) wrong(cat("a push ended well, and ", pushed->manifest.id, " is not whole"));
    return pushed;
  }

  void push_disturbed(Machine& machine) {
    const int64_t step = machine.steps[dice_.below(machine.steps.size())];
    const bool older = dice_.chance(0.15);
    const uint64_t how = dice_.below(7), at = dice_.below(kLongestPush);
    const bool dies = how == 1;
    if (how <= 2) {
      constexpr std::array<Fault, 7> kFaults = {Fault::kBefore, Fault::kAfter,  Fault::kCut,   Fault::kFlipped,
                                                Fault::kSilent, Fault::kSilent, Fault::kSilent};
      store_.fail_at(at, dies ? kFaults[dice_.below(2)] : kFaults[dice_.below(7)], dies || how == 2);
    }
    const uint64_t turn = store_.calls() + at;
    if (how == 3) {  // the trainer writes meanwhile
      store_.before_call = [this, &machine, step, turn] {
        if (store_.calls() != turn) return;
        const Files files = files_in(machine, folder_of_step(step));
        const std::string name = dice_.chance(0.5) ? files.begin()->first : cat("late_", turn, ".dat");
        if (!name.starts_with("model")) write(machine, cat(folder_of_step(step), "/", name), random_bytes(40));
        changed_call_ = turn;
      };
    }
    if (how == 4) {  // another machine pushes meanwhile
      store_.before_call = [this, &machine, turn] {
        if (store_.calls() != turn || nested_) return;
        nested_ = true;
        Machine& other = *machines_[dice_.below(machines_.size())];
        if (&other != &machine && !other.steps.empty()) {
          (void)push(other, other.steps[dice_.below(other.steps.size())], false).ok();
        }
        nested_ = false;
      };
    }
    const auto tree = vault::walk(machine.disk, folder_of_step(step));
    bool deleted = false;
    if (how == 6) {  // the trainer deletes it meanwhile
      store_.before_call = [this, &machine, &deleted, step, turn] {
        if (store_.calls() != turn) return;
        for (const auto& [name, bytes] : files_in(machine, folder_of_step(step)))
          machine.disk.unlink(cat(folder_of_step(step), "/", name));
        deleted = true;
      };
    }
    const auto first = push(machine, step, older);
    store_.heal();
    store_.before_call = nullptr;
    if (deleted) {
      std::erase(machine.steps, step);
      machine.broken.erase(step);
      if (!first.ok() && tree.ok()) check_nothing_left(vault::checkpoint_id(step, tree->state()));
      return;
    }
    if (dies) {
      ++out_.killed;
      machine.disk.process_died();
    }
    if (!ok() || machine.broken.count(step) != 0 || !dice_.chance(0.5)) return;
    // Done again, and undisturbed, it ends right.
    const auto again = push(machine, step, older);
    if (!again.ok()) wrong(cat("a push that nothing disturbs fails: ", again.error().what));
    if (again.ok() && again->latest == vault::Moved::kFenced) wrong("a push that is alone is fenced off");
  }

  /// Of a checkpoint that was deleted before all of it was sent.
  void check_nothing_left(const std::string& id) {
    const std::string prefix = vault::Keys{kPrefix}.files(id);
    if (manifest_of(id)) return;  // another machine's, or an earlier push of the same files
    for (const auto& [key, object] : store_.objects()) {
      if (key.starts_with(prefix)) wrong(cat("a checkpoint that was deleted left ", key));
    }
    const auto open_ones = store_.uploads(prefix);
    if (open_ones.ok() && !open_ones->empty()) wrong("a checkpoint that was deleted left an open upload");
  }

  Result<vault::Pulled> pull(Machine& machine, const std::string& folder) {
    vault::PullOptions options;
    options.prefix = kPrefix;
    options.folder = folder;
    options.pace.parallel = 1;
    options.locks = &machine.locks;
    const auto all = doors(machine, store_);
    ++out_.pulls;
    auto pulled = vault::pull(all, options);
    say(cat("pull: ", pulled.ok() ? pulled->manifest.id : pulled.error().what));
    const Files files = files_in(machine, folder);
    if (pulled.ok()) {
      ++out_.received;
      if (files != truth_[pulled->manifest.id])
        wrong(cat("a pull made other files than were pushed: ", pulled->manifest.id));
    } else if (!files.empty()) {
      wrong("a pull failed and left its folder");
    }
    return pulled;
  }

  void pull_disturbed(Machine& machine) {
    const std::string folder = cat("/pulled/", ++pulls_);
    (void)machine.disk.make_folders("/pulled").ok();
    const uint64_t how = dice_.below(5);
    constexpr std::array<Fault, 3> kFaults = {Fault::kBefore, Fault::kCut, Fault::kFlipped};
    if (how <= 1) store_.fail_at(dice_.below(40), kFaults[dice_.below(3)], how == 1);
    if (how >= 3) machine.disk.die_after(1 + dice_.below(30));
    if (how == 2) {  // the disk fails now and then, or is full
      FakeDisk::Faults faults;
      faults.append = faults.sync = faults.other = dice_.chance(0.5) ? 0.05 : 0;
      faults.capacity = machine.disk.used() + dice_.below(300);
      machine.disk.set_faults(faults);
    }
    const auto first = pull(machine, folder);
    machine.disk.set_faults({});
    store_.heal();
    if (first.ok() && how == 2) {
      machine.disk.power_lost();
      if (files_in(machine, folder) != truth_[first->manifest.id])
        wrong("a power loss took bytes of a pull that was over");
    }
    if (how >= 3) {
      machine.disk.die_after(UINT64_MAX);
      how == 3 ? machine.disk.process_died() : machine.disk.power_lost();
    }
    if (!ok() || first.ok() || machine.disk.exists(folder)) return;
    if (!files_in(machine, folder).empty()) return;  // the machine died right after the last rename
    (void)pull(machine, folder).ok();
  }

  // ---- what must hold

  std::optional<vault::CheckpointManifest> manifest_of(const std::string& id) const {
    const auto found = store_.objects().find(vault::Keys{kPrefix}.manifest(id));
    if (found == store_.objects().end()) return std::nullopt;
    auto manifest = vault::parse_manifest(found->second.bytes);
    if (!manifest.ok() || manifest->id != id) return std::nullopt;
    return std::move(*manifest);
  }

  /// All of its files are in the store as they were when it was read.
  bool is_whole(const std::string& id) {
    const auto manifest = manifest_of(id);
    if (!manifest) return false;
    const Files& files = truth_[id];
    if (manifest->files.size() != files.size()) return false;
    for (const auto& [path, bytes] : files) {
      const auto object = store_.objects().find(vault::Keys{kPrefix}.files(id) + path);
      if (object == store_.objects().end() || object->second.bytes != bytes) return false;
    }
    return true;
  }

  /// Nobody may remove a file of a checkpoint that is whole.
  void check_removed(const std::string& key) {
    const std::string prefix = vault::Keys{kPrefix}.under("checkpoints/");
    if (!key.starts_with(prefix)) return;
    ++out_.removed;
    const std::string id = key.substr(prefix.size(), key.find('/', prefix.size()) - prefix.size());
    if (manifest_of(id)) wrong(cat("a file of a checkpoint with a manifest was removed: ", key));
  }

  /// After every change of the store.
  void check_store(const std::string& key) {
    if (key.starts_with(vault::Keys{kPrefix}.manifests())) manifest_call_ = store_.calls() - 1;
    if (store_.objects().count(key) == 0) check_removed(key);
    FakeStore now = store_;
    now.heal();
    now.before_call = nullptr;
    now.changed_at = nullptr;
    const vault::Keys keys{kPrefix};
    const auto all = doors(*machines_.front(), now);
    const auto pointer = vault::LatestPointer(all, keys, "").read();
    if (!pointer.ok()) return wrong(cat("latest cannot be read: ", pointer.error().what));
    if (pointer->step != kNoStep && !is_whole(pointer->checkpoint)) {
      wrong(cat("latest names ", pointer->checkpoint, ", which is not whole, after a change of ", key));
    }
    if (pointer->step < latest_ && older_allowed_ == 0) {
      wrong(cat("latest went from step ", latest_, " to ", pointer->step, " unasked"));
    }
    latest_ = pointer->step;
    if (key != keys.pointer() || conditions_ != FakeStore::Conditions::kKept) return;
    if (aloud_)
      std::printf("  latest.json: epoch %lld, owner %s, step %lld\n", static_cast<long long>(pointer->epoch),
                  pointer->owner.c_str(), static_cast<long long>(pointer->step));
    const std::string owner = owners_.emplace(pointer->epoch, pointer->owner).first->second;
    if (owner != pointer->owner) wrong(cat("epoch ", pointer->epoch, " has two owners"));
    if (pointer->epoch < epoch_) wrong("an epoch went back");
    epoch_ = pointer->epoch;
  }

  /// After the last push: all that others left is older than kUnfinished.
  void check_unfinished() {
    const auto open_ones = store_.uploads(vault::Keys{kPrefix}.under("checkpoints/"));
    if (!open_ones.ok() || !open_ones->empty()) wrong("an upload is still open that nobody went on with");
    if (conditions_ != FakeStore::Conditions::kKept) return;
    const std::string prefix = vault::Keys{kPrefix}.under("checkpoints/");
    for (const auto& [key, object] : store_.objects()) {
      if (!key.starts_with(prefix)) continue;
      const std::string id = key.substr(prefix.size(), key.find('/', prefix.size()) - prefix.size());
      if (store_.objects().count(vault::Keys{kPrefix}.manifest(id)) == 0)
        wrong(cat("a push that was killed left ", key));
    }
  }

  /// When nothing fails any more, all is as it should be.
  void end_well() {
    Machine& machine = *machines_.front();
    save(machine, true);
    clock_.pass({vault::kUnfinished.ns + 1});
    const auto pushed = push(machine, next_step_, false);
    if (!pushed.ok()) return wrong(cat("the last push fails: ", pushed.error().what));
    if (pushed->latest != vault::Moved::kMoved) return wrong("the last push did not move latest");
    const auto open_ones = store_.uploads(vault::Keys{kPrefix}.files(pushed->manifest.id));
    for (const OpenUpload& open : *open_ones) {
      wrong(cat("an upload is still open: ", open.key));
    }
    check_unfinished();
    Machine& other = *machines_.back();
    (void)other.disk.make_folders("/pulled").ok();
    const auto pulled = pull(other, "/pulled/last");
    if (!pulled.ok()) return wrong(cat("the last pull fails: ", pulled.error().what));
    if (pulled->manifest.id != pushed->manifest.id) wrong("the last pull took another checkpoint than the newest");
    if (!pulled->latest || !pulled->notes.empty()) wrong("the last pull found something wrong");
  }

  /// Somebody damages the store: what comes is right all the same, or nothing comes.
  void damage() {
    store_.changed_at = nullptr;
    std::vector<std::string> keys;
    for (const auto& [key, object] : store_.objects()) keys.push_back(key);
    for (uint64_t i = 0; i < 1 + dice_.below(3); ++i) {
      const std::string& key = keys[dice_.below(keys.size())];
      const auto object = store_.objects().find(key);
      if (object == store_.objects().end()) continue;
      std::string bytes = object->second.bytes;
      if (bytes.empty() || dice_.chance(0.4)) {
        store_.lose(key);
      } else {
        bytes[dice_.below(bytes.size())] ^= static_cast<char>(1 << dice_.below(8));
        store_.damage(key, bytes);
      }
      say(cat("damaged ", key));
    }
    (void)pull(*machines_.back(), "/pulled/damaged").ok();
  }

  Prng dice_;
  const FakeStore::Conditions conditions_;
  FakeStore store_;
  FakeClock clock_;
  std::vector<std::unique_ptr<Machine>> machines_;
  std::map<std::string, Files> truth_;
  std::map<int64_t, std::string> owners_;
  int64_t latest_ = kNoStep, epoch_ = 0, next_step_ = 0;
  uint64_t changed_call_ = UINT64_MAX;  ///< to the store, before which the tree that is pushed was changed
  uint64_t manifest_call_ = 0;          ///< that put a manifest
  int older_allowed_ = 0, pulls_ = 0;
  bool nested_ = false;
};

}  // namespace

VaultVerdict run_vault_seed(uint64_t seed, bool aloud) { return World(seed, aloud).run(); }

}  // namespace mw::sim
