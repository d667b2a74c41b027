// What is read of a notebook's outputs, put at its place in the notebook's own file.
#pragma once

#include <cstdint>
#include <set>

#include "core/event.h"
#include "read/files/notebook.h"

namespace mw {

/// Names the lines of a notebook's own file, which a person can open, in place of those of its outputs, and adds what
/// its cells say of an error or of an end. The error of a cell is the notebook's own failure, where the same traceback
/// would be taken for a sample's in another log.
class NotebookPlaces : public EventSink {
 public:
  explicit NotebookPlaces(EventSink& sink) : sink_(sink) {}
  void put(Event&& event) override;

 protected:
  /// No more will come, and so many lines were handed over: the errors of cells that no traceback showed, and whether
  /// the cell with the last figures of a training ended.
  void put_ends(uint32_t source, uint64_t lines);

  NotebookReader notebook_;

 private:
  uint64_t in_file(uint64_t line) const;
  void put_failed(Time at, Where where, const CellRun* cell);
  void put_unseen(uint32_t source);
  void put_end_of_training(uint32_t source, uint64_t lines);

  EventSink& sink_;
  std::set<uint64_t> seen_;     // lines of the tracebacks that were put of a cell's own error
  uint64_t last_measured_ = 0;  // line of the last figures of a training
  uint64_t last_drawn_ = 0;     // line of the last progress bar
};

}  // namespace mw
