// Worlds of rented machines: controllers that crash and sleep, a provider that answers late or not at all, machines
// that vanish or only lose their network, and what must hold of it.
#pragma once

#include <cstdint>
#include <string>

namespace mw::sim {

struct FleetVerdict {
  std::string wrong;  ///< "": all holds
  uint64_t digest = 0;
  uint64_t checks = 0, crashed = 0, slept = 0, rented = 0, lost = 0, fenced = 0, finished = 0, waiting = 0;
  uint64_t waited = 0, followed = 0;  ///< heartbeats of successors; those that took over

  void add(const FleetVerdict& one) {
    checks += one.checks;
    crashed += one.crashed;
    slept += one.slept;
    rented += one.rented;
    lost += one.lost;
    fenced += one.fenced;
    finished += one.finished;
    waiting += one.waiting;
    waited += one.waited;
    followed += one.followed;
  }
};

FleetVerdict run_fleet_seed(uint64_t seed, bool aloud);

}  // namespace mw::sim
