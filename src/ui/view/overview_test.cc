#include "ui/view/overview.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "base/text.h"
#include "ui/testing/fake_run.h"
#include "ui/view/expected_end.h"
#include "ui/view/pace.h"

namespace mw {
namespace {

std::vector<Point> line_of(size_t n, double from, double slope, double noise = 0) {
  std::vector<Point> out;
  for (size_t i = 0; i < n; ++i) {
    const double x = static_cast<double>(i);
    out.push_back({static_cast<int64_t>(i), from + slope * x + (i % 2 == 0 ? noise : -noise), {}, {}, 0});
  }
  return out;
}

TEST_CASE("a trend is what the last quarter says against the first") {
  CHECK(trend_of(line_of(40, 1, 0.1)) == Trend::kRising);
  CHECK(trend_of(line_of(40, 1, -0.1)) == Trend::kFalling);
  CHECK(trend_of(line_of(40, 1, 0)) == Trend::kFlat);
  CHECK(trend_of(line_of(40, 1, 0, 0.9)) == Trend::kNoisy);
  CHECK(trend_of(line_of(2, 1, 1)) == Trend::kUnknown);
  CHECK(trend_of({}) == Trend::kUnknown);
}

TEST_CASE("a run without a clock has the pace and the end that its progress bar shows") {
  FakeRun run;
  run.say(event::Planned{100});
  for (int64_t step = 1; step <= 20; ++step) {
    run.measure(step, 0.5).say(event::Progressed{"", step, 100, 30.0 * static_cast<double>(step)});
  }
  CHECK(seconds_per_step(run.state) == doctest::Approx(30));
  CHECK(time_span(run.state) == "10m 00s by its progress bar");
  CHECK_FALSE(expected_end(run.state).known());  // of an old file nobody knows when it was written
  const Time now{1'700'000'000'000'000'000};
  run.at = now;
  run.say(event::Ticked{});
  run.state.verdict = "running";
  CHECK(expected_end(run.state).earliest == now + Duration::seconds(30 * 80 * 0.9));
}

TEST_CASE("a run whose lines have no clock has the pace and the end that its watch saw") {
  FakeRun run;
  const Time began{1'700'000'000'000'000'000};
  const auto sees = [&run, began](int64_t step, double seconds) {
    run.measure(step, 0.5);
    fold(run.state, {began + Duration::seconds(seconds), {}, event::Ticked{false, true}});
  };
  run.say(event::Planned{100});
  for (int64_t step = 1; step <= 9; ++step) run.measure(step, 0.5);  // before anybody watched
  sees(10, 0);
  CHECK(seconds_per_step(run.state) == 0);
  sees(11, 3);  // when step 10 was done nobody knows
  for (int64_t step = 12; step <= 20; ++step) sees(step, 3 + 40 * static_cast<double>(step - 11));
  CHECK(seconds_per_step(run.state) == doctest::Approx(40));
  CHECK(contains(time_span(run.state), "(6m 03s watched"));
  run.state.verdict = "running";
  CHECK(expected_end(run.state).earliest == began + Duration::seconds(363 + 40 * 80 * 0.9));
  run.say(event::AttemptBegan{"anew"});
  sees(1, 500);
  CHECK(seconds_per_step(run.state) == 0);
}

TEST_CASE("phases of milliseconds do not bind steps of seconds") {
  FakeRun run;
  run.at = Time{1'700'000'000'000'000'000};
  for (int64_t step = 1; step <= 12; ++step) {
    run.at = run.at + Duration::seconds(6);
    run.measure(step, 0.008, "time.rollout", "time/rollout");
  }
  const auto split = time_split(run.state, {});
  REQUIRE(split.size() == 2);
  CHECK(split[0].phase == "not said");
  CHECK(split[0].seconds_per_step == doctest::Approx(6).epsilon(0.01));
  CHECK(bound_by(split).empty());
}

TEST_CASE("what a step would gain without the phases that are no work of the model") {
  const std::vector<TimeShare> split = {
      {"rollout", 50, 0.5}, {"tools", 30, 0.3}, {"save", 15, 0.15}, {"sync", 5, 0.05}};
  const auto won = time_to_win(split);
  REQUIRE(won.size() == 2);
  CHECK(won[0] == "Without tools and environments a step would take 1m 10s, 1.4 times as fast.");
  CHECK(won[1] == "Without saving a step would take 1m 25s, 1.2 times as fast.");
  CHECK(time_to_win({{"wait", 40, 0, true}, {"train", 60, 1}}).empty());
}

TEST_CASE("how sure the framework is, in words") {
  State state;
  const auto text = [&state](const char* framework, double sure) {
    state.framework = framework;
    state.framework_confidence = sure;
    return framework_text(state);
  };
  CHECK(text("verl", 0.98) == "verl");
  CHECK(text("verl", 0.7) == "probably verl");
  CHECK(text("verl", 0.4) == "perhaps verl");
  CHECK(text("verl", 0) == "verl");
  CHECK(text("custom", 0) == "no known framework");
}

TEST_CASE("what befell an attempt that a later one overtook is history in the status line") {
  FakeRun run;
  run.measure(1, 0.5).measure(2, 0.5);
  run.incident("engine-dead", Severity::kCritical, 2, "gone", "gone");
  CHECK(status_line(run.state).word == "CRITICAL");
  run.state.attempts.resize(2);
  run.state.attempts[0].last_step = 2;
  run.state.attempts[1].last_step = 2;
  CHECK(status_line(run.state).word == "CRITICAL");
  run.state.attempts[1].last_step = 3;
  const StatusLine line = status_line(run.state);
  CHECK(line.word != "CRITICAL");
  CHECK(line.rest.find("1 incident of earlier attempts overcome") != std::string::npos);
}

TEST_CASE("three to five points have a trend only when all go one way") {
  const auto of = [](std::initializer_list<double> values) {
    std::vector<Point> points;
    for (const double value : values) points.push_back({static_cast<int64_t>(points.size()), value, {}, {}, 0});
    return trend_of(points);
  };
  CHECK(of({7.45, 6.91, 6.16}) == Trend::kFalling);
  CHECK(of({0.1, 0.2, 0.2, 0.4}) == Trend::kRising);
  CHECK(of({5.23, 5.25, 5.19}) == Trend::kFlat);
  CHECK(of({0.5, 0.9, 0.4}) == Trend::kNoisy);
}

TEST_CASE("thousands are whole numbers, and nothing is minus zero") {
  CHECK(format_value(11850.4, "tokens") == "11850");
  CHECK(format_value(123456789, "tokens") == "123456789");
  CHECK(format_value(1e300, "1") == "1e+300");
  CHECK(format_value(-0.0, "1") == "0");
  CHECK(format_value(0.0123456, "1") == "0.01235");
  CHECK(format_value(7.36e10, "bytes") == "73.6 GB");
}

TEST_CASE("the time of a bar that stands far behind the last step is not that of the run") {
  FakeRun run;
  run.say(event::Planned{20});
  for (int64_t step = 1; step <= 20; ++step) {
    run.measure(step, 0.5).say(event::Progressed{"", step, 20, 3.0 * static_cast<double>(step)});
  }
  CHECK(time_span(run.state) == "1m 00s by its progress bar");
  for (int64_t step = 21; step <= 400; ++step) run.measure(step, 0.5);  // of a longer part, which drew none
  CHECK(time_span(run.state).empty());
}

TEST_CASE("a trainer that samples for several steps at once has the pace of its rounds") {
  FakeRun run;
  for (int step = 1; step <= 30; ++step) run.measure(step, step % 8 == 1 ? 83 : 3, "time.step", "step_time");
  CHECK(seconds_per_step(run.state) == doctest::Approx(13));
  FakeRun hiccup;  // slow at no fixed distance: not a matter of every step
  for (int step = 1; step <= 30; ++step) {
    const bool slow = step == 13 || step == 15 || step == 22;
    hiccup.measure(step, slow ? 83 : 3, "time.step", "step_time");
  }
  CHECK(seconds_per_step(hiccup.state) == doctest::Approx(3));
}

TEST_CASE("the pace is that of the last steps, and what it was before where that is another") {
  FakeRun run;
  CHECK(pace_text(run.state).empty());
  for (int step = 1; step <= 60; ++step) run.measure(step, step <= 30 ? 90 : 80, "time.step", "s/step");
  CHECK(pace_text(run.state) == "1m 20s per step");
  for (int step = 61; step <= 85; ++step) run.measure(step, 16, "time.step", "s/step");  // its engine is gone
  CHECK(pace_text(run.state) == "16.0 s per step of late, 1m 20s before");
  FakeRun dated;
  dated.at = Time::from_seconds(1'000'000);
  for (int step = 1; step <= 40; ++step) {
    dated.measure(step, 0.5);
    dated.at = dated.at + Duration::seconds(step < 20 ? 10 : 30);
  }
  CHECK(pace_text(dated.state) == "30.0 s per step of late, 10.0 s before");
  FakeRun sampled;  // samples of the machine stand beside few steps: they are no steps from before
  for (int sample = 0; sample < 60; ++sample) {
    sampled.at = Time::from_seconds(1'000'000 + 15.0 * sample);
    if (sample % 10 == 9) sampled.measure(1 + sample / 10, 0.5);
    sampled.measure(sample, 40, "", "system/gpu.0.powerWatts");
  }
  CHECK(pace_text(sampled.state) == "2m 30s per step");
}

TEST_CASE("a time range that few lines show says so") {
  FakeRun run;
  for (int step = 1; step <= 8; ++step) run.measure(step, 0.5);
  CHECK(time_span(run.state).empty());
  run.at = *parse_time("2026-02-19T11:00:00Z");
  run.measure(9, 0.5);
  CHECK(time_span(run.state) == "2026-02-19T11:00:00Z");
  run.at = *parse_time("2026-02-19T11:00:00.250Z");  // no other second: no range
  run.measure(10, 0.5);
  CHECK(time_span(run.state) == "2026-02-19T11:00:00Z");
  run.at = *parse_time("2026-02-19T12:00:00Z");
  run.measure(11, 0.5);
  CHECK(time_span(run.state) ==
        "2026-02-19T11:00:00Z to 2026-02-19T12:00:00Z (1h 00m by the few lines that have a clock)");
  run.say(event::Ticked{});  // a live watch, which has a clock of its own
  CHECK(time_span(run.state) == "2026-02-19T11:00:00Z to 2026-02-19T12:00:00Z (1h 00m)");
}

TEST_CASE("a time range goes to the last line, or as far as the bar shows") {
  FakeRun run;
  run.say(event::SourceOpened{0, "/runs/a/train.log", "text", 100, 0, 0});
  run.at = *parse_time("2026-02-19T11:00:00Z");
  run.say(event::ClockLacks{});  // the first line
  run.at = {};
  run.say(event::Planned{100});
  for (int step = 1; step <= 8; ++step) run.measure(step, 0.5);
  run.say(event::Progressed{"", 8, 100, 3 * 3600.0});
  CHECK(time_span(run.state) == "from 2026-02-19T11:00:00Z on, 3h 00m by its progress bar");
  run.at = *parse_time("2026-02-19T15:00:00Z");
  run.say(event::SourceEnded{100, 12, false, "bye"});
  CHECK(time_span(run.state) ==
        "2026-02-19T11:00:00Z to 2026-02-19T15:00:00Z (4h 00m by the few lines that have a clock)");
}

TEST_CASE("a run of several attempts without a clock took as long as the bars of all of them show") {
  FakeRun run;
  run.say(event::Planned{20});
  for (const int from : {1, 11}) {
    for (int step = from; step < from + 10; ++step)
      run.measure(step, 0.5).say(event::Progressed{"", step, 20, 60.0 * (step - from + 1)});
    run.say(event::AttemptBegan{"a start"});
  }
  CHECK(time_span(run.state) == "20m 00s by its progress bars");
}

TEST_CASE("a clock that stands only behind the work says when that ended") {
  FakeRun run;
  run.say(event::SourceOpened{0, "/runs/a/train.log", "text", 100, 0, 0});
  run.say(event::Planned{100});
  for (int step = 1; step <= 8; ++step) {
    run.measure(step, 0.5);
    run.say(event::Progressed{"", step, 100, step * 1000.0});
  }
  run.at = *parse_time("2026-02-19T11:00:00Z");
  run.say(event::ClockLacks{});
  CHECK(time_span(run.state) == "until 2026-02-19T11:00:00Z, 2h 13m by its progress bar");
}

TEST_CASE("a time range says that the log's clock was set back, and goes on") {
  FakeRun run;
  run.say(event::SourceOpened{0, "/runs/a/train.log", "text", 100, 0, 0});
  run.at = *parse_time("2026-02-19T11:00:00Z");
  for (int64_t step = 1; step <= 6; ++step) {
    run.at = run.at + Duration::seconds(step == 4 ? 600 - 3600 : 600);
    run.measure(step, 0.5);
  }
  CHECK(time_span(run.state) ==
        "2026-02-19T11:10:00Z to 2026-02-19T11:50:00Z (40m 00s; the clock was set back by 50m 00s at train.log:" +
            std::to_string(run.state.sources[0].straight.first()) + ", and these times go on)");
}

TEST_CASE("a time range says what the log's clocks do not name") {
  FakeRun run;
  run.say(event::SourceOpened{0, "/runs/a/train.log", "text", 100, 0, 0});
  run.at = *parse_time("2026-02-19T11:00:00Z");
  run.measure(1, 0.5);
  CHECK(zone_of_times(run.state) == " (UTC)");
  run.say(event::ClockLacks{true, true});
  CHECK(time_span(run.state) == "2026-02-19T11:00:00Z (the log names no date and no zone)");
  CHECK(zone_of_times(run.state).empty());
  run.at = *parse_time("2026-02-19T12:00:00Z");
  run.measure(2, 0.5);
  CHECK(time_span(run.state) ==
        "2026-02-19T11:00:00Z to 2026-02-19T12:00:00Z (1h 00m; the log names no date and no zone)");
  run.say(event::ClockLacks{true, false});
  CHECK(contains(time_span(run.state), "(1h 00m; the log names no zone)"));
  // The zone may be known otherwise, by --timezone.
  run.say(event::ClockLacks{false, true});
  CHECK(contains(time_span(run.state), "(1h 00m; the log names no date)"));
  CHECK(zone_of_times(run.state) == " (UTC)");
  run.say(event::ClockLacks{true, false});
  // Another file says all: its times alone count.
  run.state.sources.emplace_back().clock.note(1, *parse_time("2026-02-19T03:00:00Z"));
  run.state.sources.back().end_at = *parse_time("2026-02-19T03:30:00Z");
  CHECK(time_span(run.state) == "2026-02-19T03:00:00Z to 2026-02-19T03:30:00Z (30m 00s)");
}

TEST_CASE("the pace is the clock's where the trainer's step time is that of a part of the step") {
  const auto pace = [](double stated) {
    FakeRun run;
    for (int step = 1; step <= 8; ++step) {
      run.at = *parse_time("2026-02-19T11:00:00Z") + Duration::seconds(120.0 * step);
      run.measure(step, stated, "time.step", "step_time");
    }
    return seconds_per_step(run.state);
  };
  CHECK(pace(0.04) == doctest::Approx(120));
  CHECK(pace(90) == doctest::Approx(90));  // the rest is evaluations and saves
}

TEST_CASE("a trend ignores what is not finite") {
  std::vector<Point> points = line_of(40, 1, 0.1);
  points[3].value = std::nan("");
  points[20].value = std::numeric_limits<double>::infinity();
  CHECK(trend_of(points) == Trend::kRising);
  for (Point& p : points) p.value = std::nan("");
  CHECK(trend_of(points) == Trend::kUnknown);
}

TEST_CASE("the status line is short and shows the first of the worst") {
  FakeRun run;
  run.say(event::Planned{200});
  for (int step = 1; step <= 75; ++step) run.measure(step, 0.5);
  run.incident("entropy-collapse", Severity::kWarning, 30, "Entropy fell", "x");
  run.incident("engine-dead", Severity::kCritical, 74, std::string(400, 'w') + "\nTraceback", "x");
  run.incident("zero-reward", Severity::kCritical, 75, "Reward is 0", "x");
  run.state.verdict = "crashed";
  const StatusLine line = status_line(run.state);
  CHECK(line.word == "CRASHED");
  CHECK(line.mood == StatusLine::Mood::kBad);
  CHECK(line.rest.rfind("step 75 of 200. engine-dead since step 74: www", 0) == 0);
  CHECK(line.rest.size() < 300);
  CHECK(line.rest.find("Traceback") == std::string::npos);
  CHECK(line.rest.find("Likely cause: some-cause.") != std::string::npos);
}

TEST_CASE("a file of evaluations alone shows when the model was evaluated") {
  FakeRun run;
  run.state.verdict = "unknown";
  for (int step = 0; step <= 70; step += 10) {
    run.say(event::Measured{step, true, {{"eval.math", "val/test_score/math", 0.25 + 0.005 * step}}});
    const StatusLine line = status_line(run.state);
    CHECK(line.word == (step == 0 ? "NOTHING KNOWN" : "NO TROUBLE SEEN"));
  }
  CHECK(status_line(run.state).rest == "evaluated 8 times, steps 0 to 70; no record of a training step");
}

TEST_CASE("of a log that ends before any step its last line is shown") {
  FakeRun run;
  run.say(event::AttemptBegan{"the log begins"});
  run.state.verdict = "unknown";
  run.state.sources[0].last_text = "Building the optimizer (AdamW, 8 bit)";
  CHECK(status_line(run.state).rest ==
        "no training step seen; the log ends with \"Building the optimizer (AdamW, 8 bit)\"");
  run.state.verdict = "running";
  CHECK(status_line(run.state).rest == "no training step seen");
  run.state.verdict = "unknown";
  run.incident("code-error", Severity::kCritical, kNoStep, "The program raised ValueError", "ValueError: x");
  CHECK_FALSE(contains(status_line(run.state).rest, "AdamW"));
}

TEST_CASE("an empty run is not called healthy") {
  const State nothing;
  const StatusLine line = status_line(nothing);
  CHECK(line.mood == StatusLine::Mood::kDoubt);
  CHECK(line.word == "NOTHING KNOWN");
  CHECK(line.rest == "no training step seen");
  CHECK(time_split(nothing, {}).empty());
  CHECK(bound_by({}).empty());
  CHECK(seconds_per_step(nothing) == 0);
  CHECK_FALSE(expected_end(nothing).known());
  CHECK(describe(nothing, Moment{}) == "an unknown moment");
}

TEST_CASE("the failure's own words stand in the first line where the summary lacks them") {
  FakeRun run;
  run.measure(3, 0.5);
  Incident incident;
  incident.id = 1;
  incident.kind = "gpu-out-of-memory";
  incident.severity = Severity::kCritical;
  incident.summary = "The training process ran out of GPU memory";
  incident.evidence = {{{}, "a word of no use", "", kNoStep, 0},
                       {{}, "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.46 GiB.", "", kNoStep, 0}};
  run.state.incidents = {incident};
  CHECK(status_line(run.state).rest.find(
            "It says: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.46 GiB.") != std::string::npos);
  incident.summary = "torch.OutOfMemoryError in a.py:3 ended the run: CUDA out of memory. Tried to allocate 3.46 GiB.";
  run.state.incidents = {incident};
  CHECK(status_line(run.state).rest.find("It says") == std::string::npos);
  incident.summary = "KeyError ended the run: 'x' (data.py:3 in f)";
  incident.evidence = {{{}, "KeyError: 'x'", "", kNoStep, 0}, {{}, "in /srv/data.py:3 in f", "", kNoStep, 0}};
  run.state.incidents = {incident};
  CHECK(status_line(run.state).rest.find("It says") == std::string::npos);
  incident.summary = "TimeoutError ended the run (data.py:3 in f)";
  incident.evidence = {{{}, "TimeoutError", "", kNoStep, 0}, {{}, "in /srv/data.py:3 in f", "", kNoStep, 0}};
  run.state.incidents = {incident};
  CHECK(status_line(run.state).rest.find("It says") == std::string::npos);
}

TEST_CASE("the failure's own words are quoted without a progress bar and a C++ header before them") {
  FakeRun run;
  Incident incident;
  incident.id = 1;
  incident.kind = "collective-timeout";
  incident.severity = Severity::kCritical;
  incident.summary = "A collective operation did not finish in time";
  for (const char* before :
       {"[rank1]:[E614 02:07:50.931850750 ProcessGroupNCCL.cpp:629] ",
        "  0%|          | 3/672 [1:15:14<268:13:52, 1443.40s/it]",
        "  0%|          | 3/672 [1:15:14<268:13:52, 2.40it/s][rank1]:[E614 02:07:50.93 x.cpp:6] "}) {
    incident.evidence = {{{}, cat(before, "[Rank 1] Watchdog caught a timeout"), "", kNoStep, 0}};
    run.state.incidents = {incident};
    CHECK(status_line(run.state).rest.ends_with("It says: [Rank 1] Watchdog caught a timeout."));
  }
}

TEST_CASE("of two that are equally grave the one that tells the run's fate is named") {
  FakeRun run;
  run.measure(3, 0.5);
  Incident cut, equal;
  cut.id = 1, equal.id = 2;
  cut.kind = "truncation", equal.kind = "zero-advantage";
  cut.severity = equal.severity = Severity::kWarning;
  cut.summary = equal.summary = "s";
  run.state.incidents = {cut, equal};
  CHECK(status_line(run.state).rest.find("zero-advantage") != std::string::npos);
}

TEST_CASE("a plan that the run went beyond is not shown as one") {
  FakeRun run;
  run.say(event::Planned{5});
  run.measure(11, 0.5);
  CHECK(status_line(run.state).rest == "step 11");
}

TEST_CASE("a phase that few steps have is spread over all of them, and what no phase explains is said") {
  FakeRun run;
  for (int step = 1; step <= 10; ++step) {
    run.say(event::Measured{
        step, false, {{"time.step", "step", 10.0}, {"time.rollout", "gen", 4.0}, {"time.train", "upd", 3.0}}});
  }
  run.measure(10, 20.0, "time.save", "save");
  const auto split = time_split(run.state, {});
  REQUIRE(split.size() == 4);
  CHECK(split[0].phase == "rollout");
  CHECK(split[0].share == doctest::Approx(0.4));
  double sum = 0, save = 0;
  for (const TimeShare& part : split) {
    sum += part.share;
    if (part.phase == "save") save = part.seconds_per_step;
  }
  CHECK(sum == doctest::Approx(1));
  CHECK(save == doctest::Approx(2));
  CHECK(bound_by(split).empty());
}

TEST_CASE("the seconds in which the trainer waits for the rollout count once") {
  const auto split_of = [](double rollout, double wait) {
    FakeRun run;
    for (int step = 1; step <= 10; ++step) {
      run.say(event::Measured{step,
                              false,
                              {{"time.step", "step", 200.0},
                               {"time.rollout", "gen", rollout},
                               {"time.train", "upd", 80.0},
                               {"time.wait", "wait", wait}}});
    }
    return time_split(run.state, {});
  };
  const auto waited = split_of(60, 120);  // for the rollout of 60 s, and 60 s more
  REQUIRE(waited.size() == 3);
  for (const TimeShare& part : waited) {
    CHECK(part.seconds_per_step == doctest::Approx(part.phase == "train" ? 80 : 60));
    CHECK(part.share == doctest::Approx(part.phase == "train" ? 0.4 : 0.3));
    CHECK_FALSE(part.beside);
  }
  const auto beside = split_of(190, 120);  // the next rollout runs while this one is trained on
  REQUIRE(beside.size() == 3);
  CHECK(beside[0].phase == "wait");
  CHECK(beside[0].share == doctest::Approx(0.6));
  CHECK(beside[2].phase == "rollout");
  CHECK(beside[2].beside);
  CHECK(beside[2].share == 0);
  CHECK(bound_by(beside) == "waiting for samples");
}

TEST_CASE("steps that are not known take part in no arithmetic") {
  FakeRun run;
  run.state.series.emplace_back();
  for (int i = 0; i < 30; ++i) {
    run.state.series[0].add({i % 2 == 0 ? kNoStep : i, 1.0, Time::from_seconds(1000 + i), {}, 0});
  }
  CHECK(seconds_per_step(run.state) >= 0);
  CHECK(status_line(run.state).rest.find("9223372036854775808") == std::string::npos);
}

TEST_CASE("brief keeps one line and whole words") {
  CHECK(brief("one two three", 100) == "one two three");
  CHECK(brief("one two three\nfour", 100) == "one two three");
  CHECK(brief("one two three", 9) == "one two…");
  CHECK(brief("oooooooooooooone", 5) == "ooooo…");
  CHECK(brief("", 5).empty());
}

}  // namespace
}  // namespace mw
