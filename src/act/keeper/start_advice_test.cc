#include "act/keeper/start_advice.h"

#include <doctest/doctest.h>

#include "base/text.h"

namespace mw {

TEST_CASE("a command that only a shell would understand is explained") {
  CHECK(contains(start_advice("CUDA_VISIBLE_DEVICES=0", false), "env in front"));
  CHECK(contains(start_advice("bash train.sh", true), "without quotes"));
  CHECK(start_advice("train.sh", true).empty());
  CHECK(start_advice("my program", false).empty());
  CHECK(start_advice("/data/lr=1e-5/train.sh", false).empty());
  CHECK(start_advice("=1", false).empty());
}

}  // namespace mw
