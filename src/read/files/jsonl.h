// JSON-lines metrics: one JSON object per line, as Python's json.dumps writes them (bare NaN and Infinity included).
#pragma once

#include <string>
#include <string_view>

#include "read/files/damage.h"
#include "read/files/row_builder.h"

namespace mw {

/// Bytes of one line; a longer one is left out.
constexpr size_t kJsonLineLimit = size_t{8} << 20;

/// Fills `row` from one JSON object: nested keys joined with '/', strings as texts, arrays left
/// out but for its rewards (add_listed_rewards()). A record of the
/// form {"step":…,"data":{…}} loses the level "data/". False when `json` is no object. `json` must live as long as what
/// is in the row.
bool read_json_record(std::string_view json, RowBuilder& row);

/// Rows: one per line, numbered by line. Lines that hold no JSON are text, as a program's last error output is, and so
/// are the messages and tracebacks of records that are a log's.
class JsonlDecoder : public Decoder {
 public:
  void feed(std::string_view bytes, RecordSink& sink) override;
  void finish(RecordSink& sink) override;
  uint64_t consumed() const override { return consumed_; }

 private:
  bool line(std::string_view text, RecordSink& sink);
  void left_out(std::string_view text, RecordSink& sink);
  void say_log_text(std::string_view json, Time at, RecordSink& sink);
  bool say_wrapped_line(std::string_view json, bool logged, Time at, RecordSink& sink);

  std::string pending_;    // start of the line that has not ended
  bool overlong_ = false;  // the line that has not ended is over the limit
  uint64_t offset_ = 0, consumed_ = 0, lines_ = 0;
  RowBuilder row_;
  std::string wrapped_time_, wrapped_text_;  // scratch
  bool in_trace_ = false;                    // the line before was one of a traceback that comes line by line
  Damage damage_;
  ProblemCounter not_a_record_{"not-a-record"};
  ProblemCounter too_long_{"line-too-long"};
};

}  // namespace mw
