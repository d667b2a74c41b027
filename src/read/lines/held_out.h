// Lines of an evaluation in the log of a trainer that nobody described.
#pragma once

#include <string>
#include <string_view>

namespace mw {

/// "eval", "Validation", "val", "dev", "test", "held_out", ...: what people call data that no training saw. In lower
/// case.
bool is_held_out_word(std::string_view word);

/// What a figure's name names beside the words that say that it is of held-out data: "val_acc" is an "acc", "Held-out
/// accuracy" and "Accuracy on test set" are an "accuracy". Empty: it says nothing of such data, or nothing else.
std::string held_out_figure(std::string_view key);

/// Whether the words before the line's first figure say that it is of an evaluation on held-out data: "[eval] step 20
/// accuracy=0.35", "Validation accuracy at step 20: 0.35", "=== Evaluation ===". What a name says of itself, as
/// "val_accuracy" does, is not meant.
bool says_held_out(std::string_view text);

}  // namespace mw
