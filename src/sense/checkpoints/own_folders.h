// Where midwatch's own folders of a root of checkpoints lie: in the root, or, where its trainer takes every folder
// there for a checkpoint, beside it (docs/decisions/0026).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "core/checkpoint_layout.h"
#include "platform/disk.h"

namespace mw {

struct OwnFolder {
  std::string base;     ///< the root, or the folder above it
  std::string name;     ///< below `base`: ".midwatch-removing", ".midwatch-removing/_actor"
  bool beside = false;  ///< `base` is the folder above the root
  std::string path() const;
};

OwnFolder own_folder_in(const std::string& root, std::string_view name);
/// nullopt: above the root is a place of everybody's, or nothing.
std::optional<OwnFolder> own_folder_beside(const std::string& root, std::string_view name);

/// As a manifest names what lies at `below` that folder, seen from the root.
std::string seen_from_root(const OwnFolder& folder, std::string_view below);
/// The path of what a manifest names so; a root that is a link leads nowhere else.
std::string path_seen_from(const std::string& root, const std::string& name);

struct ChosenFolder {
  OwnFolder folder;
  std::string trouble;  ///< it lies in a root whose trainer takes it for a checkpoint, as there is no other place: why
};

/// Where what is moved out of the root is to lie, in a folder `label` of the one with that name, which is there then.
/// Beside the root it lies only where a rename leads there: that is tried with an empty file. Errors: the disk's.
Result<ChosenFolder> choose_own_folder(Disk& disk, const CheckpointLayout& layout, const std::string& root,
                                       std::string_view name, const std::string& label);

}  // namespace mw
