// All files of one run, read as one: discovery, recognition, and every event in order to one sink.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "daemon/source_reader.h"
#include "ui/cli/verb.h"

namespace mw {

/// Folds and judges what the sources put.
class RunReader final : public EventSink {
 public:
  RunReader(Disk& disk, const Language& language, Judge when);

  /// Finds the files and recognises the framework. Errors: nothing there, nothing known in it.
  Result<void> open(const std::vector<std::string>& paths, const std::string& framework);
  /// Reads every file to its present end; `progress` is called between pieces.
  void read_all(const std::function<void(int64_t, int64_t)>& progress);
  /// Says that nothing more will come, and judges.
  void close();

  void put(Event&& event) override;
  State& state() { return state_; }
  InputFigures figures() const;
  std::vector<std::string>& notes() { return notes_; }
  bool partial() const { return partial_; }

 private:
  void say_framework();

  Disk& disk_;
  const Language& language_;
  Judge when_;
  RunVoice voice_;
  State state_;
  std::vector<std::unique_ptr<SourceReader>> sources_;
  std::vector<Event> decided_;
  std::vector<std::string> notes_;
  uint64_t said_version_ = ~uint64_t{0};
  std::string said_framework_;
  bool partial_ = false;
  int64_t total_bytes_ = 0;
};

}  // namespace mw
