// Worlds for shipping checkpoints: machines that save, push and pull, a store that fails, and what must hold of it.
#pragma once

#include <cstdint>
#include <string>

namespace mw::sim {

struct VaultVerdict {
  std::string wrong;  ///< "": all holds
  uint64_t digest = 0;
  uint64_t pushes = 0, whole = 0, killed = 0, fenced = 0, pulls = 0, received = 0, removed = 0;

  void add(const VaultVerdict& one) {
    pushes += one.pushes;
    whole += one.whole;
    killed += one.killed;
    fenced += one.fenced;
    pulls += one.pulls;
    received += one.received;
    removed += one.removed;
  }
};

VaultVerdict run_vault_seed(uint64_t seed, bool aloud);

}  // namespace mw::sim
