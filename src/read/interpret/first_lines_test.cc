#include "read/interpret/first_lines.h"

#include <doctest/doctest.h>

#include <initializer_list>
#include <string_view>

namespace mw {
namespace {

/// The line at which the log began again; 0: it did not.
uint64_t read_all(FirstLines& lines, std::initializer_list<std::string_view> texts, uint64_t from) {
  for (const std::string_view text : texts) {
    if (const auto begin = lines.read(text, from++, {})) return begin->number;
  }
  return 0;
}

TEST_CASE("behind a failure the first lines of a log are those of another start, whatever their numbers") {
  FirstLines lines;
  CHECK(read_all(lines, {"", "loading shard 1 of 4", "device cuda:0", "Namespace(lr=1e-5)", "ready"}, 1) == 0);
  lines.failed();
  CHECK(read_all(lines, {"scripts/x.py FAILED", "loading shard 3 of 9", "device cuda:7", "Namespace(lr=3e-6)"}, 30) ==
        31);
}

TEST_CASE("what a machine prints of itself is not among them") {
  FirstLines lines;
  CHECK(read_all(lines, {"Mon Mar  2 10:00:00 2026", "+-----+", "| SMI 1.2 |", "alpha one", "beta two", "gamma"}, 1) ==
        0);
  lines.failed();
  CHECK(read_all(lines, {"Tue Mar  3 11:00:00 2026", "+---+", "| SMI 1.2 |"}, 20) == 0);
  CHECK(read_all(lines, {"alpha one", "beta two", "gamma"}, 30) == 30);
}

TEST_CASE("without a failure, in part, or far behind it they begin nothing") {
  FirstLines quiet;
  CHECK(read_all(quiet, {"alpha", "beta", "gamma", "delta"}, 1) == 0);
  quiet.went_on();
  CHECK(read_all(quiet, {"alpha", "beta", "gamma"}, 10) == 0);
  quiet.failed();
  CHECK(read_all(quiet, {"alpha", "gamma", "beta", "gamma"}, 20) == 0);
  quiet.failed();
  quiet.went_on();  // a record: nothing ended
  CHECK(read_all(quiet, {"alpha", "beta", "gamma"}, 30) == 0);
  quiet.failed();
  for (size_t i = 0; i < FirstLines::kReach; ++i) CHECK(read_all(quiet, {"other words"}, 40 + i) == 0);
  CHECK_FALSE(quiet.reads());
}

TEST_CASE("lines that every process prints at the start show no other one") {
  FirstLines ranks;
  CHECK(read_all(ranks, {"alpha", "beta", "gamma", "alpha", "beta", "gamma"}, 1) == 0);
  ranks.failed();
  CHECK(read_all(ranks, {"alpha", "beta", "gamma"}, 10) == 0);
  FirstLines report;  // of a job that is over
  CHECK(read_all(report, {"Sender: LSF System <a@n1>", "Subject: Job 1: <train> Exited", "Job <train> was"}, 1) == 0);
  report.failed();
  CHECK(read_all(report, {"Sender: LSF System <a@n1>", "Subject: Job 2: <train> Exited", "Job <train> was"}, 9) == 0);
  FirstLines one;
  CHECK(read_all(one, {"alpha"}, 1) == 0);
  one.failed();  // a single line comes again by chance
  CHECK(read_all(one, {"alpha"}, 10) == 0);
}

}  // namespace
}  // namespace mw
