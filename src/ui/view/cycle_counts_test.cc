#include "ui/view/cycle_counts.h"

#include <doctest/doctest.h>

#include "base/text.h"
#include "ui/report/markdown.h"
#include "ui/testing/fake_run.h"
#include "ui/view/format_batches.h"

namespace mw {
namespace {

TEST_CASE("a cycle counts what came since its beginning, and nothing before") {
  State state;
  CycleCounts counts(Cycle{3, {}});
  uint64_t line = 0;
  const auto say = [&](auto body) {
    const Event event{{}, {0, ++line}, std::move(body)};
    fold(state, event);
    counts.hear(state, event);
  };
  say(event::SourceOpened{0, "train.log", "text", 100});
  for (int64_t step = 1; step <= 4; ++step) {
    say(event::Measured{step, false, {{"reward.mean", "reward", 0.5}}});
    say(event::ToolCalled{"search", 2, event::ToolCalled::Outcome::kOk, ""});
    say(event::FormatJudged{"one-think-block", 8, 2});
    say(event::PhaseEnded{"rollout", 10, kNoStep});
    if (step == 1) say(event::PhaseEnded{"save", 10, kNoStep});
  }
  CHECK(state.tools.at("search").calls == 4);
  counts.put_into(state);
  CHECK(state.tools.at("search").calls == 2);
  CHECK(state.formats.at("one-think-block").failed == 4);
  CHECK(state.phases.at("rollout").times == 2);
  CHECK(state.phases.at("rollout").ends.size() == 4);  // the table of steps shows those before as well
  CHECK(state.phases.find("save") == state.phases.end());
}

TEST_CASE("format rules are counted by step, each attempt for itself") {
  State state;
  FormatBatches batches;
  uint64_t line = 0;
  const auto say = [&](auto body) {
    const Event event{{}, {0, ++line}, std::move(body)};
    fold(state, event);
    batches.hear(state, event);
  };
  say(event::SourceOpened{0, "train.log", "text", 100});
  for (int64_t step = 1; step <= 3; ++step) {
    say(event::StepBegan{step});
    for (int sample = 0; sample < 10; ++sample) {
      const bool passes = sample < 5 + step;
      say(event::FormatJudged{"ft", passes ? 1U : 0U, passes ? 0U : 1U});
    }
    say(event::FormatJudged{"ends", 0, 2});
    say(event::Measured{step, false, {{"reward.mean", "reward", 0.5}}});
  }
  CHECK(batches.last_steps(2) == std::vector<int64_t>{2, 3});
  CHECK(batch_text(batches.of("ft"), 3, true) == "80 % (8/10)");
  CHECK(batch_text(batches.of("ft"), 2, true) == "70 % (7/10)");
  CHECK(batch_text(batches.of("ends"), 2, false) == "2 failed");
  CHECK(batch_text(batches.of("ft"), 9, true).empty());
  Replayed replayed;
  replayed.state = state;
  const std::string report = markdown_report(replayed, {}, &batches);
  CHECK(contains(report,
                 "| Rule | 1 | 2 | 3 |\n|---|---:|---:|---:|\n| ends | 2 failed | 2 failed | 2 failed |\n"
                 "| ft | 60 % (6/10) | 70 % (7/10) | 80 % (8/10) |\n"));
}

TEST_CASE("a cycle's counts stand beside those of the whole run") {
  Replayed replayed;
  State& state = replayed.state;
  const Cycle cycle{3, {}};
  CycleCounts counts(cycle);
  FormatBatches batches;
  uint64_t line = 0;
  const auto say = [&](auto body) {
    const Event event{{}, {0, ++line}, std::move(body)};
    fold(state, event);
    batches.hear(state, event);
    counts.hear(state, event);
  };
  say(event::SourceOpened{0, "train.log", "text", 100});
  for (int64_t step = 1; step <= 4; ++step) {
    say(event::StepBegan{step});
    say(event::Measured{step, false, {{"reward.mean", "reward", 0.5}}});
    say(event::ToolCalled{"search", 70, event::ToolCalled::Outcome::kOk, ""});
    say(event::FormatJudged{"ft", 8, 2});
    say(event::FormatJudged{"ends", 0, 1});
  }
  counts.put_into(state);
  const std::string report = markdown_report(replayed, cycle, &batches);
  CHECK(contains(report, "This cycle begins at step 3. Since then: steps 3 to 4, no new incident.\n"));
  CHECK(contains(report, "| ft | 16 | 4 | 80 % | 80 % (32/40) |\n"));
  CHECK(contains(report, "| ends | not said | 2 |  | 4 failed |\n"));
  CHECK(
      contains(report, "| Function | Calls | Calls in the whole run | Median | 95 % under | Longest | Over 1m 00s |"));
  CHECK(contains(report, "| search | 2 | 4 | 1m 10s | 1m 10s | 1m 10s | 2 | 0 |"));
  CHECK_FALSE(contains(markdown_report(replayed, {}, &batches), "whole run"));
}

TEST_CASE("warnings of a cycle are those that came in it") {
  State state;
  CycleCounts counts(Cycle{3, {}});
  uint64_t line = 0;
  const auto say = [&](auto body) {
    const Event event{{}, {0, ++line}, std::move(body)};
    fold(state, event);
    counts.hear(state, event);
  };
  using Level = event::Logged::Level;
  say(event::SourceOpened{0, "train.log", "text", 100});
  uint64_t old = 0;
  for (int64_t step = 1; step <= 4; ++step) {
    say(event::StepBegan{step});
    say(event::Measured{step, false, {{"reward.mean", "reward", 0.5}}});
    if (step != 4) say(event::Logged{Level::kWarning, 1, "an old one", old = old == 0 ? 1 : old * 2});
    if (step >= 3) say(event::Logged{Level::kError, 2, "a new one", static_cast<uint64_t>(step - 2)});
  }
  REQUIRE(state.templates.size() == 2);
  CHECK(state.templates[0].count == 4);
  counts.put_into(state);
  CHECK(state.templates[0].count == 1);  // the third and fourth, and nobody knows when the third came
  CHECK(state.templates[0].first.step >= 3);
  CHECK(state.templates[1].count == 2);
}

TEST_CASE("a cycle from a time counts by the clock") {
  State state;
  CycleCounts counts(Cycle{kNoStep, *parse_time("2026-02-19T10:00:00Z")});
  uint64_t line = 0;
  for (const char* at : {"2026-02-19T09:59:00Z", "2026-02-19T10:00:00Z", "2026-02-19T10:01:00Z"}) {
    const Event event{
        *parse_time(at), {0, ++line}, event::ToolCalled{"search", 2, event::ToolCalled::Outcome::kOk, ""}};
    fold(state, event);
    counts.hear(state, event);
  }
  counts.put_into(state);
  CHECK(state.tools.at("search").calls == 2);
}

TEST_CASE("what ended an earlier attempt in a line without a clock lies before a cycle from a later time") {
  FakeRun run;
  for (int64_t attempt = 0; attempt < 3; ++attempt) {
    if (attempt > 0) run.say(event::AttemptBegan{"again"});
    for (int64_t step = 1; step <= 10 + attempt; ++step) {
      run.at = *parse_time("2026-02-19T10:00:00Z") + Duration::seconds(static_cast<double>(attempt * 3600 + step * 60));
      run.measure(step, 0.5);
    }
    if (attempt == 2) break;
    const uint64_t line = run.line + 1;
    run.incident("code-error", Severity::kCritical, 10 + attempt, "KeyError", "x").onset.where.line = line;
    run.state.incidents.back().onset.attempt = run.state.incidents.back().latest.attempt =
        static_cast<uint16_t>(attempt);
    run.at = {};
    run.say(event::TraceSeen{"KeyError", "'x'", "", line});
  }
  REQUIRE(run.state.attempts.size() == 3);
  Replayed replayed;
  replayed.state = run.state;
  const std::string report = markdown_report(replayed, Cycle{kNoStep, *parse_time("2026-02-19T11:30:00Z")});
  CHECK(contains(report, "Since then: steps 1 to 12, 1 new attempt, no new incident."));
  CHECK(contains(report, "2 earlier, over before this cycle."));
  const std::string both = markdown_report(replayed, Cycle{kNoStep, *parse_time("2026-02-19T10:30:00Z")});
  CHECK(contains(both, "2 new attempts, new incidents: \\#2 code-error."));
}

}  // namespace
}  // namespace mw
