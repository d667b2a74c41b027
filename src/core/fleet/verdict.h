// How a run stands that lives on a rented machine, from what several witnesses say of it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "core/fleet/control.h"
#include "core/fleet/fleet_spec.h"
#include "core/fleet/heartbeat.h"

namespace mw::fleet {

/// What a provider says of an instance, whatever its own words are.
enum class InstanceState {
  kProvisioning,  ///< it is coming, and may cost money
  kRunning,
  kStopped,  ///< the provider stopped it (outbid, preempted); it may still cost money
  kLost,     ///< the provider itself does not hear from it
  kGone,     ///< there is none (any more)
};
std::string_view word_of(InstanceState state);

/// What W&B says of the run, which is what the trainer's process sent there, from wherever it runs. It says "running"
/// for minutes after a machine is gone, and shows no step while a run saves or evaluates.
struct WandbWord {
  std::string state;                 ///< "running", "finished", "crashed", "failed", "killed", …
  int64_t step = kNoStep;            ///< the last one that was logged
  std::optional<Duration> step_age;  ///< since then; the step's time is by the trainer's clock
  std::optional<Duration> heard;     ///< since W&B heard from the run, by its own clock
};

/// What is known at one moment. Ages are by the store's clock: nothing compares two machines' clocks, as far as the
/// store has a clock of its own (ControllerDoors::one_clock).
struct Witnesses {
  Time now;                               ///< by the store's clock
  std::optional<Heartbeat> beat;          ///< of the current rental; nullopt: there is none, or none that can be read
  Time beat_changed;                      ///< when the store got it
  std::optional<InstanceState> provider;  ///< of the current rental; nullopt: the provider was not heard
  bool ended = false;                     ///< the provider lists it as ended, which is more than not listing it
  std::string provider_says;              ///< its own word, or why it was not heard
  std::optional<WandbWord> wandb;         ///< nullopt: it was not asked, or has no answer
  std::string wandb_silent;               ///< why it has none; "": it was not asked
};

struct Verdict {
  enum class Kind {
    kNone,  ///< there is no machine
    kStarting,
    kHealthy,
    kStalled,
    kFailed,
    kFinished,
    kPreempted,
    kLost,
    kUnfit,
    kUnknown,  ///< heartbeats are missing, and whether it is silence is not known yet
  };
  Kind kind = Kind::kNone;
  bool replace = false;              ///< the machine is to be given up, and another one taken
  bool person = false;               ///< of kUnknown: time alone does not mend it
  bool by_age = false;               ///< `replace` rests on the age of its last heartbeat
  bool by_silence = false;           ///< and on nothing else
  std::vector<std::string> reasons;  ///< each names its witness
};
std::string_view word_of(Verdict::Kind kind);

/// The rule (docs/decisions/0018): what the machine says of its own end counts at once. Silence alone counts after
/// `silence`; silence of several heartbeats, together with a provider that says that the machine is gone or stopped,
/// counts at once, and so does what never said a word where the provider says that it ended. A machine that beats is
/// never given up, whatever its provider says. A run that stalled or failed on a machine that lives is no reason to
/// rent another one. W&B kills nothing: all that its word changes is that a machine which only its heartbeats miss,
/// whose provider says that it runs, and from whose run W&B hears, is not given up by `silence`: it trains, and a
/// person is asked.
Verdict judge(const Patience& patience, const Control& control, const Witnesses& seen);

}  // namespace mw::fleet
