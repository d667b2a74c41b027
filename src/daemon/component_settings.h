// The [component.NAME] sections of midwatch.toml.
#pragma once

#include <vector>

#include "components/probe.h"
#include "daemon/config.h"

namespace mw {

/// The servers that a person declared, in byte order of their names. The file has no problems.
std::vector<components::Target> component_targets(const Config& config);
/// What the table of keys cannot say: an address that is none.
std::vector<ConfigProblem> component_problems(const Config& config);

}  // namespace mw
