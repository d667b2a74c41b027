// Lines of an evaluation in the log of a trainer that nobody described.
#pragma once

#include <string_view>

namespace mw {

/// Whether the words before the line's first figure say that it is of an evaluation on held-out data: "[eval] step 20
/// accuracy=0.35", "Validation accuracy at step 20: 0.35", "=== Evaluation ===". What a name says of itself, as
/// "val_accuracy" does, is not meant.
bool says_held_out(std::string_view text);

}  // namespace mw
