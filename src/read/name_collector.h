// What a structured file calls its things, for recognising whose run it is.
#pragma once

#include <string_view>

#include "read/files/decoder.h"
#include "read/interpret/recogniser.h"

namespace mw {

/// Only the names: for recognising whose run it is.
class NameCollector final : public RecordSink {
 public:
  explicit NameCollector(Recogniser& recogniser) : recogniser_(recogniser) {}
  void row(const Row& row) override {
    for (const RowNumber& number : row.numbers) recogniser_.name(Sign::In::kMetric, number.key);
  }
  void console(std::string_view line, uint64_t, Time) override { recogniser_.text(line); }
  void property(std::string_view key, std::string_view) override { recogniser_.name(Sign::In::kConfig, key); }
  void ended(int64_t, Time) override {}
  void problem(std::string_view, std::string_view, uint64_t) override {}

 private:
  Recogniser& recogniser_;
};

}  // namespace mw
