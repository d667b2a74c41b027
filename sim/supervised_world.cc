#include "sim/supervised_world.h"

#include <algorithm>
#include <csignal>
#include <utility>

#include "act/keeper/launch.h"
#include "act/supervise/resume.h"
#include "base/numbers.h"
#include "base/text.h"
#include "core/event_codec.h"
#include "journal/journal.h"

namespace mw::sim {
namespace {

constexpr int64_t kSaveEvery = 5;  // steps
constexpr int64_t kSafeEnd = 20;  // steps before the end in which nothing goes wrong, so that the wrong is seen in time
constexpr double kStepChance = 0.7;                   // per tick
constexpr int64_t kSlowToStop = 150;                  // ticks: its grace, and a watch that is killed meanwhile
constexpr int64_t kRuleStep = 23;                     // where a rule of the user's own is broken
constexpr int64_t kBugStep = 31;                      // where a stubborn bug is
constexpr int kShownAfter = 16;                       // poisoned steps that are watched, the time to obey included
constexpr int64_t kForeignOld = 3, kForeignNew = 52;  // of a run before: lower and higher than most of this one's
constexpr int64_t kForeignLater = 8;                  // of somebody who saves while no attempt lives

std::string checkpoint(int64_t step) { return cat(kCheckpointsFolder, "/global_step_", step); }
std::string pointer() { return cat(kCheckpointsFolder, "/latest_checkpointed_iteration.txt"); }

}  // namespace

// ---- processes
// --------------------------------------------------------------------------------------------------------

Result<ProcessInfo> SupervisedProcesses::info(int64_t pid) {
  const auto found = table.find(pid);
  if (found == table.end()) return Error{Error::Code::kNotFound, "no such process", ""};
  return found->second.info;
}

std::vector<ProcessInfo> SupervisedProcesses::all() {
  std::vector<ProcessInfo> out;
  for (const auto& [pid, one] : table) out.push_back(one.info);
  return out;
}

bool SupervisedProcesses::carries(const ProcessInfo& process, std::string_view marker) {
  const One* one = find(process.id);
  return one != nullptr && !marker.empty() && one->marker == marker;
}

SupervisedProcesses::One& SupervisedProcesses::add(int64_t parent, int64_t session) {
  const int64_t pid = next_pid;
  return add_as(pid, parent, session);
}

SupervisedProcesses::One& SupervisedProcesses::add_as(int64_t pid, int64_t parent, int64_t session) {
  One one;
  one.info.id = {pid, static_cast<uint64_t>(10'000 + next_pid++)};
  one.info.parent = parent;
  one.info.session = session == 0 ? pid : session;
  one.info.state = 'S';
  one.info.name = "python";
  return table[pid] = one;
}

SupervisedProcesses::One* SupervisedProcesses::find(const ProcessId& id) {
  const auto found = table.find(id.pid);
  return found == table.end() || found->second.info.id != id ? nullptr : &found->second;
}

void SupervisedProcesses::gone(const ProcessId& id) {
  int64_t heir = 1;
  for (int64_t up = id.pid; table.count(up) != 0;) {
    up = table[up].info.parent;
    if (subreapers.count(up) == 0 || table.count(up) == 0) continue;
    heir = up;
    break;
  }
  table.erase(id.pid);
  subreapers.erase(id.pid);
  for (auto& [pid, one] : table) {
    if (one.info.parent == id.pid) one.info.parent = heir;
  }
}

Result<void> SupervisedProcesses::signal(const ProcessId& id, int signal) {
  One* one = find(id);
  if (one == nullptr) return Error{Error::Code::kNotFound, "no such process", ""};
  on_signal(id, signal);
  if (signal == SIGSTOP) one->info.state = 'T';
  if (signal == SIGCONT) one->info.state = 'S';
  const bool ends =
      signal == SIGKILL || (signal == SIGINT && !one->ignores_int) || (signal == SIGTERM && !one->ignores_term);
  if (!ends || one->pending == SIGKILL) return {};
  one->pending = signal;
  one->ends_at = tick + (signal == SIGKILL ? 1 : 1 + static_cast<int64_t>(dice->below(5)));
  return {};
}

// ---- the world
// --------------------------------------------------------------------------------------------------------

SupervisedWorld::SupervisedWorld(uint64_t seed) : disk(seed), dice(seed * 7919 + 3), reads_(seed * 104729 + 11) {
  unsound_chance_ = reads_.chance(0.5) ? 0 : 0.3;
  processes.dice = &dice;
  processes.on_signal = [this](const ProcessId& id, int signal) { check_signal(id, signal); };
  strangers_.insert(processes.add(1, 0).info.id.pid);
  stubborn_bug = dice.chance(0.1);
  rule_broken = seed % 8 != 3 ? 0 : seed % 16 == 3 ? 1 : 1'000'000;
  fault_chance_ = dice.chance(0.2) ? 0 : 0.002 + 0.01 * dice.unit();
  restarts = static_cast<int>(dice.below(5));
  broken_chance_ = dice.chance(0.5) ? 0 : 0.1;
  resumes_by_word = dice.chance(0.3);
  early_death_ = dice.chance(0.6) ? 0 : 0.2;
  reuse_chance_ = dice.chance(0.6) ? 0 : 0.1;
  unreadable = dice.chance(0.2);
  (void)disk.make_folders(std::string(kCheckpointsFolder)).ok();
  has_foreign = seed % 5 == 2;
  disk.set_time(clock.now());
  if (!has_foreign) return;
  put_foreign(kForeignOld);
  put_foreign(kForeignNew);
}

void SupervisedWorld::put_foreign(int64_t step) {
  disk.put(checkpoint(step) + "/config.json", "{}");
  disk.put(checkpoint(step) + "/policy.bin", "foreign");
  foreign_.insert(step);
}

/// What is somebody else's stays where it is, as it is.
void SupervisedWorld::check_foreign() {
  for (const int64_t step : foreign_) {
    if (disk.content(checkpoint(step) + "/policy.bin") != "foreign") wrong("somebody else's checkpoint was touched");
    if (trim(disk.content(pointer())) == cat(step)) wrong("the pointer names somebody else's checkpoint");
  }
  if (has_foreign && dice.chance(0.02)) put_foreign(kForeignOld);  // who wrote it goes on writing there
  const bool alone = !attempt_ || (attempt_->ended && attempt_->done);
  if (has_foreign && alone && launched > 0 && foreign_.count(kForeignLater) == 0 && dice.chance(0.3)) {
    clock.pass(Duration::seconds(40));
    disk.set_time(clock.now());
    put_foreign(kForeignLater);
  }
}

/// Was such an action recorded before, and is it, where `still` asks for that, not over yet?
bool SupervisedWorld::meant(std::string_view action, bool still) const {
  std::set<uint32_t> open;
  bool ever = false;
  for (const Event& event : journal) {
    if (const auto* intended = std::get_if<event::Intended>(&event.body);
        intended != nullptr && intended->action == action) {
      open.insert(intended->id);
      ever = true;
    }
    if (const auto* acted = std::get_if<event::Acted>(&event.body)) open.erase(acted->id);
  }
  return still ? !open.empty() : ever;
}

void SupervisedWorld::check_signal(const ProcessId& id, int signal) {
  if (strangers_.count(id.pid) != 0) wrong("a stranger's process was signalled");
  const bool runs = attempt_ && attempt_->spawned && !attempt_->ended;
  if (!runs) return;
  if (signal == SIGSTOP && !meant("pause", false)) wrong("paused without a record in the journal");
  if (stop_requested && refused_turns > 0) return;
  if (signal == SIGINT && !meant("stop", false) && !meant("break", false))
    wrong("asked to end without a record in the journal");
  if (signal != SIGKILL || meant("stop", false)) return;
  if (!meant("break", false)) wrong("killed without a record in the journal");
  if (asks_to_break && approved != attempt_->number) wrong("killed without approval");
  if (!attempt_->engine_dead && !attempt_->against_rule)
    wrong("a healthy attempt was killed for what happened before it");
}

void SupervisedWorld::say(decltype(Event::body) body) {
  emitted_.push_back({clock.now(), {0, ++line_}, std::move(body)});
}

void SupervisedWorld::blame(const std::string& kind, const std::string& reaction, int64_t step) {
  Blame one;
  one.after = emitted_.size();
  one.incident.id = static_cast<uint32_t>(blamed_.size() + 1);
  one.incident.kind = kind;
  one.incident.severity = Severity::kCritical;
  one.incident.reaction = reaction;
  one.incident.onset = one.incident.latest = {step, clock.now(), {0, line_}, 0, false};
  one.incident.summary = kind;
  blamed_.push_back(std::move(one));
}

bool SupervisedWorld::deliver(State& state) {
  const size_t left = emitted_.size() - delivered_;
  const size_t now = dice.chance(0.3) ? dice.below(left + 1) : left;
  for (size_t i = 0; i < now; ++i) {
    journal.push_back(emitted_[delivered_++]);
    fold(state, journal.back());
  }
  state.incidents.clear();
  for (Blame& one : blamed_) {
    if (one.after > delivered_) continue;
    if (!one.seen) one.incident.latest.attempt = static_cast<uint16_t>(state.attempts.size() - 1);
    one.seen = true;
    state.incidents.push_back(one.incident);
  }
  return delivered_ == emitted_.size();
}

void SupervisedWorld::remember(State& state) {
  state = {};
  fold(state, {{}, {}, event::SourceOpened{0, "train.log", "text", 0}});
  for (const Event& event : journal) fold(state, event);
  for (const Blame& one : blamed_) {
    if (one.seen) state.incidents.push_back(one.incident);
  }
}

bool SupervisedWorld::still() const { return !attempt_ || !attempt_->spawned || (attempt_->ended && attempt_->done); }

Result<void> SupervisedWorld::start_keeper(const std::string& folder) {
  const auto number = parse_int(folder.substr(folder.rfind('/') + 1));
  if (!number) return Error{Error::Code::kInvalid, "no such attempt", ""};
  if (!attempt_ || attempt_->number != *number) {
    if (*number != (attempt_ ? attempt_->number + 1 : 1)) wrong("attempts do not count up");
    if (attempt_ && !attempt_->ended) wrong("an attempt begins while the one before it lives");
    if (attempt_ && processes.find(attempt_->engine) != nullptr)
      wrong("an attempt begins beside the engine of the one before");
    if (stopped_at != 0) wrong("an attempt begins after a stop was requested");
    attempt_ = Attempt();
    attempt_->number = static_cast<int>(*number);
    attempt_->folder = folder;
  } else if (processes.find(attempt_->keeper.id) != nullptr) {
    return {};  // the living one holds the lock; another goes at once
  }
  Keeper& keeper = attempt_->keeper;
  keeper = {};
  keeper.id = processes.add(1, 0).info.id;
  processes.subreapers.insert(keeper.id.pid);
  keeper.begins_at = tick_ + static_cast<int64_t>(dice.below(4));
  return {};
}

/// The keeper's record is a journal on a disk of its own, copied to where midwatch sees it.
void SupervisedWorld::put_record(const std::string& line) {
  FakeDisk& own = records_.try_emplace(attempt_->folder).first->second;
  const std::string folder = cat(attempt_->folder, "/", kRecordFolder);
  {
    auto record = Journal::open(own, folder, nullptr);
    MW_CHECK(record.ok());
    (void)(*record)->append(line);
    MW_CHECK((*record)->sync().ok());
  }
  for (const std::string& path : own.paths()) disk.put(path, own.content(path));
}

void SupervisedWorld::keeper_lives() {
  if (!attempt_ || processes.find(attempt_->keeper.id) == nullptr) return;
  Attempt& a = *attempt_;
  if (!a.keeper.begun) {
    if (tick_ < a.keeper.begins_at) return;
    a.keeper.begun = true;
    put_record(record_keeping(a.keeper.id, "boot", clock.now()));
    begin_command();
    return;
  }
  if (!a.keeper.settled) return begin_command();
  if (a.ended && !a.done) {
    Ending ending;
    ending.at = clock.now();
    ending.known = !a.orphaned;
    ending.code = a.orphaned ? -1 : a.code;
    ending.signal = a.orphaned ? 0 : a.signal;
    ending.peak_bytes = a.orphaned ? 0 : 1 << 20;
    const auto left = descendants(processes.all(), a.keeper.id.pid);
    if (!a.end_reported) {
      say(event::Ended{event::Ended::How::kExit, ending.signal != 0 ? -ending.signal : ending.code, "keeper"});
      put_record(record_ended(ending));
    }
    a.end_reported = true;
    if (!left.empty()) return;
    put_record(record_done(clock.now()));
    a.done = true;
    processes.gone(a.keeper.id);
  }
}

/// Killed between two things that it does.
bool SupervisedWorld::dies_early() {
  if (!dice.chance(early_death_)) return false;
  processes.gone(attempt_->keeper.id);
  if (attempt_->spawned && !attempt_->ended) attempt_->orphaned = true;
  return true;
}

/// As the program's keeper does, whose rule for what a killed one left it asks: it forks, writes that down, lets go
/// what it forked, writes that down.
void SupervisedWorld::begin_command() {
  Attempt& a = *attempt_;
  const auto kept = read_kept(records_.at(a.folder), a.folder);
  MW_CHECK(kept.ok());
  const Left left = what_was_left(*kept, lives(processes, kept->forked), a.spawned, true);
  if (left == Left::kWaits) return;  // to be asked again
  a.keeper.settled = true;
  if (left == Left::kNothing) {
    if (a.waits) processes.gone(a.child);  // of a keeper that had not written it down
    if (a.spawned) wrong("the command of an attempt is begun twice");
    a.child = processes.add(a.keeper.id.pid, 0).info.id;
    a.waits = true;
    a.forker = a.keeper.id;
    if (dies_early()) return;
    put_record(record_forked(a.child, clock.now()));
    if (dies_early()) return;
    spawn();
    if (dies_early()) return;
  }
  if (!kept->child.known()) put_record(record_started(a.child, clock.now()));
}

/// By the words of its command, or by the trainer's own pointer.
std::optional<int64_t> SupervisedWorld::resumes_from() {
  if (!resumes_by_word) return parse_int(trim(disk.content(pointer())));
  const auto launch = parse_launch(disk.content(cat(attempt_->folder, "/", kLaunchFile)));
  if (!launch.ok()) {
    wrong("the keeper's orders cannot be read");
    return std::nullopt;
  }
  for (const std::string& word : launch->command) {
    if (word == kResumeWord) wrong("nobody said in {resume}'s place what to resume from");
    if (word.starts_with("--from=")) return parse_int(word.substr(7));
  }
  return std::nullopt;
}

void SupervisedWorld::spawn() {
  Attempt& a = *attempt_;
  ++launched;
  a.spawned = true;
  a.waits = false;
  const auto launch = parse_launch(disk.content(cat(a.folder, "/", kLaunchFile)));
  a.engine = processes.add(a.child.pid, dice.chance(0.5) ? a.child.pid : 0).info.id;
  if (launch.ok()) processes.find(a.child)->marker = processes.find(a.engine)->marker = launch->marker;
  processes.find(a.child)->ignores_int = dice.chance(0.2);
  processes.find(a.child)->ignores_term = dice.chance(0.2);
  processes.find(a.engine)->ignores_int = processes.find(a.engine)->ignores_term = dice.chance(0.3);
  say(event::AttemptBegan{"keeper"});
  if (const auto newest = resumes_from(); newest) {
    if (!disk.exists(checkpoint(*newest) + "/config.json")) wrong("it is to resume from what is not there");
    if (!disk.exists(checkpoint(*newest) + "/policy.bin")) {
      if (!disk_lies) wrong("it is to resume from a broken checkpoint");
      a.crash_at = tick_ + 1;
    }
    if (is_unsound(*newest) && !disk_lies) wrong("it is to resume from a checkpoint whose numbers are not sane");
    if (foreign_.count(*newest) != 0) wrong("it is to resume from somebody else's checkpoint");
    a.step = *newest;
    a.poisoned = disk.content(checkpoint(*newest) + "/policy.bin") == "poison";
    say(event::Resumed{*newest, checkpoint(*newest)});
  }
}

void SupervisedWorld::end_child(int code, int signal) {
  Attempt& a = *attempt_;
  a.ended = true;
  a.code = code;
  a.signal = signal;
  processes.gone(a.child);
  if (processes.find(a.engine) != nullptr && dice.chance(0.6)) processes.gone(a.engine);
}

void SupervisedWorld::save() {
  Attempt& a = *attempt_;
  const std::string folder = checkpoint(a.step);
  disk.put(folder + "/config.json", "{}");
  a.half_saved = true;
  if (dice.chance(0.7)) finish_save();
}

/// The weights come after the rest, and the pointer last; of a save that goes wrong no weights come at all.
void SupervisedWorld::finish_save() {
  Attempt& a = *attempt_;
  if (!std::exchange(a.half_saved, false)) return;
  // The first one there is: nothing shows that it lacks something.
  if (dice.chance(broken_chance_) && saved_whole_) {
    (void)disk.remove(checkpoint(a.step) + "/policy.bin").ok();  // of an attempt before
  } else {
    disk.put(checkpoint(a.step) + "/policy.bin", a.poisoned ? "poison" : "good");
    write_late(a.step);
    saved_whole_ = saved_whole_ || !a.poisoned;
  }
  disk.put(pointer(), cat(a.step));
  a.unsaid = event::CheckpointSaved{a.step, checkpoint(a.step), true};
  if (!dice.chance(0.3)) say_saved();
}

void SupervisedWorld::write_late(int64_t step) {
  disk.set_time({clock.now().ns + 1'000 * ++late_writes_});  // two writes of one size in one moment would look the same
  const std::string text = cat("S'attempt ", number(), " at ", tick_, "'\n.");  // what loads them expects a pickle
  for (const char* name : {"/optimizer.bin", "/rng.bin"}) disk.put(checkpoint(step) + name, text);
}

/// The engine is gone: either the trainer dies of it soon, or it goes on with empty answers.
void SupervisedWorld::lose_engine() {
  Attempt& a = *attempt_;
  a.engine_dead = true;
  finish_save();
  say_saved();  // of a step before: logged after the onset it would count as tainted, to be safe
  blame("engine-dead", "restart-component", a.step + 1);
  if (dice.chance(0.5)) a.crash_at = tick_ + 1 + static_cast<int64_t>(dice.below(4));
}

/// From here on each step is what a rule of the user's own does not allow.
void SupervisedWorld::break_rule() {
  Attempt& a = *attempt_;
  if (a.step != kRuleStep || rule_broken == 0 || a.engine_dead) return;
  --rule_broken;
  a.against_rule = true;
  blame(std::string(kUserRule), "rollback-before-onset", a.step);
}

void SupervisedWorld::one_step() {
  Attempt& a = *attempt_;
  finish_save();
  say_saved();
  if (a.engine_dead && a.crash_at != 0) return;  // it waits for an answer, until it dies of it
  ++a.step;
  break_rule();
  if (a.engine_dead || a.against_rule) {
    a.poisoned = true;
    a.poisoned_steps += watched ? 1 : 0;
    ++poisoned_steps;
  }
  say(event::Measured{a.step, false, {{"reward.mean", "reward", a.engine_dead ? 0 : 0.5}}});
  if (stubborn_bug && a.step == kBugStep) {
    blame("code-error", "config-fix", a.step);
    return end_child(1, 0);
  }
  if (a.step % kSaveEvery == 0) save();
  if (a.step < total) return;
  finished = true;
  finish_save();
  say_saved();
  // Asked to stop so late, its engine may go with that and be seen by nobody; likewise near the end, or where hardly
  // anybody watches. One that is being ended for it may take its grace, and is no success.
  const bool anew = a.engine_dead || a.against_rule;  // else it was resumed from poison
  const bool shown = (!anew || a.poisoned_steps > kShownAfter) && !meant("break", true);
  if (a.poisoned && shown && !poison_allowed && !meant("stop", false)) wrong("it ended on poisoned weights");
  end_child(0, 0);
}

void SupervisedWorld::train() {
  Attempt& a = *attempt_;
  const SupervisedProcesses::One* child = processes.find(a.child);
  if (!a.spawned || a.ended || child == nullptr || child->info.state == 'T') return;
  if (a.crash_at != 0 && tick_ >= a.crash_at) return end_child(1, 0);
  if (!a.engine_dead && processes.find(a.engine) == nullptr) lose_engine();
  const bool may_fail = a.step < total - kSafeEnd;
  if (may_fail && dice.chance(fault_chance_)) processes.gone(a.engine);
  if (may_fail && dice.chance(fault_chance_)) {  // killed from elsewhere
    if (dice.chance(0.5)) blame("crash", "restart-run-from-checkpoint", a.step);
    return end_child(-1, SIGKILL);
  }
  if (stopped_at != 0 && tick_ > stopped_at + kSlowToStop) wrong("it trains on though a stop was requested");
  if (dice.chance(kStepChance)) one_step();
}

void SupervisedWorld::pass() {
  clock.pass(Duration::seconds(0.5));
  disk.set_time(clock.now());
  processes.tick = ++tick_;
  check_foreign();
  std::vector<std::pair<ProcessId, int>> ending;
  for (const auto& [pid, one] : processes.table) {
    const bool held = one.info.state == 'T' && one.pending != SIGKILL;
    if (one.pending != 0 && tick_ >= one.ends_at && !held) ending.emplace_back(one.info.id, one.pending);
  }
  for (const auto& [id, signal] : ending) {
    if (attempt_ && id == attempt_->child && !attempt_->ended) {
      end_child(-1, signal);
    } else {
      processes.gone(id);
    }
  }
  if (attempt_ && dice.chance(fault_chance_) && processes.find(attempt_->keeper.id) != nullptr &&
      attempt_->keeper.begun) {
    processes.gone(attempt_->keeper.id);
    if (attempt_->spawned && !attempt_->ended) attempt_->orphaned = true;
  }
  if (attempt_ && attempt_->waits && processes.find(attempt_->forker) == nullptr && dice.chance(0.7)) {
    processes.gone(attempt_->child);  // nobody will say the word
    attempt_->waits = false;
  }
  keeper_lives();
  reuse_numbers();
  if (attempt_) train();
}

}  // namespace mw::sim
