// Settings that are refused when a run begins with them, so that `midwatch config check` says so by day.
#pragma once

#include <vector>

#include "app/config/config.h"

namespace mw {

/// A time zone that is none, who gives notice that nobody knows, a store's place that is none, a best checkpoint by no
/// figure, and words in braces that the command to resume with does not have.
std::vector<ConfigProblem> start_problems(const Config& config);

}  // namespace mw
