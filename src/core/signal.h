// The canonical signals: one row each. A dialect maps a trainer's own metric names onto these.
#pragma once

#include <cstdint>
#include <string_view>

namespace mw {

enum class Worse : uint8_t { kNeither, kUp, kDown };

struct SignalRow {
  std::string_view name;  ///< "reward.mean"
  std::string_view
      unit;  ///< "1" (a plain number), "tokens", "s", "ratio" (0..1), "tokens/s", "nats", "bytes", "W", "C", "MHz"
  std::string_view meaning;  ///< one sentence
  double least;              ///< smallest value that makes sense (-inf: any)
  double most;               ///< largest
  Worse worse;               ///< the direction in which trouble usually lies
  std::string_view
      group;  ///< heading in reports: "reward", "policy", "length", "engine", "time", "eval", "tools", "host"
};

/// The row of a canonical name; families such as "reward.component.*" and "eval.*" have one row for all their
/// members. nullptr for a name that is not canonical.
const SignalRow* find_signal(std::string_view name);

/// All rows, in the order in which reports show them. `count` gets their number.
const SignalRow* all_signals(size_t* count);

/// Means of the reward lists that a script prints batch by batch. They belong to no step: their records are counted.
inline constexpr std::string_view kListedRewards = "reward.component.listed";

}  // namespace mw
