// The crash texts of programs that are not Python's, for the interpreter.
#include <memory>
#include <utility>

#include "base/text.h"
#include "core/trace_frame.h"
#include "read/interpret/interpreter.h"
#include "read/interpret/interpreter_stream.h"

namespace mw {

/// Lines of other processes may cut in.
void Interpreter::Stream::feed_crash_text(Interpreter& interpreter, const LogLine& line, bool sample) {
  // What Julia prints before its errors is read as a level elsewhere.
  const std::string_view text = line.whole.starts_with("ERROR: ") ? line.whole : line.text;
  const auto known = interpreter.streams_.find(kCrashTexts);
  const bool open = known != interpreter.streams_.end() && known->second->crash.open();
  if (!open && !CrashTextReader::may_begin(text)) return;
  if (open && (line.pid != known->second->pid || line.rank != known->second->rank)) return;
  std::unique_ptr<Stream>& stream = open ? known->second : interpreter.streams_.try_emplace(kCrashTexts).first->second;
  if (stream == nullptr) stream = std::make_unique<Stream>();
  stream->used = UINT64_MAX;  // it is never the oldest
  for (bool again = true; again;) {
    const bool was_open = stream->crash.open();
    const bool done = stream->crash.feed(text, line.number);
    again = done && stream->crash.again();
    if (done) stream->put_crash_text(interpreter, stream->crash.take());
    if (was_open && !stream->crash.open()) --interpreter.open_traces_;
    if (was_open || !stream->crash.open()) continue;
    ++interpreter.open_traces_;
    stream->pid = line.pid;
    stream->rank = line.rank;
    stream->sample = sample;
    stream->at = line.at;
  }
}

void Interpreter::Stream::put_crash_text(Interpreter& interpreter, event::TraceSeen trace) const {
  trace.sample = sample || trace.frame.starts_with("/tmp/");
  trace.pid = pid < 0 && rank >= 0 ? pid_of_rank(rank) : pid;
  trace.message = clip(redact_secrets(trace.message), kTextLimit);
  interpreter.put(std::move(trace), crash.first_line(), at);
}

void Interpreter::Stream::end_crash_text(Interpreter& interpreter) {
  if (!crash.open()) return;
  --interpreter.open_traces_;
  if (auto trace = crash.flush()) put_crash_text(interpreter, std::move(*trace));
}

}  // namespace mw
