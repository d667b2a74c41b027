// When the files of a checkpoint were written, against when those beside it were: a file that came from another one by
// a copy that keeps its time, or by a move, has the time of that one's save; one that was copied later has a time of
// its own. A hint, no proof: a trainer that links an unchanged file from the save before looks like a copy, and a slow
// upload like a later one.
#pragma once

#include <map>
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

/// Likewise states of loaders and other small files of a trainer, and what lies outside: those that were written before
/// all weights here, within the save of a checkpoint in `beside`. What is copied file by file may look so, too.
std::vector<StrangeTime> states_of_another(Disk& disk, const CheckpointTree& tree,
                                           const std::map<std::string, Time>& outside,
                                           const std::vector<std::string>& beside);

/// Files that hold weights or an optimizer's state, in byte order of their paths; exports are none.
std::vector<const TreeFile*> parts_of(const CheckpointTree& tree);

/// When most files of a tree were written, without a longer pause between two of them than writing one can take.
struct SaveTime {
  Time from, to;
  bool known = false;  ///< false: its times fall apart, or are too few
};
SaveTime save_time_of(const CheckpointTree& tree);

/// Was it written so long before or after the others that the save that wrote them did not write it? False where
/// `save` is not known.
bool written_apart(const TreeFile& file, const SaveTime& save);

/// Files that have the time of a save in `beside` while the file of that name there has the time of this one, and all
/// others do not: no save writes a file before its step is reached. Of checkpoints whose times are in the order of
/// their steps, a minute or more apart (ten where one has fewer than five files); whether the two files have other
/// bytes is not looked at.
std::vector<StrangeTime> exchanged_by_time(Disk& disk, const CheckpointTree& tree,
                                           const std::vector<std::string>& beside);

/// The one file of weights or of an optimizer that was written long after all others; "" where there is none.
struct LateFile {
  std::string path;
  Time written;
  Duration after;
};
LateFile written_late(const CheckpointTree& tree);

}  // namespace mw
