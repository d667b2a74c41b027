// W&B run files (run-ID.wandb): LevelDB's log framing (https://github.com/google/leveldb/blob/main/doc/log_format.md)
// with plain CRC-32 and 7 bytes of header of its own, holding protocol-buffer records (wandb_internal.proto).
#pragma once

#include <string>
#include <string_view>
#include <unordered_set>

#include "read/files/console_lines.h"
#include "read/files/damage.h"
#include "read/files/frame_buffer.h"
#include "read/files/protobuf.h"
#include "read/files/row_builder.h"

namespace mw {

/// Bytes of one record; longer ones (artifact manifests) are left out.
constexpr size_t kWandbRecordLimit = size_t{64} << 20;

/// Rows: one per history record (step: "_step", at: "_timestamp"), one per system record (keys "system/gpu.0.temp", no
/// step). Row numbers count the records of the file from 1. Settings: "config/…", "run/…", "summary/…" (the last one).
class WandbDecoder : public Decoder {
 public:
  void feed(std::string_view bytes, RecordSink& sink) override;
  void finish(RecordSink& sink) override;
  /// Start of the first record that was not handed over. A console line that has not ended yet does not count.
  uint64_t consumed() const override { return consumed_; }

 private:
  size_t consume(std::string_view view, RecordSink& sink);
  bool begin(std::string_view view, RecordSink& sink);
  size_t next_chunk(std::string_view view, RecordSink& sink);
  void chunk(unsigned type, std::string_view payload, RecordSink& sink);
  void drop_block(std::string_view why, RecordSink& sink);
  void pass_over(std::string_view bytes);
  void report_hole(RecordSink& sink);
  bool holds_chunk(std::string_view view) const;
  bool report_tail(RecordSink& sink);
  void record(std::string_view bytes, RecordSink& sink);
  void other_record(uint32_t field, std::string_view body, RecordSink& sink);
  void history(std::string_view body, RecordSink& sink);
  void stats(std::string_view body, RecordSink& sink);
  bool names_known(std::string_view system_record);
  void add_value(std::string_view key, std::string_view json);
  void output(std::string_view body, RecordSink& sink);
  void config(std::string_view body, std::string_view prefix, RecordSink& sink);
  void run(std::string_view body, RecordSink& sink);
  void environment(std::string_view body, RecordSink& sink);
  void exit(std::string_view body, RecordSink& sink);
  void hand_over_summary(RecordSink& sink);

  FrameBuffer buffer_;
  size_t wanted_ = 1;
  uint64_t offset_ = 0;  // of the next byte to look at
  uint64_t skip_ = 0;    // bytes to pass over
  uint64_t consumed_ = 0;
  bool zeros_ = false;         // zeros where a chunk should begin: a hole, unless nothing comes behind them
  bool bytes_behind_ = false;  // something did, in the same block
  uint64_t zeros_from_ = 0;
  Damage damage_;
  bool begun_ = false;
  bool dead_ = false;  // not a run file: nothing more is read
  bool assembling_ = false;
  bool too_long_ = false;  // the record being assembled is over the limit
  std::string assembled_;
  uint64_t records_ = 0;
  RowBuilder row_;
  ConsoleLines console_;
  std::string summary_;  // body of the last summary record
  std::string scratch_;
  std::unordered_set<uint64_t> known_;  // names in system records, where only names are wanted
  Time started_;
  Time last_;  // newest time in the records
  ProblemCounter bad_checksum_{"bad-checksum"};
  ProblemCounter not_a_record_{"not-a-record"};
};

}  // namespace mw
