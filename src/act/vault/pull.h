// midwatch checkpoint pull: the newest verified checkpoint of a run comes from an object store to this machine. It is
// compared with its manifest while it is written, and gets its name when all of it is right.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "act/vault/doors.h"
#include "act/vault/manifest.h"
#include "platform/lock.h"

namespace mw::vault {

struct PullOptions {
  std::string prefix;      ///< of the run in the store, without slashes at its ends
  std::string folder;      ///< that is made, absolute; may be there when it is empty
  int64_t step = kNoStep;  ///< kNoStep: the newest
  Pace pace;
  std::function<void(const std::string&)> discard;  ///< removes a folder that nobody goes on with
  Locks* locks = nullptr;  ///< against others who receive into the same folder; nullptr: there are none
  std::string own;         ///< a word that no other process has
  /// Takes what lies in the place of `folder`, and of the parts beside it, out of their way. It is called once all of
  /// the checkpoint has come and is right; before that nothing there is touched. nullptr: nothing may lie there.
  std::function<Result<void>()> make_way;
};

struct Pulled {
  CheckpointManifest manifest;
  bool latest = false;             ///< the pointer names it
  Progress moved;                  ///< bytes that were on the disk from an earlier try count as done, not as moved
  std::vector<std::string> notes;  ///< which checkpoints were passed over, and why; what is wrong with the pointer
};

/// Either `folder` is there with all of it afterwards, or what lay there before. Nothing else is written than
/// `folder`.partial-ID beside it, from which another call goes on; of one that was passed over it does not stay. Others
/// who receive into `folder` meanwhile have folders of their own, and the first that is complete gets the name.
/// kNotFound: the run has no checkpoint there that holds what its manifest says.
Result<Pulled> pull(const VaultDoors& doors, const PullOptions& options);

}  // namespace mw::vault
