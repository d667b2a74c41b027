// Which rank a launcher names as the one that failed: its exception ended the run, though other ranks went on for a few
// steps before the launcher took them down.
#pragma once

#include <vector>

#include "core/detect/support/failure_chain.h"

namespace mw::detect {

/// The exception of a rank that torchrun's list of failed ranks names was not survived, and it leads: sets both.
/// `symptoms` are in the order in which the run met them.
void mark_named_ranks(std::vector<Symptom>& symptoms);

}  // namespace mw::detect
