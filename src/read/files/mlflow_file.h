// MLflow's file store: mlruns/EXPERIMENT/RUN/{meta.yaml,metrics/KEY}, as mlflow/store/tracking/file_store.py writes it.
#pragma once

#include <string>
#include <string_view>

#include "read/files/row_builder.h"

namespace mw {

/// Bytes of one line.
constexpr size_t kMlflowLineLimit = size_t{64} << 10;

/// Lines of bounded length, handed to `line()`.
class ShortLineDecoder : public Decoder {
 public:
  void feed(std::string_view bytes, RecordSink& sink) override;
  void finish(RecordSink& sink) override;
  uint64_t consumed() const override { return consumed_; }

 protected:
  /// False when the line is garbled.
  virtual bool line(std::string_view text, uint64_t number, RecordSink& sink) = 0;

 private:
  void end_line(std::string_view text, RecordSink& sink);

  std::string pending_;
  bool overlong_ = false;
  uint64_t offset_ = 0, consumed_ = 0, lines_ = 0;
  ProblemCounter too_long_{"line-too-long"};
  ProblemCounter not_a_record_{"not-a-record"};
};

/// A file of one metric: lines "TIMESTAMP_MS VALUE STEP" (older: without step; newer: with further fields). The
/// metric's name is what follows "/metrics/" in the path (it may hold slashes).
class MlflowMetricDecoder : public ShortLineDecoder {
 public:
  explicit MlflowMetricDecoder(std::string_view path);

 protected:
  bool line(std::string_view text, uint64_t number, RecordSink& sink) override;

 private:
  std::string key_;
  RowBuilder row_;
};

/// A run's meta.yaml: settings "run/NAME"; a status that says the run ended (3 finished, 4 failed, 5 killed) ends it.
class MlflowMetaDecoder : public ShortLineDecoder {
 public:
  void finish(RecordSink& sink) override;

 protected:
  bool line(std::string_view text, uint64_t number, RecordSink& sink) override;

 private:
  int64_t status_ = 0;
  Time ended_;
};

}  // namespace mw
