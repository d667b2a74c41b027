// sim_run: worlds by the thousand. A red seed prints the command that shows it again.
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>

#include "sim/check.h"

namespace {

// Of so many runs one may be cut into attempts differently by who watches and by who comes later.
constexpr uint64_t kSplitsOneIn = 50;

bool number_from(const char* text, uint64_t& out) {
  const char* const end = text + std::strlen(text);
  const auto [stop, error] = std::from_chars(text, end, out);
  return error == std::errc{} && stop == end;
}

int usage() {
  std::fputs(
      "usage: sim_run [--seeds N] [--from S]\n"
      "  exit: 0 all hold, 1 a seed is red, 2 wrong arguments\n",
      stderr);
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  uint64_t seeds = 1000, from = 1;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const char* const value = i + 1 < argc ? argv[++i] : nullptr;
    if (value == nullptr || (word != "--seeds" && word != "--from")) return usage();
    if (!number_from(value, word == "--seeds" ? seeds : from)) return usage();
  }
  const auto knowledge = mw::KnowledgeBase::load({});
  if (!knowledge.ok()) {
    std::fprintf(stderr, "%s\n", knowledge.error().what.c_str());
    return 2;
  }
  const auto begin = std::chrono::steady_clock::now();
  uint64_t events = 0, lives = 0, digest = 0, splits = 0;
  for (uint64_t seed = from; seed < from + seeds; ++seed) {
    const mw::sim::Verdict verdict = mw::sim::run_seed(seed, **knowledge);
    events += verdict.events;
    lives += verdict.lives;
    splits += verdict.split ? 1 : 0;
    digest = digest * 31 + verdict.digest;
    if (verdict.wrong.empty()) continue;
    std::printf("seed %llu is red: %s\nto see it again: %s --from %llu --seeds 1\n",
                static_cast<unsigned long long>(seed), verdict.wrong.c_str(), argv[0],
                static_cast<unsigned long long>(seed));
    return 1;
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  std::printf("%llu seeds hold: %llu events, %llu lives of the watch, %llu split differently, digest %016llx, %.1f s\n",
              static_cast<unsigned long long>(seeds), static_cast<unsigned long long>(events),
              static_cast<unsigned long long>(lives), static_cast<unsigned long long>(splits),
              static_cast<unsigned long long>(digest), seconds);
  return splits * kSplitsOneIn > seeds + kSplitsOneIn ? 1 : 0;
}
