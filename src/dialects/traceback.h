// Python tracebacks, put together from their lines, whatever prefix each line carries.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/event.h"

namespace mw {

/// Feed it the message part of lines that follow "Traceback (most recent call last):". One per stream (pid, rank).
class TracebackReader {
 public:
  enum class Took { kNo, kYes, kDone };
  /// kYes: the line belongs to a traceback in progress; kDone: it ended one, take() has it (the line itself was its
  /// last when it was the exception line); kNo: nothing to do with one.
  Took feed(std::string_view message, uint64_t number);
  event::TraceSeen take();
  /// The file ended, or another stream cut in: what there is so far, if that is enough to be called a traceback.
  std::optional<event::TraceSeen> flush();
  uint64_t first_line() const { return first_line_; }
  bool open() const { return open_; }

 private:
  bool open_ = false;
  uint64_t first_line_ = 0;
  event::TraceSeen trace_;
  std::string pending_;
};

/// True when a frame lies in a framework or an installed package ("site-packages/", "/vllm/", "ray/_private") rather
/// than in text that a model or a tool wrote ("<string>", "<stdin>", "/tmp/tmpab12.py", "Cell In[3]").
bool frame_is_infrastructure(std::string_view frame);

}  // namespace mw
