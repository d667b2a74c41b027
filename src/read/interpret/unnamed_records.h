// Records of a log that never says of which step one is ("INFO loss: 2.86, grad_norm: 20.8"): they are counted.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "core/event.h"

namespace mw {

/// Holds the records of a log until it is clear that no line names a step: a step that comes later (an epoch's summary
/// below its batches) shows that a count of them would be none of steps. One per source.
class UnnamedRecords {
 public:
  static constexpr size_t kHeld = 2048;  ///< records after which no step is waited for any more
  static constexpr size_t kLeast = 5;    ///< of one kind: fewer are no series

  /// Takes the record of training when it waits, or is to be counted; then `out` has what is to be said now. `kind`:
  /// the same for records of the same figures. With a figure that is no number the waiting ends, once there is a series
  /// of its kind: such a thing has to be known at once.
  bool take(Event& event, uint64_t kind, std::vector<Event>& out);
  /// Something names the steps: what waits is of none.
  void step_named(std::vector<Event>& out);
  /// Nothing more comes.
  void finish(std::vector<Event>& out);

 private:
  void count_all(std::vector<Event>& out);

  struct Held {
    uint64_t kind = 0;
    Event event;
  };
  std::vector<Held> held_;
  std::map<uint64_t, size_t> kinds_;     // how many of each are held
  std::optional<uint64_t> broken_kind_;  // of the first one with a figure that is no number
  bool named_ = false;
  bool counts_ = false;
  uint64_t counted_kind_ = 0;
  int64_t count_ = 0;
};

}  // namespace mw
