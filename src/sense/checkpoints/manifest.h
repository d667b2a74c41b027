// What midwatch remembers of a checkpoint that it verified: files, sizes, checksums, verdict. Kept in the state folder,
// never in the checkpoint's own tree, as some frameworks delete what they do not know (docs/formats/manifest.md).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/event.h"
#include "platform/disk.h"

namespace mw {

/// What the numbers of one tensor of F64, F32, F16, BF16 or F8 were.
struct ManifestTensor {
  std::string name;
  uint64_t numbers = 0;
  double norm = 0;    ///< L2, of those that are finite
  bool zero = false;  ///< all are 0
  uint32_t crc = 0;   ///< CRC-32 of its bytes, where its format has one; 0: it has none
  int64_t zero_bytes =
      -1;  ///< in whole pages of zeros; -1: not known (midwatch before 2026-11-29, or it has a checksum)
};

struct ManifestFile {
  std::string path;  ///< within the checkpoint
  int64_t bytes = 0;
  Time changed;
  uint64_t xxh3 = 0;                         ///< XXH3, 64 bits, of all its bytes; 0 where only the other one is known
  std::string xxh3_128;                      ///< XXH3-128 as stores record it; "" in manifests from before 2026-11-25
  uint64_t numbers = 0;                      ///< of tensors with a point (tensor_scan.h) in it; 0: none, or not known
  double norm = 0;                           ///< L2, of those that are finite
  std::vector<ManifestTensor> tensors = {};  ///< in the file's order; none where there are more than kManifestTensors
};
/// Tensors of one checkpoint that are remembered one by one.
constexpr size_t kManifestTensors = 50'000;
/// By the longest checksum that both have.
bool same_bytes(const ManifestFile& a, const ManifestFile& b);

struct CheckpointManifest {
  std::string path;  ///< of the checkpoint, absolute
  int64_t step = kNoStep;
  std::string framework, verdict;
  std::vector<std::string> layouts;
  Time at;  ///< when it was verified
  std::vector<ManifestFile> files;
};

/// Of a corrupt one nothing is to be compared with: whoever repairs it changes its bytes.
inline bool is_sound(const CheckpointManifest& manifest) { return manifest.verdict != "corrupt"; }

std::string manifest_json(const CheckpointManifest& manifest);
/// kInvalid: it is no manifest, or one of another schema.
Result<CheckpointManifest> parse_checkpoint_manifest(std::string_view json);

/// Where that of a checkpoint lies, below the folder where runs are recorded.
std::string manifest_path(const std::string& home, const std::string& checkpoint);
Result<CheckpointManifest> load_manifest(Disk& disk, const std::string& home, const std::string& checkpoint);
Result<void> save_manifest(Disk& disk, const std::string& home, const CheckpointManifest& manifest);

}  // namespace mw
