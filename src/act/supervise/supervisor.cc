#include "act/supervise/supervisor.h"

#include <algorithm>
#include <set>

#include "act/keeper/launch.h"
#include "act/supervise/gone_saves.h"
#include "act/supervise/members.h"
#include "act/supervise/outcome.h"
#include "act/supervise/resume.h"
#include "act/supervise/rollback_plan.h"
#include "act/supervise/run_ownership.h"
#include "act/supervise/tainted.h"
#include "base/text.h"
#include "core/checkpoint_trust.h"
#include "core/exit_status.h"
#include "core/resume_advice.h"
#include "core/shipments.h"
#include "core/supervise/decide.h"
#include "core/supervise/decide_component.h"
#include "core/supervise/outcome_json.h"
#include "core/trainings.h"
#include "platform/durable.h"
#include "sense/checkpoints/earlier_roots.h"
#include "sense/checkpoints/roots.h"

namespace mw {
namespace {

/// What the run shipped can be brought back by a person. "": it shipped nothing.
std::string shipped_text(const State& state, const std::string& store) {
  const auto shipped = last_shipped(state);
  if (!shipped || store.empty()) return "";
  return cat(" Step ", shipped->step, " is in ", store, ": midwatch checkpoint pull ", store, " ", shipped->path,
             " --step ", shipped->step, " brings it back.");
}

/// In which a checkpoint of the run was found whole, by whichever scan.
std::set<std::string> folders_with_whole(const State& state) {
  std::set<std::string> folders;
  for (const auto& [moment, seen] : state.checkpoint_scans) {
    if (seen.how == event::CheckpointSeen::How::kWhole && seen.lacks.empty()) folders.insert(folder_of(seen.path));
  }
  return folders;
}

constexpr Duration kKeeperTakesOver = Duration::seconds(1);  // likewise, where another one wrote before
constexpr Duration kRemainingLimit = Duration::seconds(60);  // what not even SIGKILL ends does not delay a restart
constexpr Duration kUsualPatience = Duration::seconds(1);
constexpr Duration kShortPatience = Duration::millis(100);
constexpr Duration kAtOnce = Duration::seconds(1);  // after an end: the next attempt waits for little that takes long
constexpr Duration kHaste = Duration::millis(5);

/// Of two steps, of which either may be kNoStep.
int64_t earlier(int64_t a, int64_t b) { return a == kNoStep || b == kNoStep ? std::max(a, b) : std::min(a, b); }

}  // namespace

std::string Supervisor::attempt_folder(int number) const { return cat(folder_, "/", kAttemptsFolder, "/", number); }

Result<std::unique_ptr<Supervisor>> Supervisor::open(SupervisorDoors doors, const Knowledge& knowledge,
                                                     std::string run_folder) {
  std::unique_ptr<Supervisor> one(new Supervisor(std::move(doors), knowledge, std::move(run_folder)));
  auto spec = load_run_spec(one->doors_.disk, one->folder_);
  if (!spec.ok()) return spec.error();
  one->spec_ = std::move(*spec);
  MW_TRY(one->reattach());
  return one;
}

Result<void> Supervisor::begin_attempt(int number) {
  Launch launch;
  launch.attempt = number;
  launch.command = with_resume(spec_.command, number == 1 ? spec_.first_words : resume_.words);
  launch.folder = spec_.folder;
  launch.input = spec_.input;
  launch.environment = spec_.environment;
  launch.environment["MIDWATCH_RUN"] = folder_;
  launch.environment["MIDWATCH_ATTEMPT"] = cat(number);
  launch.output = cat(folder_, "/", kOutputFile);
  launch.rotate_bytes = spec_.rotate_bytes;
  launch.nonce = spec_.nonce;
  launch.marker = marker_of(spec_, number);
  const std::string folder = attempt_folder(number);
  MW_TRY(doors_.disk.make_folders(folder));
  if (number == 1) {
    MW_TRY(keep_snapshot(doors_.disk, doors_.clock, spec_, folder_, doors_.write_file));
    say_where_it_trains();
  }
  // From here on the attempt exists: whoever comes later finds it and sees to it that it has a keeper, once.
  MW_TRY(doors_.write_file(cat(folder, "/", kLaunchFile), launch_text(launch)));
  attempt_ = number;
  kept_ = {};
  tree_.take(number, launch.marker);
  trip_.reset();
  way_.reset();
  remains_.reset();
  room_.reset();
  stepped_.reset();
  background_.reset();
  settled_ = paused_ = resume_checked_ = unfinished_ = false;
  phase_ = Phase::kRunning;
  keeper_from_ = doors_.clock.steady();
  return doors_.start_keeper(folder);
}

/// Records the outcome of an action, once.
void Supervisor::settle(uint32_t* action, bool ok, std::string text, EventWriter& writer) {
  if (*action == 0) return;
  writer.acted({*action, ok, std::move(text), 0});
  *action = 0;
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
    settle(&starting_, true, cat("process ", kept_.child.pid), writer);
  }
  if (!kept_.failure.empty()) settle(&starting_, false, kept_.failure, writer);
  if (kept_.lost_bytes > lost) doors_.say(cat(kept_.lost_bytes, " bytes of output are lost: the disk is full"));
  if (!had_ended && kept_.ending) {
    ended_ = doors_.clock.steady();
    doors_.say(cat("attempt ", attempt_, " ", ended_how(*kept_.ending)));
    settle(&stopping_, true, outcome_text(*kept_.ending), writer);
    settle(&breaking_, trip_.has_value(), outcome_text(*kept_.ending), writer);
  }
  const bool waits = background_ == true && !stopping();
  const bool over = kept_.done || (kept_.ending && !tree_.others().empty());
  const bool gone = over && ((since(ended_) >= kRemainingLimit && !waits) || !tree_.any_alive());
  if (gone || !kept_.failure.empty()) {
    tree_.say_who_stays();
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

Result<void> Supervisor::end_as_requested(EventWriter& writer) {
  if (!kept_.child.known() || kept_.ending) return {};
  if (!tree_.asked()) {
    if (!trip_)
      MW_TRY(doors_.write_file(cat(attempt_folder(), "/", kReasonFile), reason_text(kByRequest, spec_.nonce)));
    if (stopping_ == 0) {
      const auto action = writer.intend({0, std::string(kStop), attempt_name(attempt_), 0, stop_reason()});
      if (!action.ok()) return action.error();
      stopping_ = *action;
    }
  }
  tree_.ask_to_end(spec_.grace, stop_ == Stop::kNow);
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
  const CheckpointLayout layout = doors_.layout(state.saver());
  auto roots = checkpoint_roots(doors_.disk, state, layout, spec_.checkpoints, spec_.folder, spec_.command);
  if (!roots.ok()) return roots.error();
  auto own = ownership_of(doors_.disk, folder_, spec_, state, layout);
  if (!own.ok()) return own.error();
  std::erase_if(*roots, [&own](const std::string& root) { return !own->may_save_in(root); });
  MW_TRY(drop_earlier_roots(doors_.disk, state, layout, *roots));
  if (roots->empty()) {
    const std::string found = folder_of_saves(doors_.disk, spec_, state, layout, kept_.started);
    if (!found.empty()) own->named.insert(found);
    if (!found.empty() && own->may_save_in(found) && !EarlierTrainings(state).left(found)) {
      own->by_saves.insert(found);
      roots->push_back(found);
    }
  }
  auto skip = not_to_resume_from(doors_.disk, *own, *roots, layout);
  if (!skip.ok()) return skip.error();
  Remains found{std::move(*roots), kNoStep, kNoStep, std::move(*skip), std::move(*own)};
  std::optional<Trip> trip = trip_;
  const Incident* incident = spec_.breaker && kept_.child.known() ? tainted_by(state, spec_.from_scratch) : nullptr;
  if (!trip && incident != nullptr) trip = trip_on(*incident);
  if (!trip || trip->kind == "stall") return found;  // since a hang nothing was trained, so nothing is tainted
  const auto unreported =
      first_unreported_tainted(doors_.disk, found.roots, layout, state, *trip, kept_.started, found.skip);
  if (!unreported.ok()) return unreported.error();
  // A step that the log says is no number of a save.
  found.suspect = layout.counts_saves ? *unreported : earlier(first_reported_tainted(state, *trip), *unreported);
  found.suspect_step =
      layout.counts_saves && found.suspect != kNoStep ? std::max<int64_t>(trip->step, 0) : found.suspect;
  return found;
}

AttemptOutcome Supervisor::outcome(const State& state) const {
  const int64_t suspect = remains_ ? remains_->suspect_step : kNoStep;
  return outcome_of({kept_, trip_, way_, stopping(), room_.value_or(false), suspect, stop_why_, spec_.command}, state,
                    knowledge_);
}

/// Early enough for a person to do something.
Result<void> Supervisor::check_resume(const State& state, EventWriter& writer) {
  if (resume_checked_ || !settled_ || kept_.ending || !asks_to_resume(spec_.command)) return {};
  auto trouble = resume_trouble(doors_.disk, state, doors_.layout(state.saver()), spec_, resume_);
  if (!trouble) return {};
  resume_checked_ = true;
  if (trouble->empty()) return {};
  doors_.say(*trouble = cat(attempt_name(attempt_), ": ", *trouble));
  const bool known = std::any_of(state.notes.begin(), state.notes.end(),
                                 [&trouble](const auto& note) { return note.second.text == *trouble; });
  return known ? Result<void>() : writer.note({"midwatch", *trouble}, doors_.clock.now());
}

/// Scans the checkpoints that the next attempt would resume from. False while the result is not known.
bool Supervisor::look_back(const State& state, EventWriter& writer) {
  if (way_ || !doors_.last_whole || stopping() || succeeded(state)) return true;
  CheckpointLayout layout = doors_.layout(state.saver());
  if (!layout.known()) return true;
  if (names_checkpoint(layout, spec_)) layout.pointer.clear();  // midwatch says what it resumes from, not its pointer
  way_ = doors_.last_whole(
      remains_->roots, layout, remains_->suspect, remains_->skip,
      {unsound_reads(state), folders_with_whole(state), resume_grounds(state).left_behind, ended_attempts(state)});
  if (!way_) return false;
  for (event::CheckpointSeen& seen : way_->seen) {
    seen = with_logged_step(state, layout, std::move(seen));
    if (is_news(state, seen)) writer.observed(std::string(kScanSource), event::CheckpointSeen(seen));
  }
  for (event::CheckpointSeen& gone : gone_saves(doors_.disk, state, layout, remains_->roots, spec_.folder))
    writer.observed(std::string(kScanSource), std::move(gone));
  return true;
}

/// False until cleanup has freed the disk that was full when the attempt ended, or has found nothing to free.
bool Supervisor::space_is_settled(const State& state, EventWriter& writer) {
  if (room_ || !made_room_ || stopping() || outcome(state).reaction != "free-space-then-resume") return true;
  room_ = made_room_(state, writer);
  return room_.has_value();
}

Result<Judgement> Supervisor::judgement(const State& state) const {
  Judgement judgement;
  judgement.outcome = outcome(state);
  const CheckpointLayout layout = doors_.layout(state.saver());
  const auto plan = plan_rollback(doors_.disk,
                                  {remains_->own, layout, remains_->roots, way_, names_checkpoint(layout, spec_),
                                   quarantine_label(folder_, attempt_, kept_.started), had_whole(state, way_)},
                                  rollback_from(remains_->suspect, way_));
  if (!plan.ok()) return plan.error();
  judgement.back = plan->back;
  judgement.framework = state.saver();
  judgement.from_scratch = spec_.from_scratch;
  judgement.outcome.can_roll_back = !remains_->roots.empty() && may_roll_back(*plan, spec_);
  std::vector<AttemptOutcome> all;
  for (const SupervisedAttempt& before : state.supervision.attempts) {
    if (before.number < attempt_ && before.decided) all.push_back(judgement_of(before).outcome);
  }
  all.push_back(judgement.outcome);
  judgement.decision = after_end(all, spec_.limits);
  judgement.facts = facts_json({judgement.outcome, spec_.limits, judgement.decision});
  guard_rollback(*plan, spec_, judgement);
  if (plan->from_nothing && !judgement.decision.restart) judgement.decision.why += shipped_text(state, spec_.store);
  if (judgement.decision.restart && spec_.restarting == Mode::kWatch) {
    judgement.decision = {judgement.decision.end,
                          false,
                          {},
                          cat("It would be started again, and midwatch only watches. ", judgement.decision.why),
                          0};
  }
  MW_TRY(plan_next(doors_.disk, state, layout, spec_, remains_->own, judgement));
  judgement.asks = judgement.decision.restart && spec_.restarting == Mode::kAsk;
  return judgement;
}

/// Decides once what follows the attempt. From here on the journal's word holds.
Result<void> Supervisor::judge(const State& state, EventWriter& writer) {
  const auto decided = [this, &state]() -> const SupervisedAttempt* {
    const SupervisedAttempt* known = state.supervision.attempt(attempt_);
    return known != nullptr && known->decided ? known : nullptr;
  };
  Result<void> recorded;
  if (decided() == nullptr) {
    const auto made = judgement(state);
    if (!made.ok()) return made.error();
    recorded = writer.record(decided_event(attempt_, *made));
  } else {
    recorded = writer.sync();
  }
  const SupervisedAttempt* known = decided();
  // An end is an end, also where it cannot be written down; what is begun is written down first.
  const auto patience = [this, &recorded] { return std::min(kUnrecordedEnd, unrecorded_end(recorded.error())); };
  if (!recorded.ok() && (known == nullptr || known->restart || since(ended_) < patience())) return recorded;
  if (known == nullptr) return Error{Error::Code::kIo, "the decision was not recorded", ""};
  heed(*known);
  if (phase_ == Phase::kWaiting) {
    const std::string from = resume_.words.empty() || resume_.step == kNoStep ? "" : cat(", from step ", resume_.step);
    doors_.say(cat(why_over_, " Attempt ", attempt_ + 1, " begins in ",
                   format_duration(Duration::seconds(known->wait_s)), from));
    if (const std::string doubted = doubted_text(state); !doubted.empty()) doors_.say(doubted);
  } else {
    doors_.say(cat(why_over_, " No restart", kept_.failure.empty() ? "" : cat(": ", kept_.failure)));
  }
  return {};
}

/// What was decided after the attempt.
void Supervisor::heed(const SupervisedAttempt& attempt) {
  const Judgement judged = judgement_of(attempt);
  framework_ = judged.framework;
  back_ = judged.back;
  resume_ = judged.resume;
  unfinished_ = !judged.outcome.stopped_for.empty() || judged.outcome.unfinished || judged.outcome.from_outside ||
                (judged.outcome.tripped && !judged.decision.restart);
  why_over_ = judged.decision.why;
  phase_ = judged.decision.restart ? Phase::kWaiting : Phase::kOver;
  due_ = {doors_.clock.steady().ns + judged.decision.wait.ns};
}

/// The running attempt: ended where its data is poisoned or a stop was requested, paused, cleared of what it left.
Result<void> Supervisor::watch_attempt(const State& state, bool quiet, EventWriter& writer) {
  // The keeper writes an attempt's first line before it says that it began; before that line was read, the incidents
  // in `state` are those of the attempt before.
  settled_ = settled_ || (quiet && kept_.child.known());
  MW_TRY(look_at_keeper(writer));
  look_at_members(writer);
  MW_TRY(trip_on_poison(state, writer));
  MW_TRY(check_resume(state, writer));
  if (stopping()) MW_TRY(end_as_requested(writer));
  MW_TRY(keep_paused(state, writer));
  if (kept_.ending && stop_ == Stop::kNow) tree_.kill();  // no more grace
  MW_TRY(look_at_background(state, quiet, writer));
  if (kept_.ending && background_ == true && stopping()) tree_.ask_to_end(spec_.grace, stop_ == Stop::kNow);
  if (kept_.ending && background_ == false) tree_.end_remaining(since(ended_));
  return {};
}

/// The next attempt is due: may it begin, and can it?
Result<bool> Supervisor::may_restart(const State& state, EventWriter& writer) {
  const bool by_person = state.supervision.pause && state.supervision.pause_by != kByComponent;
  if (std::exchange(pause_said_, by_person) != by_person && by_person) {
    doors_.say(cat("the run is paused: attempt ", attempt_ + 1, " begins after midwatch resume"));
  }
  const Decision due = decide_restart(state, spec_, attempt_);
  if (due.what == Decision::What::kAsk || due.what == Decision::What::kReport) MW_TRY(ask(kRestart, due, writer));
  if (due.what != Decision::What::kAct) return false;
  return may_begin() && (!servers_answer_ || servers_answer_(state, writer));
}

Result<void> Supervisor::begin_next(const State& state, EventWriter& writer) {
  MW_TRY(roll_back_first(state, writer));
  if (phase_ == Phase::kOver) return {};
  const auto clear = is_clear(state, writer);
  if (!clear.ok()) return clear.error();
  if (!*clear) return {};
  if (starting_ == 0) {
    const auto action = writer.intend({0, std::string(kRestart), attempt_name(attempt_ + 1), 0, why_over_});
    if (!action.ok()) return action.error();
    starting_ = *action;
  }
  return begin_attempt(attempt_ + 1);
}

/// A stop that was requested, of us or in the journal: both know of it, and for which component.
Result<void> Supervisor::heed_stop(const State& state, EventWriter& writer) {
  if (state.supervision.stop) {
    stop_ = std::max(stop_, Stop::kAsked);
    if (stop_why_.empty()) stop_why_ = given_up(state.supervision);
  } else if (stopping()) {
    return writer.record(event::Requested{kStop, stop_by_.empty() ? std::string(kByMidwatch) : stop_by_});
  }
  return {};
}

Result<bool> Supervisor::look_and_act(const State& state, bool quiet, EventWriter& writer) {
  if (!decisions_read_) MW_TRY(read_decisions(state, writer));
  MW_TRY(heed_stop(state, writer));
  if (phase_ == Phase::kNew) {
    if (stopping()) {
      why_over_ = stop_reason();
      unfinished_ = !stop_why_.empty();
      return false;
    }
    note_what_is_there(state, writer);
    if (may_begin()) MW_TRY(begin_attempt(1));
  } else if (phase_ == Phase::kRunning) {
    MW_TRY(watch_attempt(state, quiet, writer));
  } else if (phase_ == Phase::kEnded && quiet) {
    MW_TRY(look_at_remains(state));
    if (look_back(state, writer) && space_is_settled(state, writer)) MW_TRY(judge(state, writer));
  } else if (phase_ == Phase::kWaiting) {
    if (stopping()) {
      phase_ = Phase::kOver;
      why_over_ = stop_reason();
      unfinished_ = !stop_why_.empty();
    } else if (doors_.clock.steady().ns >= due_.ns) {
      const auto may = may_restart(state, writer);
      if (!may.ok()) return may.error();
      if (*may) MW_TRY(begin_next(state, writer));
    }
  }
  return phase_ != Phase::kOver;
}

Duration Supervisor::patience() const {
  // A disk that has had no room for so long need not be asked ten times a second.
  if (gone_since_ && since(*gone_since_).ns >= 5 * kUsualPatience.ns) return kUsualPatience;
  if (phase_ == Phase::kEnded && since(ended_) < kAtOnce) return kHaste;
  if (phase_ == Phase::kEnded || tree_.asked() || stopping() || !kept_.child.known()) return kShortPatience;
  if (phase_ == Phase::kWaiting) {
    const int64_t wait = due_.ns - doors_.clock.steady().ns;
    return {wait <= 0 ? kShortPatience.ns : std::clamp(wait, Duration::millis(1).ns, kUsualPatience.ns)};
  }
  return kUsualPatience;
}

void Supervisor::stop_for(const std::string& component, std::string why) {
  if (stopping()) return;
  stop_ = Stop::kAsked;
  stop_by_ = by_component(component);
  stop_why_ = std::move(why);
}

void Supervisor::stop(bool now, int signal) {
  stop_ = now ? Stop::kNow : std::max(stop_, Stop::kAsked);
  if (signal != 0) tree_.ask_by(signal);
}

}  // namespace mw
