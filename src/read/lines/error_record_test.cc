#include "read/lines/error_record.h"

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

using namespace mw;

namespace {

/// The lines of the error of a record with these texts and numbers, joined.
std::string error_of(const std::vector<RowText>& texts, const std::vector<RowNumber>& numbers = {}) {
  const RecordError error = error_of_record(Row{1, kNoStep, {}, numbers, texts, false});
  std::string out;
  for (const std::string_view line : error.lines) out += std::string(line) + ";";
  return out;
}

constexpr std::string_view kOom = "OutOfMemoryError('CUDA out of memory. Tried to allocate 2.00 GiB.')";

}  // namespace

TEST_CASE("a record whose figures an error has taken the place of") {
  const std::string said = std::string(kOom) + ";";
  CHECK(error_of({{"error", kOom}}) == said);
  CHECK(error_of({{"error", kOom}}, {{"episode", 16}, {"task_id", 3}, {"elapsed_s", 4.5}}) == said);
  CHECK(error_of({{"result/exception", kOom}}, {{"step", 4}}) == said);
  CHECK(error_of({{"failure_reason", kOom}}, {{"step", 4}, {"reward", NAN}}) == said);
  CHECK(error_of({{"status", "failed"}, {"message", "killed: node lost"}}) == "killed: node lost;");
  const RecordError error = error_of_record(Row{1, kNoStep, {}, {}, std::vector<RowText>{{"error", kOom}}, false});
  CHECK(error.alone);
  CHECK_FALSE(error.trace);
}

TEST_CASE("the traceback of a record, rather than the class that stands beside it") {
  CHECK(error_of({{"error", "ValueError"},
                  {"traceback", "Traceback (most recent call last):\n  File \"a.py\", line 1, in f\nValueError: bad"},
                  {"error_message", "ValueError: bad"}}) ==
        "Traceback (most recent call last):;  File \"a.py\", line 1, in f;ValueError: bad;");
}

TEST_CASE("errors that are none of the run's") {
  CHECK(error_of({{"error", kOom}}, {{"reward", 0.5}}).empty());  // of one of the answers behind the figure
  CHECK(error_of({{"error", kOom}, {"completion", "def f(): pass"}}).empty());
  CHECK(error_of({{"error", kOom}, {"tool_name", "python"}}).empty());
  CHECK(error_of({{"status", "success"}, {"error", kOom}}).empty());
  CHECK(error_of({{"error", "none"}}).empty());
  CHECK(error_of({{"error", "wrong answer"}}).empty());
  CHECK(error_of({{"message", "step failed"}}).empty());
  CHECK(error_of({{"status", "failed"}, {"error", "AssertionError: expected 3"}}, {{"id", 7}}).empty());
  CHECK(error_of({{"test_name", "adds"}, {"error", "AssertionError: expected 3"}}).empty());
  CHECK(error_of({{"status", "failed"}, {"error", kOom}}, {{"reward", 0.5}}) == std::string(kOom) + ";");
}
