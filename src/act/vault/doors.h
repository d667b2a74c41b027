// What shipping checkpoints needs of the world.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "platform/clock.h"
#include "platform/disk.h"
#include "platform/object_store.h"

namespace mw::vault {

/// How far a transfer is. Bytes are those of the checkpoint's files.
struct Progress {
  int64_t bytes = 0, total = 0;  ///< done (sent, received, or seen to be there already), and in all
  int64_t moved = 0;             ///< of the done ones: that went over the wire
};

/// All outlive the call that they are given to. With `parallel` above 1, disk, store, sleep and progress are used from
/// several threads at once.
struct VaultDoors {
  Disk& disk;
  ObjectStore& store;
  Clock& clock;
  std::function<void(Duration)> sleep;
  std::function<Result<int64_t>(const std::string&)> free_bytes;  ///< on the file system that holds a folder
  std::function<void(const Progress&)> progress;                  ///< may be empty
};

/// How a transfer may use the machine.
struct Pace {
  int parallel = 8;  ///< requests at once
  int64_t rate = 0;  ///< bytes a second, over all of them; 0: no limit
};

}  // namespace mw::vault
