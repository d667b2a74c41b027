// In which zone a run's machine was, by its W&B folder or by the console in its run file.
#pragma once

#include <optional>
#include <vector>

#include "platform/disk.h"
#include "platform/time_zone.h"
#include "read/discover.h"

namespace mw {

/// W&B names a run's folder by its start on the machine's own clock ("run-20260219_170811-ab12cd34",
/// "offline-run-…"; wandb.sdk.wandb_settings, timespec), and the run file in it holds the same moment in UTC: the
/// difference is the zone of that machine, in which its text logs are as well. Where the folder has another name, lines
/// of the console that say their own time stand beside the time, in UTC, at which W&B took them. nullopt: neither is
/// among `files`, or two differ.
std::optional<TimeZone> zone_by_wandb(Disk& disk, const std::vector<FoundFile>& files);

}  // namespace mw
