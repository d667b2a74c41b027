// sim_part: worlds by the thousand for a component that midwatch holds. A red seed prints the command that shows it
// again.
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "sim/part.h"

int main(int argc, char** argv) {
  uint64_t seeds = 1000, from = 1;
  const bool aloud = argc > 1 && std::string_view(argv[argc - 1]) == "--say";
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view word = argv[i];
    uint64_t& number = word == "--from" ? from : seeds;
    const char* const end = argv[i + 1] + std::strlen(argv[i + 1]);
    const auto parsed = std::from_chars(argv[i + 1], end, number);
    if ((word != "--from" && word != "--seeds") || parsed.ptr != end) {
      std::fputs("usage: sim_part [--seeds N] [--from S] [--say]\n", stderr);
      return 2;
    }
  }
  const auto began = std::chrono::steady_clock::now();
  mw::sim::PartVerdict all;
  for (uint64_t seed = from; seed < from + seeds; ++seed) {
    const mw::sim::PartVerdict one = mw::sim::run_part_seed(seed, aloud);
    if (seed % 100 == 0 && mw::sim::run_part_seed(seed).digest != one.digest) {
      std::printf("seed %llu is red: it is another one the second time\n", static_cast<unsigned long long>(seed));
      return 1;
    }
    if (!one.wrong.empty()) {
      std::printf("seed %llu is red: %s\nto see it again: %s --from %llu --seeds 1 --say\n",
                  static_cast<unsigned long long>(seed), one.wrong.c_str(), argv[0],
                  static_cast<unsigned long long>(seed));
      return 1;
    }
    all.digest = all.digest * 31 + one.digest;
    all.lives += one.lives;
    all.servers += one.servers;
    all.given_up += one.given_up;
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  std::printf(
      "%llu seeds hold: %llu lives of the watch, %llu of the component, %llu times given up, digest %016llx, %.1f s\n",
      static_cast<unsigned long long>(seeds), static_cast<unsigned long long>(all.lives),
      static_cast<unsigned long long>(all.servers), static_cast<unsigned long long>(all.given_up),
      static_cast<unsigned long long>(all.digest), seconds);
  return 0;
}
