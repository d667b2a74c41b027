#include "ui/live/live_lines.h"

#include <doctest/doctest.h>

#include "base/text.h"
#include "ui/testing/fake_run.h"
#include "ui/view/layout.h"

namespace mw {
namespace {

const Time kNow = Time::from_seconds(1'800'000'000);

LiveFacts facts(double age, double usual) {
  LiveFacts out;
  out.now = kNow;
  out.stepped = kNow + Duration::seconds(-age);
  out.usual_s = out.longest_s = usual;
  return out;
}

std::string joined(const State& state, const LiveFacts& facts, size_t cells = 79, std::string_view watched = "grpo") {
  std::string out;
  for (const std::string& line : live_lines(state, facts, watched, cells, Console())) out += line + "\n";
  return out;
}

FakeRun trained(int64_t steps) {
  FakeRun run;
  for (int64_t step = 1; step <= steps; ++step) run.measure(step, static_cast<double>(step) / 10);
  run.state.framework = "areal";
  run.state.total_steps = 40;
  return run;
}

TEST_CASE("a run that goes well, in two lines") {
  FakeRun run = trained(8);
  run.say(event::CheckpointSaved{5, "ck/5", true});
  LiveFacts now = facts(12, 16);
  CHECK(joined(run.state, now) ==
        "midwatch · grpo · areal · step 8 of 40 · last step 12 s ago, usually 16 s\n"
        "reward 0.8 ▁▂▃▄▅▆▇█ · checkpoint step 5 saved, by the log, 3 steps ago\n");
  run.say(event::CheckpointSeen{5, "/ck/5", event::CheckpointSeen::How::kWhole, "", "", 1, 1, ""});
  now.saved = kNow + Duration::seconds(-240);
  CHECK(contains(joined(run.state, now), "checkpoint step 5 whole, 4m 00s ago"));
  run.say(event::CheckpointSeen{5, "/ck/5", event::CheckpointSeen::How::kBroken, "", "", 1, 1, ""});
  CHECK_FALSE(contains(joined(run.state, now), "whole"));
}

TEST_CASE("a checkpoint whose step the log does not name is a checkpoint all the same") {
  FakeRun run = trained(8);
  run.say(event::CheckpointSaved{kNoStep, "ck/recover", true});
  const std::string text = joined(run.state, facts(1, 1));
  CHECK(contains(text, "checkpoint saved, by the log\n"));
  CHECK_FALSE(contains(text, "no checkpoint"));
  run.say(event::CheckpointSaved{5, "ck/5", false});  // only begun
  CHECK_FALSE(contains(joined(run.state, facts(1, 1)), "step 5"));
}

TEST_CASE("what is not seen is said, once it is missing for some steps") {
  const std::string empty = joined(FakeRun().state, {});
  CHECK(contains(empty, "no step seen yet"));
  CHECK_FALSE(contains(empty, "no reward"));
  CHECK_FALSE(contains(joined(trained(2).state, facts(1, 1)), "no checkpoint"));
  CHECK(joined(trained(3).state, facts(1, 1)).ends_with("no checkpoint seen\n"));
  FakeRun loss;
  for (int64_t step = 1; step <= 4; ++step) loss.measure(step, 0.5, "loss.total", "loss");
  const std::string text = joined(loss.state, facts(1, 1));
  CHECK(contains(text, "loss 0.5 "));
  CHECK(contains(text, "no reward seen, no checkpoint seen"));
}

TEST_CASE("a step is late by words, against what is usual and the longest of the last ones") {
  const State state = trained(8).state;
  CHECK_FALSE(contains(joined(state, facts(40, 16)), "LATE"));
  CHECK(contains(joined(state, facts(50, 16)), "last step 50 s ago, LATE: usually 16 s"));
  CHECK_FALSE(contains(joined(state, facts(9, 0.5)), "LATE"));
  LiveFacts evaluates = facts(50, 16);
  evaluates.longest_s = 60;
  CHECK_FALSE(contains(joined(state, evaluates), "LATE"));
  CHECK(contains(joined(state, facts(50, 0)), "last step 50 s ago"));
}

TEST_CASE("the gravest open incident and how many more") {
  FakeRun run = trained(8);
  run.incident("network", Severity::kWarning, 2, "errors", "text");
  CHECK(contains(joined(run.state, facts(1, 1)), "#1 network warning since step 2 (midwatch why 1) · no checkpoint"));
  run.incident("zero-reward", Severity::kCritical, 5, "zero", "text");
  CHECK(contains(joined(run.state, facts(1, 1)), "#2 zero-reward critical since step 5 and 1 more"));
  run.state.incidents[1].open = false;
  run.state.incidents[0].severity = Severity::kInfo;
  CHECK_FALSE(contains(joined(run.state, facts(1, 1)), "#"));
}

TEST_CASE("what the supervisor does stands where the run is not simply going") {
  FakeRun run = trained(8);
  SupervisedAttempt one;
  one.number = 1;
  one.started = true;
  run.state.supervision.attempts.push_back(one);
  CHECK_FALSE(contains(joined(run.state, facts(1, 1)), "attempt"));
  run.state.supervision.pause = true;
  CHECK(contains(joined(run.state, facts(1, 1)), "PAUSED"));
  SupervisedAttempt& last = run.state.supervision.attempts.back();
  last.exited = last.decided = last.restart = true;
  last.decided_at = kNow;
  last.wait_s = 8;
  CHECK(contains(joined(run.state, facts(1, 1)), "attempt 2 begins in 8 s"));
  last.restarting.asked = true;
  CHECK(contains(joined(run.state, facts(1, 1)), "midwatch approve"));
  run.state.supervision.stop = true;
  CHECK(contains(joined(run.state, facts(1, 1)), "stopping"));
}

TEST_CASE("every width is kept, and the step is the last to go") {
  FakeRun run = trained(8);
  run.incident("zero-reward", Severity::kCritical, 5, "zero", "text");
  for (size_t cells = 1; cells < 160; ++cells) {
    for (const std::string& line : live_lines(run.state, facts(500, 16), kHostile, cells, Console())) {
      CHECK(cells_of(line) <= cells);
      CHECK_FALSE(contains(line, "\x1b"));
      CHECK_FALSE(contains(line, "\n"));
    }
  }
  CHECK(joined(run.state, facts(12, 16), 39) ==
        "step 8 of 40 · last 12 s ago\n"
        "reward 0.8 ▁▂▃▄▅▆▇█\n"
        "#1 zero-reward critical\n");
  Console ascii;
  ascii.unicode = false;
  for (const std::string& line : live_lines(run.state, facts(12, 16), "grpo", 79, ascii)) {
    for (const char c : line) CHECK(static_cast<unsigned char>(c) < 0x80);
  }
}

}  // namespace
}  // namespace mw
