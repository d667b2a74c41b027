// The parts of a checkpoint that lie beside its folder come into folders of their own.
#pragma once

#include <string>

#include "act/vault/manifest.h"
#include "platform/disk.h"

namespace mw::vault {

/// What of a manifest lies in the checkpoint's own folder, and what beside it, by paths below what holds all of it.
CheckpointManifest own_of(const CheckpointManifest& manifest);
CheckpointManifest beside_of(const CheckpointManifest& manifest);
/// Is a file of beside_of() one of this part?
bool belongs_to(const ManifestFile& file, const std::string& part);

/// The folder that holds all of it, when its own one is to be `folder`. kDenied: that has another name than its own.
Result<std::string> root_for_parts(const CheckpointManifest& manifest, const std::string& folder);

/// Does all of a part lie below `root`, with the bytes of the manifest (beside_of())? False: nothing of it is there.
/// kDenied: something else is.
Result<bool> is_placed(Disk& disk, const CheckpointManifest& beside, const std::string& root, const std::string& part);

/// Renames each part that is not there yet from below `from` to below `root`; nothing is written over.
Result<void> place_parts(Disk& disk, const CheckpointManifest& beside, const std::string& from,
                         const std::string& root);

}  // namespace mw::vault
