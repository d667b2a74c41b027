// A tool's call whose code follows in the log. For the interpreter's own files.
#pragma once

#include <string>

#include "read/interpret/code_call.h"
#include "read/interpret/interpreter.h"

namespace mw {

struct Interpreter::CodeRun {
  event::ToolCalled body;
  uint64_t number = 0;
  Time at;
  int64_t pid = -1;
  int rank = -1;
  bool unnamed = false;  ///< only the first line of what was logged says which process it is of
  std::string until;     ///< the line behind the code; "": the next that is logged
  CodeCall code;
  LineReader reader;  ///< of its own: what the source's knows of clocks must not depend on code
};

}  // namespace mw
