#include "read/files/text_log.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "base/text.h"

namespace mw {
namespace {

constexpr std::string_view kDialect = R"(
id = "acme"
family = "trainer"
[[sign]]
text = "acme starts"
weight = 5
[[line]]
make = "metrics"
literal = "step:"
regex = '^step:(?P<step>\d+) - '
[metrics]
"r" = "reward.mean"
)";

class Collector final : public EventSink {
 public:
  void put(Event&& event) override { events.push_back(std::move(event)); }
  std::vector<Event> events;
};

struct Bench {
  Bench() : patterns(make()), recogniser(book), interpreter(pattern_index, recogniser, miner, sink, 3) {}
  PatternSet make() {
    const bool added = book.add(kDialect, "acme.toml").ok();
    REQUIRE(added);
    auto set = PatternSet::compile(book.patterns(0));
    REQUIRE(set.ok());
    pattern_index.book = &book;
    return std::move(*set);
  }
  /// "line:step=value" of each metric record, and problems by name.
  std::string seen() const {
    std::string out;
    for (const Event& event : sink.events) {
      if (const auto* measured = std::get_if<event::Measured>(&event.body)) {
        out += cat(event.where.line, ":", measured->step, "=", measured->readings[0].value, " ");
      } else if (const auto* problem = std::get_if<event::SourceProblem>(&event.body)) {
        out += cat(problem->problem, " ");
      }
    }
    return out;
  }
  DialectBook book;
  PatternIndex pattern_index;
  PatternSet patterns;
  Recogniser recogniser;
  TemplateMiner miner;
  Collector sink;
  Interpreter interpreter;
};

constexpr std::string_view kLog =
    "acme starts\nnoise\nstep:1 - r:0.5\r\n\n12%|#|\rstep:2 - r:0.25\nstep:3 - r:0.125\nthe end, step:4 - r:1";

TEST_CASE("pieces of any size say the same, with the right line numbers") {
  for (size_t piece = 1; piece <= kLog.size(); ++piece) {
    Bench bench;
    TextLog log(bench.patterns, bench.interpreter, bench.sink, 3);
    for (size_t at = 0; at < kLog.size(); at += piece) log.feed(kLog.substr(at, piece));
    log.finish();
    CHECK(bench.seen() == "3:1=0.5 5:2=0.25 6:3=0.125 ");
    CHECK(log.lines() == 7);
    CHECK(log.consumed() == kLog.size());
    CHECK(log.torn());
    CHECK(log.last_text() == "the end, step:4 - r:1");
  }
}

TEST_CASE("going on in the middle of a file keeps the numbers") {
  Bench bench;
  TextLog first(bench.patterns, bench.interpreter, bench.sink, 3);
  first.feed(kLog.substr(0, 40));
  const uint64_t bytes = first.consumed();
  const uint64_t lines = first.lines();
  Bench other;
  TextLog second(other.patterns, other.interpreter, other.sink, 3);
  second.resume(bytes, lines);
  second.feed(kLog.substr(bytes));
  second.finish();
  CHECK(bench.seen() + other.seen() == "3:1=0.5 5:2=0.25 6:3=0.125 ");
}

TEST_CASE("a line beyond the limit is cut and said, and what follows is read") {
  Bench bench;
  TextLog log(bench.patterns, bench.interpreter, bench.sink, 3);
  const std::string junk(300'000, 'x');
  log.feed("acme starts\n");
  for (int i = 0; i < 10; ++i) log.feed(junk);
  log.feed("\nstep:9 - r:0.5\n");
  log.finish();
  CHECK(bench.seen() == "line-too-long 3:9=0.5 ");
  CHECK(log.lines() == 3);
  CHECK(log.consumed() == 12 + 3'000'000 + 1 + 15);
}

TEST_CASE("a key and a wrapped secret are known in whichever block their lines come") {
  const std::string begin = cat("-----BEGIN", " PRIVATE KEY-----"),
                    prefix = "2026-02-19 09:08:11 WARNING judge: ", end = cat("-----END", " PRIVATE KEY-----");
  const std::string token = "hf_abcdefghij0123456789KLMNOPqrstuv";
  const std::string text = cat("acme starts\n", prefix, begin, "\n", prefix, "MIIBVwIBADANBgkq\n", prefix, end, "\n",
                               prefix, "the settings that it was given are: token=", token.substr(0, 16), "\n", prefix,
                               token.substr(16), "\n", prefix, "no secret\n");
  for (size_t piece = 1; piece <= text.size(); ++piece) {
    Bench bench;
    TextLog log(bench.patterns, bench.interpreter, bench.sink, 3);
    for (size_t at = 0; at < text.size(); at += piece) log.feed(std::string_view(text).substr(at, piece));
    log.finish();
    std::string logged;
    for (const Event& event : bench.sink.events) {
      if (const auto* one = std::get_if<event::Logged>(&event.body)) logged += cat(one->text, "\n");
    }
    CAPTURE(logged);
    for (const char* secret : {"MIIB", "Bgkq", "hf_abcd", "6789KL", "qrstuv"}) CHECK_FALSE(contains(logged, secret));
    CHECK(contains(logged, "the settings that it was given are: token=<redacted>\n"));
    CHECK(contains(logged, "judge: no secret\n"));
  }
}

TEST_CASE("binary junk is lines like any other") {
  Bench bench;
  TextLog log(bench.patterns, bench.interpreter, bench.sink, 3);
  log.feed(std::string_view("\0\xff\xfe\n\x1b[31m\n\nacme starts\nstep:1 - r:nan\n", 36));
  log.finish();
  CHECK(log.lines() == 5);
}

}  // namespace
}  // namespace mw
