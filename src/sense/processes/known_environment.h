// What the secrets of a run are, as far as the environments of its processes show.
#pragma once

#include <cstdint>

#include "base/secrets.h"
#include "platform/system.h"

namespace mw {

/// Learns the secret-looking variables that the process was started with; nothing where it is gone or not ours to look
/// at.
void learn_environment_of(System& system, int64_t pid, KnownSecrets& known);

}  // namespace mw
