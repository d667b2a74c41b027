// Sends the files of a tree to an object store, part by part, and goes on where an earlier process was killed.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "act/vault/crew.h"
#include "act/vault/doors.h"
#include "act/vault/manifest.h"
#include "act/vault/tree.h"
#include "sense/checkpoints/manifest.h"

namespace mw::vault {

/// Bytes of a part; more where a file would have too many of them.
constexpr int64_t kPartBytes = int64_t{8} << 20;
constexpr int64_t kMaxParts = 9'500;                    // S3 takes 10,000
constexpr int64_t kBytesInFlight = int64_t{128} << 20;  // of all parts that are in memory

struct UploadOptions {
  std::string folder;  ///< of the tree
  std::string prefix;  ///< keys are this and the path
  Pace pace;
  int64_t part_bytes = kPartBytes;                   ///< tests make it small
  const mw::CheckpointManifest* verified = nullptr;  ///< what an earlier verification read of the same files
};

struct Uploaded {
  std::vector<ManifestFile> files;
  bool checksums = true;  ///< the store confirmed each file's checksum; else sizes, and each part's when it came
};

/// Reads every file once, in order; sends what is not there yet; then asks the store for each file and compares.
/// Uploads in parts that nobody will complete are aborted. kInvalid: a file changes while it is read, or the store has
/// something else than what was sent.
Result<Uploaded> upload(const VaultDoors& doors, const Tree& tree, const UploadOptions& options, Meter& meter);

/// Aborts all open uploads below a prefix. Best effort.
void abort_uploads(ObjectStore& store, const std::string& prefix);

}  // namespace mw::vault
