#include "read/lines/logged_message.h"

#include <doctest/doctest.h>

namespace mw {
namespace {

std::string said(std::string_view line) {
  std::string out;
  return logged_message(line, out) ? out : "(none)";
}

TEST_CASE("a logger that writes JSON says its message") {
  CHECK(said(R"({"level": "info", "message": "step 3: loss=0.5"})") == "step 3: loss=0.5");
  CHECK(said(R"({"event": "begin", "logger": "train"})") == "begin");
}

TEST_CASE("its time, process and line beside the message are no figures") {
  CHECK(said(R"({"ts": 1767323045.5, "pid": 71, "lineno": 12, "msg": "step 3 loss 0.5"})") == "step 3 loss 0.5");
  CHECK(said(R"({"level": 30, "time": 1767323045, "msg": "step 3 loss 0.5"})") == "step 3 loss 0.5");
}

TEST_CASE("what is escaped in a message is as it was") {
  CHECK(said(R"({"level": "info", "msg": "{\"step\": 3, \"loss\": 0.5}"})") == R"({"step": 3, "loss": 0.5})");
  CHECK(said(R"({"msg": "a\\b\n\"c\""})") == R"(a\b "c")");
}

TEST_CASE("a record with figures of its own is no message") {
  CHECK(said(R"({"message": "step 3 loss 0.5", "step": 3, "loss": 0.5})") == "(none)");
  CHECK(said(R"({"message": "step 3 loss 0.5)") == "(none)");
  CHECK(said(R"({"message": 3})") == "(none)");
  CHECK(said("step 3 loss 0.5") == "(none)");
}

TEST_CASE("names by which a logger numbers its records") {
  CHECK(is_logger_name("timestamp"));
  CHECK(is_logger_name("extra/elapsed_time"));
  CHECK(is_logger_name("process"));
  CHECK(is_logger_name("record/thread/id"));
  CHECK_FALSE(is_logger_name("loss"));
  CHECK_FALSE(is_logger_name("step"));
}

}  // namespace
}  // namespace mw
