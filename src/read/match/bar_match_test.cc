#include "read/match/bar_match.h"

#include <doctest/doctest.h>

#include <array>
#include <string>

#include "base/prng.h"
#include "read/books/dialect_book.h"
#include "read/match/regex.h"

namespace mw {
namespace {

struct Match {
  bool found = false;
  std::vector<std::string_view> captures;
  size_t end = 0;
  bool operator==(const Match&) const = default;
};

Match by_hand(std::string_view text) {
  Match match;
  match.found = match_bar(text, match.captures, &match.end);
  return match;
}

Match by_re2(const Regex& regex, std::string_view text) {
  Match match;
  match.found = regex.match(text, match.captures, &match.end);
  return match;
}

TEST_CASE("a bar is matched by hand as RE2 matches it") {
  const auto regex = Regex::compile(kBarExpression);  // at once: with RE2
  REQUIRE(regex.ok());
  constexpr std::array<std::string_view, 22> kPieces = {
      "12%|",     "%|",    "| ",   "12/100", " [", "1.2k/3M", "|",    ":",  ": ",  " ", "\r",
      "Rollouts", "title", "#2  ", "5",      "/",  "\t",      "| 7/", "9 ", "a b", "k", "\xe2\x96\x88"};
  Prng random(11);
  size_t found = 0;
  for (int i = 0; i < 60'000; ++i) {
    std::string text;
    for (uint64_t n = random.below(14); n > 0; --n) {
      if (random.chance(0.02)) text.append(60 + random.below(30), 'x');
      text += random.chance(0.15) ? " 12%|#2 | 12/100 [" : kPieces[random.below(kPieces.size())];
    }
    const Match expected = by_re2(*regex, text);
    found += expected.found ? 1 : 0;
    CAPTURE(text);
    CHECK(by_hand(text) == expected);
  }
  CHECK(found > 20'000);
}

TEST_CASE("titles around their longest length") {
  const auto regex = Regex::compile(kBarExpression);
  REQUIRE(regex.ok());
  for (size_t length = 76; length < 86; ++length) {
    for (const std::string front : {"", " ", "\r", "a ", "|", "| ", ": a", " a ", "\r\r"}) {
      for (const std::string behind : {"", ":", ": ", " ", "::", "\r"}) {
        const std::string text = front + std::string(length, 'x') + behind + "3%|##| 3/100 [00:01<00:30]";
        CAPTURE(text);
        CHECK(by_hand(text) == by_re2(*regex, text));
      }
    }
  }
}

TEST_CASE("it is the expression of the dialect") {
  const auto book = DialectBook::built_in();
  REQUIRE(book.ok());
  const auto tqdm = book->find("tqdm");
  REQUIRE(tqdm.has_value());
  CHECK(book->dialects()[*tqdm].shapes.at(0).regex == kBarExpression);
}

}  // namespace
}  // namespace mw
