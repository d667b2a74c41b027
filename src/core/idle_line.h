// Lines that a server writes whether or not anybody trains.
#pragma once

#include <string_view>

namespace mw {

/// A health check, a heartbeat, or an inference engine's statistics while it has no request.
bool is_idle_line(std::string_view text);

}  // namespace mw
