// Ships one checkpoint of a run that goes on: its trainer may delete it at any moment.
#pragma once

#include <string>

#include "act/vault/push.h"

namespace mw::vault {

/// The folder, among the checkpoints or beside the folder of them all, with second names for the files of the one that
/// is being shipped.
inline constexpr std::string_view kShippingFolder = ".midwatch-shipping";

/// The hint of the error that says that it is not there any more, or not all of it.
inline constexpr std::string_view kGoneHint = "Keep more checkpoints, or save less often.";

struct ShipOptions {
  PushOptions push;     ///< `folder`: of the checkpoint itself
  std::string owner;    ///< of the run alone: names its folder below kShippingFolder
  bool links = true;    ///< false: where the disk is short; it is read where it lies
  bool beside = false;  ///< its trainer takes any folder among them for one: the second names lie beside that folder
  int64_t least_bytes = 0;  ///< that a scan found: with fewer it is being deleted, or was cut
};

/// As push(). Its files get second names first, where the file system knows hard links, so that a trainer that keeps
/// fewer checkpoints than an upload lasts does not take them away; the names go when it is over. kNotFound: it is not
/// there any more, or not all of it; kInvalid with kBrokenHint: nor do its files fit together. Nothing of it is left in
/// the store then that was not there before.
Result<Pushed> ship(const VaultDoors& doors, const ShipOptions& options);

/// Takes away what a process before this one left below `root`.
void clear_shipping(const std::string& root, const std::string& owner);

}  // namespace mw::vault
