#include "sim/prune.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "act/cleanup/cleanup_task.h"
#include "act/cleanup/remove_item.h"
#include "act/supervise/rollback_plan.h"
#include "act/supervise/run_ownership.h"
#include "base/checksum.h"
#include "base/text.h"
#include "core/retention_facts.h"
#include "core/shipments.h"
#include "platform/fake/borrowed.h"
#include "platform/fake/fake_process.h"
#include "sense/checkpoints/last_whole.h"
#include "sim/judged.h"
#include "sim/prune_judge.h"
#include "sim/prune_world.h"

namespace mw::sim {
namespace {

constexpr uint64_t kLongestPlan = 400;    // calls to the disk after which a plan of the largest tree is over, about
constexpr uint64_t kLongestRemoval = 40;  // likewise of one removal, with its checks
constexpr int kQuick = 20'000;            // turns of the task, most of which wait for its thread
constexpr int kTurns = 80'000;            // until it is idle; those behind the quick ones wait a millisecond each
const std::string kLabel = "attempt-1-of-run";

/// The journal: what it takes is durable, and it takes nothing of a dead midwatch.
class Paper final : public EventWriter {
 public:
  Paper(State& state, PruneWorld& world) : state_(state), world_(world) {}
  bool full = false, dies_after_intent = false;
  std::vector<std::string> said;

  Result<uint32_t> intend(event::Intended intent) override {
    if (world_.disk.dead()) return Error{Error::Code::kInterrupted, "dead", ""};
    if (full) return Error{Error::Code::kFull, "no space left", ""};
    intent.id = state_.last_action + 1;
    said.push_back(cat("means to remove ", intent.target));
    fold(state_, {world_.clock.now(), {}, intent});
    if (std::exchange(dies_after_intent, false)) world_.disk.die_after(0);
    return intent.id;
  }
  void acted(event::Acted outcome) override {
    if (world_.disk.dead()) return;
    said.push_back(cat(outcome.ok ? "done: " : "not done: ", outcome.text));
    fold(state_, {world_.clock.now(), {}, std::move(outcome)});
  }
  Result<void> record(SupervisionEvent, Time) override { return {}; }
  Result<void> note(event::Note, Time) override { return {}; }

 private:
  State& state_;
  PruneWorld& world_;
};

class Prune : Judged<PruneVerdict> {
 public:
  Prune(uint64_t seed, bool aloud)
      : Judged(aloud), world_(seed, [this](const std::string& what) { say(what); }), dice_(world_.dice) {
    judge_.rules.keep_last = dice_.chance(0.1) ? 0 : 1 + static_cast<int64_t>(dice_.below(3));
    judge_.rules.keep_every = dice_.chance(0.3) ? 10 * static_cast<int64_t>(2 + dice_.below(3)) : 0;
    if (dice_.chance(0.25)) judge_.rules.keep_best = "reward.mean";
    judge_.mode = dice_.chance(0.7) ? Mode::kAct : Mode::kAsk;
    words_ = {"quarantine", "broken-checkpoints", "old-checkpoints"};
    if (dice_.chance(0.3)) std::swap(words_[0], words_[2]);
    spec_.folder = kPruneWork;
    spec_.checkpoints = world_.roots;
    world_.disk.before_call = [this] { meanwhile(); };
    world_.disk.before_change = [this](std::string_view what, const std::string& path, const std::string& to) {
      judge_.judge(what, path, to);
    };
    // Of another run, and of a person: nobody's to delete.
    for (const char* label : {"attempt-1-of-another", "by-hand"}) {
      const std::string place = cat(world_.roots.front(), "/", kQuarantineFolder, "/", label);
      world_.disk.put(place + "/step_1/model.safetensors", "theirs");
      QuarantineManifest of;
      of.run_folder = "/data/another";
      if (*label == 'a') world_.disk.put(cat(place, "/", kManifestFile), manifest_text(of));
      world_.others[place] = world_.files_in(place);
    }
    judge_.label = kLabel;
    begin();
  }

  PruneVerdict run() {
    const uint64_t rounds = 5 + dice_.below(10);
    for (uint64_t i = 0; i < rounds && ok(); ++i) {
      const uint64_t acts = 3 + dice_.below(14);
      for (uint64_t j = 0; j < acts; ++j) world_.act();
      dice_.chance(0.12) ? roll_back_disturbed() : round();
    }
    if (ok()) end_well();
    out_.saves = world_.saved;
    out_.moved = judge_.moved;
    out_.pointers = judge_.pointers;
    return out_;
  }

 private:
  // ---- midwatch

  /// A midwatch that begins to watch.
  void begin() {
    CleanupTaskScope scope;
    scope.disk = borrowed(world_.disk);
    scope.system = borrowed(world_.system);
    scope.processes = std::make_shared<FakeProcesses>();
    scope.places = {std::string(kPruneRun), std::string(kPruneWork), world_.roots};
    scope.settings = {judge_.mode, words_, "", judge_.rules.keep_last, judge_.rules.keep_every, judge_.rules.keep_best};
    scope.layout = [this](const std::string&) { return world_.layout; };
    scope.unheld = [](const auto&, const auto&, const auto&) { return false; };
    scope.remove = [this](System&, const CleanupItem& item) { return remove(item); };
    scope.say = [this](const std::string& sentence) { say(cat("  ", sentence)); };
    scope.own = [this](Disk& disk, const State& state, const CheckpointLayout& layout) {
      auto found = ownership_of(disk, std::string(kPruneRun), spec_, state, layout);
      return found.ok() ? std::move(*found) : Ownership();
    };
    scope.has_store = world_.has_store;
    scope.in_store = world_.has_store ? std::function<Result<StoreSteps>()>([this] { return in_store(); }) : nullptr;
    scope.write = [](const std::string&, std::string_view) { return Result<void>(); };
    task_ = std::make_unique<CleanupTask>(world_.clock, std::move(scope));
  }

  Result<StoreSteps> in_store() {
    if (store_silent_) return Error{Error::Code::kIo, "the store does not answer", ""};
    std::erase_if(judge_.shipped, [this](int64_t step) { return world_.store.count(step) == 0; });
    return StoreSteps{world_.store, {}};
  }

  Result<Removed> remove(const CleanupItem& item) {
    for (uint64_t i = 0; acts_before_removal_ && i < 1 + dice_.below(3); ++i) world_.act();
    removing_ = true;
    if (fault_in_removal_)
      world_.disk.fail_at(world_.disk.calls() + *std::exchange(fault_in_removal_, std::nullopt), sticky_);
    if (death_in_removal_) world_.disk.die_after(*std::exchange(death_in_removal_, std::nullopt));
    const RemovalDoors doors{world_.disk, world_.system,
                             [this](const std::string& root, const std::string& below, const Identity* only) {
                               return world_.disk.remove_tree(root, below, only);
                             },
                             [this](const std::string& folder) { (void)world_.disk.remove_empty(folder).ok(); }};
    auto removed = remove_item(doors, item);
    removing_ = false;
    out_.removed += removed.ok() ? 1 : 0;
    out_.refused += removed.ok() ? 0 : 1;
    out_.finished += removed.ok() && item.unfinished ? 1 : 0;
    return removed;
  }

  /// What the run's files and the shipper say.
  void deliver() {
    for (const Event& event : world_.said()) fold(state_, event);
    judge_.behind = world_.behind;
    for (const int64_t step : world_.store) {
      const std::string path = world_.path_of(world_.roots.front(), step);
      const bool known = std::any_of(state_.actions.begin(), state_.actions.end(),
                                     [&](const ActionState& one) { return one.intent.target == path && is_ship(one); });
      if (known) continue;
      const uint32_t id = state_.last_action + 1;
      fold(state_, {world_.clock.now(), {}, event::Intended{id, "ship", path, 0, ""}});
      fold(state_, {world_.clock.now(), {}, event::Acted{id, true, "done", 1, true}});
    }
    judge_.scores = world_.scores;
    judge_.shipped = retention_facts(state_, "", world_.has_store).shipped;
  }

  /// Until it has nothing to do.
  void turns() {
    for (int i = 0; i < kTurns; ++i) {
      const auto next = task_->turn(state_, true, paper_);
      if (next && *next > Duration::millis(100)) {
        for (const std::string& one : std::exchange(paper_.said, {})) say(cat("  ", one));
        return;
      }
      // Its threads are real: on a busy machine one of them may not run for seconds.
      i < kQuick ? std::this_thread::yield() : std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    wrong("midwatch does not come to rest");
  }

  void disturb() {
    const uint64_t how = dice_.below(9);
    const bool in_removal = dice_.chance(0.6);
    sticky_ = dice_.chance(0.4);
    if (how <= 2) {
      ++out_.faults;
      const uint64_t at = dice_.below(in_removal ? kLongestRemoval : kLongestPlan);
      if (in_removal) fault_in_removal_ = at;
      if (!in_removal) world_.disk.fail_at(world_.disk.calls() + at, sticky_);
    } else if (how <= 4) {
      death_in_removal_ = dice_.below(8);
    } else if (how == 5) {
      paper_.dies_after_intent = true;
    } else if (how == 6) {
      paper_.full = true;
    } else if (how == 7) {
      act_at_ = world_.disk.calls() + dice_.below(kLongestPlan);
    } else {
      judge_.swaps = dice_.chance(0.5);
      acts_before_removal_ = true;
    }
  }

  void settle_down() {
    world_.disk.heal();
    paper_.full = paper_.dies_after_intent = false;
    fault_in_removal_.reset();
    death_in_removal_.reset();
    act_at_.reset();
    acts_before_removal_ = judge_.swaps = store_silent_ = false;
    if (world_.disk.dead()) {
      world_.disk.process_died();
      ++out_.killed;
      say("killed");
      begin();
    }
    world_.disk.die_after(UINT64_MAX);
  }

  void ask() {
    RunAsk ask;
    ask.what = RunAsk::What::kCleanup;
    CleanupAsk words{words_, {}, std::nullopt};
    if (dice_.chance(0.5)) words.retention = RetentionRules{1 + static_cast<int64_t>(dice_.below(2)), 0, ""};
    judge_.asked = words.retention.value_or(judge_.rules);
    for (const std::string& root : world_.roots) {
      for (int64_t step = 10; step < 400; step += 10) words.paths.push_back(world_.path_of(root, step));
      for (int64_t i = 1; i <= rollbacks_; ++i)
        for (const OwnFolder& place : quarantine_places(root)) words.paths.push_back(cat(place.path(), "/", kLabel, i));
    }
    ask.text = cleanup_ask_text(words);
    ask.at = world_.clock.now();
    task_->cleanup_now(ask);
    say("a person asks");
  }

  /// Now and then what was saved of late learnt from rewards of exactly zero.
  void spoil() {
    judge_.onset = kNoStep;
    if (!dice_.chance(0.25) || state_.attempts.empty()) return;
    Incident incident;
    incident.id = ++incidents_;
    incident.kind = "zero-reward";
    incident.severity = Severity::kCritical;
    incident.open = true;
    incident.latest.attempt = static_cast<uint16_t>(state_.attempts.size() - 1);
    incident.onset.step = judge_.onset = std::max<int64_t>(1, world_.step - static_cast<int64_t>(dice_.below(40)));
    state_.incidents.push_back(incident);
    say(cat("learns from zero since step ", judge_.onset));
  }

  void round() {
    deliver();
    ++out_.plans;
    judge_.acts_at_round = world_.acts;
    if (dice_.chance(0.3)) {
      Incident incident;
      incident.id = ++incidents_;
      incident.kind = "disk-full";
      incident.latest.attempt = static_cast<uint16_t>(state_.attempts.size() - 1);
      state_.incidents = {incident};
      world_.clock.pass(CleanupTask::kAgain);
    } else {
      state_.incidents.clear();
    }
    spoil();
    if (!std::exchange(ask_waits_, false)) judge_.asked.reset();
    if (!judge_.asked && dice_.chance(0.25)) ask();
    store_silent_ = dice_.chance(0.1);
    if (dice_.chance(0.7)) disturb();
    ask_waits_ = judge_.asked && paper_.full;
    turns();
    settle_down();
    if (!ok() || !dice_.chance(0.5)) return;
    ask_waits_ = false;
    turns();
    settle_down();
    if (ok() && dice_.chance(0.2) && !world_.store.empty()) world_.store.erase(world_.store.begin());
  }

  // ---- a rollback between two attempts

  void roll_back_disturbed() {
    world_.end_attempt();
    world_.clock.pass(Duration::seconds(60));
    world_.disk.set_time(world_.clock.now());
    deliver();
    const auto own = ownership_of(world_.disk, std::string(kPruneRun), spec_, state_, world_.layout);
    MW_CHECK(own.ok());
    const int64_t from = 10 * static_cast<int64_t>(1 + dice_.below(12));
    const auto skip = not_to_resume_from(world_.disk, *own, world_.roots, world_.layout);
    const std::optional<LastWhole> way = find_last_whole(world_.disk, world_.roots, world_.layout, from, *skip);
    const std::string label = cat(kLabel, rollbacks_ + 1);
    const RollbackScope scope{*own, world_.layout, world_.roots, way, false, label};
    auto plan = plan_rollback(world_.disk, scope, rollback_from(from, way));
    if (plan.ok() && plan->trouble.empty() && !plan->back.plans.empty()) {
      ++rollbacks_;
      judge_.back = plan->back;
      carry_out(*plan);
      judge_.back.reset();
    }
    if (!ok()) return;
    const int64_t resumes = world_.pointed(world_.roots.front()).value_or(world_.newest_whole());
    world_.next_attempt(world_.is_whole(world_.roots.front(), resumes) ? resumes : world_.newest_whole());
  }

  void carry_out(const RollbackPlan& plan) {
    say(cat("rolls back from step ", plan.back.from));
    const auto of = quarantine_note(std::string(kPruneRun), rollbacks_, world_.clock.now(), "poison");
    const KeepManifest elsewhere = [this](const std::string& path, std::string_view text) {
      world_.disk.put(path, std::string(text));
      return Result<void>();
    };
    for (int tries = 0; tries < 5; ++tries) {
      const bool last = tries == 4;
      if (!last && dice_.chance(0.5)) world_.disk.fail_at(world_.disk.calls() + dice_.below(80), dice_.chance(0.5));
      if (!last && dice_.chance(0.5)) world_.disk.die_after(dice_.below(12));
      FakeDisk::Faults full;
      full.capacity = world_.disk.used() + dice_.below(400);
      if (!last && dice_.chance(0.2)) world_.disk.set_faults(full);
      const auto done = roll_back(world_.disk, world_.layout, plan.back, of, elsewhere);
      world_.disk.set_faults({});
      settle_down();
      say(cat("  ", done.ok() ? *done : done.error().what));
      judge_.check_pointers();
      if (done.ok()) break;
      if (last) wrong(cat("a rollback that nothing disturbs fails: ", done.error().what));
    }
    check_rolled_back(plan.back);
  }

  void check_rolled_back(const Rollback& back) {
    for (const QuarantinePlan& plan : back.plans) {
      const OwnFolder place = world_.layout.takes_any_folder ? *own_folder_beside(plan.root, kQuarantineFolder)
                                                             : own_folder_in(plan.root, kQuarantineFolder);
      const std::string folder = cat(place.path(), "/", plan.label);
      const auto manifest = find_manifest(world_.disk, folder, std::string(kPruneRun));
      if (!manifest.ok()) return wrong(cat("there is no manifest for ", folder));
      for (const QuarantinePlan::Item& item : plan.items) {
        if (world_.disk.has_folder(world_.path_of(plan.root, item.step)))
          wrong(cat("step ", item.step, " was to be quarantined, and is there"));
        PruneWorld::Save& save = world_.saves[plan.root][item.step];
        const auto to = std::find_if(manifest->items.begin(), manifest->items.end(), [&](const auto& one) {
          return one.name == with_step(world_.layout.folder, item.step);
        });
        if (to == manifest->items.end()) return wrong(cat("the manifest does not name step ", item.step));
        if (save.whole && !save.deleting && world_.files_in(path_seen_from(plan.root, to->to)) != save.files)
          wrong(cat("step ", item.step, " was damaged on its way to the quarantine"));
        world_.saves[plan.root].erase(item.step);
      }
    }
  }

  // ---- others

  /// Before each call to the disk.
  void meanwhile() {
    if (busy_) return;
    busy_ = true;
    if (!removing_ && act_at_ && world_.disk.calls() >= *act_at_) {
      act_at_.reset();
      for (uint64_t i = 0; i < 1 + dice_.below(3); ++i) world_.act();
    }
    busy_ = false;
  }

  // ---- what must hold

  /// When nothing fails any more all is as it should be.
  void end_well() {
    settle_down();
    world_.save_once();
    deliver();
    judge_.acts_at_round = world_.acts;
    state_.incidents.clear();
    judge_.onset = kNoStep;
    if (!ask_waits_) judge_.asked.reset();
    for (int i = 0; i < 2; ++i) {
      turns();
      world_.clock.pass(Duration::seconds(3601));
    }
    if (ok()) {
      if (const std::string harm = world_.harm_to_others(); !harm.empty()) wrong(harm);
    }
    for (const std::string& path : world_.disk.paths()) {
      if (contains(path, cat("/", kRemovingFolder, "/"))) return wrong(cat("a removal was left in the middle: ", path));
    }
    if (ok()) check_pruned();
  }

  /// It did what the rules ask for.
  void check_pruned() {
    const std::string& root = world_.roots.front();
    for (const auto& [step, save] : world_.saves[root]) {
      if (!judge_.use_of(step).empty() || !judge_.rules.keep_best.empty() || !world_.is_resumable(root, step)) continue;
      if (judge_.against(judge_.rules, root, step).empty()) wrong(cat(world_.path_of(root, step), " should be gone"));
    }
  }

  PruneWorld world_;
  Prng& dice_;
  PruneJudge judge_{world_, [this](const std::string& what) { wrong(what); }};
  std::vector<std::string> words_;
  RunSpec spec_;
  State state_;
  Paper paper_{state_, world_};
  std::unique_ptr<CleanupTask> task_;

  int rollbacks_ = 0;
  uint32_t incidents_ = 0;

  std::optional<uint64_t> fault_in_removal_, death_in_removal_, act_at_;
  bool sticky_ = false, removing_ = false, busy_ = false, store_silent_ = false, ask_waits_ = false,
       acts_before_removal_ = false;
};

}  // namespace

PruneVerdict run_prune_seed(uint64_t seed, bool aloud) { return Prune(seed, aloud).run(); }

}  // namespace mw::sim
