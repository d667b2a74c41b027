// A link within a checkpoint that leads to nothing.
#pragma once

#include <string>

#include "sense/checkpoints/examination.h"

namespace mw {

/// Breaks it where the name is one that a trainer loads: a file of weights or settings, a part of a framework's layout
/// ("critic"), or any folder's that was to lie in a checkpoint (a frozen part that is kept once). Not in an export.
void look_at_dead_link(Examination& exam, const std::string& link);

}  // namespace mw
