// What is said of checkpoints that lie here when a run is to go on here.
#pragma once

#include <string>
#include <vector>

#include "app/start_local.h"

namespace mw {

/// How a person moves it out of the way.
std::string how_to_move(const std::string& path);
/// Why one that is further is not gone on from; "": it is.
std::string not_gone_on_from(const LocalScope& scope, const LocalCheckpoint& one, bool by_number);
/// A command that works in `works` is not known to save below it or where the checkpoint lies; "": it is.
std::string in_other_folder(const std::string& root, const std::vector<std::string>& command, const std::string& works);
/// The store is empty, and this is here: what the trainer makes of it is its own affair unless it is this run's.
std::string beside_nothing(const LocalCheckpoint& one);

}  // namespace mw
