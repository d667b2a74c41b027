#include "act/supervise/held_component.h"

#include <algorithm>
#include <utility>

#include "act/keeper/launch.h"
#include "base/text.h"
#include "core/components.h"
#include "core/policy.h"

namespace mw {
namespace {

using Health = event::ComponentSaw::Health;

const std::string kSource = "host:components";
/// The deed where the trainer goes on, which the circuit breaker minds, and where its attempt ends with it.
constexpr std::string_view kRestart = kRestartComponent, kRestartBoth = "restart-with-run";
constexpr Duration kKeeperBegins = Duration::seconds(2);     // within which a keeper has written its first record
constexpr Duration kKeeperTakesOver = Duration::seconds(1);  // likewise, where another one wrote before
constexpr Duration kMembers = Duration::seconds(5);          // between two looks at who has come from it
constexpr Duration kMoment = Duration::seconds(1);           // of living, where nothing can be asked

}  // namespace

HeldComponent::HeldComponent(ComponentDoors doors, ComponentCharge charge, std::string folder)
    : doors_(std::move(doors)),
      charge_(std::move(charge)),
      folder_(std::move(folder)),
      grip_(doors_.processes, doors_.clock, [](const std::string&) {}) {}

std::string HeldComponent::life_folder(int number) const { return cat(folder_, "/", number); }
std::string HeldComponent::mark(int life) const { return charge_.mark.empty() ? "" : cat(charge_.mark, "-", life); }
std::string HeldComponent::record_folder() const { return cat(life_folder(life_), "/", kRecordFolder); }

Result<std::unique_ptr<HeldComponent>> HeldComponent::open(ComponentDoors doors, ComponentCharge charge,
                                                           std::string folder) {
  std::unique_ptr<HeldComponent> one(new HeldComponent(std::move(doors), std::move(charge), std::move(folder)));
  MW_TRY(one->take_up());
  return one;
}

Result<void> HeldComponent::take_up() {
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
  grip_.take(life_, mark(life_));
  begun_ = doors_.clock.steady();
  keeper_from_ = {begun_.ns - kKeeperBegins.ns};
  return {};
}

Result<void> HeldComponent::begin_life(int number) {
  Launch launch;  // number 0: its output gets no lines of an attempt, as it is none
  launch.command = charge_.command;
  launch.folder = charge_.folder;
  launch.environment["MIDWATCH_COMPONENT"] = charge_.name;
  launch.environment.emplace("PYTHONUNBUFFERED", "1");
  launch.output = charge_.output;
  launch.mark = mark(number);
  const std::string folder = life_folder(number);
  MW_TRY(doors_.disk.make_folders(folder));
  MW_TRY(doors_.write_file(cat(folder, "/", kLaunchFile), launch_text(launch)));
  life_ = number;
  due_.reset();  // not before: what could not be begun is still due, and no further failure of it
  kept_ = {};
  grip_.take(number, launch.mark);
  phase_ = Phase::kRunning;
  ready_ = false;
  begun_ = keeper_from_ = doors_.clock.steady();
  return doors_.start_keeper(folder);
}

void HeldComponent::tell(Health health, std::string text, EventWriter& writer) const {
  event::ComponentSaw saw;
  saw.component = charge_.name;
  saw.kind = charge_.kind;
  saw.health = health;
  saw.certain = in_trouble(health);
  saw.text = std::move(text);
  const size_t host = charge_.address.find("://");
  saw.address = host == std::string::npos ? charge_.address : charge_.address.substr(host + 3);
  saw.pid = kept_.child.pid;
  writer.observed(kSource, std::move(saw));
}

const ComponentState* HeldComponent::seen(const State& state) const {
  const auto found = std::find_if(state.components.begin(), state.components.end(),
                                  [this](const ComponentState& part) { return part.last.component == charge_.name; });
  return found == state.components.end() ? nullptr : &*found;
}

void HeldComponent::settle(bool ok, std::string text, EventWriter& writer) {
  if (deed_ == 0) return;
  writer.acted({deed_, ok, std::move(text), 0});
  deed_ = 0;
}

/// A restart that a midwatch before this one meant and did not live to see: its outcome is ours to tell.
void HeldComponent::take_over_doubts(const State& state) {
  doubts_taken_ = true;
  for (const ActionState& action : state.actions) {
    const bool ours = action.intent.action == kRestart || action.intent.action == kRestartBoth;
    if (ours && action.intent.target == charge_.name && !action.done) deed_ = action.intent.id;
  }
}

/// The keeper's record: has it ended, and who keeps it.
Result<void> HeldComponent::look() {
  const ProcessId keeper = kept_.keeper;
  const bool lived = same_boot(kept_.boot, doors_.processes.boot()) && lives(doors_.processes, keeper);
  const bool had_child = kept_.child.known(), had_ended = kept_.ending.has_value() || !kept_.failure.empty();
  auto kept = read_kept(doors_.disk, life_folder(life_));
  if (!kept.ok()) return kept.error();
  if (had_child && !kept->child.known()) return Error{Error::Code::kIo, "the record of a component is gone", ""};
  kept_ = std::move(*kept);
  const bool here = same_boot(kept_.boot, doors_.processes.boot());
  grip_.of(here && lives(doors_.processes, kept_.keeper) ? kept_.keeper : ProcessId(),
           here ? kept_.child : ProcessId());
  if (!had_child && kept_.child.known())
    doors_.say(cat("component ", charge_.name, " began, process ", kept_.child.pid));
  const bool ended = kept_.ending.has_value() || !kept_.failure.empty();
  if (ended && !had_ended) {
    const std::string how = kept_.failure.empty() ? cat("ended: ", outcome_text(*kept_.ending))
                                                  : cat("could not be started: ", kept_.failure);
    doors_.say(cat("component ", charge_.name, " ", how));
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

/// It is to be started anew: that is in the journal before anything is done. What it was then is told to the run.
Result<void> HeldComponent::begin_again(const std::string& why, EventWriter& writer) {
  if (ready_since_ && since(*ready_since_) >= kProven) spent_ = 0;
  ready_since_.reset();
  ready_ = false;
  if (spent_ >= charge_.restarts) {
    gave_up_ = true;
    doors_.say(cat("component ", charge_.name, ": ", spent_, " restarts in a row did not help"));
    settle(false, cat("given up after ", spent_, " restarts in a row"), writer);
    return {};
  }
  if (deed_ != 0) settle(false, why, writer);
  const auto deed = writer.intend({0, std::string(charge_.ends ? kRestartBoth : kRestart), charge_.name, 0, why});
  if (!deed.ok()) return deed.error();
  deed_ = *deed;
  Duration wait = charge_.first_wait;
  for (int i = 0; i < spent_ && wait < charge_.longest_wait; ++i) wait.ns *= 2;
  due_ = Duration{doors_.clock.steady().ns + (spent_ == 0 && was_ready_ ? 0 : std::min(wait, charge_.longest_wait).ns)};
  ++spent_;
  return {};
}

/// Where nothing is to be done it is only said, once for each life.
bool HeldComponent::only_says(const std::string& why, EventWriter& writer) {
  if (!charge_.dry) return false;
  if (std::exchange(dry_told_, true)) return true;
  const std::string text = cat("Only watching: component ", charge_.name, " would be started anew. ", why);
  doors_.say(text);
  (void)writer.told({"midwatch", text}, doors_.clock.now()).ok();
  return true;
}

void HeldComponent::look_whether_ready(const State& state, EventWriter& writer) {
  if (ready_ || !kept_.child.known()) return;
  if (charge_.address.empty()) {
    ready_ = since(begun_) >= kMoment;
    if (ready_) tell(Health::kWell, cat("process ", kept_.child.pid, " lives"), writer);
  } else {
    const ComponentState* part = seen(state);
    ready_ = part != nullptr && part->last.health == Health::kWell && is_of_this_life(*part);
  }
  if (!ready_) return;
  ready_since_ = doors_.clock.steady();
  if (!was_ready_ || deed_ != 0) doors_.say(cat("component ", charge_.name, " is ready"));
  was_ready_ = true;
  settle(true, cat("process ", kept_.child.pid, " is ready"), writer);
}

Result<void> HeldComponent::turn(const State& state, bool wanted, EventWriter& writer) {
  if (!doubts_taken_) take_over_doubts(state);
  if (phase_ == Phase::kNone) {
    if (!wanted) return {};
    return begin_life(1);
  }
  const auto looked = phase_ == Phase::kRunning ? look() : Result<void>();
  if (!looked.ok() && wanted) return looked;
  if (phase_ == Phase::kRunning && since(members_at_) >= kMembers) {
    members_at_ = doors_.clock.steady();
    (void)grip_.look_around();
  }
  if (!wanted) {
    gone_unrecorded_ = !looked.ok() && !lives(doors_.processes, kept_.child) && !grip_.leftovers();
    if (phase_ == Phase::kRunning) grip_.ask_to_end(charge_.grace, false);
    if (phase_ == Phase::kEnded) grip_.clear_leftovers(since(ended_));
    settle(false, "the run is over", writer);
    return {};
  }
  if (gave_up_) return {};
  if (phase_ == Phase::kRunning) {
    look_whether_ready(state, writer);
    const ComponentState* part = seen(state);
    const bool fails = part != nullptr && is_of_this_life(*part) && in_trouble(part->last.health) && part->last.certain;
    if (fails && !due_ && !only_says(part->last.text, writer)) {
      MW_TRY(begin_again(part->last.text, writer));
      doors_.say(cat("component ", charge_.name, ": ", part->last.text, "; starting it anew"));
    }
    if (due_ && !(looked_at_ && looked_at_(kept_.child.pid))) grip_.kill();
    return {};
  }
  if (!due_) {
    const std::string why = kept_.failure.empty() ? cat("It ended: ", outcome_text(*kept_.ending)) : kept_.failure;
    if (only_says(why, writer)) return {};
    MW_TRY(begin_again(why, writer));
    tell(Health::kDead, cat("Component ", charge_.name, " (process ", kept_.child.pid, ") is gone. ", why), writer);
    return {};
  }
  grip_.clear_leftovers(since(ended_));
  if (doors_.clock.steady() < *due_ || (grip_.leftovers() && since(ended_) < Duration::seconds(30))) return {};
  return begin_life(life_ + 1);
}

}  // namespace mw
