#include "read/lines/line_marks.h"

#include <doctest/doctest.h>

#include <random>
#include <string>

namespace mw {

TEST_CASE("LineMarks are the bytes that stand in the line, wherever and however long it is") {
  std::mt19937 random(11);
  for (int round = 0; round < 3000; ++round) {
    std::string line(random() % 70, ' ');
    for (char& c : line) c = static_cast<char>('a' + random() % 26);
    const size_t put = line.empty() ? 0 : random() % 3;
    for (size_t i = 0; i < put; ++i) {
      const size_t which = random() % (LineMarks::kBytes.size() + 1);
      line[random() % line.size()] = which < LineMarks::kBytes.size() ? LineMarks::kBytes[which] : '\xe6';
    }
    const LineMarks marks(line);
    bool wide = false;
    for (const char c : line) wide = wide || static_cast<unsigned char>(c) >= 0x80;
    CHECK(marks.may_be_wide() == wide);
    for (const char byte : LineMarks::kBytes) CHECK(marks.may_hold(byte) == (line.find(byte) != std::string::npos));
  }
}

TEST_CASE("LineMarks of a line of which nothing is known may all stand in it") {
  for (const char byte : LineMarks::kBytes) CHECK(LineMarks().may_hold(byte));
  CHECK(LineMarks().may_be_wide());
}

}  // namespace mw
