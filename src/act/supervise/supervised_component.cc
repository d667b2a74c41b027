#include "act/supervise/supervised_component.h"

#include <algorithm>
#include <utility>

#include "act/keeper/launch.h"
#include "base/numbers.h"
#include "base/text.h"
#include "core/components.h"
#include "core/supervise/action_kind.h"
#include "core/supervise/policy.h"
#include "platform/durable.h"

namespace mw {
namespace {

using Health = event::ComponentSaw::Health;

const std::string kSource = "host:components";
constexpr Duration kKeeperBegins = Duration::seconds(2);     // within which a keeper has written its first record
constexpr Duration kKeeperTakesOver = Duration::seconds(1);  // likewise, where another one wrote before
constexpr Duration kMembers = Duration::seconds(5);          // between two snapshots of its processes
constexpr Duration kMoment = Duration::seconds(1);           // of living, where nothing can be asked
constexpr std::string_view kTaken = "another program, which is not the component's, listens at ";
constexpr std::string_view kTakenFile = "port-taken";  // in the folder of a life: who listened there before it

std::string_view without_stop(std::string_view sentence) {
  while (sentence.ends_with('.')) sentence.remove_suffix(1);
  return sentence;
}

}  // namespace

SupervisedComponent::SupervisedComponent(ComponentDoors doors, ComponentSpec spec, std::string folder)
    : doors_(std::move(doors)),
      spec_(std::move(spec)),
      folder_(std::move(folder)),
      tree_(doors_.processes, doors_.clock, [](const std::string&) {}) {}

std::string SupervisedComponent::life_folder(int number) const { return cat(folder_, "/", number); }
std::string SupervisedComponent::marker(int life) const {
  return spec_.marker.empty() ? "" : cat(spec_.marker, "-", life);
}
std::string SupervisedComponent::record_folder() const { return cat(life_folder(life_), "/", kRecordFolder); }

Result<std::unique_ptr<SupervisedComponent>> SupervisedComponent::open(ComponentDoors doors, ComponentSpec spec,
                                                                       std::string folder) {
  std::unique_ptr<SupervisedComponent> one(
      new SupervisedComponent(std::move(doors), std::move(spec), std::move(folder)));
  MW_TRY(one->reattach());
  return one;
}

Result<void> SupervisedComponent::reattach() {
  for (;; ++life_) {
    const auto launch = launch_in(doors_.disk, life_folder(life_ + 1));
    if (!launch.ok()) return launch.error();
    if (!*launch) break;
  }
  if (life_ == 0) return {};
  auto kept = read_kept(doors_.disk, life_folder(life_));
  if (!kept.ok()) return kept.error();
  kept_ = std::move(*kept);
  phase_ = Phase::kRunning;
  tree_.take(life_, marker(life_));
  const auto taken = read_small(doors_.disk, cat(life_folder(life_), "/", kTakenFile));
  const std::string inodes = taken.ok() ? *taken : "";
  for (const std::string_view inode : split(inodes, ' '))
    before_.insert(static_cast<uint64_t>(parse_int(inode).value_or(0)));
  begun_ = doors_.clock.steady();
  keeper_from_ = {begun_.ns - kKeeperBegins.ns};
  return {};
}

Result<void> SupervisedComponent::begin_life(int number) {
  Launch launch;  // number 0: its output gets no lines of an attempt, as it is none
  launch.command = spec_.command;
  launch.folder = spec_.folder;
  launch.environment["MIDWATCH_COMPONENT"] = spec_.name;
  launch.environment.emplace("PYTHONUNBUFFERED", "1");
  launch.output = spec_.output;
  launch.marker = marker(number);
  const std::string folder = life_folder(number);
  MW_TRY(doors_.disk.make_folders(folder));
  MW_TRY(note_who_listens(folder));
  MW_TRY(doors_.write_file(cat(folder, "/", kLaunchFile), launch_text(launch)));
  life_ = number;
  due_.reset();  // not before: what could not be begun is still due, and no further failure of it
  kept_ = {};
  tree_.take(number, launch.marker);
  phase_ = Phase::kRunning;
  ready_ = false;
  begun_ = keeper_from_ = doors_.clock.steady();
  return doors_.start_keeper(folder);
}

/// Somebody else's server, or one that a run of yesterday left, may have its address.
Result<void> SupervisedComponent::note_who_listens(const std::string& folder) {
  before_ = doors_.listening && !spec_.address.empty() ? doors_.listening(spec_.address) : std::set<uint64_t>();
  if (before_.empty()) return {};
  doors_.say(cat("component ", spec_.name, ": ", kTaken, spec_.address));
  std::string text;
  for (const uint64_t inode : before_) text += cat(text.empty() ? "" : " ", inode);
  return doors_.write_file(cat(folder, "/", kTakenFile), text);
}

bool SupervisedComponent::is_another_there() {
  if (before_.empty() || !doors_.listening) return false;
  const std::set<uint64_t> now = doors_.listening(spec_.address);
  const bool only = !now.empty() && std::includes(before_.begin(), before_.end(), now.begin(), now.end());
  if (!only) before_.clear();
  return only;
}

/// A process that began before the component did is none of it.
bool SupervisedComponent::is_older(int64_t pid) const {
  const auto process = doors_.processes.info(pid);
  // Ray's workers wait for what they are to do: one may be older than the server that it becomes.
  return process.ok() && process->id.start < kept_.child.start && !process->name.starts_with("ray::");
}

/// Another program may have taken its address while it loads.
void SupervisedComponent::look_who_answers() {
  if (!doors_.listening || !doors_.holders) return;
  bool found = false;
  for (const uint64_t socket : doors_.listening(spec_.address)) {
    if (before_.count(socket) != 0) continue;
    const std::set<int64_t> holders = doors_.holders(socket);
    const bool older = std::all_of(holders.begin(), holders.end(), [this](int64_t pid) { return is_older(pid); });
    if (!holders.empty() && older) found = before_.insert(socket).second;
  }
  if (found) doors_.say(cat("component ", spec_.name, ": ", kTaken, spec_.address));
}

void SupervisedComponent::emit(Health health, std::string text, EventWriter& writer) const {
  event::ComponentSaw saw;
  saw.component = spec_.name;
  saw.kind = spec_.kind;
  saw.health = health;
  saw.certain = in_trouble(health);
  saw.text = std::move(text);
  const size_t host = spec_.address.find("://");
  saw.address = host == std::string::npos ? spec_.address : spec_.address.substr(host + 3);
  saw.pid = kept_.child.pid;
  writer.observed(kSource, std::move(saw));
}

void SupervisedComponent::emit_gone(const std::string& why, EventWriter& writer) const {
  emit(Health::kDead, cat("Component ", spec_.name, " (process ", kept_.child.pid, ") is gone. ", why), writer);
}

const ComponentState* SupervisedComponent::seen(const State& state) const {
  const auto found =
      std::find_if(state.components.begin(), state.components.end(),
                   [this](const ComponentState& component) { return component.last.component == spec_.name; });
  return found == state.components.end() ? nullptr : &*found;
}

void SupervisedComponent::settle(bool ok, std::string text, EventWriter& writer) {
  if (action_ == 0) return;
  event::Acted acted{action_, ok, std::move(text), 0};
  acted.begun = ok || !taken_over_;  // whether the midwatch before this one came to it is not known
  writer.acted(std::move(acted));
  action_ = 0;
  taken_over_ = false;
}

/// A restart that a midwatch before this one meant and did not live to see: its outcome is recorded here.
void SupervisedComponent::take_over_doubts(const State& state) {
  doubts_taken_ = true;
  for (const ActionState& action : in_doubt(state, Executor::kComponent)) {
    if (action.intent.target != spec_.name) continue;
    action_ = action.intent.id;
    taken_over_ = true;
  }
  spent_ = restarts_in_a_row(state, spec_.name);
}

/// The keeper's record: has it ended, and who keeps it.
Result<void> SupervisedComponent::look() {
  const ProcessId keeper = kept_.keeper;
  const bool lived = same_boot(kept_.boot, doors_.processes.boot()) && lives(doors_.processes, keeper);
  const bool had_child = kept_.child.known(), had_ended = kept_.ending.has_value() || !kept_.failure.empty();
  auto kept = read_kept(doors_.disk, life_folder(life_));
  if (!kept.ok()) return kept.error();
  if (had_child && !kept->child.known()) return Error{Error::Code::kIo, "the record of a component is gone", ""};
  kept_ = std::move(*kept);
  const bool here = same_boot(kept_.boot, doors_.processes.boot());
  tree_.of(here && lives(doors_.processes, kept_.keeper) ? kept_.keeper : ProcessId(),
           here ? kept_.child : ProcessId());
  if (!had_child && kept_.child.known()) doors_.say(cat("component ", spec_.name, " began, process ", kept_.child.pid));
  const bool ended = kept_.ending.has_value() || !kept_.failure.empty();
  if (ended && !had_ended) {
    const std::string how =
        kept_.failure.empty() ? ended_how(*kept_.ending) : cat("could not be started: ", kept_.failure);
    doors_.say(cat("component ", spec_.name, " ", how));
    ended_ = doors_.clock.steady();
    phase_ = Phase::kEnded;
    ready_ = false;
  } else if (ended) {
    phase_ = Phase::kEnded;
  } else if (!kept_.done && !lived && kept_.keeper == keeper &&
             since(keeper_from_) >= (kept_.keeper.known() ? kKeeperTakesOver : kKeeperBegins)) {
    keeper_from_ = doors_.clock.steady();
    return doors_.start_keeper(life_folder(life_));
  }
  return {};
}

ComponentLife SupervisedComponent::life_of(const State& state) {
  ComponentLife life;
  if (phase_ == Phase::kEnded) {
    life.ended = kept_.failure.empty() ? cat("It ", ended_how(*kept_.ending)) : kept_.failure;
    if (is_another_there()) life.ended += cat("; ", kTaken, spec_.address);
  }
  const ComponentState* component = seen(state);
  if (component != nullptr && is_of_this_life(*component)) life.seen = component;
  life.was_ready = was_ready_;
  if (ready_since_) life.ready_for = since(*ready_since_);
  life.spent = spent_;
  return life;
}

/// The journal has the action before anything is done.
Result<void> SupervisedComponent::carry_out(const ComponentDecision& decision, EventWriter& writer) {
  ready_ = false;
  if (decision.what == ComponentDecision::What::kGiveUp) {
    gave_up_ = true;
    why_gone_ = cat("The run cannot go on without component ", spec_.name, ": ", decision.spent,
                    decision.spent == 1 ? " restart" : " restarts", " in a row did not help. ",
                    without_stop(decision.why), ".");
    doors_.say(cat("component ", spec_.name, ": ", decision.spent, " restarts in a row did not help"));
    settle(false, cat("given up after ", decision.spent, " restarts in a row"), writer);
    return {};
  }
  if (action_ != 0) settle(false, decision.why, writer);
  const auto action =
      writer.intend({0, std::string(spec_.ends ? kRestartWithRun : kRestartComponent), spec_.name, 0, decision.why});
  if (!action.ok()) return action.error();
  action_ = *action;
  ready_since_.reset();
  spent_ = decision.spent;
  due_ = Duration{doors_.clock.steady().ns + decision.wait.ns};
  return {};
}

/// What would be done, once, where midwatch only watches: that it is gone is as true as where it is started anew.
void SupervisedComponent::only_report(const std::string& why, EventWriter& writer) {
  if (std::exchange(left_down_, true)) return;
  why_gone_ = cat("The run cannot go on without component ", spec_.name, ", and midwatch only watches. ",
                  without_stop(why), ".");
  const std::string text = cat("Only watching: component ", spec_.name, " would be started anew. ", why);
  doors_.say(text);
  (void)writer.note({"midwatch", text}, doors_.clock.now()).ok();
  if (phase_ == Phase::kEnded) emit_gone(why, writer);
}

void SupervisedComponent::look_whether_ready(const State& state, EventWriter& writer) {
  if (ready_ || !kept_.child.known()) return;
  if (spec_.address.empty()) {
    ready_ = since(begun_) >= kMoment;
    if (ready_) emit(Health::kWell, cat("process ", kept_.child.pid, " lives"), writer);
  } else {
    const ComponentState* component = seen(state);
    const bool answers = component != nullptr && component->last.health == Health::kWell && is_of_this_life(*component);
    if (answers) look_who_answers();
    ready_ = answers && !is_another_there();
    // The answer was not its own: it has to answer itself.
    if (answers && !ready_) emit(Health::kStarting, cat(kTaken, spec_.address), writer);
  }
  if (!ready_) return;
  ready_since_ = doors_.clock.steady();
  if (!was_ready_ || action_ != 0) doors_.say(cat("component ", spec_.name, " is ready"));
  was_ready_ = true;
  settle(true, cat("process ", kept_.child.pid, " is ready"), writer);
}

Result<void> SupervisedComponent::turn(const State& state, bool wanted, EventWriter& writer) {
  if (!doubts_taken_) take_over_doubts(state);
  if (phase_ == Phase::kNone) {
    if (!wanted) return {};
    return begin_life(1);
  }
  auto looked = phase_ == Phase::kRunning ? look() : Result<void>();
  if (!looked.ok() && wanted) return looked;
  if (phase_ == Phase::kRunning && since(members_at_) >= kMembers) {
    members_at_ = doors_.clock.steady();
    (void)tree_.take_snapshot();
  }
  if (!wanted) {
    // A keeper that has just been started may be about to begin it, and its record cannot be read.
    const bool begun = kept_.child.known() || since(begun_) >= kKeeperBegins;
    gone_unrecorded_ = !looked.ok() && begun && !lives(doors_.processes, kept_.child) && !tree_.any_alive();
    if (phase_ == Phase::kRunning) tree_.ask_to_end(spec_.grace, false);
    if (phase_ == Phase::kEnded) tree_.end_remaining(since(ended_));
    settle(false, "the run is over", writer);
    return {};
  }
  if (gave_up_) return {};
  if (phase_ == Phase::kRunning) look_whether_ready(state, writer);
  const ComponentDecision decision = due_ ? ComponentDecision() : decide_component(life_of(state), spec_.limits);
  if (decision.what != ComponentDecision::What::kNothing && spec_.dry) {
    only_report(decision.why, writer);
    return {};
  }
  if (phase_ == Phase::kRunning) {
    if (decision.what != ComponentDecision::What::kNothing) {
      MW_TRY(carry_out(decision, writer));
      if (!gave_up_) doors_.say(cat("component ", spec_.name, ": ", decision.why, "; starting it anew"));
    }
    if (due_ && !(looked_at_ && looked_at_(kept_.child.pid))) tree_.kill();
    return {};
  }
  if (!due_) {
    MW_TRY(carry_out(decision, writer));
    emit_gone(decision.why, writer);
    return {};
  }
  tree_.end_remaining(since(ended_));
  if (doors_.clock.steady() < *due_ || (tree_.any_alive() && since(ended_) < Duration::seconds(30))) return {};
  return begin_life(life_ + 1);
}

}  // namespace mw
