// midwatch in the worlds of the goodput table. What it decides comes from the program's own code: the judge and the
// circuit breaker (core), what follows an end (core/supervise, act/supervise/outcome), the heartbeat and the controller
// with its store (act/fleet). docs/goodput.md says what is simplified.
#pragma once

#include <memory>
#include <vector>

#include "core/knowledge.h"
#include "core/supervise/policy.h"
#include "core/supervise/run_spec.h"
#include "sim/goodput_world.h"

namespace mw::sim::goodput {

/// How midwatch sees one fault: a run of real events that is judged as it goes.
struct Episode {
  double decides = kNever;  ///< seconds from the fault until it ends the attempt, or asks whether it may
  bool asks = false;
  double unanswered = kNever;  ///< likewise, until it ends by itself what it asked about and nobody answered
  AttemptOutcome outcome;      ///< of the attempt that ended so; its steps are the world's
};
/// `may_clean`: cleanup makes room where the disk is full. `trains_on`: the trainer goes on with empty answers. The
/// seed decides where within a step the fault falls.
Episode play_episode(const Knowledge& knowledge, const RunSpec& spec, const Costs& costs, bool may_clean, Fault fault,
                     bool trains_on, uint64_t seed);

/// Episodes are played once a kind and a few variants, or each time anew.
class Episodes {
 public:
  /// `may_act`: as `midwatch run --unattended` is, in place of the defaults.
  Episodes(const Knowledge& knowledge, const Costs& costs, bool may_act);
  /// `u`, `v`: of the strike. `anew`: plays one of its own for it.
  Episode of(Fault fault, double u, double v, bool anew) const;
  const RunSpec& spec() const { return spec_; }
  bool may_act() const { return may_act_; }

 private:
  const Knowledge& knowledge_;
  const Costs& costs_;
  const bool may_act_;
  RunSpec spec_;
  std::vector<std::vector<Episode>> known_;  ///< by fault; of a dead engine first those with a trainer that trains on
};

/// `full`: every heartbeat and every check of the controller happens, and each fault has an episode of its own; else
/// those that cannot change anything are left out, and episodes are shared. The books of both differ by the episodes
/// alone.
std::unique_ptr<Policy> make_midwatch(const World& world, const Episodes& episodes, bool full);

}  // namespace mw::sim::goodput
