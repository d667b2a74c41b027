// What a run has in an object store.
#pragma once

#include <string>
#include <vector>

#include "act/vault/doors.h"
#include "act/vault/latest.h"
#include "act/vault/manifest.h"

namespace mw::vault {

struct RemoteCheckpoint {
  CheckpointManifest manifest;  ///< without its files' parts, to save memory
  bool latest = false;          ///< the pointer names it
  std::string trouble;          ///< why nobody should resume from it; "": nothing is known to be wrong
  std::string hash;             ///< of the manifest's text
  bool given_up = false;        ///< all that is wrong with it: the pointer was moved to an earlier step since
};

struct Catalogue {
  Pointer pointer;
  std::vector<RemoteCheckpoint> checkpoints;  ///< the highest step first
  std::vector<std::string> notes;             ///< one sentence each: what is wrong with the pointer
};

/// Everything that has a manifest. `check`: the store is asked for every file, too.
Result<Catalogue> read_catalogue(const VaultDoors& doors, const Keys& keys, bool check);

/// The one of the highest step that nothing is known to be wrong with; nullptr: there is none.
const RemoteCheckpoint* newest_usable(const Catalogue& catalogue);

/// Ids of all manifests, the highest step first.
Result<std::vector<std::string>> manifest_ids(ObjectStore& store, const Keys& keys);

/// The first file of a manifest that the store lacks or has in another size; "" when all are there.
Result<std::string> files_are_there(ObjectStore& store, const Keys& keys, const CheckpointManifest& manifest);

/// The highest epoch of any manifest; 0: there is none.
Result<int64_t> highest_epoch(ObjectStore& store, const Keys& keys);

/// May one resume from it, as far as the pointer says? Not where the pointer was moved to an earlier step since: then
/// somebody went back on purpose, or another machine went on from there.
bool is_current(const Pointer& pointer, const CheckpointManifest& manifest);

}  // namespace mw::vault
