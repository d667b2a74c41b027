#include "read/interpret/resume_line.h"

#include <doctest/doctest.h>

namespace mw {
namespace {

TEST_CASE("a trainer that nobody described says from where it goes on") {
  const auto step = [](const char* text) {
    const auto found = read_resume(text);
    return found ? found->step : -7;
  };
  CHECK(step("Resumed from out/checkpoint-40") == 40);
  CHECK(step("[rank0] resuming training from ckpts/step_120.pt") == 120);
  CHECK(step("Resuming from global step 40") == 40);
  CHECK(step("Resuming from out/checkpoint-40; 60 steps remain") == 40);
  CHECK(step("Loaded checkpoint out/last.pt (global step 40), 60 steps to go") == 40);
  CHECK(read_resume("Loaded checkpoint out/last.pt (global step 40)")->only_loaded);
  CHECK(read_resume("Resumed from out/last.pt")->step == kNoStep);
  for (const char* text :
       {"Loaded checkpoint models/base", "Cannot resume: resumed from nothing at out/checkpoint-40",
        "No checkpoint found, resuming from scratch", "resuming wandb run from step 40", "resume from: None",
        "Loaded reward checkpoint rm/checkpoint-500 at step 500", "Resuming the dataloader from batch 40",
        "Training resumed", "Evaluation loaded checkpoint out/best.pt (step 40)",
        "presumed from out/checkpoint-40 to"}) {
    CAPTURE(text);
    CHECK_FALSE(read_resume(text).has_value());
  }
}

}  // namespace
}  // namespace mw
