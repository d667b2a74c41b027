// In which order a framework writes the files of one save, and when they were written: a save over an earlier one of
// the same place that was cut leaves files of both, and each of them is whole.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "core/state.h"
#include "sense/checkpoints/examination.h"

namespace mw {

/// 0 is written first; files of one place are written in any order.
struct PlacedFile {
  const TreeFile* file = nullptr;
  int place = 0;
};
using SaveOrder = std::vector<PlacedFile>;

/// The files of a tree that each save of that framework writes, in groups in which the order is known.
std::vector<SaveOrder> orders_of_save(const CheckpointTree& tree, std::string_view framework);

struct CutSave {
  const TreeFile* kept = nullptr;  ///< of the save before
  const TreeFile* made = nullptr;  ///< the first of the save that was cut, which writes it before `kept`
  Time before;                     ///< when the last of the save before was written
  Time from, until;                ///< when the first and the last of the save that was cut were
};
/// Where a pause lies between the files that is longer than a copy of all that follows takes, and what is written early
/// is younger than what is written late. A copy that was broken off and begun again may leave that, too.
std::optional<CutSave> cut_save(SaveOrder files);

/// An attempt of the run that saves here and has ended, by the machine's clock.
struct EndedAttempt {
  Time began, until;                                  ///< what was written later is none of its files
  int64_t first_step = kNoStep, last_step = kNoStep;  ///< that it trained
};
/// Those of a supervised run.
std::vector<EndedAttempt> ended_attempts(const State& state);

struct CutSaveAnswer {
  bool reported = false;
  bool by_attempt = false;  ///< one of the attempts ended while it saved
};

/// Reports a save that was cut: suspect of AReaL's slot, which every save writes over, and where one of `attempts`
/// wrote it, came to this step from an earlier one and ended, while the rest is older than that attempt; elsewhere
/// worth knowing, unless something else is known of these files or speaks against the checkpoint.
CutSaveAnswer look_for_cut_save(Examination& exam, const std::vector<EndedAttempt>& attempts);

}  // namespace mw
