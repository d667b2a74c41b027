// What the run's earlier saves say of the next one: when it comes, what it writes, and how much of /dev/shm it passes
// its tensors through.
#pragma once

#include <optional>
#include <vector>

#include "core/state.h"

namespace mw::detect {

/// A smaller checkpoint is none: metadata, or a name only.
constexpr double kLeastCheckpoint = 1e6;
/// The largest of so many last ones is what the next one may take.
constexpr double kRecentCheckpoints = 3;
/// Share of /dev/shm: less is what data loaders take of it, not a save.
constexpr double kSharedBySaves = 0.05;

/// Bytes that the next save writes, by a series of "checkpoint.bytes" up to `at`; 0: not known.
double bytes_needed(const Series& sizes, Time at);

/// The step of the next save by the run's own rhythm up to `at`; kNoStep: it has none yet.
int64_t next_save_step(const State& state, Time at);

/// A save that is over.
struct SaveWindow {
  uint16_t attempt = 0;
  int64_t step = kNoStep;
  Time began, ended;
  double shared = 0;  ///< bytes by which free /dev/shm fell meanwhile, as far as it was measured; 0: not known
};
/// Those whose time is known, in order.
std::vector<SaveWindow> save_windows(const State& state);

/// Bytes of /dev/shm that each of the last two saves took at least: the first one may leave segments that the next one
/// uses again. 0: fewer than two were measured. `last`: index of the last one that counts.
double shared_needed(const std::vector<SaveWindow>& saves, size_t last);

}  // namespace mw::detect
