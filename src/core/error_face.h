// What two errors have to share to be the same failure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/state.h"

namespace mw {

/// An exception as its traceback shows it. Empty parts are not known.
struct ErrorFace {
  std::string exception;  ///< the bare class
  std::string file;       ///< of the run's own frame, without folders: a retry may unpack its code elsewhere
  std::string function;
  int64_t line = 0;
  std::string message;
};

/// `exception` is a bare class; `place` as core/trace_frame.h has it.
ErrorFace face_of(std::string_view exception, std::string_view message, std::string_view place);

/// The traceback that a line stands in, where nothing is known to catch it; null: none.
const TraceState* trace_around(const State& state, const Where& where);

/// What the traceback that begins there raised; empty where there is none, and where the kind of the failure alone says
/// what it is: a signature of a resource or of a process stands for one failure wherever it is met.
ErrorFace error_at(const State& state, std::string_view kind, const Where& where);

/// Are these two failures? By class, place and message as far as both are known; what a message has of numbers and
/// addresses differs from one attempt to the next, and lines shift by a few when a file is edited.
bool differ(const ErrorFace& a, const ErrorFace& b);

}  // namespace mw
