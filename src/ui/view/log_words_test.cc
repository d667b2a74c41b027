#include "ui/view/log_words.h"

#include <doctest/doctest.h>

namespace mw {

TEST_CASE("a quoted line is without bars, colours, headers and runs of spaces") {
  CHECK(log_words("  0%|          | 1/200 [00:03<12:08,  3.66s/it]RuntimeError: no space") == "RuntimeError: no space");
  CHECK(log_words("[33m(raylet) A worker died") == "(raylet) A worker died");
  CHECK(log_words("[rank2]:[E723 01:58:45.510486595 ProcessGroupNCCL.cpp:632] Watchdog caught it") ==
        "Watchdog caught it");
  CHECK(log_words("line 18: 14250 Killed                 python train.py") == "line 18: 14250 Killed python train.py");
  CHECK(log_words("[1] 18472 killed") == "[1] 18472 killed");
  CHECK(log_words("in '50 % of it'") == "in '50 % of it'");
}

TEST_CASE("a bar that is cut, and mere punctuation, say nothing") {
  CHECK(log_words(" 20%|##        | 40/200 [0").empty());
  CHECK(log_words(": ").empty());
  CHECK(log_words("").empty());
}

TEST_CASE("a frame of a traceback only leads to the words") {
  CHECK(points_on("File \"/a/b.py\", line 3, in f"));
  CHECK(points_on("terminate called after throwing an instance of 'c10::Error'"));
  CHECK_FALSE(points_on("ValueError: invalid literal"));
  CHECK(quoted_words("seen first:     raise NotFound(").empty());
}

TEST_CASE("a reason keeps its own words and cleans what it quotes") {
  CHECK(reason_words("seen first: [33mValueError: x") == "seen first: ValueError: x");
  CHECK(reason_words("seen: 0%|  | 1/200 [00").empty());
  CHECK(reason_words("the fall took several records") == "the fall took several records");
  CHECK(quoted_words("the fall took several records").empty());
}

}  // namespace mw
