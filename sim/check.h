// One seed: a world, a watcher that is killed over and over, and what must hold in the end.
#pragma once

#include <cstdint>
#include <string>

#include "sim/watcher.h"

namespace mw::sim {

struct Verdict {
  std::string wrong;    ///< "" when everything holds; else what does not, in words
  uint64_t digest = 0;  ///< of the journal's records
  uint64_t events = 0, lives = 0;
};

/// Runs the world of `seed` twice and checks: nothing lost, nothing doubled, the live state is the journal's, the same
/// incidents as replay of the final files, and the same journal both times.
Verdict run_seed(uint64_t seed, Mutant mutant);

}  // namespace mw::sim
