// What an interpreter keeps of one stream (pid, rank) of a log. For the interpreter's own files.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "read/interpret/interpreter.h"
#include "read/lines/crash_text.h"

namespace mw {

struct Interpreter::Stream {
  struct Match {
    uint32_t signature;
    std::string text;
    uint64_t number, count;
    bool sample;
    Time at;
  };
  TracebackReader reader;
  bool sample = false;
  bool caught = false;  // the traceback in progress was caught, by the word of what printed it
  bool logged = false;  // a logger printed it, as an error
  bool hooked = false;  // PyTorch's hook for what nobody caught printed it: its head is "[rank0]: "
  uint64_t used = 0;
  Time at;
  int64_t pid = -1;
  int rank = -1;
  std::vector<Match> matches;

  /// What programs that are not Python's print when they die: one stream of its own has them for all processes.
  static constexpr int64_t kCrashTexts = INT64_MIN;
  CrashTextReader crash;
  static void feed_crash_text(Interpreter& interpreter, const LogLine& line, bool sample);
  void put_crash_text(Interpreter& interpreter, event::TraceSeen trace) const;
  void end_crash_text(Interpreter& interpreter);
};

}  // namespace mw
