// When the entropy will be spent, if it goes on as it came: as a power of the steps. On real runs an exponential fall
// through the last records was reached in few cases, as the fall slows down; the power was reached in each that the run
// lived to see. What the reward may still gain until then comes from the law R = b - a*exp(H) (arXiv 2505.22617).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/detect/tools/track.h"
#include "core/state.h"

namespace mw {

struct EntropyForecast {
  /// Of the level of the first records: the same at which entropy-collapse says that it is spent.
  static constexpr double kFloor = 0.1;
  /// Farther ahead nothing is said where the plan is not known.
  static constexpr int64_t kHorizon = 200;  // steps

  double level = 0;              ///< by the power law, at the last record; nats
  double floor = 0;              ///< nats
  int64_t last_step = kNoStep;   ///< of the last record
  int64_t step = kNoStep;        ///< at which it is at its floor
  int64_t first_step = kNoStep;  ///< of the records that the power goes through

  int64_t in_steps() const { return step - last_step; }
};

/// Logarithms of a track's steps and values from index `first` on, for forecasts at one record after another: a
/// forecast goes through hundreds of them.
struct EntropyLogs {
  size_t first = 0;
  std::vector<double> steps, values;
  size_t positive_since = 0;  ///< all values from that index on are

  /// Sums over the newest records, each less the first of `steps` and `values`, from which it mostly shows that a
  /// forecast has no line to go by. Rounded, as they lose old records and gain new ones: hence `size_x` and `size_y`,
  /// all squares that ever went in, by which the error is bounded.
  struct Sums {
    size_t from = 0, to = 0;  ///< indices in `steps`
    double x = 0, y = 0, xx = 0, xy = 0, yy = 0, size_x = 0, size_y = 0;
  } sums;
};

/// By the records of `entropy` up to index `end`. nullopt: it does not fall along such a course, or is at its floor.
std::optional<EntropyForecast> forecast_entropy(const detect::Track& entropy, size_t end);
/// `kept`: of the same track, from forecasts at smaller indices.
std::optional<EntropyForecast> forecast_entropy(const detect::Track& entropy, size_t end, EntropyLogs& kept);

/// The same of a run that goes on, where the floor comes before the end of its plan, or soon.
std::optional<EntropyForecast> forecast_entropy(const State& state);

/// What the reward follows as the entropy is spent: R = b - a*exp(H), by the run's own records.
struct EntropyLaw {
  double a = 0, b = 0;
  double reward_at(double entropy) const;
};
/// nullopt: the records do not show the law.
std::optional<EntropyLaw> entropy_law(const State& state);

/// "a tenth of its first level (0.061 nats) at about step 420, 0.12 nats now; the reward would then be about 0.55 (0.51
/// now), by R = b - a*exp(H)"; "" when there is no forecast.
std::string entropy_forecast_text(const State& state);

}  // namespace mw
