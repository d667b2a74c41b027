// What kind of event an event is.
#pragma once

#include <variant>

#include "core/event.h"

namespace mw {

/// As std::holds_alternative(), which searches all alternatives each time it is called: GCC's library computes the
/// index of the one that is asked for at run time, some fifty instructions for so many.
template <typename One>
bool is_a(const Event& event) {
  return std::get_if<One>(&event.body) != nullptr;
}

}  // namespace mw
