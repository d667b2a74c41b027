// TensorBoard event files: TFRecord frames (length, masked CRC-32C of the length, data, masked CRC-32C of the data)
// that hold tensorflow.Event messages (event.proto and summary.proto of TensorBoard).
#pragma once

#include <string>
#include <string_view>

#include "read/files/damage.h"
#include "read/files/frame_buffer.h"
#include "read/files/protobuf.h"
#include "read/files/row_builder.h"

namespace mw {

/// Bytes of one record; longer ones (graphs, images) are passed over without being kept.
constexpr uint64_t kEventRecordLimit = uint64_t{16} << 20;

/// The scalars of one step, however many events they came in, are one row: it is handed over when the step changes,
/// when its first tag comes again, or at the end. Row numbers count the records of the file from 1. Text summaries
/// become settings "text/TAG".
class TfeventsDecoder : public Decoder {
 public:
  void feed(std::string_view bytes, RecordSink& sink) override;
  void finish(RecordSink& sink) override;
  uint64_t consumed() const override { return row_.empty() ? done_ : row_start_; }

 private:
  size_t consume(std::string_view view, RecordSink& sink);
  size_t next_record(std::string_view view, RecordSink& sink);
  size_t search(std::string_view view);
  void report_gap(uint64_t end, RecordSink& sink);
  void event(std::string_view bytes, RecordSink& sink);
  void summary(std::string_view bytes, double wall_time, int64_t step, RecordSink& sink);
  void scalar(std::string_view tag, double value, double wall_time, int64_t step, RecordSink& sink);
  void hand_over(RecordSink& sink);

  FrameBuffer buffer_;
  size_t wanted_ = 1;
  uint64_t offset_ = 0;
  uint64_t skip_ = 0;
  uint64_t done_ = 0;       // end of the last record that was read
  bool searching_ = false;  // a length was garbled: looking for the next record
  uint64_t search_from_ = 0;
  bool only_zeros_ = false;  // were passed over since then
  Damage damage_;
  uint64_t records_ = 0;
  RowBuilder row_;
  uint64_t row_start_ = 0;  // offset of the first record of row_
  uint64_t row_number_ = 0;
  int64_t row_step_ = 0;
  Time row_time_;
  ProblemCounter bad_checksum_{"bad-checksum"};
  ProblemCounter not_a_record_{"not-a-record"};
};

}  // namespace mw
