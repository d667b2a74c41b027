// One seed of the world of a component that midwatch itself supervises: a server that crashes, falls sick and comes up
// late, its keeper, which may be killed, and the program's own SupervisedComponent, which is killed at any change of
// the disk.
#pragma once

#include <cstdint>
#include <string>

namespace mw::sim {

struct ComponentVerdict {
  std::string wrong;  ///< "" when everything holds
  uint64_t digest = 0;
  uint64_t lives = 0, servers = 0, given_up = 0;  ///< of the watch, of the component; 1 when it was given up
  void add(const ComponentVerdict& one) {
    lives += one.lives;
    servers += one.servers;
    given_up += one.given_up;
  }
};

/// `aloud`: what is said goes to standard output.
ComponentVerdict run_component_seed(uint64_t seed, bool aloud = false);

}  // namespace mw::sim
