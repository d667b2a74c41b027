#include "read/lines/rare_bytes.h"

#include <doctest/doctest.h>

#include <random>
#include <string>

namespace mw {

TEST_CASE("RareBytes are the bytes that stand in the line, wherever and however long it is") {
  std::mt19937 random(11);
  for (int round = 0; round < 3000; ++round) {
    std::string line(random() % 70, ' ');
    for (char& c : line) c = static_cast<char>('a' + random() % 26);
    const size_t put = line.empty() ? 0 : random() % 3;
    for (size_t i = 0; i < put; ++i) {
      const size_t which = random() % (RareBytes::kBytes.size() + 1);
      line[random() % line.size()] = which < RareBytes::kBytes.size() ? RareBytes::kBytes[which] : '\xe6';
    }
    const RareBytes rare(line);
    bool wide = false;
    for (const char c : line) wide = wide || static_cast<unsigned char>(c) >= 0x80;
    CHECK(rare.may_be_wide() == wide);
    for (const char byte : RareBytes::kBytes) CHECK(rare.may_hold(byte) == (line.find(byte) != std::string::npos));
  }
}

TEST_CASE("RareBytes of a line of which nothing is known may all stand in it, and so may all others") {
  for (const char byte : RareBytes::kBytes) CHECK(RareBytes().may_hold(byte));
  CHECK(RareBytes().may_be_wide());
  CHECK(RareBytes("abc").may_hold('z'));  // which is not looked for
}

}  // namespace mw
