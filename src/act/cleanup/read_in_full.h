// Which checkpoints were read byte by byte, before others go for them: whole by its structure may yet be full of NaN.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/retention.h"
#include "platform/disk.h"
#include "sense/checkpoints/scan.h"

namespace mw {

using ScansByStep = std::map<int64_t, CheckpointScan>;

/// Adds to `facts` what a reading by hand (midwatch checkpoint verify --deep) found of those in `all` that are whole
/// and of which `facts` says nothing, as remembered below `home`, where nothing was written to since.
void add_reads_by_hand(Disk& disk, const std::string& home, const ScansByStep& all, RetentionFacts& facts);

/// Which of those that stay in `root` were read in full, for a person who has to say yes; "" where none goes.
std::string what_was_read(const std::string& root, const std::vector<RetentionVerdict>& verdicts,
                          const ScansByStep& all, const RetentionFacts& facts);

}  // namespace mw
