#include "read/match/literal_scanner.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <utility>

#include "read/match/literal_table.h"

namespace mw {
namespace {

using Found = std::vector<std::pair<uint32_t, uint32_t>>;  // end, literal

Found sorted(const std::vector<LiteralScanner::Hit>& hits) {
  Found found;
  for (const LiteralScanner::Hit& hit : hits) found.emplace_back(hit.end, hit.literal);
  std::sort(found.begin(), found.end());
  return found;
}

/// The same by looking for each literal at each place.
Found by_hand(const std::vector<std::string>& literals, const std::string& text) {
  Found found;
  for (uint32_t i = 0; i < literals.size(); ++i) {
    for (size_t at = text.find(literals[i]); at != std::string::npos; at = text.find(literals[i], at + 1)) {
      found.emplace_back(static_cast<uint32_t>(at + literals[i].size()), i);
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::string random_text(std::mt19937& random, size_t size, std::string_view bytes = "abcAB: \n") {
  std::string text(size, ' ');
  for (char& c : text) c = bytes[random() % bytes.size()];  // few, so that much is found
  return text;
}

}  // namespace

TEST_CASE("the table finds each literal wherever it stands, as a search for each of them does") {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    constexpr std::string_view kBytes("abc\0AB: \n", 9);
    std::vector<std::string> literals;
    for (size_t i = 0; i < 1 + random() % 60; ++i) literals.push_back(random_text(random, 1 + random() % 9, kBytes));
    std::sort(literals.begin(), literals.end());
    literals.erase(std::unique(literals.begin(), literals.end()), literals.end());
    const std::string text = random_text(random, random() % 400, kBytes);
    std::vector<LiteralScanner::Hit> hits;
    FlatWriter out;
    LiteralTable::write(literals, out);
    const std::string bytes = out.take();
    FlatReader in(bytes);
    LiteralTable(in).scan(text, hits);
    CHECK(sorted(hits) == by_hand(literals, text));
  }
}

TEST_CASE("long texts are scanned by Vectorscan, with the same hits in order") {
  std::mt19937 random(11);
  std::vector<std::string> literals;
  for (int i = 0; i < 50; ++i) literals.push_back(random_text(random, 5) + std::to_string(i));
  auto scanner = LiteralScanner::compile(literals);
  REQUIRE(scanner.ok());
  const size_t of_the_table = scanner->bytes();
  std::string text = random_text(random, 1 << 20);
  for (size_t i = 0; i < literals.size(); ++i) text.replace(i * 20'000 + 7, literals[i].size(), literals[i]);
  const Found expected = by_hand(literals, text);
  std::vector<LiteralScanner::Hit> hits;
  for (int piece = 0; piece < 20; ++piece) {
    scanner->scan(text, hits);
    CHECK(sorted(hits) == expected);
    CHECK(std::is_sorted(hits.begin(), hits.end(), [](const auto& a, const auto& b) { return a.end < b.end; }));
  }
  CHECK(scanner->bytes() > of_the_table);
}

}  // namespace mw
