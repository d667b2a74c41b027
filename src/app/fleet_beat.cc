#include "app/fleet_beat.h"

#include <algorithm>
#include <csignal>
#include <optional>
#include <utility>

#include "act/fleet/beat.h"
#include "act/vault/latest.h"
#include "app/fleet_machine.h"
#include "base/text.h"
#include "core/fleet/beat_times.h"
#include "core/fleet/unfit.h"
#include "core/shipments.h"
#include "platform/background_call.h"
#include "platform/real/posix_disk.h"
#include "ui/view/overview.h"

namespace mw {
namespace {

using fleet::Heartbeat;
using fleet::MachineIdentity;
using fleet::Standing;

constexpr int kTries = 6;                            // of the first heartbeat
constexpr Duration kBetween = Duration::seconds(2);  // of these tries
constexpr Duration kPoll = Duration::millis(100);    // while a call is out
constexpr Duration kLast = Duration::seconds(20);    // that the last heartbeat is tried for
constexpr Duration kLeast = Duration::seconds(2);    // of that, where the time is over in which the machine goes
constexpr Duration kTurn = Duration::seconds(10);    // between two questions of one that waits for its turn
constexpr size_t kText = 300;                        // bytes of a text in a heartbeat

Error fenced() {
  return {Error::Code::kDenied, "another machine goes on with this run", "midwatch fleet status says which one."};
}

/// The first claim of a machine: all earlier ones cannot move `latest` after it.
Result<void> take_latest(Disk& disk, const MachineIdentity& identity) {
  const auto harbour = harbour_of(disk, identity);
  if (!harbour.ok()) return harbour.error();
  const vault::VaultDoors doors = (*harbour)->doors(disk, {});
  const vault::Keys keys{(*harbour)->prefix};
  vault::LatestPointer pointer(doors, keys, random_word());
  const auto promise = pointer.probe();
  if (!promise.ok()) return promise.error();
  const auto [floor, ceiling] = fleet::pointer_epochs(identity.epoch);
  const auto claimed = pointer.claim(floor, ceiling);
  return claimed.ok() ? Result<void>() : claimed.error();
}

std::string health_of(const State& state) {
  const StatusLine line = status_line(state);
  return redact_secrets(clip(cat(line.word, line.rest.empty() ? "" : ": ", line.rest), kText));
}

int64_t step_of(const State& state) { return state.attempts.empty() ? kNoStep : state.attempts.back().last_step; }

Heartbeat::Phase phase_of(const State& state) {
  if (state.verdict == "stalled") return Heartbeat::Phase::kStalled;
  return step_of(state) == kNoStep ? Heartbeat::Phase::kStarting : Heartbeat::Phase::kTraining;
}

class FleetBeat final : public Task {
 public:
  FleetBeat(const Doors& doors, Supervisor& supervisor, MachineIdentity identity, FleetBeatScope scope)
      : doors_(doors),
        supervisor_(supervisor),
        identity_(std::move(identity)),
        scope_(std::move(scope)),
        times_(identity_.every) {}

  std::optional<Duration> turn(const State& state, bool, EventWriter&) override {
    if (supervisor_.stopping() && !stopped_) note_stop();
    if (auto standing = call_.take()) heed(*standing);
    if (call_.busy()) return kPoll;
    const Duration now = doors_.clock.steady();
    const Heartbeat::Phase phase = phase_of(state);
    if (const Duration wait = times_.wait(now, phase); wait > Duration{}) return wait;
    times_.sent(now, phase);
    call_.start(
        [disk = disk_, identity = identity_, beat = about_run(state)] { return send_beat(*disk, identity, beat); });
    return kPoll;
  }

  /// What became of the run, so that nobody need wait for the silence.
  void over(const State& state, EventWriter&) override {
    const Heartbeat beat = about_end(state);
    const Duration began = doors_.clock.steady();
    const bool preempted = beat.phase == Heartbeat::Phase::kPreempted;
    if (supervisor_.stopping() && !stopped_) note_stop();
    const Duration end = last_beat_until(began, preempted ? stopped_.value_or(began) : std::optional<Duration>(),
                                         supervisor_.spec().grace);
    send_last(doors_.clock, disk_, identity_, beat, end, [this] { return call_.busy(); });
  }

 private:
  /// Before anything that takes time.
  void note_stop() {
    stopped_ = doors_.clock.steady();
    if (const std::string why = preempted_by(); !fenced_ && !why.empty()) note_taken_away(*disk_, identity_, why);
  }

  /// Why the machine goes, where the run is stopped for that; "": it does not, or is not known to.
  std::string preempted_by() const {
    if (!supervisor_.stopping()) return "";
    const std::string why = scope_.taken_away();
    return !why.empty() ? why : doors_.watch.stop_signal() == SIGTERM ? std::string(kGotSigterm) : "";
  }

  void heed(const Result<Standing>& standing) {
    if (!standing.ok()) {
      if (standing.error().what != trouble_) scope_.say(cat("no heartbeat: ", trouble_ = standing.error().what));
      return;
    }
    trouble_.clear();
    if (*standing == Standing::kMine || fenced_) return;
    fenced_ = true;
    scope_.say("another machine goes on with this run: the command here is ended");
    supervisor_.stop(false);
  }

  Heartbeat about_run(const State& state) const {
    Heartbeat beat = about_machine(identity_);
    beat.attempt = supervisor_.attempt();
    beat.run = scope_.run;
    beat.from = static_cast<int64_t>(supervisor_.spec().first_step);
    beat.receiving = scope_.receiving;
    beat.health = health_of(state);
    if (scope_.leaves) beat.leaves = scope_.leaves();
    beat.step = step_of(state);
    beat.phase = phase_of(state);
    for (const Shipment& one : shipments(state)) {
      if (one.how != Shipment::How::kHeld) beat.saved = std::max(beat.saved, one.step);
    }
    if (const auto last = last_shipped(state)) beat.shipped = last->step;
    if (supervisor_.spec().store.empty()) beat.saved = beat.shipped = kNoStep;  // nothing is shipped by us
    return beat;
  }

  Heartbeat about_end(const State& state) const {
    Heartbeat beat = about_run(state);
    const auto& ending = supervisor_.ending();
    const bool well = ending && ending->code == 0 && ending->signal == 0 && !supervisor_.unfinished();
    using Phase = Heartbeat::Phase;
    if (fenced_) {
      beat.phase = Phase::kFenced;
    } else if (const std::string why = preempted_by(); !why.empty()) {
      beat.phase = Phase::kPreempted;
      beat.reason = why;
    } else if (supervisor_.stopping()) {
      beat.phase = Phase::kStopped;
    } else {
      const std::string unfit = well ? "" : fleet::unfit_by(state);
      beat.phase = well ? Phase::kFinished : unfit.empty() ? Phase::kFailed : Phase::kUnfit;
      beat.reason = redact_secrets(clip(unfit.empty() ? supervisor_.why_over() : unfit, kText));
    }
    return beat;
  }

  const Doors& doors_;
  Supervisor& supervisor_;
  const MachineIdentity identity_;
  const FleetBeatScope scope_;
  const std::shared_ptr<Disk> disk_ = make_posix_disk();
  BackgroundCall<Result<Standing>> call_;
  fleet::BeatTimes times_;
  std::optional<Duration> stopped_;  // of the clock that only goes forward
  std::string trouble_;
  bool fenced_ = false;
};

}  // namespace

Duration last_beat_until(Duration now, std::optional<Duration> preempted, Duration grace) {
  if (!preempted) return {now.ns + kLast.ns};
  return std::clamp(Duration{preempted->ns + grace.ns}, Duration{now.ns + kLeast.ns}, Duration{now.ns + kLast.ns});
}

Result<void> await_turn(Disk& disk, const EarlyEnd::Send& send) {
  const auto identity = own_identity();
  if (!identity.ok()) return identity.error();
  if (!*identity) return {};
  bool waited = false;
  for (;;) {
    const auto standing = send(disk, **identity, about_machine(**identity));
    if (standing.ok() && *standing == Standing::kFenced) return fenced();
    // One that has begun to wait goes on waiting: that the store is not reached is no sign that its turn has come.
    if (standing.ok() ? *standing != Standing::kWaits : !waited) return {};
    waited = true;
    sleep_for(std::min(kTurn, (*identity)->every));
  }
}

Result<void> admit_machine(Disk& disk, Duration receiving) {
  const auto identity = own_identity();
  if (!identity.ok()) return identity.error();
  if (!*identity) return {};
  forget_taken_away(disk, **identity);
  MW_TRY(await_turn(disk, send_beat));
  Result<Standing> standing = Error{};
  Result<void> taken = Error{};
  for (int tries = 0; tries < kTries; ++tries) {
    if (tries > 0) sleep_for(kBetween);
    Heartbeat first = about_machine(**identity);
    first.receiving = receiving;
    standing = send_beat(disk, **identity, first);
    if (!standing.ok()) continue;
    if (*standing == Standing::kFenced) return fenced();
    if (*standing == Standing::kWaits) continue;
    taken = take_latest(disk, **identity);
    if (taken.ok() || taken.error().code == Error::Code::kDenied) return taken;
  }
  if (!standing.ok()) return standing.error();
  return *standing == Standing::kWaits ? Result<void>(fenced()) : taken;
}

namespace {

/// A run that was taken away, stopped or finished has said so itself: the command behind its end knows nothing better.
bool has_its_end(Disk& disk, const MachineIdentity& identity) {
  const auto harbour = harbour_of(disk, identity);
  if (!harbour.ok()) return false;
  fleet::FleetStore books(*(*harbour)->store, (*harbour)->prefix);
  const auto last = books.heartbeat(identity.nonce);
  if (!last.ok() || !last->beat) return false;
  using Phase = Heartbeat::Phase;
  const Phase phase = last->beat->phase;
  return phase == Phase::kPreempted || phase == Phase::kFinished || phase == Phase::kStopped || phase == Phase::kFenced;
}

}  // namespace

Result<std::string> say_unfit(Disk& disk, const std::string& reason) {
  const auto identity = own_identity();
  if (!identity.ok()) return identity.error();
  if (!*identity) {
    return Error{Error::Code::kInvalid, "nobody rented this machine for a run",
                 cat(fleet::kMachineVariable, " is set on a machine that midwatch fleet rents.")};
  }
  if (has_its_end(disk, **identity)) return std::string("said nothing: the run here has said how it ended");
  Heartbeat beat = about_machine(**identity);
  // Its run was notified of it, and there was no time for its last heartbeat.
  const auto taken = noted_taken_away(disk, **identity);
  beat.phase = taken ? Heartbeat::Phase::kPreempted : Heartbeat::Phase::kUnfit;
  beat.reason = redact_secrets(clip(taken.value_or(reason), kText));
  const auto standing = send_beat(disk, **identity, beat);
  if (!standing.ok()) return standing.error();
  return std::string(taken ? "said once more that this machine is taken away, in place of that it is not fit"
                           : "said that this machine is not fit for its run");
}

Result<void> bound_push(ObjectStore& store, const std::string& prefix, vault::PushOptions& options) {
  const auto identity = own_identity();
  if (!identity.ok()) return identity.error();
  if (!*identity) return {};
  fleet::FleetStore books(store, prefix);
  const auto held = books.control();
  if (!held.ok()) return held.error();
  if (held->control && held->control->epoch > (*identity)->epoch) return fenced();
  const auto [floor, ceiling] = fleet::pointer_epochs((*identity)->epoch);
  options.floor = floor;
  options.ceiling = ceiling;
  return {};
}

std::unique_ptr<Task> fleet_beat(const Doors& doors, Supervisor& supervisor, FleetBeatScope scope) {
  auto identity = own_identity();
  if (!identity.ok() || !*identity) return nullptr;
  return std::make_unique<FleetBeat>(doors, supervisor, std::move(**identity), std::move(scope));
}

}  // namespace mw
