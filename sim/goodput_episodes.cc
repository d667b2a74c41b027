#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "act/supervise/outcome.h"
#include "act/supervise/tainted.h"
#include "base/text.h"
#include "core/advance.h"
#include "core/supervise/decide.h"
#include "sense/host/host_ledger.h"
#include "sim/goodput_midwatch.h"

namespace mw::sim::goodput {
namespace {

constexpr double kStart = 1'700'000'000;
constexpr int64_t kHealthy = 40;                               // steps before the fault
constexpr int64_t kPlan = 10'000;                              // steps; all of them would take 24 days
constexpr uint32_t kMachine = 1;                               // source of the machine's figures
constexpr double kTick = 10, kLateTick = 30;                   // seconds, as a live watch that hears nothing
constexpr double kProcessSeen = 10;                            // until the death of an engine's process is certain
constexpr double kSilenceSeen = 60;                            // until an engine that answers nothing is reported
constexpr double kBusyProcessors = 12, kIdleProcessors = 0.3;  // the run's
// Of the hangs leave the processes idle. Of the others, in which processors and GPUs spin in a collective: in so many
// all ranks came to it (own); in the rest one rank works or waits elsewhere, which no witness tells from a long
// evaluation.
constexpr double kIdleHangs = 0.5, kAllSpin = 0.5;
struct GpuShows {
  double busy, memory, watts;
};
// NCCL on an H100, docs/host.md.
constexpr GpuShows kTrains{1, 0.6, 685}, kSpins{1, 0, 128}, kRests{0, 0, 125};
constexpr double kReportedSilence = 120;  // as sense/host/host_watch.h has it
constexpr double kLate = 5 * kMinute, kLongest = 4 * kHour;
constexpr uint64_t kVariants = 12;

/// A run that midwatch reads live.
class Played {
 public:
  Played(const Knowledge& knowledge, const RunSpec& spec, const Costs& costs, bool may_clean, uint64_t seed)
      : knowledge_(knowledge), spec_(spec), costs_(costs), may_clean_(may_clean), dice_(seed) {
    say(event::SourceOpened{0, "train.log", "text", 0});
    say(event::Recognised{"prime-rl", "", 1});
    say(event::AttemptStarted{1, 4242, "boot"});
    say(event::AttemptBegan{"launcher"});
    say(event::Planned{kPlan});
    say(event::SourceOpened{kMachine, "host:machine", std::string(kHostKind), 0}, kMachine);
    for (int64_t i = 0; i < kHealthy; ++i) healthy_step();
  }

  Episode of(Fault fault, bool trains_on) {
    pass(costs_.step * dice_.unit());
    fault_at_ = at_;
    switch (fault) {
      case Fault::kCrash:
        say(event::Matched{"cuda-illegal-memory-access", "CUDA error: an illegal memory access was encountered"});
        say(event::TraceSeen{"torch.AcceleratorError", "CUDA error: an illegal memory access", "train.py:10 in main"});
        return exits(1, 0);
      case Fault::kDiskFull:
        say(event::Matched{"enospc-generic", "OSError: [Errno 28] No space left on device"});
        say(event::TraceSeen{"OSError", "[Errno 28] No space left on device", "checkpoint.py:10 in save"});
        return exits(1, 0);
      case Fault::kBadSave:
        return exits(-1, 9);
      case Fault::kEngineDead:
        return engine_dies(trains_on);
      case Fault::kEngineGrey:
        wait_for(kSilenceSeen);
        see_engine(event::ComponentSaw::Health::kSilent, false, "it does not answer");
        return watch(kNever, [] {});
      case Fault::kNonFinite:
        return watch(costs_.step * 0.5, [this] { figures(std::nan(""), 0.4, 500), next_ = costs_.step; });
      default:
        idle_ = dice_.unit() < kIdleHangs;
        if (idle_) {
          gpus_ = {kRests, kRests};
        } else {
          gpus_ = {kSpins, dice_.unit() < kAllSpin ? kSpins : kRests};
        }
        return watch(kNever, [] {});
    }
  }

 private:
  template <typename Body>
  void say(Body body, uint32_t source = 0) {
    Event event;
    event.at = event.received = Time::from_seconds(kStart + at_);
    event.where = {source, ++line_};
    event.body = std::move(body);
    std::vector<Event> decided;
    advance(state_, event, knowledge_, memory_, quiet_ ? Judge::kAtClose : Judge::kAlways, decided);
  }

  /// Time passes, and the watch looks at the machine.
  void pass(double seconds) {
    at_ += seconds;
    const Duration now = Duration::seconds(at_);
    std::vector<Reading> readings;
    ledger_.note("process.cpu", "run", idle_ ? kIdleProcessors : kBusyProcessors, now, readings);
    for (size_t i = 0; i < gpus_.size(); ++i) {
      ledger_.note("gpu.busy", cat(i), gpus_[i].busy, now, readings);
      ledger_.note("gpu.memory.busy", cat(i), gpus_[i].memory, now, readings);
      ledger_.note("gpu.power", cat(i), gpus_[i].watts, now, readings);
    }
    const double silence = at_ - figures_at_;
    ledger_.note("log.silent", "run", silence >= kReportedSilence ? silence : 0, now, readings);
    if (!readings.empty()) say(event::Measured{kNoStep, false, std::move(readings)}, kMachine);
  }

  void figures(double loss, double reward, double length) {
    ++step_;
    figures_at_ = at_;
    say(event::Measured{step_,
                        false,
                        {{"reward.mean", "reward", reward + 0.02 * dice_.unit()},
                         {"loss.policy", "loss", loss},
                         {"grad_norm", "grad", std::isfinite(loss) ? 0.3 + 0.1 * dice_.unit() : loss},
                         {"response.length", "length", length},
                         {"time.step", "time", costs_.step}}});
  }

  void healthy_step() {
    pass(costs_.step * (0.9 + 0.2 * dice_.unit()));
    figures(0.01, 0.4, 500);
    say(event::Ticked{false, true});
    if (step_ % costs_.every == 0) say(event::CheckpointSaved{step_, cat("/ck/step_", step_), true});
    if (step_ + 2 == kHealthy) quiet_ = false;
  }

  void see_engine(event::ComponentSaw::Health health, bool certain, std::string text) {
    event::ComponentSaw saw;
    saw.component = "VLLM::EngineCor (4711)";
    saw.kind = "engine";
    saw.health = health;
    saw.certain = certain;
    saw.text = std::move(text);
    saw.pid = 4711;
    say(std::move(saw));
  }

  void wait_for(double seconds) {
    for (const double until = at_ + seconds; at_ + kTick <= until;) {
      pass(kTick);
      say(event::Ticked{});
    }
  }

  Episode engine_dies(bool trains_on) {
    wait_for(kProcessSeen);
    see_engine(event::ComponentSaw::Health::kDead, true, "Process 4711 of the run ended while the trainer goes on");
    if (!trains_on) return watch(kNever, [] {});
    return watch(costs_.empty_step, [this] { figures(0, -0.02, 0), next_ = costs_.empty_step; });
  }

  /// Until the circuit breaker acts, or asks about more than a hang: one that nobody answers may be ended later. `does`
  /// is called after `first` seconds, and says when it is due again.
  template <typename Do>
  Episode watch(double first, const Do& does) {
    next_ = first;
    double due = at_ + first;
    // What nobody answers is done soon after its time, or never: whatever spins goes on spinning.
    const double unanswered = spec_.answer_patience.seconds() + kLate;
    while (at_ - fault_at_ < kLongest && (!hang_ || at_ - asked_at_ < unanswered)) {
      const BreakDecision found = decide_break(state_, spec_, 1);
      using What = Decision::What;
      const What what = found.decision.what;
      if (what == What::kAct) return breaks(*found.incident);
      if (what == What::kAsk) {
        asked_at_ = at_;
        if (found.incident->kind != "stall") return breaks(*found.incident);
        say(event::Asked{1, "break", found.decision.text});
        hang_ = *found.incident;
      }
      pass(at_ - fault_at_ < kLate ? kTick : kLateTick);
      if (at_ >= due) {
        does();
        due = at_ + next_;
      }
      say(event::Ticked{});
    }
    if (!hang_) return {};
    Episode out = breaks(*hang_);
    out.unanswered = kNever;
    return out;
  }

  Episode breaks(const Incident& incident) {
    Episode out;
    out.asks = asked_at_ > 0;
    out.decides = (out.asks ? asked_at_ : at_) - fault_at_;
    if (hang_) out.unanswered = at_ - fault_at_;
    trip_ = trip_on(incident);
    say(tripped_event(1, *trip_));
    ended(-1, 15);
    out.outcome = outcome_of({kept_, trip_, std::nullopt}, state_, knowledge_);
    return out;
  }

  Episode exits(int code, int signal) {
    pass(1);  // the keeper writes it down at once, and midwatch reads that
    say(event::AttemptExited{1, true, code, signal, ""});
    ended(code, signal);
    say(event::Ended{event::Ended::How::kExit, signal != 0 ? -signal : code, ""});  // its keeper's line in the output
    Episode out;
    out.decides = at_ - fault_at_;
    out.outcome = outcome_of({kept_, trip_, std::nullopt, false, may_clean_}, state_, knowledge_);
    return out;
  }

  void ended(int code, int signal) {
    kept_.started = Time::from_seconds(kStart);
    kept_.ending = Ending{Time::from_seconds(kStart + at_), code, signal, false, true, 0, 0, 1};
  }

  const Knowledge& knowledge_;
  const RunSpec& spec_;
  const Costs& costs_;
  const bool may_clean_;
  Prng dice_;
  State state_;
  JudgeMemory memory_;
  Kept kept_;
  std::optional<Trip> trip_;
  HostLedger ledger_;
  std::optional<Incident> hang_;  ///< about which it asks
  double at_ = 0, fault_at_ = 0, next_ = kNever, figures_at_ = 0, asked_at_ = 0;
  int64_t step_ = 0;
  uint64_t line_ = 0;
  bool idle_ = false;  ///< what its processes do
  std::array<GpuShows, 2> gpus_ = {kTrains, kTrains};
  bool quiet_ = true;  ///< healthy steps are only taken in: sim_calm judges those
};

bool is_seen_alive(Fault fault) { return static_cast<size_t>(fault) <= static_cast<size_t>(Fault::kDiskFull); }

}  // namespace

Episode play_episode(const Knowledge& knowledge, const RunSpec& spec, const Costs& costs, bool may_clean, Fault fault,
                     bool trains_on, uint64_t seed) {
  return Played(knowledge, spec, costs, may_clean, seed).of(fault, trains_on);
}

Episodes::Episodes(const Knowledge& knowledge, const Costs& costs, bool may_act)
    : knowledge_(knowledge), costs_(costs), may_act_(may_act) {
  if (may_act) answer_for_itself(spec_);
  for (size_t fault = 0; fault < kFaults; ++fault) {
    auto& variants = known_.emplace_back();
    if (!is_seen_alive(static_cast<Fault>(fault))) continue;
    const uint64_t count = static_cast<Fault>(fault) == Fault::kEngineDead ? 2 * kVariants : kVariants;
    for (uint64_t i = 0; i < count; ++i) {
      variants.push_back(
          play_episode(knowledge, spec_, costs, may_act, static_cast<Fault>(fault), i < kVariants, i + 1));
    }
  }
}

Episode Episodes::of(Fault fault, double u, double v, bool anew) const {
  const bool trains_on = u < 0.5;
  if (anew) return play_episode(knowledge_, spec_, costs_, may_act_, fault, trains_on, static_cast<uint64_t>(v * 1e9));
  const auto& variants = known_.at(static_cast<size_t>(fault));
  const auto one = std::min<size_t>(kVariants - 1, static_cast<size_t>(v * kVariants));
  return variants.at(!trains_on && fault == Fault::kEngineDead ? kVariants + one : one);
}

}  // namespace mw::sim::goodput
