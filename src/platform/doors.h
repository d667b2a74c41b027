// The doors through which a watch sees the world: real ones in the program, fakes in the simulation.
#pragma once

#include "base/secrets.h"
#include "platform/clock.h"
#include "platform/disk.h"
#include "platform/lock.h"
#include "platform/watch.h"

namespace mw {

/// All outlive what looks through them.
struct Doors {
  Disk& disk;
  Clock& clock;
  Watch& watch;
  Locks& locks;
  const KnownSecrets* known = nullptr;  ///< values that nothing that is kept may hold
};

}  // namespace mw
