// Rows of three words: the step, what was measured, the loss. Small pretraining and fine-tuning loops write them
// (karpathy/build-nanogpt, log/log.txt): "250 train 4.812046", "250 val 4.7993".
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace mw {

struct SplitRow {
  int64_t step = 0;
  bool held_out = false;  ///< "val", "test" and the like
  double loss = 0;
};

/// Nothing else may stand in the line, and the loss has three decimals or more.
std::optional<SplitRow> read_split_row(std::string_view text);

}  // namespace mw
