// Where a checkpoint of several roles goes on: each role's folder of checkpoints, and its pointer.
#pragma once

#include <string>

#include "act/vault/manifest.h"
#include "api/shipping.h"
#include "app/start_local.h"
#include "core/checkpoint_layout.h"
#include "platform/disk.h"

namespace mw {

/// Of a checkpoint of several roles the folder of the one that stands for it, where `root` is that, another role's, or
/// the one that holds them. `root` itself for any other.
std::string role_folder(const vault::CheckpointManifest& manifest, const std::string& root);

/// The folder of checkpoints below `root`, which was declared, where the run that shipped this one had them below its
/// own: as its manifest says, else as `outputs`, which the command names, do. `root` itself where they lay in that.
std::string folder_below(const vault::CheckpointManifest& manifest, const std::string& root,
                         const std::vector<std::string>& outputs);

/// The folder that holds AReaL's trial, where `root` is the trial itself or a folder in it, as a person declares it;
/// `root` itself for any other checkpoint.
std::string trial_holder(const vault::CheckpointManifest& manifest, const std::string& root);

/// What lies in the place of a part that is to be received, and is something else, leaves it: a role's checkpoint is
/// quarantined, a file gets another name beside it; a note says so. Where that is not allowed it stays, and nothing is
/// received.
Result<void> make_way_for_parts(Disk& disk, const StartRequest& request, const LocalScope& local,
                                const vault::CheckpointManifest& manifest, StartAnswer& answer);

/// The pointers of the other roles, which the trainer takes by theirs.
Result<void> point_other_roles(Disk& disk, const CheckpointLayout& layout, const PullAnswer& pulled,
                               const std::string& text);

}  // namespace mw
