// What a pickle would run besides what makes weights and states. Whoever loads it runs that: no checkpoint needs it.
#pragma once

#include <string>

#include "read/files/pickle.h"

namespace mw {

/// The first call of a function that starts programs, runs texts as code, or writes and removes files: "os.system"; ""
/// where there is none. What is named and not called counts for nothing, nor does a function that is not known.
std::string strange_call(const Pickle& pickle);

}  // namespace mw
