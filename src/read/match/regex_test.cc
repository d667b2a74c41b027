#include "read/match/regex.h"

#include <doctest/doctest.h>
#include <re2/re2.h>

#include <array>
#include <random>
#include <string>

namespace mw {
namespace {

struct Found {
  bool any = false;
  std::array<std::string, 2> captures;
  size_t end = 0;
  bool operator==(const Found&) const = default;
};

Found by_regex(const Regex& regex, const std::string& text) {
  Found found;
  std::vector<std::string_view> captures;
  found.any = regex.match(text, captures, &found.end);
  for (size_t i = 0; found.any && i < captures.size(); ++i) found.captures[i] = captures[i];
  if (!found.any) found.end = 0;
  return found;
}

Found by_re2(const RE2& regex, const std::string& text) {
  Found found;
  std::array<re2::StringPiece, 3> pieces;
  const int count = regex.NumberOfCapturingGroups() + 1;
  found.any = regex.Match(text, 0, text.size(), RE2::UNANCHORED, pieces.data(), count);
  if (!found.any) return found;
  for (int i = 1; i < count; ++i) found.captures[static_cast<size_t>(i) - 1] = std::string(pieces[i]);
  found.end = static_cast<size_t>(pieces[0].data() + pieces[0].size() - text.data());
  return found;
}

}  // namespace

TEST_CASE("an expression that begins with a literal finds what RE2 finds, wherever the literal stands") {
  RE2::Options options;
  options.set_encoding(RE2::Options::EncodingLatin1);
  std::mt19937 random(5);
  for (const std::string expression :
       {R"(ab(c+))", R"(ab?(c))", R"(ab*c(d?))", R"(abc|b(c))", R"(ab{2}(c))", R"(a\.(b)c)", R"(ab(?:c(a)|b)*?(c))",
        R"(ab.*?(c)(d)?)", R"(ab\b(.))", R"(ab$)", R"((?i)ab(c))", R"(\dab(c))", R"([a]b(c))", R"(ab(.?)c\b)",
        R"(a\d(b))", R"(ab(c)|^b)"}) {
    CAPTURE(expression);
    const Regex regex = Regex::compile_later(expression);
    const RE2 oracle(expression, options);
    REQUIRE(oracle.ok());
    int matches = 0;
    for (int round = 0; round < 800; ++round) {
      constexpr std::string_view kBytes = "aabbccd. 1AB";
      std::string text(random() % 14, ' ');
      for (char& c : text) c = kBytes[random() % kBytes.size()];
      CAPTURE(text);
      const Found found = by_regex(regex, text);
      CHECK(found == by_re2(oracle, text));
      matches += found.any ? 1 : 0;
    }
    CHECK(matches > 0);
  }
}

TEST_CASE("a line that holds the beginning of an expression thousands of times is gone through a few times only") {
  const Regex regex = Regex::compile_later(R"(ab.*?x\d(y))");
  std::string text;
  for (int i = 0; i < 200'000; ++i) text.append("ab");
  std::vector<std::string_view> captures;
  size_t end = 0;
  CHECK_FALSE(regex.match(text + "xz y", captures, &end));  // a minute and more, were it tried at each of them
}

}  // namespace mw
