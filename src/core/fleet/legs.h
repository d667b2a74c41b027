// The machines of a run, one after the other, as one history: what each did, what was lost between them, what it cost.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/fleet/control.h"
#include "core/fleet/heartbeat.h"

namespace mw::fleet {

/// The last heartbeat of a machine.
struct LastBeat {
  Heartbeat beat;
  Time heard;  ///< when the store got it
};

struct Leg {
  Rental rental;
  std::optional<LastBeat> last;  ///< nullopt: it never beat
  /// Its attempts, numbered through all machines of the run: [first_attempt, first_attempt + attempts). As far as it
  /// said so itself: what came after its last heartbeat is not known.
  int64_t first_attempt = 1, attempts = 0;
  /// Steps that it had done and that the next machine did again, since they were not in the store; -1: not known (yet).
  int64_t redone = -1;
  double cost = 0;  ///< up to now, in the provider's currency
};

/// In the order in which they were rented; what was refused never was a machine. `beats`: by the rental's nonce.
std::vector<Leg> legs_of(const Control& control, const std::map<std::string, LastBeat>& beats, Time now);

}  // namespace mw::fleet
