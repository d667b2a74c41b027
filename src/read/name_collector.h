// What a structured file calls its things, for recognising whose run it is.
#pragma once

#include <string_view>

#include "read/console_copy.h"
#include "read/files/decoder.h"
#include "read/interpret/recogniser.h"
#include "read/sign_finder.h"

namespace mw {

/// Only the names: for recognising whose run it is.
class NameCollector final : public RecordSink {
 public:
  NameCollector(const KnowledgeBase& knowledge, Recogniser& recogniser, ConsoleCopy& console)
      : recogniser_(recogniser), console_(console), signs_(knowledge, recogniser) {}
  void row(const Row& row) override { recogniser_.names(names_.of_record(row.numbers)); }
  void console(std::string_view line, uint64_t, Time) override {
    signs_.text(line);
    console_.console(line);
  }
  void property(std::string_view key, std::string_view) override { recogniser_.name(Sign::In::kConfig, key); }
  void ended(int64_t, Time) override {}
  void problem(std::string_view, std::string_view, uint64_t) override {}
  bool names_only() const override { return true; }

 private:
  Recogniser& recogniser_;
  ConsoleCopy& console_;
  SignFinder signs_;
  KnownNames names_;
};

}  // namespace mw
