// How far a run got, by its metric records.
#pragma once

#include <map>
#include <vector>

#include "core/state.h"

namespace mw::detect {

/// Keeps references into the state, which must outlive it unchanged.
class Progress {
 public:
  explicit Progress(const State& state);

  /// Did the attempt get further after `moment` and after `last_line` of its source? Steps that midwatch cut off as
  /// poisoned do not count, and neither do the figures of an inference engine: it writes them whether or not the
  /// trainer lives, and works off the requests that it has. A record of a step that the bar had shown as done before
  /// `moment` does not count either: Ray and pipes hold lines back, and print them when the program is dead.
  /// `in_flight`: so many steps further another file may be that no clock relates to the moment.
  bool after(const Moment& moment, uint64_t last_line, int64_t in_flight = 1) const;
  /// The last step that an attempt has a record of; kNoStep when none.
  int64_t last_step(uint16_t attempt) const;

 private:
  struct LastPoint {  // of an attempt in one source
    uint64_t line = 0;
    int64_t step = kNoStep;
    Time at;
    int64_t before = kNoStep;  // the last but one step in the same line, where a bar was drawn over and over in it
  };
  bool counts_apart(uint32_t source) const;
  bool of_engine(const Point& point) const;
  void note(const Point& point, int64_t before);

  const State& state_;
  std::vector<const Series*> engines_;  // their running requests
  std::map<uint16_t, std::map<uint32_t, LastPoint>> last_;
};

/// Where the attempt's first record of `step` stands, in the file that logs its beginning when that one has
/// records, else in the first that has; its beginning, when it only announces its steps.
Moment first_record(const State& state, size_t attempt, int64_t step);

}  // namespace mw::detect
