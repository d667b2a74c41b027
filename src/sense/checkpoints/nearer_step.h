// Weights change a little with each step, so that a save is nearer to one close by than to one further off. Files of
// two steps that changed places fit by all else, and lie the other way round.
#pragma once

#include <string>
#include <vector>

#include "sense/checkpoints/examination.h"

namespace mw {

/// Reports a file of weights of which samples of numbers, against those of the same file in two checkpoints of `beside`
/// or more, lie as if it had changed places with that of another one of them, while all others of its set lie in the
/// order of their steps. 128 KB of each file are read.
void look_for_exchanged_weights(Examination& exam, const std::vector<std::string>& beside);

}  // namespace mw
