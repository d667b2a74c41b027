// The [free-space] and [retention] parts of midwatch.toml.
#pragma once

#include <string_view>
#include <vector>

#include "act/cleanup/free_plan.h"
#include "app/config/config.h"

namespace mw {

/// `dry`: nothing is to be deleted, whatever the settings say.
FreeSettings free_settings(const Config& config, bool dry = false);
/// All words of free-space.what.
std::vector<std::string_view> free_words();

}  // namespace mw
