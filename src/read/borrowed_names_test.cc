// Scripts of one's own that name their figures as a known trainer does, and bars that are drawn over and over in one
// line.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "base/text.h"
#include "read/testing/whole_log.h"

namespace mw {
namespace {

size_t points_of(const State& state, std::string_view signal) {
  const Series* series = state.find(signal);
  return series == nullptr ? 0 : series->count();
}

const Incident* incident_of(const State& state, std::string_view kind) {
  const auto found = std::find_if(state.incidents.begin(), state.incidents.end(),
                                  [kind](const Incident& one) { return one.kind == kind; });
  return found == state.incidents.end() ? nullptr : &*found;
}

/// Hundredths that change from step to step.
std::string hundredths(int step) { return cat(2 + step % 4, (step * 7) % 10); }

/// As tqdm draws it into a file: no new line before the end.
std::string bar(int step, int total, std::string_view figures) {
  return cat("\r ", 100 * step / total, "%|##   | ", step, "/", total, " [00:10<08:10,  5.", 10 + step % 7, "s/it, ",
             figures, "]");
}

TEST_CASE("a name that a part of the reward has as well is the reward where it stands alone") {
  for (const std::string_view name : {"env_reward", "verifier_reward", "scores/mean", "rm_score", "terminal_reward"}) {
    CAPTURE(name);
    std::string alone, beside;
    for (int step = 1; step <= 120; ++step) {
      const std::string value = step <= 60 ? cat("0.", hundredths(step)) : "0.0";
      alone += cat("step ", step, " ", name, " ", value, " loss 0.0", hundredths(step), "\n");
      beside += cat("step ", step, " reward 0.", hundredths(step), " ", name, " ", value, " loss 0.0", hundredths(step),
                    "\n");
    }
    CHECK(incident_of(state_of(alone), "zero-reward") != nullptr);
    if (name != "scores/mean") CHECK(incident_of(state_of(beside), "zero-reward") == nullptr);
  }
}

TEST_CASE("a trainer's name for a length does not hide what is plainly the reward") {
  for (const std::string_view length : {"completion_length", "completions/mean_length", "response_length"}) {
    CAPTURE(length);
    std::string lines, records;
    for (int step = 1; step <= 60; ++step) {
      const std::string reward = step <= 30 ? cat("0.", hundredths(step)) : "0.0000";
      lines += cat("step ", step, "/60 | rewards/mean ", reward, " | rewards/std 0.3", step % 10, " | loss 0.01",
                   step % 10, " | ", length, " 4", step % 10, "0.5\n");
      records += cat("{\"step\": ", step, ", \"rewards/mean\": ", reward, ", \"loss\": 0.01", step % 10, ", \"", length,
                     "\": 4", step % 10, "0.5}\n");
    }
    for (const State& state : {state_of(lines), state_of(records, "metrics.jsonl")}) {
      CHECK(points_of(state, "reward.mean") == 60);
      CHECK(state.framework != "trl");
    }
  }
}

TEST_CASE("each bar in one line is a record, whoever has names like its own") {
  std::string text;
  for (int step = 1; step <= 60; ++step) {
    text += bar(step, 60,
                cat("reward=0.", hundredths(step), ", reward_std=0.3", step % 10, ", kl=0.01, entropy=0.9",
                    ", grad_norm=0.4", step % 7, ", completion_length=4", step % 10, "0.5"));
  }
  const State state = state_of(text + "\n");
  CHECK(points_of(state, "reward.mean") == 60);
  CHECK(points_of(state, "response.length") == 60);
}

TEST_CASE("figures of a bar that stand still for long are no bar drawn again") {
  std::string text;
  for (int step = 1; step <= 200; ++step) {
    const std::string reward = step <= 100 ? cat("0.", hundredths(step)) : "0.0000";
    text +=
        bar(step, 200,
            cat("reward=", reward, ", reward_std=", step <= 100 ? "0.3000" : "0.0000", ", kl=0.0100, entropy=0.9000"));
  }
  const State state = state_of(text + "\n");
  CHECK(points_of(state, "reward.mean") > 180);
  CHECK(incident_of(state, "zero-reward") != nullptr);
  CHECK(incident_of(state, "died-silently") == nullptr);
  CHECK(state.verdict == "finished");
}

TEST_CASE("the one figure of a bar that is set in each tenth step does not stand still") {
  std::string text;
  for (int step = 10; step <= 60; ++step) text += bar(step, 60, cat("loss 0.", hundredths(100 - step / 10 * 10), "31"));
  const State state = state_of(text + "\n");
  CHECK(points_of(state, "loss.total") <= 6);
  CHECK(incident_of(state, "no-learning") == nullptr);
}

TEST_CASE("one figure that is no number in the middle of a line of bars ended nothing") {
  const auto log = [](int broken) {
    std::string text;
    for (int step = 1; step <= 60; ++step) {
      const std::string loss = step == broken ? "nan" : cat("0.0", hundredths(step));
      text += bar(step, 60, cat("reward=0.", hundredths(step), ", loss=", loss));
    }
    return state_of(text + "\n");
  };
  const State once = log(20);
  for (const Incident& one : once.incidents) CHECK(one.severity < Severity::kCritical);
  const Incident* found = incident_of(once, "non-finite");
  REQUIRE(found != nullptr);
  CHECK(!found->open);
  CHECK(!contains(found->summary, "no step was done after it"));
}

}  // namespace
}  // namespace mw
