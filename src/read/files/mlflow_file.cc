#include "read/files/mlflow_file.h"

#include "base/numbers.h"
#include "base/text.h"

namespace mw {

void ShortLineDecoder::feed(std::string_view bytes, RecordSink& sink) {
  while (!bytes.empty()) {
    const size_t end = bytes.find('\n');
    const bool ended = end != std::string_view::npos;
    const std::string_view piece = bytes.substr(0, end);
    if (pending_.size() + piece.size() > kMlflowLineLimit) overlong_ = true;
    if (!overlong_) pending_.append(piece);
    offset_ += piece.size() + (ended ? 1 : 0);
    if (!ended) return;
    bytes.remove_prefix(end + 1);
    ++lines_;
    end_line(pending_, sink);
    pending_.clear();
    overlong_ = false;
    consumed_ = offset_;
  }
}

void ShortLineDecoder::end_line(std::string_view text, RecordSink& sink) {
  if (overlong_) return too_long_.report(sink, "a line of more than 64 KiB was left out", lines_);
  text = trim(text);
  if (!text.empty() && !line(text, lines_, sink)) not_a_record_.report(sink, clip(text, 200), lines_);
}

void ShortLineDecoder::finish(RecordSink& sink) {
  if (pending_.empty() && !overlong_) return;
  ++lines_;
  if (overlong_ || !line(trim(pending_), lines_, sink)) {
    sink.problem("torn-tail", "the last line is incomplete", lines_);
  } else {
    consumed_ = offset_;
  }
  pending_.clear();
}

MlflowMetricDecoder::MlflowMetricDecoder(std::string_view path) {
  constexpr std::string_view kFolder = "/metrics/";
  const size_t at = path.rfind(kFolder);
  key_ = at == std::string_view::npos ? basename(path) : path.substr(at + kFolder.size());
  if (key_.empty()) key_ = "metric";
}

bool MlflowMetricDecoder::line(std::string_view text, uint64_t number, RecordSink& sink) {
  const auto fields = split(text, ' ');
  if (fields.size() < 2) return false;
  const auto at = parse_int(fields[0]);
  const auto value = parse_double(fields[1]);
  const auto step = fields.size() > 2 ? parse_int(fields[2]) : std::optional<int64_t>(0);
  if (!at || !value || !step) return false;
  row_.add_number(key_, *value);
  row_.hand_over(sink, number, *step, time_from_epoch(static_cast<double>(*at)));
  return true;
}

bool MlflowMetaDecoder::line(std::string_view text, uint64_t, RecordSink& sink) {
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos || colon == 0) return text[0] == '#' || text[0] == '-';
  const std::string_view key = text.substr(0, colon);
  std::string_view value = trim(text.substr(colon + 1));
  if (value.size() >= 2 && (value.front() == '\'' || value.front() == '"') && value.back() == value.front()) {
    value = value.substr(1, value.size() - 2);
  }
  if (value.empty()) return true;
  const auto number = parse_int(value);
  if (key == "status" && number) status_ = *number;
  const bool moment = (key == "start_time" || key == "end_time") && number;
  const Time at = moment ? time_from_epoch(static_cast<double>(*number)) : Time{};
  if (key == "end_time") ended_ = at;
  put_property(sink, cat("run/", key), at.known() ? format_utc(at) : std::string(value));
  return true;
}

void MlflowMetaDecoder::finish(RecordSink& sink) {
  ShortLineDecoder::finish(sink);
  enum : int64_t { kFinished = 3, kFailed = 4, kKilled = 5 };  // mlflow.entities.RunStatus
  if (status_ == kFinished) sink.ended(0, ended_);
  if (status_ == kFailed || status_ == kKilled) sink.ended(1, ended_);
}

}  // namespace mw
