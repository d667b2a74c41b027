// Receives the files of a manifest, compares each part with its checksum, and writes it.
#pragma once

#include <string>

#include "act/vault/crew.h"
#include "act/vault/doors.h"
#include "act/vault/manifest.h"

namespace mw::vault {

/// Writes all files into `folder`; what is there and right stays. kInvalid or kNotFound: the store does not have what
/// the manifest says; all other errors say nothing about that.
Result<void> download(const VaultDoors& doors, const std::string& prefix, const CheckpointManifest& manifest,
                      const std::string& folder, const Pace& pace, Meter& meter);

}  // namespace mw::vault
