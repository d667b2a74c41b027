// The [cleanup] and [retention] parts of midwatch.toml.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "act/cleanup/cleanup_plan.h"
#include "app/config/config.h"

namespace mw {

/// `dry`: nothing is to be deleted, whatever the settings say. `unattended`: nobody is there to ask.
CleanupSettings cleanup_settings(const Config& config, bool dry = false, bool unattended = false);
/// What is to be said before the run begins, as a rule of theirs may keep all checkpoints; "": nothing.
std::string doubt_of_rules(const CleanupSettings& settings);
/// All words of cleanup.what.
std::vector<std::string_view> cleanup_words();

}  // namespace mw
