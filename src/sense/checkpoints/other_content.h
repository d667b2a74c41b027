// Files whose content is not what their names call for: another file of the checkpoint in their place, and optimizers
// that hold nothing, or next to nothing, of what they held.
#pragma once

#include <string>
#include <vector>

#include "sense/checkpoints/examination.h"

namespace mw {

/// Reports them. By its own names and the name under which it was saved (corrupt, suspect); by the other ranks of one
/// optimizer, and by what the same file holds in the checkpoints `beside` (the nearest first), as an optimizer without
/// state is one that some algorithms have.
void look_at_contents(Examination& exam, const std::vector<std::string>& beside);

/// Weights that were read, under a name that nothing else has.
bool has_named_weights(Examination& exam);

}  // namespace mw
