// What every decoder of metric records needs: a row under construction, the usual names of step and time, and the
// hand-over of settings and problems.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "read/files/decoder.h"

namespace mw {

/// Numbers and texts that one row may hold; further ones are dropped (a record of metrics has tens to hundreds).
constexpr size_t kRowValueLimit = 20'000;

/// A row under construction. Its memory is used again for the next one.
class RowBuilder {
 public:
  void clear();
  /// `key` must live until hand_over(); see keep().
  void add_number(std::string_view key, double value) {
    if (numbers_.size() < kRowValueLimit) numbers_.push_back({key, value});
  }
  /// "NaN" and the like are numbers: JSON has no others for them.
  void add_text(std::string_view key, std::string_view value) {
    if (value.size() >= 3 && value.size() <= 9 && add_non_finite(key, value)) return;
    if (texts_.size() < kRowValueLimit) texts_.push_back({key, value});
  }
  /// A copy of `text` that lives until clear().
  std::string_view keep(std::string_view text);
  /// The pieces joined with '/', living until clear().
  std::string_view keep_joined(std::string_view first, std::string_view second);

  bool empty() const { return numbers_.empty() && texts_.empty(); }
  std::vector<RowNumber>& numbers() { return numbers_; }
  std::vector<RowText>& texts() { return texts_; }
  /// Hands the row to `sink` (unless it is empty) and clears it. `of_machine`: see Row.
  void hand_over(RecordSink& sink, uint64_t number, int64_t step, Time at, bool of_machine = false);

 private:
  char* room(size_t size);
  bool add_non_finite(std::string_view key, std::string_view value);

  std::vector<RowNumber> numbers_;
  std::vector<RowText> texts_;
  struct Block {
    std::unique_ptr<char[]> bytes;
    size_t size = 0;
  };
  std::vector<Block> blocks_;  // text kept; all but the first are freed by clear()
  size_t used_ = 0;            // of the last block
};

struct StepAndTime {
  int64_t step = kNoStep;
  Time at;
};

/// The step and the time of a record, from the usual keys ("step", "_step", "global_step", "train/global_step",
/// "iteration", …; "_timestamp", "timestamp", "time", … as ISO text or seconds, ms, us or ns since 1970).
StepAndTime find_step_and_time(std::span<const RowNumber> numbers, std::span<const RowText> texts);

/// Position of `key` in the list of usual step names, best first; -1 when it is none of them.
int step_key_rank(std::string_view key);

/// A moment given as a number of s, ms, us or ns since 1970, which is decided by its size (2001 to 2096); unknown
/// otherwise.
Time time_from_epoch(double value);

/// A step given as a number: whole and within +-2^53; kNoStep otherwise.
int64_t step_from_number(double value);

/// Hands a setting over: at most kTextLimit bytes of value, and without the value when its name says that it is secret.
void put_property(RecordSink& sink, std::string_view key, std::string_view value);

/// Hands the leaves of a JSON value over as settings "prefix/a/b". `json` that is no JSON is handed over as it is.
void put_json_properties(RecordSink& sink, std::string_view prefix, std::string_view json);

/// Reports problems of one name: the 1st, 2nd, 4th, 8th, ... so that a garbled file of any size says little.
class ProblemCounter {
 public:
  explicit ProblemCounter(std::string_view name) : name_(name) {}
  void report(RecordSink& sink, std::string_view detail, uint64_t number);
  uint64_t count() const { return count_; }

 private:
  std::string_view name_;  // a literal
  uint64_t count_ = 0;
};

}  // namespace mw
