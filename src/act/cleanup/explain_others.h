// Checkpoints that stay because nothing proves that this run wrote them, for whoever asks why.
#pragma once

#include <string>

#include "act/cleanup/cleanup_plan.h"
#include "platform/disk.h"

namespace mw {

/// Adds those in `root` to CleanupPlan::left.
void explain_others(Disk& disk, const CleanupScope& scope, const std::string& root, CleanupPlan& plan);

/// Notes folders that no rule removes anything from, with why: a link leads to them by now, or the run's own log names
/// more of the checkpoints there than `keep_last`, and nothing proves that they are its own. (Where another run saves,
/// too, that is said elsewhere.) The same words for every such plan.
void note_what_no_rule_removes(Disk& disk, const CleanupScope& scope, int64_t keep_last, CleanupPlan& plan);

}  // namespace mw
