#include "read/interpret/start_banner.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "base/text.h"

namespace mw {
namespace {

const std::vector<std::string> kBanner = {"INFO | job | =======",        "INFO | job | ENVIRONMENT",
                                          "INFO | job | =======",        "INFO | job | Python: 3.11.2",
                                          "INFO | job | PyTorch: 2.5.1", "INFO | job | CUDA: 12.4",
                                          "INFO | job | GPU count: 2",   "INFO | job | peft: 0.13.0",
                                          "INFO | job | seed is 7"};

/// Lines at which a banner was found to begin.
std::vector<uint64_t> begins(const std::vector<std::string>& between, double apart, size_t times,
                             const std::vector<std::string>& banner = kBanner) {
  StartBanner reader;
  std::vector<uint64_t> found;
  uint64_t number = 0;
  for (size_t k = 0; k < times; ++k) {
    const Time at{static_cast<int64_t>(1'700'000'000 + apart * static_cast<double>(k)) * 1'000'000'000};
    for (const auto* lines : {&banner, &between}) {
      for (const std::string& line : *lines) {
        if (const auto place = reader.read(line, ++number, at)) found.push_back(place->number);
      }
    }
  }
  return found;
}

}  // namespace

TEST_CASE("a banner that comes again behind work that was only announced is another start") {
  CHECK(begins({"INFO | job | [1/3] Loading model..."}, 300, 3) == std::vector<uint64_t>{11, 21});
  CHECK(begins({"INFO | models | Loading weights: acme/tiny"}, 300, 2) == std::vector<uint64_t>{11});
}

TEST_CASE("what was done, what begins at once, and what names no environment is no start") {
  CHECK(begins({"INFO | job | Loading model...", "INFO | job | Results written to out.json"}, 300, 3).empty());
  CHECK(begins({"INFO | job | Loading model..."}, 1, 4).empty());
  std::vector<std::string> rounds;
  for (int i = 0; i < 9; ++i) rounds.push_back(cat("INFO | job | part ", i, " of the round is drawn"));
  CHECK(begins({"INFO | job | Waiting..."}, 300, 3, rounds).empty());
}

TEST_CASE("announced work") {
  CHECK(announces_work("[5/6] Setting up adapters..."));
  CHECK(announces_work("INFO | models | Loading weights: acme/tiny"));
  CHECK(announces_work("run - INFO - Building the index of 12 files"));
  CHECK_FALSE(announces_work("INFO | models | Loaded weights: acme/tiny"));
  CHECK_FALSE(announces_work("run - INFO - saved to out/"));
}

}  // namespace mw
