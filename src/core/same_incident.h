// Whether two incidents are the same in all that is written of them.
#pragma once

#include <vector>

#include "core/incident.h"

namespace mw {

/// False where a figure is no number: then whoever asks compares what is written of the two.
bool same(const Incident& a, const Incident& b);
bool same(const std::vector<Incident>& a, const std::vector<Incident>& b);

}  // namespace mw
