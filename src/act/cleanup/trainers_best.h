// Which of its checkpoints a trainer itself calls the best one.
#pragma once

#include <string>

#include "platform/disk.h"

namespace mw {

/// transformers names the best one so far in each save, and loads that one when it is done: the name of it, by what is
/// saved in `folder`; "": none is named there.
std::string trainers_best(Disk& disk, const std::string& folder);

}  // namespace mw
