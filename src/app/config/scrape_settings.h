// The [scrape.NAME] sections of midwatch.toml.
#pragma once

#include <vector>

#include "app/config/config.h"
#include "sense/processes/endpoint.h"

namespace mw {

/// In byte order of their names. The file has no problems.
std::vector<Endpoint> endpoints_of(const Config& config);
/// What the table of keys cannot say: an address that is none, a metric that cannot be called so.
std::vector<ConfigProblem> scrape_problems(const Config& config);

}  // namespace mw
