// Events as JSON, one value each, and back. Format: docs/formats/journal.md.
#pragma once

#include <string>
#include <string_view>

#include "core/event.h"

namespace mw {

/// Appends `event` to `out` as one JSON object without line ends, plain ASCII and valid UTF-8. Nothing is lost: NaN and
/// infinities are strings, a byte that is not UTF-8 is a lone surrogate \udc80..\udcff (as in Python's PEP 383).
void encode_event(const Event& event, std::string& out);

enum class Decoded {
  kEvent,    ///< `out` is it
  kUnknown,  ///< well-formed as far as read, but of a type or version that this build does not know
  kBad,      ///< not an event
};

/// The inverse. Fields may come in any order; unknown ones are skipped, missing ones keep their defaults. Never fails
/// otherwise, whatever the bytes.
Decoded decode_event(std::string_view json, Event& out);

/// "measured", "attempt-began", ...: the word of the event's type.
std::string_view event_name(const Event& event);

}  // namespace mw
