#include "read/lines/bare_clocks.h"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "base/time.h"
#include "read/lines/log_line.h"

namespace mw {
namespace {

/// The last of `lines`, read behind the others.
struct Read {
  std::vector<std::string> lines;
  LineReader reader;
  LogLine line;
  explicit Read(std::vector<std::string> all) : lines(std::move(all)) {
    reader.set_date_hint(*parse_time("2026-11-20T20:00:00Z"));
    uint64_t number = 0;
    for (const std::string& one : lines) line = reader.read(one, ++number);
  }
};

std::vector<std::string> clocked(std::string_view prefix, const std::vector<std::string>& texts) {
  std::vector<std::string> lines;
  int second = 10;
  for (const std::string& text : texts) {
    std::string before(prefix);
    before.replace(before.find("SS"), 2, std::to_string(second++));
    lines.push_back(before + text);
  }
  return lines;
}

const std::vector<std::string> kTexts = {"loading the model", "step 1 reward 0.5", "step 2 reward 0.5",
                                         "Traceback (most recent call last):", "  File \"/a/b.py\", line 3, in f"};

}  // namespace

TEST_CASE("where lines begin with a clock alone, it is their header, and what is behind it keeps its indentation") {
  for (const std::string_view prefix : {"08:00:SS ", "08:00:SS.123 ", "08:00:SS,123 ", "08:00:SS: ", "08:00:SS AM "}) {
    CAPTURE(prefix);
    const Read read(clocked(prefix, kTexts));
    CHECK(read.line.text == kTexts.back());
    CHECK(format_utc(read.line.at).starts_with("2026-11-20T08:00:14"));
    LineReader whole;  // of a file that is read once, from its first line on
    std::string head;
    for (const std::string& one : clocked(prefix, kTexts)) head += one + "\n";
    whole.expect_labels(head);
    CHECK(whole.read(clocked(prefix, kTexts)[0], 1).text == kTexts[0]);
  }
  CHECK(Read(clocked("08:00:SS ", {"a b", "c d", "e f", ""})).line.text.empty());
}

TEST_CASE("before a traceback's head or verl's record a clock is one in the first line, as in a log that is followed") {
  for (const std::string_view text : {"Traceback (most recent call last):", "step:1 - actor/entropy:0.5"})
    CHECK(Read({cat("08:00:10 ", text)}).line.text == text);
  CHECK(Read({"08:00:10 step: 1"}).line.text == "08:00:10 step: 1");
}

TEST_CASE("one line with a clock, durations, columns of figures and what a sample quotes lose nothing") {
  const std::string alone = "08:00:10 began to load";
  CHECK(Read({"loading", "still loading", alone}).line.text == alone);
  CHECK(Read(clocked("00:12:SS ", {"elapsed, loss 1", "elapsed, loss 2", "elapsed, loss 3", "elapsed, loss 4"}))
            .line.text == "00:12:13 elapsed, loss 4");
  CHECK(Read({"04:20:10 left for 9 steps", "04:10:10 left for 8 steps", "04:00:10 left for 7 steps",
              "03:50:10 left for 6 steps"})
            .line.text == "03:50:10 left for 6 steps");
  CHECK(Read({"04:20:10 for 9 steps", "04:19:40 for 8 steps", "04:19:10 for 7 steps", "04:18:40 for 6 steps"})
            .line.text == "04:18:40 for 6 steps");
  CHECK(Read(clocked("08:00:SS ", {"1 0.25 0.5", "2 0.25 0.5", "3 0.25 0.5", "4 0.25 0.5"})).line.text ==
        "08:00:13 4 0.25 0.5");
  const std::string bar = "  7%|7  | 21/300 [00:12<03:10,  1.5it/s]";
  CHECK(Read({bar, bar, bar, bar}).line.text == bar);
  std::vector<std::string> quoted;  // at another time of day than that of the log
  for (int i = 0; i < 6; ++i) {
    quoted.push_back(cat("2026-11-20 08:00:1", i, " INFO step ", i));
    quoted.push_back(cat("15:20:1", i, " Ann: hello"));
  }
  CHECK(Read(quoted).line.text == "15:20:15 Ann: hello");
}

TEST_CASE("clocks that count from the start of the run are taken off and are no times of day") {
  const Read read(clocked("00:00:SS ", kTexts));
  CHECK(read.line.text == kTexts.back());
  CHECK_FALSE(read.line.at.known());
}

TEST_CASE("the states of a bar that is drawn again do not speak against the clock that its line begins with") {
  BareClocks clocks;
  for (uint64_t line = 1; line <= 4; ++line) {
    clocks.line(line, {static_cast<int32_t>(36'000'000 + line * 1000), true, -1});
    for (int state = 0; state < 50; ++state) clocks.line(line, {});
  }
  CHECK(clocks.sure());
  for (uint64_t line = 5; line <= 40; ++line) clocks.line(line, {});
  CHECK_FALSE(clocks.sure());
}

}  // namespace mw
