// Lines of a log that a viewer exports as one JSON document: a list of objects, one each, with the time and the text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "read/files/json_nesting.h"
#include "read/files/plain_stream.h"

namespace mw {

/// Bytes of one list whose order is looked at before its lines are handed over.
constexpr size_t kLogEventsLimit = size_t{64} << 20;

/// Is this the head of such a document? {"events": [{"timestamp": …, "message": …}, …]} of CloudWatch's command line,
/// [{"textPayload": …, "timestamp": …}, …] of Google Cloud's, objects behind each other over several lines, as
/// journald's. The first of them has to be whole and a line that a collector wraps (read/lines/wrapped_line.h).
bool are_log_events(std::string_view head);

/// Hands over "TIME TEXT" for each line of each object, from the oldest on: Google's list begins with the newest. Other
/// objects, and what stands around the list, are left out.
class LogEvents final : public PlainStream {
 public:
  explicit LogEvents(std::string_view head);
  Result<void> feed(std::string_view bytes, const Sink& sink) override;
  /// kTruncated where an object or the list does not end.
  Result<void> finish(const Sink& sink) override;

 private:
  void outside(char c, const Sink& sink);
  void inside(char c);
  void end_object();
  void hand_over(const Sink& sink);

  bool bare_;            // objects without a list
  bool listed_ = false;  // in the list
  JsonNesting around_, object_nesting_;
  std::string object_;
  std::vector<std::string> lines_;  // of the objects of one list so far
  size_t bytes_ = 0;                // of them
  std::string first_, last_;        // their times
};

}  // namespace mw
