// What the decoder of a structured file says, on its way to those who read it. For the files of read/ alone.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/secrets.h"
#include "base/text.h"
#include "read/known_rows.h"
#include "read/lines/error_record.h"
#include "read/source_reader.h"

namespace mw {

/// Hands what a decoder says to interpreters: rows to one, console lines to another, as they are different streams.
class Relay final : public RecordSink {
 public:
  /// `known`: of what was handed on before in this file; nullptr: nothing comes twice.
  Relay(FileKind kind, RunShared& shared, EventSink& sink, uint32_t source, KnownRows* known = nullptr)
      : shared_(shared),
        known_(known),
        sink_(sink),
        source_(source),
        rows_(shared.knowledge.pattern_index(), shared.recogniser, miner_, sink, source),
        console_(shared.knowledge.pattern_index(), shared.recogniser, miner_, sink, source) {
    rows_.choose_arm(&shared.arms);
    if (kind == FileKind::kWandb) console_.beside_rows();
  }

  void row(const Row& row) override {
    if (known_ != nullptr && known_->is_known(row)) return;
    ++count_;
    if (text_between_ && console_.holds_trace()) end_trace(row.number, row.at);  // it ended before this
    // A log's record has said its error as text.
    const RecordError error = row.number == text_number_ ? RecordError() : error_of_record(row);
    if (!row.numbers.empty()) survive();
    rows_.row(row, error.alone);
    say_error(error, row.number, row.at);
  }
  void console(std::string_view line, uint64_t number, Time at) override {
    if (shared_.console.is_read()) say(line, number, at);
  }
  void text(std::string_view line, uint64_t number, Time at) override {  // of this file alone
    text_between_ = true;
    text_number_ = number;
    say(line, number, at);
  }
  void property(std::string_view key, std::string_view value) override { rows_.property(key, value); }
  void ended(int64_t code, Time at) override { rows_.ended(code, at); }
  void problem(std::string_view name, std::string_view detail, uint64_t number) override {
    torn_ = torn_ || name == "torn-tail";
    if (++problems_ > kProblemLimit) return;
    Event event;
    event.where = {source_, number};
    event.body = event::SourceProblem{std::string(name), clip(redact_secrets(detail), kTextLimit)};
    sink_.put(std::move(event));
  }
  void finish() {
    rows_.finish();
    console_.finish();
  }
  void emit_dialects(const std::vector<Interpreter::Switch>& recorded) {
    rows_.emit_dialects(recorded);
    console_.emit_dialects(recorded);
  }
  void resume_recognition() {
    rows_.resume_recognition();
    console_.resume_recognition();
  }
  bool holds_trace() const { return console_.holds_trace(); }
  void end_trace(uint64_t number, Time at) { console_.line("{}", number, {}, at); }
  void preview(EventSink& sink) const { console_.preview(sink); }
  int64_t count() const { return count_; }
  bool torn() const { return torn_; }

 private:
  void say(std::string_view line, uint64_t number, Time at) {
    hits_.clear();
    shared_.knowledge.patterns().match_line(line, hits_);
    if (wanted_ > 0) --wanted_;
    wanted_ = std::max(wanted_, console_.line(line, number, hits_, at));
  }

  /// After its record's step, which it is of.
  void say_error(const RecordError& error, uint64_t number, Time at) {
    for (const std::string_view line : error.lines) {
      text_between_ = true;
      // What was caught ended nothing, though it be the last that is said.
      say(error.trace ? std::string(line) : cat(error.failed ? "ERROR " : "ERROR caught: ", line), number, at);
    }
    if (!error.lines.empty()) failed_at_ = error.failed ? number : 0;
  }
  /// The run went on behind what failed.
  void survive() {
    if (failed_at_ == 0) return;
    for (int i = 0; i <= Interpreter::kAfterException; ++i) console_.line("{}", failed_at_, {}, {});
    failed_at_ = 0;
  }

  static constexpr int64_t kProblemLimit = 20;  // problem events of one file; further ones say nothing new
  RunShared& shared_;
  KnownRows* known_;
  EventSink& sink_;
  uint32_t source_;
  TemplateMiner miner_;  // one per content, so that what it says depends on that content alone
  Interpreter rows_, console_;
  std::vector<uint32_t> hits_;
  size_t wanted_ = 0;
  int64_t count_ = 0, problems_ = 0;
  uint64_t failed_at_ = 0;    // the last record that said so; 0: none, or others came since
  uint64_t text_number_ = 0;  // of the last record that said something as text
  bool torn_ = false;
  bool text_between_ = false;  // the file's own, between its records
};

}  // namespace mw
