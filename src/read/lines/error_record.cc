#include "read/lines/error_record.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "base/one_of.h"
#include "base/text.h"
#include "read/lines/logged_message.h"
#include "read/lines/sample_name.h"
#include "read/lines/step_name.h"

namespace mw {
namespace {

constexpr std::string_view kTraceHead = "Traceback (most recent call last)";
constexpr size_t kLongest = size_t{64} << 10;  // bytes of one text; more is no word of a program's
constexpr size_t kMostLines = 8;               // of an error without a traceback

constexpr std::array<std::string_view, 16> kErrorNames = {"error",
                                                          "err",
                                                          "error_message",
                                                          "error_msg",
                                                          "errors",
                                                          "exception",
                                                          "exc",
                                                          "traceback",
                                                          "error_type",
                                                          "last_error",
                                                          "exception_type",
                                                          "stack_trace",
                                                          "failure_reason",
                                                          "fail_reason",
                                                          "error_reason",
                                                          "exception_message"};
constexpr std::array<std::string_view, 6> kReasonNames = {"reason", "message", "msg", "detail", "details", "why"};
constexpr std::array<std::string_view, 4> kStates = {"status", "state", "outcome", "result"};
constexpr std::array<std::string_view, 5> kWell = {"success", "succeeded", "ok", "completed", "finished"};
constexpr std::array<std::string_view, 6> kFailed = {"failed", "failure", "error", "errored", "crashed", "aborted"};
// Beside the usual names of samples: what a tool, a judge or an environment was asked.
constexpr std::array<std::string_view, 14> kForeign = {"tool",   "tool_name", "tool_output", "function",  "observation",
                                                       "code",   "action",    "query",       "command",   "test",
                                                       "stdout", "stderr",    "program",     "prediction"};
constexpr std::array<std::string_view, 10> kPlaces = {"epoch", "batch", "round",  "index",   "idx",
                                                      "seed",  "rank",  "worker", "attempt", "n"};

// What a list of results numbers its entries by. One that says no step is of a test or a task, and none of the run.
constexpr std::array<std::string_view, 15> kIds = {"id",        "task_id", "prompt_id",  "problem_id", "question_id",
                                                   "sample_id", "item_id", "example_id", "puzzle_id",  "instance_id",
                                                   "query_id",  "idx",     "index",      "test_name",  "test_id"};

std::string_view last_name(std::string_view key) { return key.substr(key.rfind('/') + 1); }

/// A figure says how the run is doing; a counter, an id or a time only where and when.
bool is_figure(const RowNumber& one) {
  const std::string_view name = last_name(one.key);
  if (!std::isfinite(one.value) || is_logger_name(one.key) || is_one_of(name, kPlaces)) return false;
  if (axis_rank(name) >= 0 || counts_updates(name) || name == "step" || name.ends_with("_step")) return false;
  if (name.ends_with("_id") || name == "id" || name.ends_with("_idx") || name.ends_with("_index")) return false;
  return !contains_folded(name, "time") && !contains_folded(name, "elapsed") && !contains_folded(name, "duration") &&
         !name.ends_with("_s") && !name.ends_with("_sec") && !name.ends_with("_seconds");
}

bool is_place(const RowNumber& one) {
  const std::string_view name = last_name(one.key);
  return axis_rank(name) >= 0 || counts_updates(name) || name == "epoch";
}

bool is_of_entry(const Row& row) {
  const auto is_id = [](const auto& one) { return is_one_of(last_name(one.key), kIds); };
  const bool id = std::any_of(row.numbers.begin(), row.numbers.end(), is_id) ||
                  std::any_of(row.texts.begin(), row.texts.end(), is_id);
  return id && row.step == kNoStep && std::none_of(row.numbers.begin(), row.numbers.end(), is_place);
}

/// "OutOfMemoryError('…')", "RuntimeError: …", "CUDA out of memory": rather than "wrong answer" or "none".
bool names_failure(std::string_view text) {
  static constexpr std::array<std::string_view, 8> kWords = {"error",   "exception", "out of memory", "failed",
                                                             "timeout", "timed out", "killed",        "traceback"};
  const std::string folded = to_lower(text.substr(0, 400));
  if (folded.starts_with("no error")) return false;
  return std::any_of(kWords.begin(), kWords.end(), [&folded](std::string_view word) { return contains(folded, word); });
}

struct Said {
  std::string_view error, reason;
  bool failed = false;
  bool foreign = false;  ///< what went wrong is none of the run's, or did not matter
};

Said said_by(const Row& row) {
  Said said;
  for (const RowText& text : row.texts) {
    const std::string name = to_lower(last_name(text.key));
    said.foreign = said.foreign || is_sample_name(name) || is_one_of(name, kForeign);
    const std::string_view value = trim(text.value);
    if (value.size() > kLongest) continue;
    if (is_one_of(name, kStates)) {
      said.failed = said.failed || is_one_of(to_lower(value), kFailed);
      said.foreign = said.foreign || is_one_of(to_lower(value), kWell);
    }
    const bool error = names_error(name) && names_failure(value);
    // The message says more than the class, and a traceback more than both.
    if (error && (value.size() > said.error.size() || contains(value, kTraceHead)) &&
        !contains(said.error, kTraceHead)) {
      said.error = value;
    } else if (is_one_of(name, kReasonNames) && names_failure(value)) {
      said.reason = value;
    }
  }
  if (said.error.empty() && said.failed) said.error = said.reason;
  return said;
}

}  // namespace

bool names_error(std::string_view key) { return is_one_of(to_lower(last_name(key)), kErrorNames); }

RecordError error_of_record(const Row& row) {
  RecordError out;
  if (row.texts.empty() || row.of_machine) return out;
  const Said said = said_by(row);
  if (said.error.empty() || said.foreign || is_of_entry(row)) return out;
  out.failed = said.failed;
  out.alone = std::none_of(row.numbers.begin(), row.numbers.end(), is_figure);
  if (!said.failed && !out.alone) return out;
  out.trace = contains(said.error, kTraceHead);
  for (const std::string_view line : split(said.error, '\n')) {
    if (!out.trace && out.lines.size() >= kMostLines) break;
    if (!trim(line).empty()) out.lines.push_back(line);
  }
  return out;
}

}  // namespace mw
