// Tables with a head of names and rows of numbers in plain text, as a writer shows a training's progress and as
// people copy it: "Step | Training Loss | reward", "Step<tab>Training Loss<tab>reward".
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "read/lines/metric_line.h"

namespace mw {

/// One per source. A line is a head when one of its cells counts steps and at least two others name what training
/// measures, or it is "Step | Training Loss".
class ColumnTable {
 public:
  static constexpr size_t kColumnsLeast = 3;
  static constexpr size_t kColumnsLimit = 200;  ///< wider ones are no tables of metrics
  static constexpr size_t kLineLimit = 8192;    ///< bytes of a line
  static constexpr int kBetweenLimit = 4;       ///< lines of something else in a row, after which a table is over
  static constexpr int kRowsKept = 3;           ///< rows after which it is never over: its next one goes on counting

  enum class Took : uint8_t {
    kNo,    ///< not the table's
    kHead,  ///< a head, or a rule between head and rows
    kRow,   ///< a record: `out` holds it
  };
  /// `known` says whether a name is of something that training measures. `step` is set with kRow.
  Took take(std::string_view text, const std::function<bool(std::string_view)>& known, MetricLine& out, int64_t* step);
  /// The source is a notebook: what stands between the rows of a table was printed while it grew.
  void read_cells() { of_cells_ = true; }
  /// How many heads were taken.
  size_t tables() const { return tables_; }
  /// Has the table of the last row a column "Training Loss", as a trainer's own one has?
  bool of_trainer() const { return open_.of_trainer; }

 private:
  bool head(std::string_view text, const std::function<bool(std::string_view)>& known);
  std::vector<std::string_view> cells(std::string_view text, char between) const;
  struct Head {
    char between = 0;  // '|', a tab, ',', ';', or ' ' for two and more of them; 0: no table is open
    size_t step_at = 0;
    std::vector<std::string> names;
    int rows = 0;      // that came, up to kRowsKept
    double last = -1;  // the step of the last one
    bool of_trainer = false;
  };
  bool row(Head& of, std::string_view text, bool goes_on, MetricLine& out, int64_t* step) const;
  void interrupted();

  Head open_, left_;  // the table, and one that had rows when lines of something else came
  bool of_cells_ = false;
  size_t tables_ = 0;
  int foreign_ = 0;  // lines in a row that were none of the open table
};

}  // namespace mw
