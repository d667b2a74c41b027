// Signatures that were matched inside tracebacks.
#pragma once

#include <vector>

#include "core/detect/support/failure_chain.h"

namespace mw::detect {

/// A signature that was matched inside a traceback takes the traceback's beginning as its own; the traceback then says
/// nothing more, unless the signature is only a wrapper around it.
void join_traces(std::vector<Symptom>& symptoms);

}  // namespace mw::detect
