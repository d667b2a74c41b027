// sim_held: worlds by the thousand for the supervisor. A red seed prints the command that shows it again.
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "sim/held.h"

int main(int argc, char** argv) {
  uint64_t seeds = 1000, from = 1;
  const bool aloud = argc > 1 && std::string_view(argv[argc - 1]) == "--say";
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view word = argv[i];
    uint64_t& number = word == "--from" ? from : seeds;
    const char* const end = argv[i + 1] + std::strlen(argv[i + 1]);
    const auto parsed = std::from_chars(argv[i + 1], end, number);
    if ((word != "--from" && word != "--seeds") || parsed.ptr != end) {
      std::fputs("usage: sim_held [--seeds N] [--from S] [--say]\n", stderr);
      return 2;
    }
  }
  const auto began = std::chrono::steady_clock::now();
  mw::sim::HeldVerdict all;
  for (uint64_t seed = from; seed < from + seeds; ++seed) {
    const mw::sim::HeldVerdict one = mw::sim::run_held_seed(seed, aloud);
    if (seed % 100 == 0 && mw::sim::run_held_seed(seed).digest != one.digest) {
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
    all.attempts += one.attempts;
    all.trips += one.trips;
    all.finished += one.finished;
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  std::printf(
      "%llu seeds hold: %llu lives of the watch, %llu attempts, %llu trips, %llu runs trained to the end, digest "
      "%016llx, %.1f s\n",
      static_cast<unsigned long long>(seeds), static_cast<unsigned long long>(all.lives),
      static_cast<unsigned long long>(all.attempts), static_cast<unsigned long long>(all.trips),
      static_cast<unsigned long long>(all.finished), static_cast<unsigned long long>(all.digest), seconds);
  return 0;
}
