// When one task of a Slurm step fails, srun ends the others, and slurmstepd writes "*** STEP 7.0 ON node CANCELLED AT
// ...
// ***" as it does when somebody cancels it. What stands around that line tells the two apart.
#pragma once

#include <string_view>
#include <vector>

#include "core/detect/support/failure_chain.h"

namespace mw::detect {

/// Slurm's word that it ends a step and its tasks, without a reason of its own.
bool ends_step(std::string_view text);

/// Symptoms of Slurm's ending a step of which something had failed before become its consequences.
void follow_failures(std::vector<Symptom>& symptoms);

}  // namespace mw::detect
