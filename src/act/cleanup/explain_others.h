// Checkpoints that stay because nothing proves that this run wrote them, for whoever asks why.
#pragma once

#include <string>

#include "act/cleanup/cleanup_plan.h"
#include "platform/disk.h"

namespace mw {

/// Adds those in `root` to CleanupPlan::left.
void explain_others(Disk& disk, const CleanupScope& scope, const std::string& root, CleanupPlan& plan);

}  // namespace mw
