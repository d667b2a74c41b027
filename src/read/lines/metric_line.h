// Numbers in a log line: Python dicts, JSON objects, "k:v - k:v", "k=v, k=v", "k: v | k: v", table rows. A hand-written
// tokenizer: it runs on every metric line of a run, some of them 15 kB long.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "read/lines/row.h"

namespace mw {

/// What one metric line holds. The views point into the text that was read (which must stay alive) or into storage of
/// this object, and are good until the next call of read() or clear().
class MetricLine {
 public:
  enum class Form : uint8_t { kNone, kDict, kDashes, kBars, kCommas };

  static constexpr size_t kReadingLimit = 4000;  ///< readings of one record; more are not kept
  static constexpr int kDepthLimit = 8;          ///< levels of nested dicts; deeper ones are skipped
  static constexpr size_t kKeyLimit = 200;       ///< bytes of a name; longer ones are not names

  /// Forgets what was read.
  void clear();

  /// Reads one record from `text` by its form and adds its readings. A dict is read when `text` begins with '{'.
  Form read(std::string_view text);
  /// Reads a Python dict or JSON object that begins at text[0] == '{'. Returns the bytes consumed; 0 when this is no
  /// dict of plain keys. open(): its end did not come.
  size_t read_dict(std::string_view text);
  /// "k:v - k:v": keys may hold spaces and colons.
  void read_dashes(std::string_view text);
  /// "k: v | k v | k=v"
  void read_bars(std::string_view text);
  /// "k=v, k: v; k=v k=v"
  void read_commas(std::string_view text);
  /// "name 0.5 name 0.25 s": names and numbers in turn, nothing between them.
  void read_words(std::string_view text);
  bool read_values_first(std::string_view text);
  /// One row of a drawn table: "│ k │ v │ k │ v │". False when `text` has no cells of that kind.
  bool read_cells(std::string_view text);
  /// One "key<separator>value" field, the value possibly wrapped ("np.float64(0.5)", "'0.5'", "12.3s", "3/100", "12%").
  bool read_field(std::string_view field, bool loose = false);

  std::span<const RowNumber> numbers() const { return numbers_; }
  std::span<const RowText> texts() const { return texts_; }
  bool open() const { return open_; }

  /// Adds one reading under a name of the caller's; `whole`: 100 of a percentage.
  void add(std::string_view key, double value, double whole = 1);

 private:
  bool value(std::string_view key, std::string_view value, bool loose);
  bool statistics(std::string_view key, std::string_view values);
  size_t dict(std::string_view text, size_t at, std::string_view path, int depth);
  size_t dict_value(std::string_view text, size_t at, std::string_view key, int depth);
  std::string_view keep(std::string_view first, std::string_view second, char between);

  std::vector<RowNumber> numbers_;
  std::vector<RowText> texts_;
  std::deque<std::string> arena_;  // joined names; kept between records so that their storage is used again
  size_t arena_used_ = 0;
  bool open_ = false;
};

/// The number that a value says: "0.5", "'0.5'", "np.float64(0.5)", "tensor(0.5, device='cuda:0')", "True", "nan",
/// "1.2e-05", "+inf". False when it says none.
bool metric_number(std::string_view text, double* value);

/// A number whose one comma can only be a decimal's: "0,125", "-12,5", "0,3e-05". "1,204" may be a thousand and more.
bool is_decimal_comma(std::string_view text);

/// A duration as trainers print it, in seconds: "850ms", "12.3s", "3m 4s", "2h 5m", "1d 3h", "1:02:03". False if none.
bool metric_duration(std::string_view text, double* seconds);

/// "policy loss : nan": a figure that is no number has no digit.
bool ends_non_finite(std::string_view text);

/// True for a line that only frames a table: "╒═══╤", "├──┼", "+---+---+", "|---|", "===".
bool is_table_frame(std::string_view text);
/// True for a frame that ends a box: "└──┴", "╘══╧", "╰──╯", "╚══╝".
bool is_bottom_frame(std::string_view text);

}  // namespace mw
