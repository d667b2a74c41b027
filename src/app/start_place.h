// The place that a checkpoint from the store is to have on this machine, and what lies there already.
#pragma once

#include "act/vault/manifest.h"
#include "api/shipping.h"
#include "app/early_end.h"
#include "app/start_local.h"
#include "base/result.h"
#include "platform/disk.h"

namespace mw {

/// Quarantines one that lies in the way, where request.may_move lets it and no other run saved it; a note says so, or
/// what kept it there. `keep` as of move_broken().
bool move_away(Disk& disk, const StartRequest& request, const LocalScope& scope, const LocalCheckpoint& one,
               int64_t keep, StartAnswer& answer);

/// Puts one there. What lies there and is something else is quarantined, but only once all of this one has come and is
/// right. False: what the store has of it is not what was pushed, which shows only in its bytes; a note says so, and
/// nothing of it is left, as some trainers take any folder for a checkpoint. kDenied: what lies there may not be moved.
Result<bool> take_shipped(Disk& disk, const StartRequest& request, const LocalScope& local,
                          const vault::CheckpointManifest& manifest, const EarlyEnd& early, StartAnswer& answer);

/// An error after something was moved names it, and how it is put back.
Error with_moved(Error error, const StartAnswer& answer);

}  // namespace mw
