// The terminal of this process, for a live view.
#pragma once

#include <memory>

#include "ui/live/live_terminal.h"

namespace mw {

/// nullptr where standard output and standard error are not the same terminal, or one that cannot be drawn on
/// (TERM=dumb).
std::unique_ptr<LiveTerminal> make_posix_terminal();

}  // namespace mw
