#include "daemon/supervisor.h"

#include <algorithm>
#include <csignal>

#include "base/numbers.h"
#include "base/text.h"
#include "keeper/launch.h"

namespace mw {
namespace {

constexpr size_t kSmallFile = 4U << 20;                      // bytes of a charge, a judgement
constexpr Duration kKeeperBegins = Duration::seconds(10);    // within which a keeper has written its first record
constexpr Duration kKeeperTakesOver = Duration::seconds(1);  // likewise, where another one wrote before
constexpr Duration kLeftoverGrace = Duration::seconds(5);    // for what a command leaves behind, to end by itself
constexpr Duration kUsualPatience = Duration::seconds(1);
constexpr Duration kShortPatience = Duration::millis(100);

/// Was a checkpoint saved after the onset? By its place in the same file, else by its step.
bool since_onset(const Trip& trip, const Moment& moment, int64_t step) {
  if (moment.where.source == trip.where.source && moment.where.line != 0 && trip.where.line != 0) {
    return moment.where.line > trip.where.line;
  }
  return trip.step != kNoStep && step > trip.step;
}

std::string plural(int64_t n, std::string_view what) { return cat(n, " ", what, n == 1 ? "" : "s"); }

}  // namespace

std::string Supervisor::attempt_folder(int number) const { return cat(folder_, "/", kAttemptsFolder, "/", number); }

Result<std::string> Supervisor::read_file(const std::string& path) {
  auto file = doors_.disk.open_read(path);
  if (!file.ok()) return file.error();
  std::string text;
  MW_TRY((*file)->read_at(0, kSmallFile, text));
  return text;
}

bool Supervisor::lives(const ProcessId& id) const {
  if (!id.known()) return false;
  const auto info = doors_.processes.info(id.pid);
  return info.ok() && info->id == id && info->state != 'Z';
}

Result<std::unique_ptr<Supervisor>> Supervisor::open(SupervisorDoors doors, const Knowledge& knowledge,
                                                     std::string run_folder) {
  std::unique_ptr<Supervisor> one(new Supervisor(std::move(doors), knowledge, std::move(run_folder)));
  auto text = one->read_file(cat(one->folder_, "/", kChargeFile));
  if (!text.ok()) return text.error();
  auto charge = parse_charge(*text);
  if (!charge.ok()) return charge.error();
  one->charge_ = std::move(*charge);
  MW_TRY(one->take_up());
  return one;
}

/// Finds the attempts that were made, and in which state the last one was left.
Result<void> Supervisor::take_up() {
  if (doors_.disk.info(cat(folder_, "/", kStopFile)).ok()) stops_ = 1;
  while (doors_.disk.info(cat(attempt_folder(attempt_ + 1), "/", kLaunchFile)).ok()) {
    ++attempt_;
    auto text = read_file(cat(attempt_folder(), "/", kJudgementFile));
    if (!text.ok()) {
      if (text.error().code != Error::Code::kNotFound) return text.error();
      continue;  // still running, or ended while nobody watched
    }
    auto judgement = parse_judgement(*text);
    if (!judgement.ok()) return judgement.error();
    outcomes_.push_back(judgement->outcome);
    phase_ = judgement->decision.restart ? Phase::kWaiting : Phase::kOver;
    why_over_ = judgement->decision.why;
    due_ = {doors_.clock.steady().ns + judgement->decision.wait.ns};  // how much of it has passed is not known
  }
  if (attempt_ == 0) return {};
  if (static_cast<int>(outcomes_.size()) < attempt_) phase_ = Phase::kRunning;
  auto kept = read_kept(doors_.disk, attempt_folder());
  if (!kept.ok()) return kept.error();
  kept_ = *kept;
  if (const auto text = read_file(cat(attempt_folder(), "/", kTripFile)); text.ok()) {
    auto trip = parse_trip(*text);
    if (!trip.ok()) return trip.error();
    trip_ = std::move(*trip);
  }
  keeper_from_ = {doors_.clock.steady().ns - kKeeperBegins.ns};
  if (phase_ == Phase::kRunning && kept_.child.known() && !kept_.ending) {
    doors_.say(cat("took up attempt ", attempt_, ", process ", kept_.child.pid));
  }
  return {};
}

Result<void> Supervisor::begin_attempt(int number) {
  Launch launch;
  launch.attempt = number;
  launch.command = charge_.command;
  launch.folder = charge_.folder;
  launch.environment = charge_.environment;
  launch.environment["MIDWATCH_RUN"] = folder_;
  launch.environment["MIDWATCH_ATTEMPT"] = cat(number);
  launch.output = cat(folder_, "/", kOutputFile);
  const std::string folder = attempt_folder(number);
  MW_TRY(doors_.disk.make_folders(folder));
  // From here on the attempt exists: whoever comes later finds it and sees to it that it has a keeper, once.
  MW_TRY(doors_.write_file(cat(folder, "/", kLaunchFile), launch_text(launch)));
  attempt_ = number;
  kept_ = {};
  presses_ = 0;
  trip_.reset();
  settled_ = false;
  phase_ = Phase::kRunning;
  keeper_from_ = doors_.clock.steady();
  return doors_.start_keeper(folder);
}

Result<void> Supervisor::look_at_keeper() {
  const bool had_child = kept_.child.known();
  // Asked before its record is read: what a keeper that was gone by then has not written it will not write.
  const ProcessId keeper = kept_.keeper;
  const bool lived = lives(keeper);
  auto kept = read_kept(doors_.disk, attempt_folder());
  if (!kept.ok()) return kept.error();
  const bool had_ended = kept_.ending.has_value();
  const uint64_t lost = kept_.lost_bytes;
  kept_ = *kept;
  if (!had_child && kept_.child.known()) doors_.say(cat("attempt ", attempt_, " began, process ", kept_.child.pid));
  if (kept_.lost_bytes > lost) doors_.say(cat(kept_.lost_bytes, " bytes of output are lost: the disk is full"));
  if (!had_ended && kept_.ending) {
    ended_ = doors_.clock.steady();
    doors_.say(cat("attempt ", attempt_, " ended: ", outcome_text(*kept_.ending)));
  }
  if (kept_.done || !kept_.failure.empty()) {
    phase_ = Phase::kEnded;
  } else if (!lived && kept_.keeper == keeper &&
             since(keeper_from_) >= (kept_.keeper.known() ? kKeeperTakesOver : kKeeperBegins)) {
    if (kept_.keeper.known()) doors_.say(cat("the keeper of attempt ", attempt_, " is gone; another takes over"));
    keeper_from_ = doors_.clock.steady();
    return doors_.start_keeper(attempt_folder());
  }
  return {};
}

/// Signals that a command is asked to end by, one after another as its grace runs out: what Ctrl-C would send to all of
/// its session, then SIGTERM, then SIGKILL to all that came from it.
Result<void> Supervisor::press_to_end() {
  if (!kept_.child.known() || kept_.ending) return {};
  if (presses_ == 0) {
    asked_ = doors_.clock.steady();
    if (!trip_) MW_TRY(doors_.write_file(cat(attempt_folder(), "/", kReasonFile), kAsTold));
  }
  const int64_t spent = since(asked_).ns;
  const int due = stops_ > 1 || spent >= charge_.grace.ns ? 3 : spent >= charge_.grace.ns / 2 ? 2 : 1;
  if (due <= presses_) return {};
  presses_ = due;
  const std::vector<ProcessInfo> all = doors_.processes.all();
  const int signal = due == 1 ? SIGINT : due == 2 ? SIGTERM : SIGKILL;
  doors_.say(cat("asking attempt ", attempt_, " to end by ", due == 1 ? "SIGINT" : due == 2 ? "SIGTERM" : "SIGKILL"));
  for (const ProcessInfo& process : all) {
    const bool of_session = process.session == kept_.child.pid;
    if (of_session) (void)doors_.processes.signal(process.id, signal).ok();  // gone meanwhile is well
  }
  if (due < 3) return {};
  for (const ProcessInfo& process : descendants(all, kept_.keeper.pid)) {
    (void)doors_.processes.signal(process.id, signal).ok();
  }
  return {};
}

/// What a command leaves behind (engines, workers) holds the GPUs and ports that the next attempt needs.
void Supervisor::clear_leftovers() {
  if (!kept_.ending || kept_.done || !kept_.keeper.known() || since(ended_) < kLeftoverGrace) return;
  const auto left = descendants(doors_.processes.all(), kept_.keeper.pid);
  if (left.empty() || presses_ >= 5) return;
  const bool hard = since(ended_).ns > 2 * kLeftoverGrace.ns;
  if (presses_ >= (hard ? 5 : 4)) return;
  presses_ = hard ? 5 : 4;
  doors_.say(cat("attempt ", attempt_, " left ", plural(static_cast<int64_t>(left.size()), "process"), " behind (",
                 left.front().name, left.size() > 1 ? ", …" : "", "); ending ", left.size() == 1 ? "it" : "them",
                 " by ", hard ? "SIGKILL" : "SIGTERM"));
  for (const ProcessInfo& process : left) (void)doors_.processes.signal(process.id, hard ? SIGKILL : SIGTERM).ok();
}

/// An attempt that trains on poisoned data is killed, not asked: asked, it might save what it has.
Result<void> Supervisor::trip_on_poison(const State& state) {
  if (!charge_.breaker || kept_.ending || !settled_) return {};
  if (!trip_) {
    const Incident* incident = breaker(state);
    if (incident == nullptr) return {};
    Trip trip;
    trip.kind = incident->kind;
    trip.reaction = incident->reaction;
    if (!incident->causes.empty()) trip.cause = incident->causes.front().id;
    trip.summary = incident->summary;
    trip.step = incident->onset.step;
    trip.where = incident->onset.where;
    MW_TRY(doors_.write_file(cat(attempt_folder(), "/", kTripFile), trip_text(trip)));
    MW_TRY(doors_.write_file(cat(attempt_folder(), "/", kReasonFile), kByBreaker));
    doors_.say(cat("the circuit breaker ends attempt ", attempt_, ", ", trip.kind,
                   trip.step == kNoStep ? "" : cat(" since step ", trip.step), ": ", trip.summary));
    trip_ = std::move(trip);
  }
  for (const ProcessInfo& process : descendants(doors_.processes.all(), kept_.keeper.pid)) {
    (void)doors_.processes.signal(process.id, SIGKILL).ok();  // gone meanwhile is well
  }
  return {};
}

AttemptOutcome Supervisor::outcome(const State& state) const {
  AttemptOutcome of;
  of.started = kept_.failure.empty();
  of.told_to_stop = stops_ > 0;
  of.tripped = trip_.has_value();
  if (kept_.ending) {
    of.known = kept_.ending->known;
    of.code = kept_.ending->code;
    of.signal = kept_.ending->signal;
  }
  if (state.attempts.empty()) return of;
  const AttemptState& last = state.attempts.back();
  of.first_step = last.first_step;
  of.last_step = last.last_step;
  of.last_checkpoint = last.last_checkpoint;
  of.resumed_at = last.resumed_at;
  if (trip_) {
    of.kind = trip_->kind;
    of.cause = trip_->cause;
    of.reaction = trip_->reaction;
    for (const auto& [moment, saved] : state.checkpoints) {
      if (saved.complete && since_onset(*trip_, moment, saved.step) && moment.attempt + 1U == state.attempts.size()) {
        of.suspect = of.suspect == kNoStep ? saved.step : std::min(of.suspect, saved.step);
      }
    }
  }
  for (const Incident& incident : state.incidents) {
    if (trip_ || incident.severity != Severity::kCritical) continue;
    if (incident.onset.attempt + 1U != state.attempts.size()) continue;
    of.kind = incident.kind;
    of.reaction = incident.reaction;
    if (!incident.causes.empty()) of.cause = incident.causes.front().id;
    break;  // the earliest leads
  }
  of.provider = of.kind == "preempted";
  if (const Signature* known = knowledge_.find(of.cause); known != nullptr) of.transient = known->transient;
  return of;
}

Result<void> Supervisor::judge(const State& state) {
  Judgement judgement;
  judgement.outcome = outcome(state);
  std::vector<AttemptOutcome> all = outcomes_;
  all.push_back(judgement.outcome);
  judgement.decision = after_end(all, charge_.limits);
  MW_TRY(doors_.write_file(cat(attempt_folder(), "/", kJudgementFile), judgement_text(judgement)));
  outcomes_ = std::move(all);
  const RestartDecision& decision = judgement.decision;
  if (decision.restart) {
    phase_ = Phase::kWaiting;
    due_ = {doors_.clock.steady().ns + decision.wait.ns};
    doors_.say(cat(decision.why, " Attempt ", attempt_ + 1, " begins in ", format_duration(decision.wait)));
  } else {
    phase_ = Phase::kOver;
    why_over_ = decision.why;
    doors_.say(cat(decision.why, " No restart", kept_.failure.empty() ? "" : cat(": ", kept_.failure)));
  }
  return {};
}

Result<bool> Supervisor::turn(const State& state, bool quiet) {
  if (phase_ == Phase::kNew) {
    if (stops_ > 0) return false;
    MW_TRY(begin_attempt(1));
  } else if (phase_ == Phase::kRunning) {
    // The keeper writes an attempt's first line before it says that it began; before that line was read, the incidents
    // in `state` are those of the attempt before.
    settled_ = settled_ || (quiet && kept_.child.known());
    MW_TRY(look_at_keeper());
    MW_TRY(trip_on_poison(state));
    if (stops_ > 0) MW_TRY(press_to_end());
    clear_leftovers();
  } else if (phase_ == Phase::kEnded && quiet) {
    MW_TRY(judge(state));
  } else if (phase_ == Phase::kWaiting) {
    if (stops_ > 0) {
      phase_ = Phase::kOver;
      why_over_ = "It was told to stop.";
    } else if (doors_.clock.steady().ns >= due_.ns) {
      MW_TRY(begin_attempt(attempt_ + 1));
    }
  }
  return phase_ != Phase::kOver;
}

Duration Supervisor::patience() const {
  if (phase_ == Phase::kEnded || presses_ > 0 || !kept_.child.known()) return kShortPatience;
  if (phase_ == Phase::kWaiting) {
    return {std::clamp(due_.ns - doors_.clock.steady().ns, Duration::millis(1).ns, kUsualPatience.ns)};
  }
  return kUsualPatience;
}

Result<void> Supervisor::stop() {
  ++stops_;
  return doors_.write_file(cat(folder_, "/", kStopFile), "");
}

}  // namespace mw
