// A short, seeded share of the fuzzing for scripts/test: runs a target on its seeds and on mutations of them made by a
// fixed generator, so that the same build always does the same. The long hunt is scripts/fuzz.
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "base/numbers.h"
#include "base/prng.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace mw {
std::vector<std::string> fuzz_seeds();
// Targets that bring their own entry point have no seeds of their own.
__attribute__((weak)) std::vector<std::string> fuzz_seeds() {
  return {"",
          "{\"step\": 3, \"reward\": NaN}\n",
          "2026-01-15 08:00:00,123 INFO (pid=7) step:3 - a/b:0.5 - c:nan\n",
          "Traceback (most recent call last):\n  File \"a.py\", line 3, in f\nValueError: x\n",
          "[[signature]]\nid = \"a\"\ntext = ['b']\n",
          std::string("\0\xff\x80\r\n\x1b[31m", 9)};
}
}  // namespace mw

namespace {

constexpr size_t kMostBytes = 4096;

std::string mutate(std::string text, const std::vector<std::string>& seeds, mw::Prng& dice) {
  const uint64_t changes = 1 + dice.below(6);
  for (uint64_t i = 0; i < changes; ++i) {
    const size_t at = text.empty() ? 0 : dice.below(text.size());
    switch (dice.below(6)) {
      case 0:
        text.insert(at, 1, static_cast<char>(dice.below(256)));
        break;
      case 1:
        if (!text.empty()) text[at] = static_cast<char>(dice.below(256));
        break;
      case 2:
        text.erase(at, 1 + dice.below(8));
        break;
      case 3:
        text.resize(at);
        break;
      case 4:
        text.insert(at, text.substr(at / 2, dice.below(64)));
        break;
      default: {
        const std::string& other = seeds[dice.below(seeds.size())];
        if (!other.empty()) text.insert(at, other.substr(dice.below(other.size()), 64));
      }
    }
    if (text.size() > kMostBytes) text.resize(kMostBytes);
  }
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  const int64_t runs = argc > 1 ? mw::parse_int(argv[1]).value_or(1000) : 1000;
  const std::vector<std::string> seeds = mw::fuzz_seeds();
  const auto try_one = [](const std::string& text) {
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(text.data()), text.size());
  };
  for (const std::string& seed : seeds) try_one(seed);
  mw::Prng dice(20260115);
  for (int64_t i = 0; i < runs; ++i) try_one(mutate(seeds[dice.below(seeds.size())], seeds, dice));
  std::printf("%lld mutations of %zu seeds: no finding\n", static_cast<long long>(runs), seeds.size());
  return 0;
}
