// One seed of another world: a command that learns, saves, loses its engine, crashes, hangs on to nothing; a keeper;
// and the program's own supervisor, which is killed at any change of the disk and begun again.
#pragma once

#include <cstdint>
#include <string>

namespace mw::sim {

struct SupervisedVerdict {
  std::string wrong;  ///< "" when everything holds
  uint64_t digest = 0;
  uint64_t lives = 0, attempts = 0, trips = 0, finished = 0, pushes = 0;
  void add(const SupervisedVerdict& one) {
    lives += one.lives;
    attempts += one.attempts;
    trips += one.trips;
    finished += one.finished;
    pushes += one.pushes;
  }
};

/// `aloud`: what the supervisor says goes to standard output.
SupervisedVerdict run_supervised_seed(uint64_t seed, bool aloud = false);

}  // namespace mw::sim
