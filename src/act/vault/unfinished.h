// What a push that was killed left in the store, and that no later push went on with: parts of uploads, and files that
// no manifest names. They cost their space for ever.
#pragma once

#include "act/vault/doors.h"
#include "act/vault/latest.h"
#include "act/vault/manifest.h"

namespace mw::vault {

/// Nothing was added for so long, by the store's own clock.
constexpr Duration kUnfinished = Duration::seconds(3 * 86400);

/// Best effort, after a push. `now`: the store's time. Aborts uploads that began before kUnfinished. Removes the files
/// of checkpoints of lower steps than `latest` names that no manifest names and to which nothing was added for
/// kUnfinished, while `latest` holds our epoch: whoever began to push since may be going on with them. So nothing is
/// removed from stores without conditions (Promise::kAppend), which know no epochs.
void remove_unfinished(const VaultDoors& doors, const Keys& keys, LatestPointer& latest, Time now);

}  // namespace mw::vault
