#include "sense/checkpoints/lost_pages.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "base/prng.h"
#include "base/text.h"
#include "platform/fake/fake_disk.h"
#include "platform/real/posix_disk.h"

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

/// Whether rows of 4 KB and more of a file's one tensor, which begins at byte 8, are lost: as a copy in pieces leaves
/// them, anywhere.
bool is_lost(std::string bytes, uint64_t row) {
  FakeDisk disk;
  disk.put("/w", cat(std::string(8, '\x3c'), bytes, "after"));
  auto open = disk.open_read("/w");
  REQUIRE(open.ok());
  LostPages pages;
  pages.add({"w", 8, bytes.size(), row, false, zero_pages(8, bytes, 2)});
  return !checked(**open, pages.finish(bytes.size() + 13)).empty();
}

TEST_CASE("zeros that begin and end at odd places within rows are lost, and zeros that a model has are not") {
  const size_t row = 3000;
  CHECK(is_lost(with_zeros(60 * row, 7 * row + 1000, 20 * row), row));             // both within rows
  CHECK(is_lost(with_zeros(60 * row, 7 * row + 1000, 20 * row - 1000), row));      // it ends with a row
  CHECK(is_lost(with_zeros(60 * row, 7 * row, 20 * row + 1000), row));             // it begins with one
  CHECK_FALSE(is_lost(with_zeros(60 * row, 7 * row, 20 * row), row));              // rows of zeros
  CHECK_FALSE(is_lost(with_zeros(60 * row, 7 * row - 20, 20 * row + 30), row));    // beside numbers that happen to be 0
  CHECK_FALSE(is_lost(with_zeros(60 * 8192, 7 * 8192 + 1000, 5000), 8192));        // part of one row
  CHECK_FALSE(is_lost(with_zeros(60 * row, 7 * row + 1000, 20 * row), 60 * row));  // it has one row
  std::string padded = with_zeros(60 * row, 7 * row, 20 * row);  // columns of zeros, and rows of zeros
  for (size_t i = 0; i < 60; ++i) padded.replace(i * row + 2000, 1000, std::string(1000, '\0'));
  CHECK_FALSE(is_lost(padded, row));
}

TEST_CASE("zeros over several tensors end within a row of the last one") {
  constexpr size_t kRow = 2048, kBytes = 40 * kRow;
  const auto lost = [](const std::vector<std::string>& tensors) {
    FakeDisk disk;
    std::string all(8, '\x3c');
    for (const std::string& one : tensors) all += one;
    disk.put("/w", all);
    auto open = disk.open_read("/w");
    REQUIRE(open.ok());
    LostPages pages;
    uint64_t at = 8;
    for (const std::string& one : tensors) {
      const bool zero = one.find_first_not_of('\0') == std::string::npos;
      pages.add({"w", at, one.size(), kRow, zero, zero_pages(at, one, 2)});
      at += one.size();
    }
    return checked(**open, pages.finish(at + 1)).size();
  };
  const std::string zero(kBytes, '\0'), whole(kBytes, '\x3c');
  CHECK(lost({whole, zero, with_zeros(kBytes, 0, 20 * kRow + 1000), whole}) == 1);
  CHECK(lost({whole, zero, with_zeros(kBytes, 0, 20 * kRow), whole}) == 0);          // rows of zeros
  CHECK(lost({whole, whole, with_zeros(kBytes, 0, 20 * kRow + 1000), whole}) == 0);  // where it begins is not known
  CHECK(lost({whole, zero, zero, whole}) == 0);
}

TEST_CASE("what a file system has no bytes for is found without reading the file") {
  std::string path = (std::filesystem::temp_directory_path() / "midwatch-hole-XXXXXX").string();
  const int file = ::mkstemp(path.data());
  REQUIRE(file >= 0);
  const std::string bytes(64 * kPage, '\x3c');
  for (const auto& [from, to] : {std::pair<size_t, size_t>(0, 20), {28, 64}}) {
    const auto size = (to - from) * kPage;
    REQUIRE(::pwrite(file, bytes.data(), size, static_cast<off_t>(from * kPage)) == static_cast<ssize_t>(size));
  }
  const auto disk = make_posix_disk();
  const auto open = disk->open_read(path);
  REQUIRE(open.ok());
  const auto lost = [&](std::vector<ByteRange> ranges) {
    const auto found = lost_in_holes(**open, bytes.size(), ranges);
    return found.empty() ? "" : found.front().name;
  };
  const auto range = [](uint64_t at, uint64_t size, uint64_t row, const char* name) {
    return ByteRange{at, size, Dtype::kBF16, 0, false, name, row};
  };
  CHECK(lost({range(8, 60 * kPage, 3000, "w")}) == "w");
  CHECK(lost({range(0, 64 * kPage, 4 * kPage, "w")}).empty());  // rows of zeros
  CHECK(lost({range(8, 64 * kPage - 8, 4 * kPage, "w")}) == "w");
  CHECK(lost({range(20 * kPage, 8 * kPage, 3000, "w")}).empty());  // a tensor of zeros
  CHECK(lost({range(8, 24 * kPage, 3000, "a"), range(8 + 24 * kPage, 20 * kPage, 3000, "b")}) == "a");  // over both
  CHECK(lost({range(8, 24 * kPage, 3000, "a")}).empty());  // nobody knows what lies behind it
  CHECK(lost({range(30 * kPage, 9 * kPage, 3000, "c")}).empty());
  // A copy that leaves out zeros which a tensor has at an odd place.
  REQUIRE(::pwrite(file, std::string(10, '\0').data(), 10, 20 * kPage - 10) == 10);
  CHECK(lost({range(8, 60 * kPage, 3000, "w")}).empty());
  ::close(file);
  ::unlink(path.c_str());
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
      CHECK(joined.runs[i].from == once.runs[i].from);
      CHECK(joined.runs[i].to == once.runs[i].to);
    }
  }
}

}  // namespace
}  // namespace mw
