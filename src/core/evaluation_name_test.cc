#include "core/evaluation_name.h"

#include <doctest/doctest.h>

namespace mw {
namespace {

TEST_CASE("the name of a held-out figure says whether it is a result, and which way is better") {
  for (const char* name : {"eval/reward/mean", "val-core/set/acc/mean@16", "eval/a/effective/agent/avg@8", "f1",
                           "eval/set/pass@4", "math_exact_match", "eval/success_rate", "eval/mean"}) {
    CAPTURE(name);
    CHECK(evaluation_sense(name) == EvaluationSense::kHigher);
  }
  CHECK(evaluation_sense("eval_loss") == EvaluationSense::kLower);
  CHECK(evaluation_sense("eval/set/all/agent/has_error/mean") == EvaluationSense::kLower);
  for (const char* name :
       {"eval/a/all/agent/is_completed/mean", "eval/a/all/agent/cancelled/mean",
        "eval/a/all/agent/stop_condition/limit", "eval/a/all/agent/timing/total/mean", "eval/a/all/agent/reward/p10",
        "eval/reward/std", "eval/a/policy_version", "eval/response_length/mean", "eval/samples_per_second",
        "val_avg_veto_rate", "eval/rejection_rate", "eval/mean_switch_rate", "eval/frac_long",
        "val-aux/set/overlong_reward/mean@1", "val/test_score/all_ci95_halfwidth", "eval/acc_stderr", "eval/acc_ci_low",
        "eval/reward/repetition/mean"}) {
    CAPTURE(name);
    CHECK(evaluation_sense(name) == EvaluationSense::kNoResult);
  }
  CHECK(evaluation_sense("eval/gsm8k") == EvaluationSense::kUnsaid);
}

}  // namespace
}  // namespace mw
