// Metrics as separated values with a header line (RFC 4180 quoting; ',', ';' or tab), W&B's CSV exports among them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "read/files/row_builder.h"

namespace mw {

/// Bytes of one record (a quoted cell may hold line ends); a longer one is left out.
constexpr size_t kCsvRecordLimit = size_t{1} << 20;

/// Rows: one per record after the header, numbered by the line on which they begin. Empty cells are left out, cells
/// that are no numbers become texts. Columns "NAME__MIN" and "NAME__MAX" of a W&B export are dropped, and "RUN - "
/// before its metric names too when all columns are of the same run. A headerless file gives columns "column_1", ….
class CsvDecoder : public Decoder {
 public:
  void feed(std::string_view bytes, RecordSink& sink) override;
  void finish(RecordSink& sink) override;
  uint64_t consumed() const override { return consumed_; }

 private:
  void end_record(RecordSink& sink);
  void split(std::string_view record, std::vector<std::string>& cells) const;
  void header(std::string_view record);
  void record(std::string_view text, RecordSink& sink);

  std::string pending_;
  bool in_quotes_ = false;
  bool overlong_ = false;
  bool has_header_ = false;
  char separator_ = ',';
  uint64_t offset_ = 0, consumed_ = 0;
  uint64_t line_ = 1, record_line_ = 1;
  struct Column {
    std::string key;    // empty: dropped
    std::string known;  // lower case, for the names of step and time
  };
  std::vector<Column> columns_;
  std::vector<std::string> cells_;
  RowBuilder row_;
  ProblemCounter too_long_{"line-too-long"};
  ProblemCounter not_a_record_{"not-a-record"};
};

}  // namespace mw
