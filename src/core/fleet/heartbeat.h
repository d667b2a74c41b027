// What a machine says of itself and of its run, now and then (fleet/machines/NONCE.json, docs/formats/store.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "core/event.h"

namespace mw::fleet {

struct Heartbeat {
  enum class Phase {
    kStarting,  ///< no step yet
    kTraining,
    kStalled,  ///< longer without a step than the run's own patience allows, as midwatch there judges
    kFailed,   ///< it ended, and midwatch there will not start it again
    kFinished,
    kPreempted,  ///< the machine is about to be taken away, and the trainer has ended
    kUnfit,      ///< the run cannot live on this machine
    kFenced,     ///< the epoch has gone on without this machine; its trainer is being ended
    kStopped,    ///< a person stopped it there
    kReceiving,  ///< the checkpoint to begin from is coming from the store
    kWaiting,    ///< it was rented as a successor, and its turn has not come
  };
  int64_t epoch = 0;
  std::string machine;   ///< the rental's nonce
  std::string instance;  ///< the provider's id, where the machine knows it
  std::string boot;      ///< this start of the machine
  std::string host;
  std::string run;  ///< what midwatch there calls its record of the run: runs/NAME in the store; "": there is none yet
  int64_t attempt = 0, step = kNoStep;
  int64_t from = kNoStep;  ///< step of the checkpoint that it began from; 0: from scratch; kNoStep: not said
  Phase phase = Phase::kStarting;
  std::string health;                      ///< in words, as `midwatch status` says it
  std::string reason;                      ///< of kUnfit, kFailed, kPreempted
  int64_t saved = kNoStep;                 ///< step of the newest whole checkpoint on the machine
  int64_t shipped = kNoStep;               ///< step of the newest one that is in the store
  int64_t received = 0, total = 0;         ///< bytes of the checkpoint that it begins from
  Duration receiving;                      ///< time in which some of them came; while none comes it stands still
  std::optional<Duration> leaves;          ///< notice was given: until the machine is taken away
  std::string wandb;                       ///< the id of the run at W&B, where its environment names one
  Duration every = Duration::seconds(60);  ///< until the next one
  Time at;                                 ///< by the machine's own clock; nothing is decided by it
};

std::string_view word_of(Heartbeat::Phase phase);
std::string heartbeat_json(const Heartbeat& beat);
/// kInvalid: it is none.
Result<Heartbeat> parse_heartbeat(std::string_view json);

}  // namespace mw::fleet
