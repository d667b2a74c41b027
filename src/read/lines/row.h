// A metric record, as the decoders of structured files hand it over, before any dialect has looked at it.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/time.h"
#include "core/event.h"

namespace mw {

struct RowNumber {
  std::string_view key;  ///< nested keys joined with '/'
  double value = 0;
  double whole = 1;      ///< what the value is a share of, where the text says so: 100 for "35%", 200 for "70/200"
  bool is_time = false;  ///< the text gives it a unit of time: "12.5s"
};
struct RowText {
  std::string_view key;
  std::string_view value;
};

/// The views live until the callback returns.
struct Row {
  uint64_t number = 0;     ///< 1-based line or record
  int64_t step = kNoStep;  ///< when the format has one ("_step" of wandb, tfevents' step); a dialect may overrule
  Time at;                 ///< when the format itself says so
  std::span<const RowNumber> numbers;
  std::span<const RowText> texts;
  bool of_machine = false;  ///< the sink's own sample of the machine: of no step, however steps are counted
};

}  // namespace mw
