// Weights in kinds of numbers that may be anything: whole and packed ones, and those of another byte order.
#pragma once

#include "sense/checkpoints/deep_check.h"
#include "sense/checkpoints/examination.h"

namespace mw {

/// After a deep check: how much of the weights no number was judged of. A note, where that is a share worth a word.
void note_unjudged(Examination& exam, DeepFigures& figures);

}  // namespace mw
