// A detector: one file, one condition. It looks at the whole state and scans it from left to right; it is causal (see
// Finding), pure, and silent on what it was not made for. Its knobs are a table with unit, reason and source each.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "core/incident.h"
#include "core/knowledge.h"
#include "core/state.h"

namespace mw {

struct Knob {
  std::string_view name;
  double value;
  std::string_view unit;
  std::string_view reason;
  std::string_view source;
};

class JudgeMemory;

/// How a detector judges. One that walks along series, or needs what several make of the run's text, is also given the
/// memory (core/judge_memory.h); what it finds does not depend on what is in there.
class Judging {
 public:
  using Plain = void (*)(const State&, const Knowledge&, std::vector<Finding>& out);
  using Remembering = void (*)(const State&, const Knowledge&, JudgeMemory&, std::vector<Finding>& out);
  Judging(Plain plain) : plain_(plain) {}                          // NOLINT(google-explicit-constructor)
  Judging(Remembering remembering) : remembering_(remembering) {}  // NOLINT(google-explicit-constructor)
  void operator()(const State& state, const Knowledge& knowledge, JudgeMemory& memory,
                  std::vector<Finding>& out) const {
    plain_ != nullptr ? plain_(state, knowledge, out) : remembering_(state, knowledge, memory, out);
  }

 private:
  Plain plain_ = nullptr;
  Remembering remembering_ = nullptr;
};

struct Detector {
  std::string_view name;                ///< the file's name, with '-' for '_'
  std::string_view summary;             ///< one sentence for docs/detectors.md
  std::vector<std::string_view> kinds;  ///< the incident kinds that it can report
  std::span<const Knob> knobs;
  Judging judge;
};

/// All detectors, in a fixed order (the list is made by the build from the folder: detect/x_y.cc defines
/// `extern const Detector x_y` in namespace mw::detect).
std::span<const Detector* const> all_detectors();

}  // namespace mw
