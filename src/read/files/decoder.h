// A decoder turns the bytes of one kind of file into records. It knows no dialect, makes no system call, and can be fed
// in pieces of any size, so that the same code serves replay and a file that is still growing.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/event.h"
#include "read/lines/row.h"

namespace mw {

/// What a decoder says. All views live until the callback returns.
class RecordSink {
 public:
  virtual ~RecordSink() = default;
  virtual void row(const Row& row) = 0;
  /// A line of console output that the file carries inside (wandb "output_raw"); `number` counts them from 1.
  virtual void console(std::string_view line, uint64_t number, Time at) = 0;
  /// A line of text that stands between the file's records, or inside one that is a log's; `number` is its line.
  virtual void text(std::string_view line, uint64_t number, Time at) { console(line, number, at); }
  /// A setting or fact of the run: "config/trainer/lr" = "1e-6", "run/name", "run/start_time", "run/host", ...
  virtual void property(std::string_view key, std::string_view value) = 0;
  /// The file says that the run ended ("exit" record of wandb, trackio's status) with this code.
  virtual void ended(int64_t code, Time at) = 0;
  /// Something is wrong with the file: names as in event::SourceProblem, and "damaged" for what was left out in all.
  virtual void problem(std::string_view name, std::string_view detail, uint64_t number) = 0;
  /// Only names are wanted: values may be anything, and what has names that were all handed over may be left out.
  virtual bool names_only() const { return false; }
};

class Decoder {
 public:
  virtual ~Decoder() = default;
  /// The next bytes of the file, in order.
  virtual void feed(std::string_view bytes, RecordSink& sink) = 0;
  /// No more bytes will come (replay), so what is incomplete is torn: says so through problem("torn-tail").
  virtual void finish(RecordSink& sink) = 0;
  /// Bytes from the start of the file up to which everything has been handed over: where to go on after a restart.
  virtual uint64_t consumed() const = 0;
};

}  // namespace mw
