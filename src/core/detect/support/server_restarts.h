// What ended an inference server that somebody started again: its log goes on with the next start.
#pragma once

#include <vector>

#include "core/detect/support/failure_chain.h"

namespace mw::detect {

/// In the log of an inference server alone, a failure behind which the server came up again is one that was survived;
/// in any log, waiting for a server is over once one is up. A start that is not said to be complete shows nothing: the
/// same failure may end it, too.
void outlive_server_restarts(const State& state, const Knowledge& knowledge, std::vector<Symptom>& symptoms);

}  // namespace mw::detect
