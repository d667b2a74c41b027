// When the files of a checkpoint were written, against when those beside it were: a file that came from another one by
// a copy that keeps its time, or by a move, has the time of that one's save. A hint, no proof: a copy that sets a new
// time shows nothing, and a trainer that links an unchanged file from the save before looks the same.
#pragma once

#include <string>
#include <vector>

#include "sense/checkpoints/checkpoint_tree.h"

namespace mw {

struct StrangeTime {
  std::string path;   ///< within the checkpoint
  std::string other;  ///< the checkpoint while whose files it was written
  Time written;
};

/// Files of weights and optimizers that were written while the files of a checkpoint in `beside` were, and apart from
/// all others of `tree`. Those beside are only listed where the times of `tree` fall apart.
std::vector<StrangeTime> written_with_another(Disk& disk, const CheckpointTree& tree,
                                              const std::vector<std::string>& beside);

}  // namespace mw
