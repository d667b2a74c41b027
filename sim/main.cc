// sim_run: worlds by the thousand. A red seed prints the command that shows it again.
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>

#include "sim/check.h"

namespace {

bool number_from(const char* text, uint64_t& out) {
  const char* const end = text + std::strlen(text);
  const auto [stop, error] = std::from_chars(text, end, out);
  return error == std::errc{} && stop == end;
}

int usage() {
  std::fputs(
      "usage: sim_run [--seeds N] [--from S] [--mutant NAME]\n"
      "  NAME: none, drop-last-on-recovery, double-append, stale-attempt, forget-offset, react-first\n"
      "  exit: 0 all hold, 1 a seed is red, 2 wrong arguments\n",
      stderr);
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  uint64_t seeds = 1000, from = 1;
  mw::sim::Mutant mutant = mw::sim::Mutant::kNone;
  std::string mutant_name = "none";
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const char* const value = i + 1 < argc ? argv[++i] : nullptr;
    if (value == nullptr) return usage();
    if (word == "--seeds"  ? !number_from(value, seeds)
        : word == "--from" ? !number_from(value, from)
                           : word != "--mutant") {
      return usage();
    }
    if (word == "--mutant") {
      mutant_name = value;
      if (!mw::sim::mutant_from_name(mutant_name, mutant)) return usage();
    }
  }
  const auto begin = std::chrono::steady_clock::now();
  uint64_t events = 0, lives = 0, digest = 0;
  for (uint64_t seed = from; seed < from + seeds; ++seed) {
    const mw::sim::Verdict verdict = mw::sim::run_seed(seed, mutant);
    events += verdict.events;
    lives += verdict.lives;
    digest = digest * 31 + verdict.digest;
    if (verdict.wrong.empty()) continue;
    std::printf("seed %llu is red: %s\nto see it again: %s --from %llu --seeds 1 --mutant %s\n",
                static_cast<unsigned long long>(seed), verdict.wrong.c_str(), argv[0],
                static_cast<unsigned long long>(seed), mutant_name.c_str());
    return 1;
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  std::printf("%llu seeds hold: %llu lines, %llu lives of the watcher, digest %016llx, %.1f s\n",
              static_cast<unsigned long long>(seeds), static_cast<unsigned long long>(events),
              static_cast<unsigned long long>(lives), static_cast<unsigned long long>(digest), seconds);
  return 0;
}
