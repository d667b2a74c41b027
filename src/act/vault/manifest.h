// What stands in an object store of a run's checkpoints, and under which keys (docs/formats/store.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "core/event.h"

namespace mw::vault {

/// Bytes of a manifest that are read; one of 100,000 files and 1 TB has 30 MB.
constexpr size_t kManifestBytes = size_t{128} << 20;
/// The largest part of a file: a few of them are in memory at once. So a file has 622 GB at most.
constexpr int64_t kMaxPartBytes = int64_t{64} << 20;
constexpr size_t kPointerBytes = size_t{64} << 10;

struct ManifestFile {
  std::string path;  ///< below the checkpoint's folder; is_plain_path()
  int64_t size = 0;
  std::string hash;                ///< XXH3-128 of its content
  int64_t part = 0;                ///< bytes of each part but the last
  std::vector<std::string> parts;  ///< XXH3-128 of each; one where the file is not larger than a part, none when empty
};

/// Files of a checkpoint that lie beside its folder: their paths in the store and in its manifest begin so, and go on
/// below the folder that holds all of it.
constexpr std::string_view kBeside = ".midwatch-beside/";
inline bool is_beside(const ManifestFile& file) { return file.path.starts_with(kBeside); }

/// A checkpoint that is in the store: whole, and compared with what was sent.
struct CheckpointManifest {
  std::string id;  ///< "step_40-0123456789abcdef": the step, and the state of its files when it was read
  int64_t step = kNoStep;
  std::string name;                 ///< of its folder
  std::string own;                  ///< its folder below the one that holds all parts of it; "": it has no others
  std::vector<std::string> beside;  ///< likewise the others: folders and files, whose files are the is_beside() ones
  std::string layout, framework;    ///< "global_step_{step}", "verl"; "" where not known
  std::string scanned;              ///< what its files proved: "whole", or "unknown" (nothing speaks against it)
  std::string lacks;                ///< what a resume needs and is not in it: "optimizer"; "" where nothing is known
  std::string verified;             ///< how the store's copies were compared: "checksums" or "sizes"
  Time pushed;                      ///< by the clock of who pushed it
  int64_t epoch = 0;                ///< of who pushed it
  std::string parent;               ///< the checkpoint that was the latest then; "": none
  /// What is known of the run: "wandb_run_id", "attempt", "configuration", "fingerprint" (of Keys::fingerprint()), …
  std::vector<std::pair<std::string, std::string>> run;
  std::vector<ManifestFile> files;

  int64_t bytes() const;
};

/// Where a file of it lies when its own folder is `folder`, which ends in `own`.
std::string place_of(const CheckpointManifest& manifest, const std::string& folder, const std::string& path);

std::string manifest_json(const CheckpointManifest& manifest);
/// Whatever comes: paths stay inside, names are unique, no file is also a folder, sizes and parts agree. kInvalid: not
/// so.
Result<CheckpointManifest> parse_manifest(std::string_view text);

/// `latest`: which checkpoint a machine is to begin from, and who may say so.
struct Pointer {
  int64_t epoch = 0;          ///< raised by everybody who begins to push
  std::string owner;          ///< who raised it last
  int64_t step = kNoStep;     ///< kNoStep: it names none yet
  std::string checkpoint;     ///< its id
  std::string manifest_hash;  ///< XXH3-128 of the manifest's text
  int64_t named_in = 0;       ///< the epoch of who named it
  bool older = false;         ///< somebody asked for a step below the one before
  int64_t back_in = 0;        ///< the last epoch in which somebody said that later steps of before do not count
  Time at;

  bool operator==(const Pointer&) const = default;
};
std::string pointer_json(const Pointer& pointer);
Result<Pointer> parse_pointer(std::string_view text);

std::string checkpoint_id(int64_t step, std::string_view state16);
/// The step of an id; nullopt: this is none.
std::optional<int64_t> step_of_id(std::string_view id);

/// The keys of one run. `prefix` has no slash at its ends and may be "".
struct Keys {
  std::string prefix;
  std::string under(std::string_view rest) const;
  std::string files(std::string_view id) const { return under("checkpoints/" + std::string(id) + "/"); }
  std::string manifests() const { return under("manifests/"); }
  std::string manifest(std::string_view id) const { return manifests() + std::string(id) + ".json"; }
  /// What the runs that shipped were made of, by the XXH3-128 of the text.
  std::string fingerprint(std::string_view hash) const { return under("fingerprints/" + std::string(hash) + ".json"); }
  std::string pointer() const { return under("latest.json"); }
  std::string pointers() const { return under("latest/"); }
};

}  // namespace mw::vault
