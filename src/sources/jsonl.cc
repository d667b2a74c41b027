#include "sources/jsonl.h"

#include "base/json.h"
#include "base/text.h"

namespace mw {
namespace {

class RowLeaves : public JsonLeaves {
 public:
  explicit RowLeaves(RowBuilder& row) : row_(row) {}
  void number(std::string_view path, double value) override { row_.add_number(row_.keep(path), value); }
  void string(std::string_view path, std::string_view value) override {
    row_.add_text(row_.keep(path), row_.keep(value));
  }
  bool enter_array(std::string_view) override { return false; }

 private:
  RowBuilder& row_;
};

constexpr std::string_view kData = "data/";

/// Whether everything but step and time is below "data/".
bool all_in_data(RowBuilder& row) {
  size_t inside = 0;
  const auto outside = [&](std::string_view key) {
    if (key.substr(0, kData.size()) == kData) return ++inside, false;
    return step_key_rank(key) < 0 && !contains(key, "time");
  };
  for (const RowNumber& number : row.numbers()) {
    if (outside(number.key)) return false;
  }
  for (const RowText& text : row.texts()) {
    if (outside(text.key)) return false;
  }
  return inside > 0;
}

template <typename Values>
void strip_data(Values& values) {
  for (auto& value : values) {
    if (value.key.substr(0, kData.size()) == kData) value.key.remove_prefix(kData.size());
  }
}

}  // namespace

bool read_json_record(std::string_view json, RowBuilder& row) {
  RowLeaves leaves(row);
  if (json.empty() || json[0] != '{' || !for_each_leaf(json, leaves)) return row.clear(), false;
  if (all_in_data(row)) strip_data(row.numbers()), strip_data(row.texts());
  return true;
}

void JsonlDecoder::feed(std::string_view bytes, RecordSink& sink) {
  while (!bytes.empty()) {
    const size_t end = bytes.find('\n');
    const bool ended = end != std::string_view::npos;
    const std::string_view piece = bytes.substr(0, end);
    if (!overlong_ && held_.size() + piece.size() > kJsonLineLimit) {
      too_long_.report(sink, "a line of more than 8 MiB was left out", lines_ + 1);
      overlong_ = true;
      held_ = std::string();
    }
    offset_ += piece.size() + (ended ? 1 : 0);
    if (!ended) {
      if (!overlong_) held_.append(piece);
      return;
    }
    bytes.remove_prefix(end + 1);
    ++lines_;
    if (!overlong_) {
      if (!held_.empty()) held_.append(piece);
      const std::string_view text = held_.empty() ? piece : std::string_view(held_);
      if (!line(text, sink)) not_a_record_.report(sink, clip(trim(text), 200), lines_);
    }
    held_.clear();
    overlong_ = false;
    consumed_ = offset_;
  }
}

/// Hands the row of one line over; false when it holds something else than a record.
bool JsonlDecoder::line(std::string_view text, RecordSink& sink) {
  if (lines_ <= 1 && text.substr(0, 3) == "\xef\xbb\xbf") text.remove_prefix(3);
  text = trim(text);
  if (text.empty()) return true;
  if (!read_json_record(text, row_)) return false;
  const StepAndTime found = find_step_and_time(row_.numbers(), row_.texts());
  row_.hand_over(sink, lines_, found.step, found.at);
  return true;
}

void JsonlDecoder::finish(RecordSink& sink) {
  if (held_.empty() && !overlong_) return;
  ++lines_;
  if (overlong_ || !line(held_, sink)) {
    sink.problem("torn-tail", cat("the last line, ", held_.size(), " bytes, is no whole record"), lines_);
  } else {
    consumed_ = offset_;
  }
  held_.clear();
}

}  // namespace mw
