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

struct Detector {
  std::string_view name;                ///< the file's name, with '-' for '_'
  std::string_view summary;             ///< one sentence for docs/detectors.md
  std::vector<std::string_view> kinds;  ///< the incident kinds that it can report
  std::span<const Knob> knobs;
  void (*judge)(const State&, const Knowledge&, std::vector<Finding>& out);
};

/// All detectors, in a fixed order (the list is made by the build from the folder: detect/x_y.cc defines
/// `extern const Detector x_y` in namespace mw::detect).
std::span<const Detector* const> all_detectors();

}  // namespace mw
