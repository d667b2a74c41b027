// The policies that midwatch is compared with, as rows of rules (docs/goodput.md has each in words).
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "sim/goodput_world.h"

namespace mw::sim::goodput {

/// Seconds from a fault until the policy answers it by itself; kNever: it does not, and a person must.
struct Rules {
  std::string_view name;
  double exit = kNever;  ///< the process ended: until the next one begins
  double engine_dead = kNever, engine_grey = kNever, hang = kNever, non_finite = kNever;
  double machine = kNever;       ///< it is gone: until another one is rented
  bool engine_alone = false;     ///< only the engine is started again, the trainer waits for it
  bool whole = false;            ///< never resumes from a broken checkpoint
  bool clean = false;            ///< nor from one of poisoned training
  bool makes_room = false;       ///< when the disk is full
  bool asks = false;             ///< a person gets a message when it gives up
  int64_t gives_up = INT64_MAX;  ///< this many exits within `window` seconds
  double window = 0;
  double start = 0;    ///< what a start of the trainer alone takes; 0: as the world has it
  int64_t every = 0;   ///< steps between saves; 0: as the run has it
  bool looks = false;  ///< the report's controller: looks at the metrics service every ten minutes
};

/// The five, the physical limit ("no-delay"), and one that is planted to be bad ("saboteur", for the checks).
std::span<const Rules> all_rules();
const Rules* find_rules(std::string_view name);

std::unique_ptr<Policy> make_ruled(const World& world, const Rules& rules);

}  // namespace mw::sim::goodput
