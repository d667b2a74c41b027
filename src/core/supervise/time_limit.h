// The time limit that a person sets a command by timeout(1). Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/time.h"
#include "core/supervise/policy.h"

namespace mw {

/// timeout(1) ends with this status where the command it calls did not end in time.
inline constexpr int64_t kTimedOut = 124;

struct TimeLimit {
  Duration after;      ///< from its start
  bool kills = false;  ///< by SIGKILL, at once or later: then its status is 137
  size_t words = 0;    ///< of the command that belong to it; behind them is what it calls
  std::string text;    ///< "timeout 8h"
};

/// That of a command which calls timeout, alone or behind wrappers such as env; nullopt: it sets none.
std::optional<TimeLimit> time_limit_of(std::span<const std::string> command);

/// What ended an attempt of that command, where that is its time limit: "timeout 8h"; "": something else did. In a
/// script the limit is known by its status alone, where nothing else failed.
std::string ended_by_limit(std::span<const std::string> command, const AttemptOutcome& ended);

}  // namespace mw
