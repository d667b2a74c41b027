// What programs that show the stacks of a process write: py-spy (github.com/benfred/py-spy), eu-stack of elfutils, gdb.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "platform/process.h"
#include "platform/program.h"
#include "platform/system.h"

namespace mw::components {

/// The innermost functions of thread `tid` in such a text, the innermost first: "socket.py:705 in readinto <-
/// train.py:120 in step". Of the first thread where none has that number; "" when there is none.
std::string innermost(std::string_view text, int64_t tid);

/// What came of asking for the stacks of a process.
struct Stacks {
  std::string tool;     ///< that printed them; "" when none did
  std::string text;     ///< what it wrote, redacted
  std::string why_not;  ///< in words, where none did
  bool late = false;    ///< one did not end in time and was killed: it may have left the process stopped
};
constexpr Duration kStacksLimit = Duration::seconds(10);  ///< for each program
constexpr size_t kStacksBytes = size_t{192} << 10;        ///< of their text

using RunProgram = std::function<Result<ProgramEnd>(const ProgramRequest&)>;

/// Blocks. py-spy does not stop the process; eu-stack and gdb do, for the moment in which they read, and are asked only
/// where they may (`may_stop`). Each is tried where the one before is not there or prints no stacks. A process that is
/// stopped, or waits for a device, is left alone.
Stacks stacks_of(System& system, const RunProgram& run, const ProcessId& id, bool may_stop);

}  // namespace mw::components
