#include "act/supervise/supervisor.h"

#include <algorithm>

#include "act/keeper/launch.h"
#include "act/supervise/members.h"
#include "act/supervise/outcome.h"
#include "act/supervise/resume.h"
#include "act/supervise/rollback_plan.h"
#include "act/supervise/run_ownership.h"
#include "act/supervise/seal.h"
#include "act/supervise/tainted.h"
#include "base/text.h"
#include "core/exit_status.h"
#include "core/outcome_json.h"
#include "platform/durable.h"
#include "sense/checkpoints/roots.h"

namespace mw {
namespace {

constexpr Duration kKeeperTakesOver = Duration::seconds(1);  // likewise, where another one wrote before
constexpr Duration kLeftoverLimit = Duration::seconds(60);   // what not even SIGKILL ends does not hold up a restart
constexpr Duration kTryAgain = Duration::seconds(30);        // what the disk refused to do
constexpr Duration kUsualPatience = Duration::seconds(1);
constexpr Duration kShortPatience = Duration::millis(100);
constexpr Duration kAtOnce = Duration::seconds(1);  // after an end: the next attempt waits for little that takes long
constexpr Duration kHaste = Duration::millis(5);

/// Of two steps, of which either may be kNoStep.
int64_t earlier(int64_t a, int64_t b) { return a == kNoStep || b == kNoStep ? std::max(a, b) : std::min(a, b); }

/// Deeds of the supervisor, as the journal names them.
constexpr std::string_view kRestart = "restart", kBreak = "break", kStop = "stop", kPause = "pause", kResume = "resume",
                           kQuarantine = "quarantine", kOldQuarantine = "set-aside";

std::string attempt_name(int number) { return cat("attempt ", number); }

}  // namespace

std::string Supervisor::attempt_folder(int number) const { return cat(folder_, "/", kAttemptsFolder, "/", number); }

Result<std::unique_ptr<Supervisor>> Supervisor::open(SupervisorDoors doors, const Knowledge& knowledge,
                                                     std::string run_folder) {
  std::unique_ptr<Supervisor> one(new Supervisor(std::move(doors), knowledge, std::move(run_folder)));
  auto text = read_run_spec(one->doors_.disk, one->folder_);
  if (!text.ok()) return text.error();
  auto spec = parse_run_spec(*text);
  if (!spec.ok()) return spec.error();
  one->spec_ = std::move(*spec);
  MW_TRY(one->reattach());
  return one;
}

Result<void> Supervisor::begin_attempt(int number) {
  Launch launch;
  launch.attempt = number;
  launch.command = with_resume(spec_.command, resume_.words);
  launch.folder = spec_.folder;
  launch.environment = spec_.environment;
  launch.environment["MIDWATCH_RUN"] = folder_;
  launch.environment["MIDWATCH_ATTEMPT"] = cat(number);
  launch.output = cat(folder_, "/", kOutputFile);
  launch.rotate_bytes = spec_.rotate_bytes;
  launch.nonce = spec_.nonce;
  launch.mark = mark_of(spec_, number);
  const std::string folder = attempt_folder(number);
  MW_TRY(doors_.disk.make_folders(folder));
  if (number == 1) MW_TRY(keep_snapshot(doors_.disk, doors_.clock, spec_, folder_, doors_.write_file));
  // From here on the attempt exists: whoever comes later finds it and sees to it that it has a keeper, once.
  MW_TRY(doors_.write_file(cat(folder, "/", kLaunchFile), launch_text(launch)));
  MW_TRY(approvals_.attempt(folder, spec_.nonce));
  attempt_ = number;
  kept_ = {};
  tree_.take(number, launch.mark);
  trip_.reset();
  way_.reset();
  remains_.reset();
  room_.reset();
  settled_ = held_ = resume_checked_ = false;
  phase_ = Phase::kRunning;
  keeper_from_ = doors_.clock.steady();
  return doors_.start_keeper(folder);
}

/// What was begun is told to have come out, once.
void Supervisor::came_out(uint32_t* action, bool ok, std::string text, EventWriter& writer) {
  if (*action == 0) return;
  writer.acted({*action, ok, std::move(text), 0});
  *action = 0;
}

/// What a midwatch before this one meant to do and did not live to tell: the run's folder says how far it came, and
/// whatever is due is decided anew.
void Supervisor::settle_doubts(const State& state, EventWriter& writer) {
  doubts_settled_ = true;
  std::vector<event::Acted> outcomes;
  for (const ActionState& action : state.actions) {
    const auto is = [&action](std::string_view what) { return action.intent.action == what; };
    if (is(kPause) || is(kResume)) held_ = is(kPause) || !action.done;
    if (action.done || !(is(kRestart) || is(kBreak) || is(kStop) || is(kPause) || is(kResume) || is(kQuarantine) ||
                         is(kOldQuarantine)))
      continue;
    const bool done = is(kRestart) ? action.intent.target == attempt_name(attempt_)
                      : is(kBreak) ? trip_.has_value()
                      : is(kStop)  ? stop_ != Stop::kNo
                                   : pause_ == is(kPause);
    outcomes.push_back(
        {action.intent.id, done, done ? "begun; the next midwatch found it so" : "not done: midwatch ended before", 0});
  }
  for (event::Acted& outcome : outcomes) writer.acted(std::move(outcome));
}

Result<void> Supervisor::look_at_keeper(EventWriter& writer) {
  const bool had_child = kept_.child.known();
  // Asked before its record is read: what a keeper that was gone by then has not written it will not write.
  const ProcessId keeper = kept_.keeper;
  const std::string boot = doors_.processes.boot();
  const bool lived = same_boot(kept_.boot, boot) && lives(doors_.processes, keeper);
  auto kept = read_kept(doors_.disk, attempt_folder());
  if (!kept.ok()) return kept.error();
  if (had_child && !kept->child.known()) return Error{Error::Code::kIo, "the record of the attempt is gone", ""};
  const bool had_ended = kept_.ending.has_value();
  const uint64_t lost = kept_.lost_bytes;
  kept_ = *kept;
  const bool here = same_boot(kept_.boot, boot);  // else its numbers mean nothing any more
  tree_.of(here && lives(doors_.processes, kept_.keeper) ? kept_.keeper : ProcessId(),
           here ? kept_.child : ProcessId());
  if (!had_child && kept_.child.known()) {
    doors_.say(cat("attempt ", attempt_, " began, process ", kept_.child.pid));
    came_out(&starting_, true, cat("process ", kept_.child.pid), writer);
  }
  if (!kept_.failure.empty()) came_out(&starting_, false, kept_.failure, writer);
  if (kept_.lost_bytes > lost) doors_.say(cat(kept_.lost_bytes, " bytes of output are lost: the disk is full"));
  if (!had_ended && kept_.ending) {
    ended_ = doors_.clock.steady();
    doors_.say(cat("attempt ", attempt_, " ended: ", outcome_text(*kept_.ending)));
    came_out(&stopping_, true, outcome_text(*kept_.ending), writer);
    came_out(&breaking_, trip_.has_value(), outcome_text(*kept_.ending), writer);
  }
  const bool gone = kept_.done && (since(ended_) >= kLeftoverLimit || !tree_.leftovers());
  if (gone || !kept_.failure.empty()) {
    phase_ = Phase::kEnded;
  } else if (!kept_.done && !lived && kept_.keeper == keeper &&
             (!stopping() || kept_.child.known() || kept_.forked.known()) &&
             since(keeper_from_) >= (kept_.keeper.known() ? kKeeperTakesOver : kKeeperBegins)) {
    if (kept_.keeper.known()) doors_.say(cat("the keeper of attempt ", attempt_, " is gone; another takes over"));
    keeper_from_ = doors_.clock.steady();
    return doors_.start_keeper(attempt_folder());
  }
  return {};
}

Result<void> Supervisor::end_as_told(EventWriter& writer) {
  if (!kept_.child.known() || kept_.ending) return {};
  if (!tree_.asked()) {
    if (!trip_) MW_TRY(doors_.write_file(cat(attempt_folder(), "/", kReasonFile), reason_text(kAsTold, spec_.nonce)));
    if (stopping_ == 0) {
      const auto action = writer.intend({0, std::string(kStop), attempt_name(attempt_), 0, "It was told to stop."});
      if (!action.ok()) return action.error();
      stopping_ = *action;
    }
  }
  tree_.ask_to_end(spec_.grace, stop_ == Stop::kNow);
  return {};
}

/// Holds the command still for as long as it is to be paused, what it starts meanwhile too; then lets it go on.
Result<void> Supervisor::keep_paused(EventWriter& writer) {
  if (kept_.ending || !kept_.child.known() || stopping() || trip_ || (!pause_ && !held_)) return {};
  if (pause_ && held_) {
    (void)tree_.hold_still();
    return {};
  }
  const auto action =
      writer.intend({0, std::string(pause_ ? kPause : kResume), attempt_name(attempt_), 0,
                     pause_ && approvals_.asks(Approvals::Deed::kBreak) ? "Until a person lets it be ended, or go on."
                     : pause_                                           ? "It was told to pause."
                                                                        : "It was told to go on."});
  if (!action.ok()) return action.error();
  const size_t processes = pause_ ? tree_.hold_still() : tree_.let_go_on();
  writer.acted({*action, true, cat(processes, processes == 1 ? " process" : " processes"), 0});
  held_ = pause_;
  return {};
}

/// Where a person is to say so first, an attempt without a part that it needs is paused meanwhile; one of which only
/// the figures are bad goes on, as paused it tells no more of them, until it is about to save.
Result<bool> Supervisor::may_trip(const Trip& trip, BreakReason reason, const State& state, EventWriter& writer) {
  const std::string what = cat(attempt_name(attempt_), " would be ended: ", trip.kind,
                               trip.step == kNoStep ? "" : cat(" since step ", trip.step));
  const bool learning = reason == BreakReason::kLearning;
  const Mode mode = learning ? spec_.breaking_learning : spec_.breaking;
  auto may = approvals_.may(Approvals::Deed::kBreak, mode, what, cat(trip.summary, "."), state, writer);
  if (may.ok() && !*may && mode == Mode::kAsk && (!learning || save_is_due(state))) MW_TRY(pause());
  return may;
}

/// An attempt that trains on poisoned data and is about to save is killed; another one is asked to end. What it saves
/// even then is tainted, as all that it saved since the onset.
Result<void> Supervisor::trip_on_poison(const State& state, EventWriter& writer) {
  if (!spec_.breaker || kept_.ending || !settled_ || approvals_.refused()) return {};
  if (!trip_) {
    const BreakCase found = breaker(state, spec_.from_scratch);
    const Incident* incident = found.incident;
    if (incident == nullptr) return pause_ ? Result<void>() : approvals_.withdraw_break();
    Trip trip = trip_on(*incident);
    const auto may = may_trip(trip, found.why, state, writer);
    if (!may.ok()) return may.error();
    if (!*may) return {};
    const auto action =
        writer.intend({0, std::string(kBreak), attempt_name(attempt_), incident->id,
                       cat(trip.kind, trip.step == kNoStep ? "" : cat(" since step ", trip.step), ": ", trip.summary)});
    if (!action.ok()) return action.error();
    breaking_ = *action;
    trip.nonce = spec_.nonce;
    MW_TRY(doors_.write_file(cat(attempt_folder(), "/", kTripFile), trip_text(trip)));
    MW_TRY(doors_.write_file(cat(attempt_folder(), "/", kReasonFile), reason_text(kByBreaker, spec_.nonce)));
    doors_.say(cat("the circuit breaker ends attempt ", attempt_, ", ", trip.kind,
                   trip.step == kNoStep ? "" : cat(" since step ", trip.step), ": ", trip.summary));
    trip_ = std::move(trip);
  }
  const bool waits = trip_->kind == "stall" || trip_->kind == "worker-lost";  // and learns nothing meanwhile
  if (waits && looked_at_ && looked_at_()) return {};
  if (save_is_due(state)) {
    tree_.kill();
  } else {
    tree_.ask_to_end(spec_.grace, false);
  }
  return {};
}

bool Supervisor::succeeded(const State& state) const {
  return kept_.ending && kept_.ending->code == 0 && !trip_ && !belies_status(state, knowledge_);
}

/// What the ended attempt left on the disk: where its checkpoints are, and the first that was saved since the data had
/// turned to poison, whether the breaker ended the attempt for it or it ended before the breaker could. Where no
/// attempt is to follow, a disk that does not answer holds nothing up.
Result<void> Supervisor::look_at_remains(const State& state) {
  if (remains_) return {};
  auto found = remains(state);
  if (!found.ok() && !stopping() && !succeeded(state)) return found.error();
  remains_ = found.ok() ? std::move(*found) : Remains();
  return {};
}

Result<Supervisor::Remains> Supervisor::remains(const State& state) {
  const CheckpointLayout layout = doors_.layout(state.framework);
  auto roots = checkpoint_roots(doors_.disk, state, layout, spec_.checkpoints, spec_.folder);
  if (!roots.ok()) return roots.error();
  auto own = ownership_of(doors_.disk, folder_, spec_, state, layout);
  if (!own.ok()) return own.error();
  std::erase_if(*roots, [&own](const std::string& root) { return !own->may_save_in(root); });
  auto skip = not_to_resume_from(doors_.disk, *own, *roots, layout);
  if (!skip.ok()) return skip.error();
  Remains found{std::move(*roots), kNoStep, std::move(*skip), std::move(*own)};
  std::optional<Trip> trip = trip_;
  const Incident* incident = spec_.breaker && kept_.child.known() ? tainted_by(state, spec_.from_scratch) : nullptr;
  if (!trip && incident != nullptr) trip = trip_on(*incident);
  if (!trip) return found;
  const auto untold =
      first_unreported_tainted(doors_.disk, found.roots, layout, state, *trip, kept_.started, found.skip);
  if (!untold.ok()) return untold.error();
  found.suspect = earlier(first_reported_tainted(state, *trip), *untold);
  return found;
}

AttemptOutcome Supervisor::outcome(const State& state) const {
  const int64_t suspect = remains_ ? remains_->suspect : kNoStep;
  return outcome_of({kept_, trip_, way_, stopping(), room_.value_or(false), suspect}, state, knowledge_);
}

/// Early enough for a person to do something.
Result<void> Supervisor::check_resume(const State& state, EventWriter& writer) {
  if (resume_checked_ || !settled_ || kept_.ending || !asks_to_resume(spec_.command)) return {};
  auto trouble = resume_trouble(doors_.disk, state, doors_.layout(state.framework), spec_, resume_);
  if (!trouble) return {};
  resume_checked_ = true;
  if (trouble->empty()) return {};
  doors_.say(*trouble = cat(attempt_name(attempt_), ": ", *trouble));
  const bool known = std::any_of(state.notes.begin(), state.notes.end(),
                                 [&trouble](const auto& note) { return note.second.text == *trouble; });
  return known ? Result<void>() : writer.note({"midwatch", *trouble}, doors_.clock.now());
}

/// What the next attempt would resume from is looked at on the disk. False while that is not known.
bool Supervisor::look_back(const State& state, EventWriter& writer) {
  if (way_ || !doors_.last_whole || stopping() || succeeded(state)) return true;
  CheckpointLayout layout = doors_.layout(state.framework);
  if (!layout.known()) return true;
  if (asks_to_resume(spec_.command)) layout.pointer.clear();  // it resumes from what it is told, not by its pointer
  way_ = doors_.last_whole(remains_->roots, layout, remains_->suspect, remains_->skip);
  if (!way_) return false;
  for (const event::CheckpointSeen& seen : way_->seen) {
    if (is_news(state, seen)) writer.observed(std::string(kScanSource), event::CheckpointSeen(seen));
  }
  return true;
}

/// False while somebody is making the space for want of which the attempt ended.
bool Supervisor::space_is_settled(const State& state) {
  if (room_ || !made_room_ || stopping() || outcome(state).reaction != "free-space-then-resume") return true;
  room_ = made_room_(state);
  return room_.has_value();
}

Result<void> Supervisor::judge(const State& state) {
  Judgement judgement;
  judgement.nonce = spec_.nonce;
  judgement.outcome = outcome(state);
  const CheckpointLayout layout = doors_.layout(state.framework);
  const auto plan = plan_rollback(doors_.disk,
                                  {remains_->own, layout, remains_->roots, way_, asks_to_resume(spec_.command),
                                   quarantine_label(folder_, attempt_, kept_.started)},
                                  rollback_from(judgement.outcome.suspect, way_));
  if (!plan.ok()) return plan.error();
  judgement.back = plan->back;
  judgement.framework = state.framework;
  judgement.outcome.can_roll_back = !remains_->roots.empty() && may_roll_back(*plan, spec_);
  std::vector<AttemptOutcome> all = outcomes_;
  all.push_back(judgement.outcome);
  judgement.decision = after_end(all, spec_.limits);
  judgement.facts = facts_json({judgement.outcome, spec_.limits, judgement.decision});
  guard_rollback(*plan, spec_, judgement);
  if (judgement.decision.restart && spec_.restarting == Mode::kWatch) {
    judgement.decision = {
        false, {}, cat("It would be started again, and midwatch only watches. ", judgement.decision.why), 0};
  }
  judgement.asks = judgement.decision.restart && spec_.restarting == Mode::kAsk;
  MW_TRY(plan_next(doors_.disk, state, layout, spec_, remains_->own, judgement));
  const auto written = doors_.write_file(cat(attempt_folder(), "/", kJudgementFile), judgement_text(judgement));
  // An end is an end, also where it cannot be written down; what is begun is written down first.
  if (!written.ok() && (judgement.decision.restart || since(ended_) < kUnrecordedEnd)) return written.error();
  outcomes_ = std::move(all);
  decision_ = judgement.decision;
  facts_ = judgement.facts;
  framework_ = judgement.framework;
  back_ = judgement.back;
  resume_ = judgement.resume;
  const RestartDecision& decision = judgement.decision;
  why_over_ = decision.why;
  if (decision.restart) {
    phase_ = Phase::kWaiting;
    due_ = {doors_.clock.steady().ns + decision.wait.ns};
    const std::string from = resume_.words.empty() || resume_.step == kNoStep ? "" : cat(", from step ", resume_.step);
    doors_.say(cat(decision.why, " Attempt ", attempt_ + 1, " begins in ", format_duration(decision.wait), from));
  } else {
    phase_ = Phase::kOver;
    doors_.say(cat(decision.why, " No restart", kept_.failure.empty() ? "" : cat(": ", kept_.failure)));
  }
  return {};
}

/// The running attempt: looked at, ended where its data is poison or a person said so, held still, tidied up after.
Result<void> Supervisor::watch_attempt(const State& state, bool quiet, EventWriter& writer) {
  // The keeper writes an attempt's first line before it says that it began; before that line was read, the incidents
  // in `state` are those of the attempt before.
  settled_ = settled_ || (quiet && kept_.child.known());
  MW_TRY(look_at_keeper(writer));
  look_at_members();
  MW_TRY(trip_on_poison(state, writer));
  MW_TRY(check_resume(state, writer));
  if (stopping()) MW_TRY(end_as_told(writer));
  MW_TRY(keep_paused(writer));
  if (kept_.ending && stop_ == Stop::kNow) tree_.kill();  // no more grace
  if (kept_.ending) tree_.clear_leftovers(since(ended_));
  return {};
}

/// Checkpoints that were saved since the poison's onset are set aside, so that the next attempt resumes from before it.
Result<void> Supervisor::roll_back_first(EventWriter& writer) {
  if (back_.plans.empty()) return {};
  const auto action =
      writer.intend({0, std::string(kQuarantine), cat("checkpoints from step ", back_.from, " on"), 0, back_.why});
  if (!action.ok()) return action.error();
  const QuarantineManifest of = quarantine_note(folder_, attempt_, doors_.clock.now(), back_.why);
  const auto done = roll_back(doors_.disk, doors_.layout(framework_), back_, of);
  writer.acted({*action, done.ok(), done.ok() ? *done : done.error().what, 0});
  if (!done.ok()) {
    due_ = {doors_.clock.steady().ns + kTryAgain.ns};
    if (!may_pass(done.error())) return give_up_rolling_back(done.error());
    return done.error();
  }
  doors_.say(*done);
  back_ = {};
  return {};
}

/// No further try would go better: the run is over, for the next midwatch too.
Result<void> Supervisor::give_up_rolling_back(const Error& error) {
  MW_TRY(stop_instead(doors_.disk, doors_.write_file, attempt_folder(),
                      cat("The checkpoints since step ", back_.from, " cannot be set aside: ", error.what),
                      &why_over_));
  phase_ = Phase::kOver;
  doors_.say(cat(why_over_, " No restart"));
  return {};
}

/// It is due: may it begin, and can it?
Result<bool> Supervisor::may_restart(const State& state, EventWriter& writer) {
  const std::string what = cat("attempt ", attempt_, " is over and attempt ", attempt_ + 1, " would begin");
  auto may = approvals_.may(Approvals::Deed::kRestart, spec_.restarting, what, why_over_, state, writer);
  if (!may.ok() || !*may) return may;
  return may_begin() && (!servers_answer_ || servers_answer_(state, writer));
}

Result<void> Supervisor::begin_next(const State& state, EventWriter& writer) {
  MW_TRY(record(state, writer));  // why it begins is known before it does
  MW_TRY(roll_back_first(writer));
  if (phase_ == Phase::kOver) return {};
  if (starting_ == 0) {
    const auto action = writer.intend({0, std::string(kRestart), attempt_name(attempt_ + 1), 0, why_over_});
    if (!action.ok()) return action.error();
    starting_ = *action;
  }
  return begin_attempt(attempt_ + 1);
}

Result<bool> Supervisor::look_and_act(const State& state, bool quiet, EventWriter& writer) {
  if (!doubts_settled_) settle_doubts(state, writer);
  if (!foreign_.empty()) tell_foreign(state, writer);
  if (phase_ == Phase::kNew) {
    if (stopping()) {
      why_over_ = "It was told to stop.";
      return false;
    }
    if (may_begin()) MW_TRY(begin_attempt(1));
  } else if (phase_ == Phase::kRunning) {
    MW_TRY(watch_attempt(state, quiet, writer));
  } else if (phase_ == Phase::kEnded && quiet) {
    MW_TRY(look_at_remains(state));
    if (look_back(state, writer) && space_is_settled(state)) MW_TRY(judge(state));
  } else if (phase_ == Phase::kWaiting) {
    if (stopping()) {
      phase_ = Phase::kOver;
      why_over_ = "It was told to stop.";
    } else if (!pause_ && doors_.clock.steady().ns >= due_.ns) {
      const auto may = may_restart(state, writer);
      if (!may.ok()) return may.error();
      if (*may) MW_TRY(begin_next(state, writer));
    }
  }
  return phase_ != Phase::kOver;
}

Duration Supervisor::patience() const {
  if (phase_ == Phase::kEnded && since(ended_) < kAtOnce) return kHaste;
  if (phase_ == Phase::kEnded || tree_.asked() || stopping() || !kept_.child.known()) return kShortPatience;
  if (phase_ == Phase::kWaiting) {
    const int64_t wait = due_.ns - doors_.clock.steady().ns;
    return {wait <= 0 ? kShortPatience.ns : std::clamp(wait, Duration::millis(1).ns, kUsualPatience.ns)};
  }
  return kUsualPatience;
}

Result<void> Supervisor::stop(bool now) {
  stop_ = now ? Stop::kNow : std::max(stop_, Stop::kAsked);
  return doors_.write_file(cat(folder_, "/", kStopFile), seal_text(spec_.nonce, kStopFile, doors_.clock.now()));
}

Result<void> Supervisor::pause() {
  if (pause_) return {};
  MW_TRY(doors_.write_file(cat(folder_, "/", kPauseFile), seal_text(spec_.nonce, kPauseFile, doors_.clock.now())));
  pause_ = true;
  doors_.say("holding the command still; midwatch resume lets it go on");
  return {};
}

Result<void> Supervisor::approve() {
  if (phase_ == Phase::kRunning && approvals_.was_asked(Approvals::Deed::kBreak)) {
    MW_TRY(approvals_.give(Approvals::Deed::kBreak));
    return resume();  // it is held still no more, also where the midwatch that was told so died after half of it
  }
  if (phase_ == Phase::kWaiting && spec_.restarting == Mode::kAsk) return approvals_.give(Approvals::Deed::kRestart);
  doors_.say("nothing is asked just now");
  return {};
}

Result<void> Supervisor::refuse() {
  return phase_ == Phase::kRunning && approvals_.asks(Approvals::Deed::kBreak) ? approvals_.refuse_break()
                                                                               : Result<void>();
}

Result<void> Supervisor::resume() {
  if (!pause_) return {};
  MW_TRY(doors_.disk.remove(cat(folder_, "/", kPauseFile)));
  pause_ = false;
  doors_.say("letting the command go on");
  return {};
}

}  // namespace mw
