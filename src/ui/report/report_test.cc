#include <doctest/doctest.h>

#include <cmath>

#include "base/json.h"
#include "base/text.h"
#include "core/collected.h"
#include "core/incident_json.h"
#include "ui/report/markdown.h"
#include "ui/report/terminal.h"
#include "ui/testing/fake_run.h"
#include "ui/view/layout.h"
#include "ui/view/replay_json.h"

namespace mw {
namespace {

Console plain(int width) {
  Console console;
  console.width = width;
  return console;
}

/// A run in which every text that can be foreign is hostile.
Replayed hostile_run() {
  FakeRun run;
  run.say(event::Recognised{kHostile, kHostile, 0.9}).say(event::Configured{"model", kHostile});
  run.say(event::Configured{"algorithm", kHostile});
  for (int step = 1; step <= 8; ++step) {
    run.say(event::Measured{step, false, {{"reward.component." + kHostile, kHostile, 0.5}, {"", kHostile, 1.0}}});
    run.say(event::Measured{step, true, {{"", kHostile, 1.0}}});
  }
  run.say(event::CheckpointSaved{kNoStep, kHostile, true}).say(event::WeightsSynced{kNoStep, 1});
  run.say(event::ToolCalled{kHostile, 3, event::ToolCalled::Outcome::kModelError, kHostile});
  run.say(event::FormatJudged{kHostile, 3, 4}).say(event::Logged{event::Logged::Level::kError, 0, kHostile, 2});
  run.say(event::PhaseBegan{kHostile}).say(event::Progressed{kHostile, 3, 7});
  run.say(event::PhaseEnded{kHostile + "x", 3, kNoStep}).say(event::SourceProblem{"torn-tail", kHostile});
  run.say(event::Ended{event::Ended::How::kFailed, 1, kHostile}).say(event::AttemptBegan{kHostile}).measure(1, 1);
  run.state.sources[0].path = "logs/" + kHostile;
  run.incident("engine-dead", Severity::kCritical, kNoStep, kHostile, kHostile);
  run.incident("code-error", Severity::kInfo, 3, kHostile, kHostile);
  run.say(event::Intended{1, std::string(kCollectEvidence), kHostile, 1, kHostile});
  run.say(event::Acted{1, true, kHostile, 0});
  Replayed replayed;
  replayed.state = run.state;
  replayed.notes.push_back(kHostile);
  return replayed;
}

void check_harmless(const std::string& text) {
  for (size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    CAPTURE(text.substr(i < 20 ? 0 : i - 20, 40));
    REQUIRE((c == '\n' || (c >= 0x20 && c != 0x7f)));
  }
  CHECK(sanitize_utf8(text) == text);
  CHECK(text.find("\xe2\x80\xae") == std::string::npos);  // right-to-left override
  CHECK(text.find("\xc2\x9b") == std::string::npos);      // C1 control sequence introducer
  CHECK(text.find("9223372036854775808") == std::string::npos);
}

TEST_CASE("hostile text is harmless in the terminal") {
  const Replayed replayed = hostile_run();
  for (const int width : {1, 40, 60, 80, 140, 1000}) check_harmless(terminal_report(replayed, plain(width)));
}

TEST_CASE("hostile text is harmless in Markdown") {
  const std::string report = markdown_report(hostile_run(), {});
  check_harmless(report);
  size_t columns = 0;
  for (const std::string_view line : split(report, '\n')) {
    CAPTURE(line);
    CHECK(line.rfind("# head", 0) != 0);
    std::string outside;  // of code spans, where Markdown has no meaning
    size_t fence = 0;
    for (size_t i = 0; i < line.size(); ++i) {
      size_t run = 0;
      while (i + run < line.size() && line[i + run] == '`' && (run > 0 || i == 0 || line[i - 1] != '\\')) ++run;
      if (run == 0) {
        if (fence == 0 && line[i] == '\\') {
          ++i;  // an escaped character is itself
        } else if (fence == 0) {
          outside += line[i];
        }
        continue;
      }
      fence = fence == 0 ? run : fence == run ? 0 : fence;
      i += run - 1;
    }
    CHECK(fence == 0);
    CHECK(outside.find('<') == std::string::npos);
    CHECK(outside.find("](") == std::string::npos);
    CHECK(outside.find("://") == std::string::npos);
    CHECK(outside.find("www.") == std::string::npos);
    CHECK(outside.find("**bold**") == std::string::npos);
    size_t bars = 0;
    for (size_t i = 0; i < line.size(); ++i) bars += line[i] == '|' && (i == 0 || line[i - 1] != '\\') ? 1 : 0;
    if (line.rfind("| ", 0) != 0 && line.rfind("|-", 0) != 0) bars = 0;
    if (bars > 0 && columns > 0) CHECK(bars == columns);  // no cell broke a table
    columns = bars;
  }
}

TEST_CASE("hostile text leaves JSON valid") {
  const Replayed replayed = hostile_run();
  const std::string text = replay_json(replayed.state, replayed.input);
  check_harmless(text);
  const auto json = Json::parse(text);
  REQUIRE(json.ok());
  CHECK(json->string_or("schema", "") == "midwatch.replay/1");
  REQUIRE(json->find("incidents") != nullptr);
  CHECK(json->find("incidents")->items().size() == 2);
}

TEST_CASE("an empty state gives a short honest answer") {
  Replayed nothing;
  for (const int width : {1, 60, 140}) {
    const std::string text = terminal_report(nothing, plain(width));
    check_harmless(text);
    CHECK(text.find("No incident.") != std::string::npos);
    CHECK(text.find("no training step seen") != std::string::npos);
  }
  const std::string report = markdown_report(nothing, {});
  CHECK(report.find("No metric was seen in these files.") != std::string::npos);
  CHECK(Json::parse(replay_json(nothing.state, nothing.input)).ok());
}

Replayed long_run() {
  FakeRun run;
  run.say(event::Planned{4000});
  for (int step = 1; step <= 300; ++step) {
    run.say(event::Measured{step,
                            false,
                            {{"reward.mean", "critic/score/mean", 0.001 * step},
                             {"reward.component.after_kl_penalty", "critic/rewards/mean", 0.5},
                             {"memory.gpu", "mem", 7.36e10},
                             {"kl.step", "kl", -2.578e-06},
                             {"time.rollout", "gen", 81.5},
                             {"time.train", "upd", 0.002}}});
  }
  for (int i = 0; i < 3000; ++i) run.measure(300, i, "", cat("raw/metric_", i).c_str());
  run.say(event::ToolCalled{"search", 3.0, event::ToolCalled::Outcome::kTimeout, "TimeoutError"});
  run.say(event::FormatJudged{"skyrl-seven/one-think-block", 8, 2});
  run.say(event::Logged{event::Logged::Level::kWarning, 0, std::string(900, 'w'), 12});
  run.incident("crash", Severity::kCritical, 299, "It crashed " + std::string(900, 's'), std::string(900, 'e'));
  Replayed replayed;
  replayed.state = run.state;
  return replayed;
}

TEST_CASE("no line is wider than the terminal, and colours change nothing but colours") {
  const Replayed replayed = long_run();
  for (const int width : {40, 60, 80, 100, 140}) {
    Console console = plain(width);
    const std::string text = terminal_report(replayed, console);
    for (const std::string_view line : split(text, '\n')) {
      CAPTURE(line);
      CHECK(cells_of(line) <= static_cast<size_t>(width));
    }
    CHECK(text.find('\x1b') == std::string::npos);
    console.colour = true;
    const std::string coloured = terminal_report(replayed, console);
    std::string stripped;
    for (size_t i = 0; i < coloured.size(); ++i) {
      if (coloured[i] == '\x1b') {
        i = coloured.find('m', i);
      } else {
        stripped += coloured[i];
      }
    }
    CHECK(coloured.find("\x1b[") != std::string::npos);
    CHECK(stripped == text);
  }
}

TEST_CASE("thousands of raw metrics do not flood the answers") {
  const Replayed replayed = long_run();
  CHECK(split(terminal_report(replayed, plain(100)), '\n').size() < 80);
  CHECK(markdown_report(replayed, {}).size() < 20'000);
  const auto json = Json::parse(replay_json(replayed.state, replayed.input));
  REQUIRE(json.ok());
  CHECK(json->find("other_metrics")->members().size() > 1000);  // as many as the state keeps
}

TEST_CASE("slow calls and context overflows are counted") {
  FakeRun run;
  for (const double seconds : {1.0, 200.0, 400.0}) {
    run.say(event::ToolCalled{"search", seconds, event::ToolCalled::Outcome::kOk, ""});
  }
  run.say(event::FormatJudged{"context/fits", 0, 12});
  Replayed replayed;
  replayed.state = run.state;
  const std::string text = terminal_report(replayed, plain(100));
  CHECK(text.find("3 calls, 2 slow (over 3m") != std::string::npos);
  CHECK(text.find("context overflows (context/f") != std::string::npos);
  const std::string report = markdown_report(replayed, {});
  CHECK(report.find("| search | 3 | 3m") != std::string::npos);
  CHECK(report.find("| context overflows (context/fits) | not said | 12 |") != std::string::npos);
}

TEST_CASE("what processes did stands with its incident, in every face") {
  FakeRun run;
  run.measure(1, 0.5);
  run.incident("stall", Severity::kCritical, 1, "x", "some-cause");
  run.incident("crash", Severity::kCritical, 1, "y", "some-cause");
  run.say(event::Intended{1, std::string(kCollectEvidence), "train.py (pid 7)", 1, "to see"});
  run.say(event::Intended{2, "notify", "ops", 1, "z"});
  Replayed replayed;
  replayed.state = run.state;
  CHECK(contains(markdown_report(replayed, {}), "What its processes did:\n\n- train.py (pid 7): is being looked at\n"));
  run.say(event::Acted{1, true, "3 threads, stopped (SIGSTOP)", 0});
  replayed.state = run.state;
  CHECK(contains(markdown_report(replayed, {}), "- train.py (pid 7): 3 threads, stopped (SIGSTOP)\n"));
  CHECK_FALSE(contains(markdown_report(replayed, {}), kCollectEvidence));  // it did nothing to the run
  CHECK(contains(terminal_report(replayed, plain(100)), "process  train.py (pid 7): 3 threads, stopped (SIGSTOP)\n"));
  const auto json = Json::parse(replay_json(replayed.state, {}));
  REQUIRE(json.ok());
  const auto& incidents = json->find("incidents")->items();
  REQUIRE(incidents.size() == 2);
  CHECK(incidents[0].find("processes")->items()[0].string_or("text", "") == "3 threads, stopped (SIGSTOP)");
  CHECK(incidents[1].find("processes") == nullptr);
  // The journal keeps the incident alone: looking at it is no news of it.
  CHECK_FALSE(contains(incident_json(run.state.incidents[0], run.state), "processes"));
}

TEST_CASE("numbers are readable") {
  const std::string text = terminal_report(long_run(), plain(100));
  CHECK(text.find("73.6 GB") != std::string::npos);
  CHECK(text.find("<0.1 %") != std::string::npos);
  CHECK(text.find("The run is bound by generation.") != std::string::npos);
}

TEST_CASE("ASCII alone where the terminal knows no more") {
  Console console = plain(100);
  console.unicode = false;
  const std::string text = terminal_report(long_run(), console);
  CHECK(text.find("▁") == std::string::npos);
  CHECK(text.find("█") == std::string::npos);
}

TEST_CASE("the report goes through steps, attempts and checkpoints as people's own reports do") {
  FakeRun run;
  run.at = *parse_time("2026-02-19T09:08:00Z");
  run.say(event::AttemptBegan{"Attempt #1"});
  for (int step = 1; step <= 3; ++step) {
    run.at = run.at + Duration::seconds(6000);
    run.measure(step, 5 + 0.25 * step).measure(step, 1e-6, "lr", "policy_lr");
  }
  run.say(event::Ended{event::Ended::How::kFailed, 1, "exit code: 1"});
  run.say(event::AttemptBegan{"Attempt #2"}).say(event::StepBegan{1}).say(event::PhaseBegan{"rollout"});
  run.say(event::Measured{2, true, {{"", "eval/pass_at_1", 0.5}}});
  run.state.verdict = "running";
  Replayed replayed;
  replayed.state = run.state;
  const std::string report = markdown_report(replayed, {});
  CHECK(contains(report, "\n## Now\n\n- Phase: rollout since 2026-02-19T14:08:00Z\n"));
  CHECK(contains(report,
                 "| Step | 1 | 2 | 3 | Change | Trend |\n|---|---:|---:|---:|---|---|\n"
                 "| Done at (UTC) | 10:48:00 | 12:28:00 | 14:08:00 | | |\n"
                 "| reward.mean | 5.25 | 5.5 | 5.75 | +0.25 | rising |\n\nConstant: lr 1e-06.\n"));
  CHECK(contains(report,
                 "| 1 | 2026-02-19T09:08:00Z | Attempt \\#1 | 1 to 3 |  | 5h 00m | exit code: 1 | 3 steps, 5h 00m |"));
  CHECK(contains(report, "| 2 | 2026-02-19T14:08:00Z | Attempt \\#2 | none |  |  | goes on |  |"));
  CHECK(contains(report, "| eval/pass_at_1 | 0.5 |"));
  const std::string text = terminal_report(replayed, plain(80));
  CHECK(contains(text, "  step                          1        2        3   change  trend\n"));
  CHECK(contains(text, "  reward.mean                5.25      5.5     5.75    +0.25  rising\n"));
  CHECK(contains(text, "constant: lr 1e-06"));
}

TEST_CASE("held-out evaluations stand side by side in the terminal, what their names have in common once") {
  FakeRun run;
  for (int step = 0; step <= 20; step += 10) {
    run.say(event::Measured{step,
                            true,
                            {{"", "val/test_score/math", 0.25 + 0.01 * step},
                             {"", "val/test_score/a_benchmark_of_a_very_long_name_lite", 0.5},
                             {"", "val/response_length/mean", 700},
                             {"", "epoch", 0.1 * step}}});  // when it was, no result
  }
  Replayed replayed;
  replayed.state = run.state;
  const std::string text = terminal_brief(replayed, plain(80), "more");
  CHECK(contains(text, "Held-out evaluation: val/test_score/\n"));
  CHECK(contains(text, "  step                              0       10       20  trend\n"));
  CHECK(contains(text, "  math                           0.25     0.35     0.45  rising\n"));
  CHECK(contains(text, "  a_benchmark_of_a_very_lon…      0.5      0.5      0.5  flat\n"));
  CHECK(contains(text, "… and 1 more"));
  for (const int width : {40, 60, 100}) {
    for (const std::string_view line : split(terminal_evaluations(run.state, plain(width), 6), '\n')) {
      CAPTURE(line);
      CHECK(cells_of(line) <= static_cast<size_t>(width));
    }
  }
}

TEST_CASE("of many incidents of one kind that are only news the first is named, and how many more there are") {
  FakeRun run;
  run.measure(3, 0.5);
  for (int i = 0; i < 40; ++i) run.incident("gradient-spike", Severity::kInfo, i, "a spike", "x");
  run.incident("truncation", Severity::kInfo, 3, "cut", "x");
  run.incident("truncation", Severity::kInfo, 4, "cut", "x");
  Replayed replayed;
  replayed.state = run.state;
  CHECK(contains(terminal_brief(replayed, plain(100), "more"),
                 "Besides: #1 gradient-spike and 39 more, #41 truncation, #42 truncation\n"));
}

TEST_CASE("what the machine showed of an incident stands with it where the log speaks first") {
  FakeRun run;
  run.measure(3, 0.5);
  run.say(event::SourceOpened{1, "host:components", std::string(kHostKind), 0});
  const std::string text = "Process 4711 (VLLM::EngineCore) of the run has ended", shown = "   seen   " + text;
  run.incident("engine-dead", Severity::kCritical, 3, "Rollouts fail", "Connection error")
      .evidence.push_back({{1, 1}, text, "", kNoStep, 0});
  Replayed replayed;
  replayed.state = run.state;
  CHECK(contains(terminal_brief(replayed, plain(100), "more"), shown));
  replayed.state.incidents.front().onset.where = {1, 1};  // then its summary says it
  CHECK_FALSE(contains(terminal_brief(replayed, plain(100), "more"), shown));
}

TEST_CASE("what people noted stands in the report, harmless") {
  FakeRun run;
  run.measure(3, 0.5);
  run.at = *parse_time("2026-02-19T10:00:00Z");
  run.say(event::Note{"mira@node7", "doubled --shm-size\n# not a heading"});
  Replayed replayed;
  replayed.state = run.state;
  const std::string report = markdown_report(replayed, {});
  CHECK(contains(report, "## What people noted\n\n- 2026-02-19T10:00:00Z, "));
  CHECK(contains(report, "mira@node7: doubled --shm-size"));
  CHECK_FALSE(contains(report, "\n# not a heading"));
}

TEST_CASE("one advice for two incidents is given once, and the steps around the worst onset are shown") {
  FakeRun run;
  for (int step = 1; step <= 60; ++step) run.measure(step, step < 20 ? 0.5 : 0.0);
  run.incident("zero-reward", Severity::kCritical, 20, "Reward is 0", "the same advice");
  run.incident("engine-dead", Severity::kCritical, 19, "The engine is gone", "the same advice");
  Replayed replayed;
  replayed.state = run.state;
  const std::string report = markdown_report(replayed, {});
  CHECK(contains(report, "\nFix: the same advice\n"));
  CHECK(contains(report, "\nFix: as for \\#1.\n"));
  CHECK(contains(report, "The steps around the onset:\n\n| Step | 17 | 18 | 19 | 20 | 21 | 22 |"));
  CHECK(contains(terminal_report(replayed, plain(100)), "   fix    as for #1\n"));
}

TEST_CASE("metrics that nothing judges stand at the end, those that never change in one line") {
  FakeRun run;
  for (int step = 1; step <= 3; ++step) {
    run.measure(step, 0.5).measure(step, 7, "", "raw/still").measure(step, step * 0.5, "", "raw/moving");
  }
  Replayed replayed;
  replayed.state = run.state;
  const std::string report = markdown_report(replayed, {});
  CHECK(contains(report, "| raw/moving |  | 0.5 | 1.5 | 0.5 | 1.5 | rising |"));
  CHECK(contains(report, "\nConstant: raw/still 7.\n"));
  CHECK(report.find("## Further metrics") > report.find("## Checkpoints"));
}

TEST_CASE("a run without a reward shows the curve of what it has") {
  FakeRun run;
  for (int step = 1; step <= 8; ++step) run.measure(step, 0.1 * step, "accuracy.preference", "acc");
  Replayed replayed;
  replayed.state = run.state;
  CHECK(contains(terminal_brief(replayed, plain(100), "more"), "  accuracy.preference  steps 1 to 8"));
}

TEST_CASE("a cycle report says what did not change") {
  FakeRun run;
  for (int step = 1; step <= 30; ++step) run.measure(step, 0.5);
  run.say(event::CheckpointSaved{10, "ckpt/10", true});
  run.incident("entropy-collapse", Severity::kWarning, 5, "Entropy fell", "x");
  Replayed replayed;
  replayed.state = run.state;
  const std::string later = markdown_report(replayed, Cycle{21, {}});
  CHECK(later.find("This cycle begins at step 21.") != std::string::npos);
  CHECK(later.find("(warning, unchanged since last)") != std::string::npos);
  CHECK(later.find("| unchanged since last |") != std::string::npos);
  CHECK(later.find("Unchanged since last: no new checkpoint") != std::string::npos);
  const std::string nothing_new = markdown_report(replayed, Cycle{99, {}});
  CHECK(nothing_new.find("Unchanged since last: no new metric") != std::string::npos);
  run.measure(2, 7, "", "raw/still");
  for (const int step : {20, 25}) run.measure(step, 7, "", "raw/still");
  Replayed more;
  more.state = run.state;
  CHECK(markdown_report(more, Cycle{21, {}}).find("Unchanged since last: 1 further metrics.") != std::string::npos);
  replayed.state.incidents[0].open = false;
  const std::string over = markdown_report(replayed, Cycle{21, {}});
  CHECK(over.find("1 earlier, over before this cycle.") != std::string::npos);
  CHECK(over.find("None seen in this cycle.") != std::string::npos);
}

TEST_CASE("a cycle's new attempts are those that began in it") {
  FakeRun run;
  for (int step = 1; step <= 7; ++step) run.measure(step, 0.5);
  run.say(event::AttemptBegan{"again"}).say(event::Resumed{6, "ckpt/6"});
  for (int step = 7; step <= 16; ++step) run.measure(step, 0.5);
  Replayed replayed;
  replayed.state = run.state;
  REQUIRE(run.state.attempts.size() == 2);
  CHECK_FALSE(contains(markdown_report(replayed, Cycle{10, {}}), "new attempt"));
  CHECK(contains(markdown_report(replayed, Cycle{7, {}}), "1 new attempt"));
  CHECK(contains(markdown_report(replayed, Cycle{3, {}}), "1 new attempt"));
}

}  // namespace
}  // namespace mw
