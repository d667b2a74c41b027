// What the next save will be like, by the last ones: when it comes, how long it takes, what it writes, whether it fits.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/state.h"

namespace mw {

/// Figures that are not known are 0, and a place that is not known is "".
struct SaveForecast {
  int64_t step = kNoStep;  ///< at which it begins
  double in_s = 0;         ///< until then, by the steps' own time
  double takes_s = 0;      ///< median of the last ones
  double bytes = 0;        ///< the largest of the last ones
  std::string disk;        ///< the mount that it is written to
  double free = 0;         ///< bytes there now
  double shared = 0;       ///< bytes of /dev/shm that each of the last two took
  double shared_free = 0;  ///< bytes there now

  bool fits() const { return (bytes <= 0 || disk.empty() || bytes <= free) && shared <= shared_free; }
};

/// nullopt: the run is over, or has not saved in a rhythm yet.
std::optional<SaveForecast> save_forecast(const State& state);

/// "at step 60, in about 25m; takes about 22m; writes 47.0 GB to /ck (1.20 TB free); passes 345 GB through /dev/shm
/// (500 GB free)", with "WILL NOT FIT: " before it where it does not; "" when there is none.
std::string save_forecast_text(const std::optional<SaveForecast>& next);

}  // namespace mw
