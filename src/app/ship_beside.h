// Ships a supervised run's checkpoints beside its watch: act/vault's task over this machine itself.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "act/vault/ship_task.h"
#include "api/shipping.h"
#include "core/checkpoint_layout.h"
#include "core/supervise/run_spec.h"
#include "platform/doors.h"

namespace mw {

/// Does midwatch ship what this run saves? Not where it only watches.
inline bool is_shipped(const RunSpec& spec) { return !spec.store.empty() && !spec.dry; }

/// What a manifest says of the folder in which a checkpoint lay: where that is below the one that was declared to hold
/// the run's checkpoints, "."; for that itself.
inline constexpr std::string_view kBelowFact = "below";

/// `run_folder`: where the run is recorded. The rest as of ShipScope.
std::unique_ptr<ShipTask> ship_beside(const Doors& doors, const RunSpec& spec, const std::string& run_folder,
                                      std::function<CheckpointLayout(const std::string& framework)> layout,
                                      std::function<void(const std::string& sentence)> say);

}  // namespace mw
