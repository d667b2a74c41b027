// sim_judge: rough runs by the thousand. A judgement that goes on from the one before must find what one over the whole
// run finds. A red seed prints the command that shows it again.
#include <charconv>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>

#include "core/rough_run.h"

namespace {

constexpr size_t kEvents = 1000;
constexpr double kJudged = 0.1;  // share of the events after which both ways are compared

bool number_from(const char* text, uint64_t& out) {
  const char* const end = text + std::strlen(text);
  const auto [stop, error] = std::from_chars(text, end, out);
  return error == std::errc{} && stop == end;
}

std::string difference_of(uint64_t seed, size_t& incidents) {
  mw::Twice run;
  mw::RoughRun rough(seed);
  mw::Prng prng(seed);
  for (size_t i = 0; i < kEvents; ++i) {
    run.say(rough.next());
    if (!prng.chance(kJudged)) continue;
    std::string wrong = run.difference();
    if (!wrong.empty()) return mw::cat("after event ", i + 1, "\n", wrong);
  }
  incidents += run.incidents;
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  uint64_t seeds = 200, from = 1;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const char* const value = i + 1 < argc ? argv[++i] : nullptr;
    const bool known = word == "--seeds" || word == "--from";
    if (value == nullptr || !known || !number_from(value, word == "--seeds" ? seeds : from)) {
      std::fputs("usage: sim_judge [--seeds N] [--from S]\n  exit: 0 all hold, 1 a seed is red, 2 wrong arguments\n",
                 stderr);
      return 2;
    }
  }
  size_t incidents = 0;
  for (uint64_t seed = from; seed < from + seeds; ++seed) {
    const std::string wrong = difference_of(seed, incidents);
    if (wrong.empty()) continue;
    std::printf("seed %llu is red: %s\nto see it again: %s --from %llu --seeds 1\n",
                static_cast<unsigned long long>(seed), wrong.c_str(), argv[0], static_cast<unsigned long long>(seed));
    return 1;
  }
  std::printf("%llu seeds hold; %zu judgements found something\n", static_cast<unsigned long long>(seeds), incidents);
  return incidents > 0 ? 0 : 1;
}
