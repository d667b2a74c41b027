// How long midwatch itself leaves alone what it quarantined: it is the only evidence of what went wrong, and what
// `midwatch restore` puts back.
#pragma once

#include <cstdint>
#include <string>

#include "base/time.h"
#include "core/checkpoint_layout.h"
#include "platform/disk.h"
#include "sense/checkpoints/quarantine.h"
#include "sense/checkpoints/scan.h"

namespace mw {

/// After it nobody is waited for who may want it back: a weekend.
inline constexpr int kQuarantineDays = 3;
inline constexpr Duration kQuarantineStays = Duration::seconds(kQuarantineDays * 86'400.0);

/// Why the quarantine `of` may not go yet unless a person says so; "": it may. It may once the run has got as far
/// again, as its newest whole checkpoint, of the number `newest`, was saved since and is no earlier than what was
/// moved; or after kQuarantineStays; or where space is short (`is_short`) and all that was moved is proven broken.
std::string why_it_waits(Disk& disk, const QuarantineManifest& of, const CheckpointLayout& layout, int64_t newest,
                         const CheckpointScan& whole, Time now, bool is_short);

}  // namespace mw
