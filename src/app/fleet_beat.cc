#include "app/fleet_beat.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <optional>
#include <utility>

#include "act/fleet/beat.h"
#include "act/vault/latest.h"
#include "app/harbour.h"
#include "base/text.h"
#include "core/shipments.h"
#include "platform/background_call.h"
#include "platform/process.h"
#include "platform/real/posix_disk.h"
#include "ui/view/overview.h"

namespace mw {
namespace {

using fleet::Heartbeat;
using fleet::MachineIdentity;
using fleet::Standing;

constexpr int kTries = 6;                            // of the first and of the last heartbeat
constexpr Duration kBetween = Duration::seconds(2);  // of these tries
constexpr Duration kPoll = Duration::millis(100);    // while a call is out
constexpr size_t kText = 300;                        // bytes of a text in a heartbeat

/// nullopt also for a run within another one's: the outer one beats.
Result<std::optional<MachineIdentity>> own_identity() {
  if (variable(kMarkerVariable)) return std::optional<MachineIdentity>();
  return fleet::machine_identity([](const std::string& name) { return variable(name); });
}

Result<std::unique_ptr<Harbour>> harbour_of(Disk& disk, const MachineIdentity& identity) {
  StoreAddress address;
  address.place = identity.store;
  address.endpoint = identity.endpoint;
  address.region = identity.region;
  return open_harbour(disk, address);
}

Heartbeat about_machine(const MachineIdentity& identity) {
  Heartbeat beat;
  beat.epoch = identity.epoch;
  beat.machine = identity.nonce;
  beat.every = identity.every;
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) == 0) beat.host = host.data();
  beat.boot = make_posix_processes()->boot();
  beat.wandb = clip(variable("WANDB_RUN_ID").value_or(""), kText);
  return beat;
}

Result<Standing> send(Disk& disk, const MachineIdentity& identity, Heartbeat beat) {
  const auto harbour = harbour_of(disk, identity);
  if (!harbour.ok()) return harbour.error();
  beat.at = (*harbour)->clock->now();
  fleet::FleetStore books(*(*harbour)->store, (*harbour)->prefix);
  return fleet::beat(books, *(*harbour)->store, (*harbour)->prefix, std::move(beat));
}

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

class FleetBeat final : public Task {
 public:
  FleetBeat(const Doors& doors, Supervisor& supervisor, MachineIdentity identity,
            std::function<void(const std::string& sentence)> say, std::function<std::string()> taken_away)
      : doors_(doors),
        supervisor_(supervisor),
        identity_(std::move(identity)),
        say_(std::move(say)),
        taken_away_(std::move(taken_away)) {}

  std::optional<Duration> turn(const State& state, bool, EventWriter&) override {
    if (auto standing = call_.take()) heed(*standing);
    if (call_.busy()) return kPoll;
    const Duration now = doors_.clock.steady();
    if (due_ && now < *due_) return Duration{due_->ns - now.ns};
    due_ = Duration{now.ns + identity_.every.ns};
    call_.start([disk = disk_, identity = identity_, beat = about_run(state)] { return send(*disk, identity, beat); });
    return kPoll;
  }

  /// What became of the run, so that nobody need wait for the silence.
  void over(const State& state, EventWriter&) override {
    const Heartbeat beat = about_end(state);
    for (int tries = 0; tries < kTries; ++tries) {
      if (tries > 0) sleep_for(kBetween);
      if (send(*disk_, identity_, beat).ok()) return;
    }
  }

 private:
  void heed(const Result<Standing>& standing) {
    if (!standing.ok()) {
      if (standing.error().what != trouble_) say_(cat("no heartbeat: ", trouble_ = standing.error().what));
      return;
    }
    trouble_.clear();
    if (*standing != Standing::kFenced || fenced_) return;
    fenced_ = true;
    say_("another machine goes on with this run: the command here is ended");
    supervisor_.stop(false);
  }

  Heartbeat about_run(const State& state) const {
    Heartbeat beat = about_machine(identity_);
    beat.attempt = supervisor_.attempt();
    beat.health = health_of(state);
    const int64_t step = state.attempts.empty() ? kNoStep : state.attempts.back().last_step;
    beat.step = step;
    beat.phase = state.verdict == "stalled" ? Heartbeat::Phase::kStalled
                 : step == kNoStep          ? Heartbeat::Phase::kStarting
                                            : Heartbeat::Phase::kTraining;
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
    } else if (const std::string why = taken_away_(); supervisor_.stopping() && !why.empty()) {
      beat.phase = Phase::kPreempted;
      beat.reason = why;
    } else if (supervisor_.stopping() && doors_.watch.stop_signal() == SIGTERM) {
      beat.phase = Phase::kPreempted;
      beat.reason = "midwatch got SIGTERM";
    } else if (supervisor_.stopping()) {
      beat.phase = Phase::kStopped;
    } else {
      beat.phase = well ? Phase::kFinished : Phase::kFailed;
      beat.reason = redact_secrets(clip(supervisor_.why_over(), kText));
    }
    return beat;
  }

  const Doors& doors_;
  Supervisor& supervisor_;
  const MachineIdentity identity_;
  const std::function<void(const std::string& sentence)> say_;
  const std::function<std::string()> taken_away_;
  const std::shared_ptr<Disk> disk_ = make_posix_disk();
  BackgroundCall<Result<Standing>> call_;
  std::optional<Duration> due_;
  std::string trouble_;
  bool fenced_ = false;
};

}  // namespace

Result<void> admit_machine(Disk& disk) {
  const auto identity = own_identity();
  if (!identity.ok()) return identity.error();
  if (!*identity) return {};
  Result<Standing> standing = Error{};
  Result<void> taken = Error{};
  for (int tries = 0; tries < kTries; ++tries) {
    if (tries > 0) sleep_for(kBetween);
    standing = send(disk, **identity, about_machine(**identity));
    if (!standing.ok()) continue;
    if (*standing == Standing::kFenced) return fenced();
    taken = take_latest(disk, **identity);
    if (taken.ok() || taken.error().code == Error::Code::kDenied) return taken;
  }
  return standing.ok() ? taken : Result<void>(standing.error());
}

Result<void> say_unfit(Disk& disk, const std::string& reason) {
  const auto identity = own_identity();
  if (!identity.ok()) return identity.error();
  if (!*identity) {
    return Error{Error::Code::kInvalid, "nobody rented this machine for a run",
                 cat(fleet::kMachineVariable, " is set on a machine that midwatch fleet rents.")};
  }
  Heartbeat beat = about_machine(**identity);
  beat.phase = Heartbeat::Phase::kUnfit;
  beat.reason = redact_secrets(clip(reason, kText));
  const auto standing = send(disk, **identity, beat);
  return standing.ok() ? Result<void>() : standing.error();
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

std::unique_ptr<Task> fleet_beat(const Doors& doors, Supervisor& supervisor,
                                 std::function<void(const std::string& sentence)> say,
                                 std::function<std::string()> taken_away) {
  auto identity = own_identity();
  if (!identity.ok() || !*identity) return nullptr;
  return std::make_unique<FleetBeat>(doors, supervisor, std::move(**identity), std::move(say), std::move(taken_away));
}

}  // namespace mw
