#include "ui/view/layout.h"

#include <doctest/doctest.h>

namespace mw {
namespace {

TEST_CASE("cells are counted, not bytes") {
  CHECK(cells_of("abc") == 3);
  CHECK(cells_of("äöü") == 3);
  CHECK(cells_of("漢字") == 4);
  CHECK(cells_of("e\xcc\x81") == 1);  // e and a combining accent
  CHECK(cells_of("\xff\xff") == 2);   // broken: one cell each
  CHECK(cells_of("\xe6\xbc") == 2);   // cut within a character
}

TEST_CASE("columns have their width, whatever is in them") {
  for (const char* text : {"", "a", "reward.component.after_kl_penalty", "漢字漢字漢字漢字", "äääääääääääääää"}) {
    for (size_t width = 1; width < 12; ++width) {
      CHECK(cells_of(column(text, width)) <= width);
      CHECK(cells_of(pad(fit(text, width), width)) == width);
    }
  }
  CHECK(fit("abcdef", 4) == "abc…");
  CHECK(fit("abcd", 4) == "abcd");
  CHECK(pad("7", 3, true) == "  7");
}

TEST_CASE("the names of a table are cut where they still differ") {
  using Names = std::vector<std::string>;
  CHECK(fit_names({"reward.component.g_minus_f", "reward.component.f"}, 20) ==
        Names{"reward.component.g_…", "reward.component.f"});
  CHECK(fit_names({"val/test_score/math__math_500", "val/test_score/math__aime"}, 20) ==
        Names{"val/test_s…_math_500", "val/test_s…ath__aime"});
  CHECK(fit_names({"first/of/all/the/same", "other/of/all/the/same"}, 12) == Names{"first/of/al…", "other/of/al…"});
  CHECK(fit_names({"漢字漢字漢字漢a", "漢字漢字漢字漢b"}, 9) == Names{"漢字…漢a", "漢字…漢b"});
  for (const char* text :
       {"reward.component.after_kl_penalty", "漢字漢字漢字漢字", "ääääääääääääääääää", "\xff\xff\xff\xff\xff\xff"}) {
    for (size_t width = 1; width < 16; ++width) {
      for (const std::string& name : fit_names({text, std::string(text) + "x", std::string(text) + "y"}, width))
        CHECK(cells_of(name) <= width);
    }
  }
  CHECK(fit_names({}, 20).empty());
}

TEST_CASE("wrapping keeps words together, its lines short and every word") {
  const std::string text = "one two three four five six seven";
  for (size_t width = 2; width < 40; ++width) {
    std::string glued;
    for (const std::string& line : wrap(text, width)) {
      CHECK(cells_of(line) <= width);
      for (const char c : line) glued += c == ' ' ? "" : std::string(1, c);
    }
    CHECK(glued == "onetwothreefourfivesixseven");
  }
  CHECK(wrap("aaa bbb ccc", 7) == std::vector<std::string>{"aaa bbb", "ccc"});
  CHECK(wrap("aaaaaaaaaa", 4) == std::vector<std::string>{"aaaa", "aaaa", "aa"});
  CHECK(wrap("aaa bbb ccc", 3, 2) == std::vector<std::string>{"aaa", "bb…"});
  CHECK(wrap("", 10).empty());
}

}  // namespace
TEST_CASE("a place keeps its line's number") {
  CHECK(fit_place("since step 9, run-with-a-long-name.wandb:1867", 30) == "since step 9, run-with-a…:1867");
  CHECK(fit_place("train.log:12", 30) == "train.log:12");
  CHECK(fit_place("since 2026-01-15T09:55:29Z, no place here", 24) == "since 2026-01-15T09:55:…");
  CHECK(fit_place("a: b", 3) == "a:…");
}

}  // namespace mw
