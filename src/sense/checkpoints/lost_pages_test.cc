#include "sense/checkpoints/lost_pages.h"

#include <doctest/doctest.h>

#include "base/prng.h"

namespace mw {
namespace {

constexpr size_t kPage = kPageBytes;

/// What is lost of a tensor of numbers of 2 bytes that begins at a page, with rows of `row` bytes.
std::vector<LostPages::Lost> lost_of(const std::string& bytes, uint64_t row, uint64_t at = kPage) {
  LostPages pages;
  pages.add({"w", at, bytes.size(), row, false, zero_pages(at, bytes, 2)});
  return pages.finish(0);
}

std::string with_zeros(size_t bytes, size_t from, size_t zeros) {
  std::string out(bytes, '\x3c');
  return out.replace(from, zeros, std::string(zeros, '\0'));
}

TEST_CASE("rows of zeros are no lost pages, and pages within rows are") {
  CHECK(lost_of(with_zeros(40 * kPage, 4 * kPage, 8 * kPage), 2 * kPage).empty());
  CHECK(lost_of(with_zeros(40 * kPage, 4 * kPage, 7 * kPage), 2 * kPage).size() == 1);
  CHECK(lost_of(with_zeros(40 * kPage, 5 * kPage, 7 * kPage), 2 * kPage).size() == 1);
  CHECK(lost_of(with_zeros(40 * kPage, 4 * kPage, 8 * kPage), 3000).size() == 1);
  CHECK(lost_of(with_zeros(40 * kPage, 4 * kPage, 8 * kPage), 0).empty());  // rows that are not known
  const auto lost = lost_of(with_zeros(40 * kPage, 4 * kPage, 8 * kPage), 3000);
  REQUIRE(lost.size() == 1);
  CHECK(lost[0].name == "w");
  CHECK(lost[0].at == 5 * kPage);
  CHECK(lost[0].bytes == 8 * kPage);
}

TEST_CASE("a tensor that is full of zeros by design has lost nothing") {
  std::string bytes(2'000 * kPage, '\x3c');
  for (size_t page = 0; page < 2'000; page += 3) bytes.replace(page * kPage, kPage, std::string(kPage, '\0'));
  CHECK(lost_of(bytes, 3000).empty());
}

TEST_CASE("stretches that are joined show what one stretch shows") {
  Prng dice(5);
  for (int round = 0; round < 3'000; ++round) {
    const uint64_t at = 2 * dice.below(5'000);
    std::string bytes(2 * (1 + dice.below(5 * kPage)), '\x3c');
    for (int holes = static_cast<int>(dice.below(4)); holes > 0; --holes) {
      const size_t from = (dice.below(5) * kPage + (dice.below(3) == 0 ? 2 * dice.below(9) : 0));
      const size_t begin = from + (kPage - at % kPage) % kPage;
      if (begin >= bytes.size()) continue;
      const size_t zeros = std::min<size_t>(bytes.size() - begin, dice.below(4) * kPage + 2 * dice.below(3));
      bytes.replace(begin, zeros, std::string(zeros, '\0'));
    }
    const ZeroPages once = zero_pages(at, bytes, 2);
    ZeroPages joined;
    for (size_t from = 0; from < bytes.size();) {
      const size_t piece = std::min<size_t>(bytes.size() - from, (kPage - (at + from) % kPage) + dice.below(3) * kPage);
      joined.join(zero_pages(at + from, std::string_view(bytes).substr(from, piece), 2));
      from += piece;
    }
    CAPTURE(round);
    CHECK(joined.at == once.at);
    CHECK(joined.end == once.end);
    CHECK(joined.first_zero == once.first_zero);
    CHECK(joined.last_zero == once.last_zero);
    CHECK(joined.tail_zero == once.tail_zero);
    REQUIRE(joined.runs.size() == once.runs.size());
    for (size_t i = 0; i < once.runs.size(); ++i) {
      CHECK(joined.runs[i].begin == once.runs[i].begin);
      CHECK(joined.runs[i].end == once.runs[i].end);
      CHECK(joined.runs[i].before == once.runs[i].before);
      CHECK(joined.runs[i].after == once.runs[i].after);
    }
  }
}

}  // namespace
}  // namespace mw
