// What a metric record says of an error that the program caught and wrote down: {"episode": 16, "error":
// "OutOfMemoryError('CUDA out of memory. …')"}.
#pragma once

#include <string_view>
#include <vector>

#include "read/lines/row.h"

namespace mw {

/// The lines of a record's error, of a traceback as they stand. The views are into the record's texts.
struct RecordError {
  std::vector<std::string_view> lines;
  bool trace = false;
  bool failed = false;  ///< the record says of itself that it failed
  bool alone = false;   ///< the record has it in place of its figures
};

/// "error", "exception", "failure_reason", "traceback", …, at any depth.
bool names_error(std::string_view key);

/// Empty where the record holds a sample or a tool's answer, whose errors are none of the run's, or figures: what went
/// wrong with one of many answers stands beside a reward. A record that says of itself that it failed may have figures.
RecordError error_of_record(const Row& row);

}  // namespace mw
