// Lines of a log that a collector keeps as JSON, one object each.
#pragma once

#include <string>
#include <string_view>

namespace mw {

/// {"timestamp": 1795168020000, "message": "step 3 loss 0.5"}, as CloudWatch, Datadog, Fluent Bit ("log"), Google Cloud
/// ("textPayload"), Loki ("line"), journald ("MESSAGE") and Python's JSON formatters write it: adds to `out` the time,
/// a space and the text, as one line that ends with '\n'. Docker's json-file driver is one of them. False, and nothing
/// is added, for any other line: one without a time, one with figures or a sample beside the message, one whose message
/// or another text of it goes over several lines.
bool unwrap_line(std::string_view line, std::string& out);
/// The same of all but Docker's, with time and text apart.
bool read_wrapped_line(std::string_view line, std::string& time, std::string& text);
/// The same of such an object wherever it stands, whose text may go over several lines.
bool read_wrapped_event(std::string_view object, std::string& time, std::string& text);

/// Might it be one?
inline bool may_be_wrapped(std::string_view line) { return line.starts_with("{\""); }

}  // namespace mw
