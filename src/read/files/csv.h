// Metrics as separated values with a header line (RFC 4180 quoting; ',', ';' or tab), W&B's CSV exports among them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "read/files/row_builder.h"

namespace mw {

/// Bytes of one record (a quoted cell may hold line ends). A longer line is left out. A quote that is still open after
/// so many bytes, or at the end, is taken for a damaged line: that line is left out, and of the lines behind it those
/// are rows that have as many cells as the header and numbers where earlier rows had numbers.
constexpr size_t kCsvRecordLimit = size_t{1} << 20;

/// Rows: one per record after the header, numbered by the line on which they begin. Empty cells are left out, cells
/// that are no numbers become texts. Columns "NAME__MIN" and "NAME__MAX" of a W&B export are dropped, and "RUN - "
/// before its metric names too. Where it was exported for several runs each has rows of its own, with a text "arm" that
/// says which: the run's name, or of a long one what it does not share with the others. Columns without a name are
/// "column_1", …. Gymnasium's Monitor writes a line of JSON behind a '#' before its header; its rows are episodes,
/// counted from 1.
class CsvDecoder : public Decoder {
 public:
  /// `names`: of the columns, where the file may lack its header.
  explicit CsvDecoder(std::vector<std::string> names = {}) : names_(std::move(names)) {}
  void feed(std::string_view bytes, RecordSink& sink) override;
  void finish(RecordSink& sink) override;
  uint64_t consumed() const override { return consumed_; }

 private:
  size_t take(std::string_view bytes, RecordSink& sink);  ///< one line, or a part of one; how much of `bytes` it was
  void note_quotes(std::string_view piece);
  bool begins_cell(std::string_view piece) const;
  void read_again(RecordSink& sink);  ///< what `pending_` holds, without its first line
  bool is_like_the_rows() const;      ///< `cells_`
  void end_record(RecordSink& sink);
  void split(std::string_view record, std::vector<std::string>& cells) const;
  void header(std::string_view record);
  bool lacks_header(std::string_view record);
  void add_cell(size_t column, RowBuilder& known);
  void hand_over_row(std::optional<size_t> run, RecordSink& sink);
  void record(std::string_view text, RecordSink& sink);
  std::optional<double> number_in(std::string_view cell);

  std::vector<std::string> names_;
  std::string pending_;
  bool in_quotes_ = false;
  bool doubtful_ = false;      // these lines stood behind a quote that was never closed
  uint64_t after_closed_ = 0;  // where the byte behind the quote that ended last stands
  bool overlong_ = false;
  bool has_header_ = false;
  bool of_episodes_ = false;
  int64_t episodes_ = 0;
  char separator_ = ',';
  bool points_ = false, commas_ = false;  // numbers had decimals behind such a one
  uint64_t offset_ = 0, consumed_ = 0;
  uint64_t line_ = 1, record_line_ = 1;
  struct Column {
    std::string key;                           // empty: dropped
    std::string known;                         // lower case, for the names of step and time
    bool number = false;                       // a row had a number here
    std::optional<size_t> run = std::nullopt;  // of a W&B export for several: whose
  };
  std::vector<std::string> runs_;  // of such an export
  std::vector<Column> columns_;
  std::vector<std::string> cells_;
  RowBuilder row_;
  ProblemCounter too_long_{"line-too-long"};
  ProblemCounter open_quote_{"not-a-record"};
  ProblemCounter not_a_record_{"not-a-record"};
};

/// What the columns of a CSV are that a trainer writes without a header, by the file's name: ColossalChat's reward
/// model appends step, loss, distance and accuracy to "log_2023-05-06 07:08:09.csv". Empty where nobody is known to.
std::vector<std::string> names_without_header(std::string_view path);
/// Is the first line one of numbers and nothing else, of at least two cells?
bool is_row_of_numbers(std::string_view line);

}  // namespace mw
