// Files that hold records of several kinds say of each which it is: {"type": "config", ...}, {"split": "val", ...}.
#pragma once

#include <span>

#include "read/lines/row.h"

namespace mw {

enum class RecordKind {
  kTraining,  ///< of a step of training, or nothing says what it is
  kHeldOut,   ///< an evaluation's results, whatever their names
  kSettings,  ///< how the run was begun: its numbers are no measurements
  kAction,    ///< what was done in one step of an environment's episode: its step is none of the training
};

/// By a text of the record's own level whose name says that it names the kind or the part of the data, or that it names
/// an action beside the number of an episode; or by a flag that says that it evaluates.
RecordKind kind_of_record(const Row& row);

/// Whether that name is one under which a record says its kind.
bool names_kind(std::string_view key);

}  // namespace mw
