// Worlds in which checkpoints are deleted and quarantined: a trainer that goes on saving, others who link, read, write
// and prune in the same folders, a disk that fails at any call, a midwatch that is killed at any, and what must hold
// then.
#pragma once

#include <cstdint>
#include <string>

namespace mw::sim {

struct PruneVerdict {
  std::string wrong;  ///< "": all holds
  uint64_t digest = 0;
  uint64_t saves = 0, plans = 0, removed = 0, refused = 0, killed = 0, faults = 0, finished = 0, moved = 0,
           pointers = 0;

  void add(const PruneVerdict& one) {
    saves += one.saves;
    plans += one.plans;
    removed += one.removed;
    refused += one.refused;
    killed += one.killed;
    faults += one.faults;
    finished += one.finished;
    moved += one.moved;
    pointers += one.pointers;
  }
};

PruneVerdict run_prune_seed(uint64_t seed, bool aloud);

}  // namespace mw::sim
