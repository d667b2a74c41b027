#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include "base/testing/skip.h"

namespace mw::testing {
namespace {

constexpr int kSkipped = 77;  // SKIP_RETURN_CODE in CMakeLists.txt
bool left_out = false;

}  // namespace

void skip(const char* why) {
  left_out = true;
  MESSAGE("SKIPPED: ", why);
}

}  // namespace mw::testing

int main(int argc, char** argv) {
  const int failed = doctest::Context(argc, argv).run();
  return failed == 0 && mw::testing::left_out ? mw::testing::kSkipped : failed;
}
