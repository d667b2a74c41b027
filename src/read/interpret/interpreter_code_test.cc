// Calls of tools whose code follows in the log.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "read/files/text_log.h"

namespace mw {
namespace {

constexpr std::string_view kTrainer = R"(
id = "acme"
family = "trainer"
[[sign]]
text = "acme starts"
weight = 5
[[line]]
make = "metrics"
literal = "step:"
regex = '^step:(?P<step>\d+) - '
[[line]]
make = "attempt"
literal = "acme begins again"
[metrics]
"r" = "reward.mean"
)";

struct Collector final : EventSink {
  void put(Event&& event) override { events.push_back(std::move(event)); }
  std::vector<Event> events;
};

std::vector<Event> read(const std::string& log, size_t piece = std::string::npos) {
  static const DialectBook book = [] {
    auto built_in = DialectBook::built_in();
    REQUIRE(built_in.ok());
    const bool added = built_in->add(kTrainer, "acme.toml").ok();
    REQUIRE(added);
    return std::move(*built_in);
  }();
  static const PatternSet patterns = [] {
    auto set = PatternSet::compile(book.patterns(0));
    REQUIRE(set.ok());
    return std::move(*set);
  }();
  PatternIndex index;
  index.book = &book;
  Recogniser recogniser(book);
  TemplateMiner miner;
  Collector sink;
  Interpreter interpreter(index, recogniser, miner, sink, 0);
  TextLog text(patterns, interpreter, sink, 0);
  for (size_t at = 0; at < log.size(); at += std::min(piece, log.size()))
    text.feed(std::string_view(log).substr(at, piece));
  text.finish();
  return std::move(sink.events);
}

std::vector<std::string> tools(const std::vector<Event>& events) {
  std::vector<std::string> out;
  for (const Event& event : events) {
    if (const auto* called = std::get_if<event::ToolCalled>(&event.body)) out.push_back(called->function);
  }
  return out;
}

/// Kind and line of each event, in the order of the lines.
std::vector<std::pair<uint64_t, size_t>> outline(const std::vector<Event>& events) {
  std::vector<std::pair<uint64_t, size_t>> out;
  for (const Event& event : events) out.emplace_back(event.where.line, event.body.index());
  std::sort(out.begin(), out.end());
  return out;
}

/// The log of a known trainer, so long that no line is read but for what it matches.
std::string training() {
  std::string log = "acme starts\nstep:1 - r:0.5\n";
  for (int i = 0; i < 300; ++i) log += "noise\n";
  return log;
}

constexpr std::string_view kCall =
    "2026-02-19 12:00:01.000 | WARNING  | agent:execute:171 - Code execution took 241.50 seconds. Code:\n";
constexpr std::string_view kNext = "2026-02-19 12:00:02.000 | INFO     | agent:run:3 - goes on\n";

TEST_CASE("lines of a known trainer that no pattern hits are not read") {
  CHECK(outline(read(training() + "+ python train.py lr=3\n")) == outline(read(training())));
}

TEST_CASE("what code looks like changes nothing but the name of the call") {
  const std::string code =
      "Error connecting(1)\nUserWarning: old\n+ python train.py lr=3\nstep:2 - r:0.25\nValueError: x\nTraceback (most "
      "recent call last):\n  File \"a.py\", line "
      "1\n"
      "KeyError: 'y'\nacme begins again\nrun_blast(1)\n100%|##| 3/3\nsearch_pubmed(2)\nOutput:\nstep:3 - r:1\n";
  const std::string head = training(), with_code = cat(kCall, code, kNext);
  std::string without = with_code;
  without.replace(without.find("Code:"), 5, "Kode:");
  const std::vector<Event> named = read(head + with_code), unnamed = read(head + without);
  CHECK(outline(named) == outline(unnamed));
  CHECK(tools(unnamed) == std::vector<std::string>{"execute"});
  CHECK(tools(named) == std::vector<std::string>{"connecting"});
}

TEST_CASE("pieces of any size name the same function, whatever ends its code") {
  const std::string head = training();
  for (const std::string_view end : {std::string_view("Output:\nquery_gwas(1)\n"), kNext, kCall, std::string_view()}) {
    const std::string log = cat(kCall, "x = 1\nrun_blast(x)\n", end);
    for (const size_t piece : {size_t{1}, size_t{7}, log.size() + head.size()}) {
      const auto all = tools(read(head + log, piece));
      REQUIRE(all.size() == (end == kCall ? 2 : 1));
      CHECK(all[0] == "run_blast");
      CHECK(all.back() == (end == kCall ? "execute" : "run_blast"));
    }
  }
}

TEST_CASE("a call is of the attempt in which it was made, before what is logged next") {
  const std::vector<Event> events =
      read(cat(training(), "(main pid=7) ", kCall, "(main pid=7) run_blast(1)\nacme begins again\n"));
  const auto is_call = [](const Event& e) { return std::holds_alternative<event::ToolCalled>(e.body); };
  const auto is_attempt = [](const Event& e) { return std::holds_alternative<event::AttemptBegan>(e.body); };
  const auto call = std::find_if(events.begin(), events.end(), is_call);
  const auto attempt = std::find_if(events.begin(), events.end(), is_attempt);
  REQUIRE(call != events.end());
  REQUIRE(attempt != events.end());
  CHECK(call < attempt);
  CHECK(std::get<event::ToolCalled>(call->body).function == "run_blast");
}

TEST_CASE("code without an end, and names without an end, are bounded") {
  std::string lines, foreign, calls;
  for (size_t i = 0; i < Interpreter::kCodeLines; ++i) lines += "x = 1\n";
  CHECK(tools(read(cat(training(), kCall, lines, "run_blast(1)\n"))) == std::vector<std::string>{"execute"});
  for (uint64_t i = 0; i < Interpreter::kCodeReach; ++i) foreign += "(worker pid=1) noise\n";
  CHECK(tools(read(cat(training(), "(main pid=7) ", kCall, foreign, "(main pid=7) run_blast(1)\n"))) ==
        std::vector<std::string>{"execute"});
  for (size_t i = 0; i < Interpreter::kToolNames + 50; ++i) calls += cat(kCall, "run_", i, "(1)\nOutput:\n");
  const auto all = tools(read(training() + calls));
  CHECK(all.size() == Interpreter::kToolNames + 50);
  CHECK(std::set<std::string>(all.begin(), all.end()).size() == Interpreter::kToolNames + 1);
  CHECK(all.back() == "execute");
}

}  // namespace
}  // namespace mw
