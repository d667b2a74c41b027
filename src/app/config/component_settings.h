// The [component.NAME] sections of midwatch.toml.
#pragma once

#include <vector>

#include "act/supervise/supervised_component.h"
#include "app/config/config.h"
#include "sense/processes/probe.h"

namespace mw {

/// The servers that a person declared, in byte order of their names. The file has no problems.
std::vector<components::Target> component_targets(const Config& config);
/// Those of them that midwatch starts itself. They run in `folder`, and write into `outputs`/NAME.log.
std::vector<ComponentSpec> component_specs(const Config& config, const std::string& folder, const std::string& outputs);
/// What the table of keys cannot say: an address that is none.
std::vector<ConfigProblem> component_problems(const Config& config);

}  // namespace mw
