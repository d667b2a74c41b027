// What the programs share that make worlds by the thousand, one for each seed: sim_NAME [--seeds N] [--from S] [--say].
// A red seed prints the command that shows it again.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "base/numbers.h"

namespace mw::sim {

/// A verdict has `wrong` ("" when all holds), `digest`, and add(one), which counts another one in. `summary` says what
/// was counted, in words. Every hundredth seed is run twice and must be the same. Returns the exit status.
template <typename Verdict>
int run_seeds(int argc, char** argv, Verdict (*run)(uint64_t seed, bool aloud),
              std::string (*summary)(const Verdict&)) {
  uint64_t seeds = 1000, from = 1;
  const bool aloud = argc > 1 && std::string_view(argv[argc - 1]) == "--say";
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view word = argv[i];
    const auto number = parse_int(argv[i + 1]);
    if ((word != "--from" && word != "--seeds") || !number || *number < 0) {
      std::fprintf(stderr, "usage: %s [--seeds N] [--from S] [--say]\n", argv[0]);
      return 2;
    }
    (word == "--from" ? from : seeds) = static_cast<uint64_t>(*number);
  }
  const auto began = std::chrono::steady_clock::now();
  Verdict all;
  for (uint64_t seed = from; seed < from + seeds; ++seed) {
    Verdict one = run(seed, aloud);
    if (one.wrong.empty() && seed % 100 == 0 && run(seed, false).digest != one.digest) {
      one.wrong = "it is another one the second time";
    }
    if (!one.wrong.empty()) {
      std::printf("seed %llu is red: %s\nto see it again: %s --from %llu --seeds 1 --say\n",
                  static_cast<unsigned long long>(seed), one.wrong.c_str(), argv[0],
                  static_cast<unsigned long long>(seed));
      return 1;
    }
    all.digest = all.digest * 31 + one.digest;
    all.add(one);
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  std::printf("%llu seeds hold: %s, digest %016llx, %.1f s\n", static_cast<unsigned long long>(seeds),
              summary(all).c_str(), static_cast<unsigned long long>(all.digest), seconds);
  return 0;
}

}  // namespace mw::sim
