// Lines that a server writes whether or not anybody trains.
#pragma once

#include <string_view>

#include "core/event.h"
#include "core/knowledge.h"

namespace mw {

/// A health check, a heartbeat, or what an inference engine writes while it has no request.
bool is_idle_line(std::string_view text, const Knowledge& knowledge);
/// The figures of an inference engine that has no request, and none of a trainer beside them.
bool is_idle(const event::Measured& measured);

}  // namespace mw
