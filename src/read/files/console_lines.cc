#include "read/files/console_lines.h"

#include <algorithm>

namespace mw {

void ConsoleLines::feed(std::string_view piece, size_t stream_number, Time at, RecordSink& sink) {
  Stream& stream = streams_[stream_number & 1];
  while (!piece.empty()) {
    const size_t feed = piece.find('\n'), back = piece.substr(0, feed).find('\r'), end = std::min(feed, back);
    if (end == std::string_view::npos) return hold(stream, piece, at, sink);
    if (stream.pending.empty()) {
      if (!stream.overlong) hand_over(piece.substr(0, end), at, sink);
    } else {
      hold(stream, piece.substr(0, end), at, sink);
      hand_over(stream.pending, stream.at, sink);
      stream.pending.clear();
    }
    stream.overlong = false;
    piece.remove_prefix(end + 1);
  }
}

void ConsoleLines::hold(Stream& stream, std::string_view piece, Time at, RecordSink& sink) {
  if (stream.overlong) return;
  if (stream.pending.empty()) stream.at = at;
  stream.pending.append(piece.substr(0, kConsoleLineLimit - stream.pending.size()));
  if (stream.pending.size() < kConsoleLineLimit) return;
  too_long_.report(sink, "a console line of more than 1 MiB was cut", count_ + 1);
  hand_over(stream.pending, stream.at, sink);
  stream.pending.clear();
  stream.overlong = true;
}

void ConsoleLines::hand_over(std::string_view line, Time at, RecordSink& sink) {
  if (line.find_first_not_of(" \t") == std::string_view::npos) return;
  sink.console(line.substr(0, kConsoleLineLimit), ++count_, at);
}

void ConsoleLines::finish(RecordSink& sink) {
  for (Stream& stream : streams_) {
    if (!stream.pending.empty()) hand_over(stream.pending, stream.at, sink);
    stream.pending.clear();
  }
}

}  // namespace mw
