// The loop of `midwatch attach`: waits for news, reads, records, judges; until it is told to stop.
#pragma once

#include <memory>

#include "daemon/language.h"
#include "platform/disk.h"
#include "ui/cli/verb.h"

namespace mw {

Result<std::unique_ptr<Replayed>> attach_run(Disk& disk, const Language& language, const AttachRequest& request);

}  // namespace mw
