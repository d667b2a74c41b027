// Whether a run's processes work, by their use of processors and GPUs beside what they used before.
#pragma once

#include <string_view>

#include "core/detect/detector.h"
#include "core/state.h"

namespace mw::detect {

// They stand in the tables of the detectors that ask.
inline constexpr Knob kRests{"rests", 0.25, "of its usual processors", "Servers that only poll still use some", "own"};
inline constexpr Knob kWorks{"works", 0.5, "of its usual processors", "Generation and training differ by half", "own"};
inline constexpr Knob kNoWork{"none", 0.05, "processors", "Less is nobody's work", "own"};
inline constexpr Knob kGpuWorks{"gpu", 0.05, "of a GPU's time",
                                "A GPU that runs kernels works, or spins in a collective", "own"};
// A kernel of a collective that waits for its peers polls a flag: the GPU is busy, its memory and its power rest.
inline constexpr Knob kSpinBusy{"spin_busy", 0.9, "of a GPU's time", "One kernel that never ends",
                                "NCCL on an H100: 100 %, docs/host.md"};
inline constexpr Knob kSpinMemory{"spin_memory", 0.005, "of a GPU's time", "NVML counts whole hundredths",
                                  "NCCL on an H100: 0 %; 27 runs of the data: never for 30 s on end"};
inline constexpr Knob kSpinMemoryBefore{
    "spin_memory_before", 0.03, "of a GPU's time",
    "A model so small that its training moves no memory shows nothing by moving none",
    "training of 3 M parameters on an H100: 0 %"};
inline constexpr Knob kSpinPower{"spin_power", 0.7, "of its mean power", "It draws hardly more than one that rests",
                                 "NCCL on an H100: 128 W, at rest 125, training 685"};
inline constexpr Knob kSpinProcessors{"spin_processors", 1.25, "of its usual processors",
                                      "More is work: a judge or a sandbox that runs on this machine", "own"};
inline constexpr Knob kSpinEach{"spin_each", 2.25, "processors",
                                "Of a rank that waits: its main thread, and one that moves data",
                                "NCCL over sockets: 2.0"};

/// Of a run whose GPUs do kSpins.
inline constexpr std::string_view kSpinsInWords = "its GPUs spin as in a collective that waits for a peer";

struct Work {
  enum class Does { kUnknown, kNothing, kSpins, kAsAlways };
  Does does = Does::kUnknown;
  double before = -1;  ///< processors, the mean of what they used; below 0: not known
  Time from;           ///< of kNothing and kSpins: since when, by the figures that say so
};
/// What the run's processes do at `at`, beside what they did from `began` to `since`. kSpins: every GPU that worked
/// before runs a kernel that neither touches its memory nor draws power, as one of a collective that waits for a peer.
Work work_at(const State& state, Time began, Time since, Time at);

}  // namespace mw::detect
