#include "app/preflight.h"

#include <doctest/doctest.h>

namespace mw {
namespace {

TEST_CASE("each framework's own name for the steps between saves, which an advice of another interval shows") {
  CHECK(save_setting("verl") == "trainer.save_freq");
  CHECK(save_setting("skyrl") == "trainer.ckpt_interval");
  CHECK(save_setting("prime-rl") == "ckpt.interval");
  CHECK(save_setting("trl") == "save_steps");
  CHECK(save_setting("custom").empty());
}

}  // namespace
}  // namespace mw
