// JSON documents that hold metrics: trainer_state.json (transformers), series by name ({"loss": {"1": 0.3, …}}, as
// NeMo-RL's metrics.json), lists of step records, dicts of lists, and single summaries.
#pragma once

#include <string>
#include <string_view>

#include "read/files/json_nesting.h"
#include "read/files/row_builder.h"

namespace mw {

/// Bytes of one document; it is kept until its last bracket has come, so this bounds the memory.
constexpr size_t kJsonDocumentLimit = size_t{64} << 20;

/// Rows are numbered from 1 in the order in which they are handed over. What is no metric (max_steps, best_metric, …)
/// becomes settings "document/NAME"; a document made with `settings` gives only settings, "config/a/b".
class JsonDocumentDecoder : public Decoder {
 public:
  explicit JsonDocumentDecoder(bool settings) : settings_(settings) {}
  void feed(std::string_view bytes, RecordSink& sink) override;
  void finish(RecordSink& sink) override;
  uint64_t consumed() const override { return consumed_; }

 private:
  size_t find_end(std::string_view piece);
  void document(std::string_view text, RecordSink& sink);
  void object(std::string_view text, RecordSink& sink);
  void own_error(std::string_view text, RecordSink& sink);
  bool series(std::string_view text, RecordSink& sink);
  bool listed_records(std::string_view text, RecordSink& sink);
  bool columns(std::string_view text, RecordSink& sink);
  bool stepped_lists(std::string_view text, RecordSink& sink);
  void records(std::string_view array, std::string_view prefix, RecordSink& sink);
  void record(std::string_view text, std::string_view prefix, RecordSink& sink);

  bool settings_;
  std::string pending_;
  uint64_t offset_ = 0, consumed_ = 0;
  // Of the scan for the document's end, at the end of pending_:
  JsonNesting nesting_;
  bool dead_ = false;  // garbled or too long: nothing more is read
  uint64_t rows_ = 0;
  RowBuilder row_;
  ProblemCounter not_a_record_{"not-a-record"};
};

}  // namespace mw
