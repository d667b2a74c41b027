// What a tracker measured of the machine beside the run: its many rows as one line per GPU and a few of the host.
#pragma once

#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "core/state.h"
#include "ui/view/overview.h"

namespace mw {

inline constexpr double kNotMeasured = std::numeric_limits<double>::quiet_NaN();

struct GpuLine {
  std::string index;           ///< as the tracker counts: "0"
  double busy = kNotMeasured;  ///< mean utilisation, percent
  double idle = kNotMeasured;  ///< share of the samples with less than kIdlePercent, 0..1
  double memory_bytes = kNotMeasured, memory_percent = kNotMeasured;  ///< peak
  double watts = kNotMeasured;                                        ///< mean
  double celsius = kNotMeasured;                                      ///< hottest
  double uncorrected = kNotMeasured;                                  ///< ECC errors, most
  static constexpr double kIdlePercent = 5;
};

/// One figure of the host: "memory, peak" = 34 "%".
struct HostLine {
  std::string what;
  double value = 0;
  std::string_view unit;
};

struct MachineView {
  std::vector<GpuLine> gpus;
  std::vector<HostLine> host;
  bool empty() const { return gpus.empty() && host.empty(); }
};

/// From what a live watch measured itself, and from W&B's system metrics (names of its client from 0.10 to 0.22). Empty
/// when the run has none.
MachineView machine_view(const State& state, const Cycle& cycle);

/// "84 %", "71.2 GB"; "" when not measured.
std::string machine_value(double value, std::string_view unit);

}  // namespace mw
