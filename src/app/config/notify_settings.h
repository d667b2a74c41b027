// The [notify] part of midwatch.toml.
#pragma once

#include <vector>

#include "act/notify/notify_rules.h"
#include "app/config/config.h"
#include "base/result.h"
#include "platform/disk.h"

namespace mw {

/// Reveals the secrets. An error says which channel cannot be used and why, with the line of the file.
Result<NotifySettings> notify_settings(Disk& disk, const Config& config);

/// What is wrong between keys that are each right by themselves: a channel without a kind or an address, a name that is
/// no channel's.
std::vector<ConfigProblem> notify_problems(const Config& config);

}  // namespace mw
