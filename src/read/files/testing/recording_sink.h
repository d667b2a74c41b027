// A sink that writes each call as one line of text, for comparing.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/numbers.h"
#include "base/prng.h"
#include "base/text.h"
#include "read/files/decoder.h"

namespace mw {

class RecordingSink : public RecordSink {
 public:
  void row(const Row& row) override {
    ++rows;
    numbers += row.numbers.size();
    if (row.step != kNoStep) {
      if (first_step == kNoStep) first_step = row.step;
      last_step = row.step;
    }
    if (!keep) return;
    log += cat("row ", row.number, " step ", row.step == kNoStep ? std::string("-") : std::to_string(row.step), " at ",
               format_utc(row.at));
    for (const RowNumber& number : row.numbers) log += cat(" ", number.key, "=", format_double(number.value));
    for (const RowText& text : row.texts) log += cat(" ", text.key, "='", text.value, "'");
    log += '\n';
  }
  void console(std::string_view line, uint64_t number, Time at) override {
    ++lines;
    if (keep) log += cat("console ", number, " ", format_utc(at), " ", line, "\n");
  }
  void property(std::string_view key, std::string_view value) override {
    ++properties;
    if (keep) log += cat("property ", key, "=", value, "\n");
  }
  void ended(int64_t code, Time at) override {
    ended_code = code;
    if (keep) log += cat("ended ", code, " ", format_utc(at), "\n");
  }
  void problem(std::string_view name, std::string_view detail, uint64_t number) override {
    ++problems;
    if (name == "torn-tail") torn = true;
    if (keep) log += cat("problem ", name, " ", number, ": ", detail, "\n");
  }
  bool has(std::string_view part) const { return contains(log, part); }

  bool keep = true;
  std::string log;
  uint64_t rows = 0, numbers = 0, lines = 0, properties = 0, problems = 0;
  int64_t first_step = kNoStep, last_step = kNoStep, ended_code = INT64_MIN;
  bool torn = false;
};

/// What a decoder says of `bytes`, fed in pieces of random size up to `most` (0: in one piece).
template <typename MakeDecoder>
std::string decode_log(MakeDecoder make, std::string_view bytes, size_t most, uint64_t seed) {
  const auto decoder = make();
  RecordingSink sink;
  Prng prng(seed);
  while (!bytes.empty()) {
    size_t take = most == 0 ? bytes.size() : 1 + static_cast<size_t>(prng.below(most));
    if (take > bytes.size()) take = bytes.size();
    // A copy of exactly this size lets the sanitizers see every read past the piece.
    const std::unique_ptr<char[]> piece(new char[take]);
    bytes.copy(piece.get(), take);
    decoder->feed(std::string_view(piece.get(), take), sink);
    bytes.remove_prefix(take);
  }
  decoder->finish(sink);
  sink.log += cat("consumed ", decoder->consumed(), "\n");
  return sink.log;
}

}  // namespace mw
