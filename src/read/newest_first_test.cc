#include "read/newest_first.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "read/testing/whole_log.h"

namespace mw {
namespace {

/// 60 steps of a minute, each with its clock; nothing is rewarded from step 41 on.
std::vector<std::string> lines_of_log() {
  std::vector<std::string> lines;
  for (int step = 1; step <= 60; ++step) {
    const std::string reward = step > 40 ? "0.0" : cat("0.", 400 + step);
    lines.push_back(cat("2026-11-20T", step < 10 ? "08:0" : "08:", step % 60 == 0 ? "59:59" : cat(step, ":00"),
                        " step ", step, "/60 reward=", reward, " loss=0.1"));
  }
  return lines;
}

std::string joined(const std::vector<std::string>& lines, bool turned, const std::string& heading = "") {
  std::string text = heading;
  for (size_t i = 0; i < lines.size(); ++i) text += cat(lines[turned ? lines.size() - 1 - i : i], "\n");
  return text;
}

std::string said_of(const State& state) {
  std::string said = cat(state.attempts.size(), " attempts, ", state.steps().count, " steps");
  for (const Incident& one : state.incidents) {
    if (one.severity > Severity::kInfo) said += cat(", ", one.kind, " since ", one.onset.step);
  }
  return said;
}

bool says_so(const State& state) {
  for (const std::string& problem : state.sources.front().problems) {
    if (contains(problem, "newest")) return true;
  }
  return false;
}

TEST_CASE("a log that runs from the newest line to the oldest says what it says in its order") {
  const State right = state_of(joined(lines_of_log(), false)), turned = state_of(joined(lines_of_log(), true));
  CHECK(said_of(right) == "1 attempts, 60 steps, zero-reward since 41");
  CHECK(said_of(turned) == said_of(right));
  CHECK(says_so(turned));
  CHECK_FALSE(says_so(right));
}

TEST_CASE("some lines in order before all those that run backwards are those of a late writer") {
  const auto log = [](int rises, int falls) {
    std::string text;
    for (int i = 0; i < rises; ++i) text += cat("2026-11-20T09:", 10 + i, ":00 late\n");
    for (int i = 0; i < falls; ++i) text += cat("2026-11-20T08:", 59 - i / 10, ":", 59 - i % 10, " a\n");
    return text;
  };
  CHECK(is_newest_first(FileKind::kText, log(4, 60)));
  CHECK_FALSE(is_newest_first(FileKind::kText, log(5, 60)));
  CHECK_FALSE(is_newest_first(FileKind::kText, log(40, 60)));
  std::string table = "step,loss\n1,2\n2,2\n3,2\n4,2\n";
  for (int i = 0; i < 60; ++i) table += cat(99 - i, ",2\n");
  CHECK_FALSE(is_newest_first(FileKind::kCsv, table));  // a rise among fifteen
  for (int i = 60; i < 99; ++i) table += cat(99 - i, ",2\n");
  CHECK(is_newest_first(FileKind::kCsv, table));
}

TEST_CASE("so do tables and records") {
  std::vector<std::string> rows, records;
  for (int step = 1; step <= 60; ++step) {
    const std::string reward = step > 40 ? "0.0" : cat("0.", 400 + step);
    rows.push_back(cat(step, ",", reward, ",0.1"));
    records.push_back(cat(R"({"step": )", step, R"(, "reward": )", reward, R"(, "loss": 0.1})"));
  }
  CHECK(said_of(state_of(joined(rows, true, "step,reward,loss\n"), "m.csv")) ==
        said_of(state_of(joined(rows, false, "step,reward,loss\n"), "m.csv")));
  CHECK(said_of(state_of(joined(records, true), "m.jsonl")) == said_of(state_of(joined(records, false), "m.jsonl")));
  CHECK(said_of(state_of(joined(records, true), "m.jsonl")) == "1 attempts, 60 steps, zero-reward since 41");
}

TEST_CASE("a clock that is set back once, lines of several writers, and steps that begin again turn nothing") {
  std::vector<std::string> lines = lines_of_log();
  std::string set_back = joined(lines, false);
  set_back += joined(lines, false);
  CHECK_FALSE(is_newest_first(FileKind::kText, set_back));
  std::string mixed;
  for (size_t i = 1; i < lines.size(); ++i) mixed += cat(lines[i], "\n", lines[i - 1], "\n");
  CHECK_FALSE(is_newest_first(FileKind::kText, mixed));
  CHECK_FALSE(is_newest_first(FileKind::kCsv, "step,reward\n3,1\n2,1\n1,1\n"));
  CHECK_FALSE(is_newest_first(FileKind::kBinary, joined(lines, true)));
}

TEST_CASE("a table whose cells go over several lines stays as it is") {
  const std::string table = "step,text\n2,\"a\nb\"\n1,\"c\"\n";
  CHECK(oldest_first(FileKind::kCsv, table) == table);
  CHECK(oldest_first(FileKind::kCsv, "step,loss\n2,0.5\n1,0.6") == "step,loss\n1,0.6\n2,0.5\n");
}

}  // namespace
}  // namespace mw
