#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <map>
#include <memory>

#include "base/numbers.h"
#include "base/prng.h"
#include "base/text.h"
#include "core/attempts.h"
#include "core/state.h"

namespace mw {
namespace {

/// Writes events into a state the way a source would.
struct TestLog {
  State& state;
  uint32_t source = 0;
  uint64_t line = 0;
  Time at{}, received{};

  void say(decltype(Event::body) body) { fold(state, {at, {source, ++line}, std::move(body), received}); }
  void open(const char* path, const char* kind) {
    fold(state, {at, {source, 0}, event::SourceOpened{source, path, kind, 0}});
  }
  void measure(int64_t step, double value, const char* signal = "reward.mean", const char* raw = "reward") {
    say(event::Measured{step, false, {{signal, raw, value}}});
  }
};

TEST_CASE("a run that only goes forward has one attempt and every step once") {
  State state;
  TestLog log{state};
  log.open("train.log", "text");
  log.say(event::AttemptBegan{"launch"});
  log.say(event::AttemptBegan{"second rank says the same"});
  for (int step = 1; step <= 50; ++step) log.measure(step, 0.01 * step);
  CHECK(state.attempts.size() == 1);
  CHECK(state.attempts[0].why == "launch");
  CHECK(state.steps().first == 1);
  CHECK(state.steps().last == 50);
  CHECK(state.steps().count == 50);
  REQUIRE(state.find("reward.mean") != nullptr);
  CHECK(state.find("reward.mean")->points().size() == 50);
  CHECK(state.find("kl") == nullptr);
}

TEST_CASE("what midwatch decides on a line gives the line no time") {
  State state;
  TestLog log{state};
  log.open("train.log", "text");
  log.measure(1, 0.5);
  fold(state, {Time::from_seconds(1'700'000'000), {0, 1}, event::VerdictGiven{"running"}});
  CHECK_FALSE(state.sources[0].clock.before(UINT64_MAX).known());
}

TEST_CASE("a traceback that is emitted behind later steps happened where it stands") {
  State state;
  TestLog log{state};
  log.open("train.log", "text");
  for (int step = 1; step <= 9; ++step) log.measure(step, 0.5);
  event::TraceSeen trace;
  trace.exception = "IndexError";
  fold(state, {{}, {0, 4}, trace});  // behind the record of step 4
  CHECK(state.traces.back().moment.step == 4);
  fold(state, {{}, {0, 12}, trace});
  CHECK(state.traces.back().moment.step == 9);
}

TEST_CASE("a plan that is announced behind a complete attempt is of the next one") {
  State state;
  TestLog log{state};
  log.open("train.log", "text");
  log.say(event::Planned{20});
  for (int step = 1; step <= 20; ++step) log.measure(step, 0.5);
  log.say(event::Ended{event::Ended::How::kComplete, 0, "train_runtime"});
  log.say(event::Planned{50});
  for (int step = 1; step <= 50; ++step) log.measure(step, 0.5);
  REQUIRE(state.attempts.size() == 2);
  CHECK(state.attempts[0].total_steps == 20);
  CHECK(state.attempts[1].total_steps == 50);
  CHECK(state.total_steps == 50);
}

TEST_CASE("a setting of -1 steps is no plan, and takes none back") {
  State state;
  TestLog log{state};
  log.open("train.log", "text");
  log.say(event::Planned{1954});
  log.measure(30, 0.5);
  log.say(event::Configured{"total_steps", "-1"});
  CHECK(state.total_steps == 1954);
  log.say(event::Configured{"total_steps", "2000"});
  CHECK(state.total_steps == 2000);
}

TEST_CASE("a step counter that starts over is a new attempt, small disorder is not") {
  State state;
  TestLog log{state};
  for (const int step : {1, 2, 3, 5, 4, 6, 7, 8}) log.measure(step, 0.5);
  CHECK(state.attempts.size() == 1);
  log.say(event::CheckpointSaved{5, "ckpt/5", true});
  log.measure(6, 0.5);
  CHECK(state.attempts.size() == 1);
  log.measure(9, 0.5);
  log.measure(6, 0.5);  // right after the checkpoint: resumed from it
  CHECK(state.attempts.size() == 2);
  CHECK(state.attempts[1].why == "step counter went back");
  log.measure(7, 0.5);
  log.measure(1, 0.5);
  CHECK(state.attempts.size() == 3);
  CHECK(state.steps().count == 9);
}

TEST_CASE("a trainer that resumes from a step that it had done began another attempt") {
  const auto run = [](int64_t resumed, int64_t next) {
    State state;
    TestLog log{state};
    for (int64_t step = 0; step <= 6; ++step) log.measure(step, 0.5);
    log.say(event::Planned{1000});
    log.say(event::Resumed{resumed, ""});
    log.say(event::Resumed{resumed, ""});  // another rank says so, too
    for (int64_t step = next; step <= 80; ++step) log.measure(step, 0.5);
    return state;
  };
  const State again = run(5, 5);
  REQUIRE(again.attempts.size() == 2);
  CHECK(again.attempts[0].last_step == 6);
  CHECK(again.attempts[0].resumed_at == kNoStep);
  CHECK(again.attempts[1].resumed_at == 5);
  CHECK(run(20, 7).attempts.size() == 1);  // weights of a step that was not done here
}

TEST_CASE("steps after a shell has said that the trainer was killed are another attempt's") {
  const auto attempts_after = [](const char* words) {
    State state;
    TestLog log{state};
    for (const int step : {10, 20, 30}) log.measure(step, 0.5);
    log.say(event::Ended{event::Ended::How::kFailed, 0, words});
    log.line += 10;
    log.measure(40, 0.5);  // resumed at 35: the counter goes on
    return state.attempts.size();
  };
  CHECK(attempts_after("go.sh: line 7: 4711 Segmentation fault      (core dumped) python3 /w/train.py") == 2);
  CHECK(attempts_after("go.sh: line 7: 4711 Segmentation fault      (core dumped) python3 /w/watch.py") == 1);
}

TEST_CASE("under midwatch's own keeper what another file says is of the attempt that runs") {
  State state;
  const Time received = Time::from_seconds(1000);
  TestLog output{state, 0, 0, {}, received}, own{state, 1, 0, {}, received}, later{state, 2, 0, {}, received};
  event::Ended ended;
  ended.how = event::Ended::How::kExit;
  ended.code = 1;
  output.say(event::AttemptBegan{std::string(kKeeperBegan)});
  for (int step = 1; step <= 10; ++step) own.measure(step, 0.125 * step);
  output.say(std::move(ended));
  output.say(event::AttemptBegan{std::string(kKeeperBegan)});
  for (int step = 8; step <= 12; ++step) own.measure(step, 0.125 * step);  // back by less than a restart is reported by
  for (int step = 9; step <= 12; ++step) later.measure(step, 0.125 * step, "entropy", "entropy");
  REQUIRE(state.attempts.size() == 2);
  CHECK(state.attempts[0].last_step == 10);
  CHECK(state.attempts[1].first_step == 8);
  CHECK(state.attempts[1].last_step == 12);
  CHECK(state.sources[1].attempt == 1);
  CHECK(state.sources[2].attempt == 1);
}

TEST_CASE("a record of a step that is past by its own clock begins no attempt") {
  State state;
  TestLog log{state};
  const auto at = [&](double seconds) { log.at = Time::from_seconds(1'700'000'000.0 + seconds); };
  for (const int step : {30, 60, 90}) {
    at(step);
    log.measure(step, 0.5);
  }
  at(30);
  log.measure(30, 0.5, "lr", "lr");
  CHECK(state.attempts.size() == 1);
  at(120);
  log.measure(90, 0.5);
  at(150);
  log.measure(30, 0.5);
  CHECK(state.attempts.size() == 2);
}

TEST_CASE("a second counter in the same log is no restart") {
  State state;
  TestLog log{state};
  for (int epoch = 0; epoch < 5; ++epoch) {
    for (int inner = 1; inner <= 2; ++inner) log.say(event::StepBegan{inner});
    log.say(event::Matched{"seen", "text", 1, false});
    for (int step = 1; step <= 11; ++step) log.measure(epoch * 11 + step, 0.5 + step);
  }
  CHECK(state.attempts.size() == 1);
  CHECK(state.attempts[0].last_step == 55);
  CHECK(state.signature("seen")->first.attempt == 0);
  for (const Point& point : state.find("reward.mean")->points()) REQUIRE(point.attempt == 0);
}

TEST_CASE("a figure reaches its series in whatever order, of whatever source, with whichever others it comes") {
  State state;
  Prng prng(11);
  std::vector<std::shared_ptr<const FigureName>> names;
  names.reserve(20);
  for (int i = 0; i < 20; ++i) {
    names.push_back(std::make_shared<const FigureName>(i % 3 == 0 ? cat("reward.component.", i) : "", cat("m", i)));
  }
  std::map<std::pair<uint32_t, size_t>, uint64_t> said;
  for (int step = 1; step <= 200; ++step) {
    const auto source = static_cast<uint32_t>(prng.below(3));
    event::Measured record{step, false, {}};
    for (uint64_t left = prng.below(30); left > 0; --left) {
      const size_t i = prng.below(names.size());
      record.readings.emplace_back(names[i], static_cast<double>(i));
      ++said[{source, i}];
    }
    TestLog{state, source}.say(std::move(record));
  }
  CHECK(state.series.size() == said.size());
  for (const Series& series : state.series) {
    const auto number = static_cast<size_t>(parse_int(series.raw.substr(1)).value_or(-1));
    REQUIRE(number < names.size());
    CHECK(series.signal == names[number]->signal);
    CHECK(series.count() == said[{series.source, number}]);
    CHECK(series.min() == static_cast<double>(number));
    CHECK(series.max() == static_cast<double>(number));
  }
}

TEST_CASE("many series share the points that may be kept") {
  State state;
  TestLog log{state};
  for (int step = 0; step < 3000; ++step) {
    event::Measured record{step, false, {}};
    for (int i = 0; i < 1000; ++i) record.readings.push_back({"", "m" + std::to_string(i), 0.5});
    log.say(std::move(record));
  }
  size_t points = 0;
  for (const Series& series : state.series) points += series.points().size();
  CHECK(points <= State::kPointLimit);
  CHECK(points >= State::kPointLimit / 2);
}

TEST_CASE("the files of one run read one after the other are no new attempts") {
  State state;
  TestLog log{state, 0};
  for (int step = 1; step <= 40; ++step) log.measure(step, 0.1234 + step);
  log.say(event::AttemptBegan{"restarted"});
  log.say(event::Resumed{20, "ckpt/20"});
  for (int step = 21; step <= 60; ++step) log.measure(step, 0.5678 + step);
  REQUIRE(state.attempts.size() == 2);
  CHECK(state.attempts[1].resumed_at == 20);

  TestLog metrics{state, 1};
  for (int step = 1; step <= 40; ++step) metrics.measure(step, 0.12341 + step);
  for (int step = 21; step <= 60; ++step) metrics.measure(step, 0.56781 + step);
  CHECK(state.attempts.size() == 2);
  CHECK(state.find("reward.mean")->points().size() == 80);

  TestLog second{state, 2};  // a file of the second attempt alone
  for (int step = 30; step <= 60; ++step) second.measure(step, 0.56782 + step);
  CHECK(state.attempts.size() == 2);
  CHECK(state.sources[2].attempt == 1);
  CHECK(state.find("reward.mean")->points().size() == 80);
}

TEST_CASE("the series of a signal is the same whichever source spoke first") {
  auto measure_both = [](State& state, bool interleaved) {
    TestLog a{state, 0}, b{state, 1};
    if (interleaved) {
      for (int step = 1; step <= 30; ++step) {
        if (step <= 20) b.measure(step, step + 0.25, "reward.mean", "train/reward");
        a.measure(step, step + 0.25);
      }
    } else {
      for (int step = 1; step <= 30; ++step) a.measure(step, step + 0.25);
      for (int step = 1; step <= 20; ++step) b.measure(step, step + 0.25, "reward.mean", "train/reward");
    }
  };
  State one, two;
  measure_both(one, false);
  measure_both(two, true);
  const Series* first = one.find("reward.mean");
  const Series* second = two.find("reward.mean");
  REQUIRE(first != nullptr);
  REQUIRE(second != nullptr);
  REQUIRE(first->points().size() == 30);
  REQUIRE(second->points().size() == 30);
  for (size_t i = 0; i < 30; ++i) CHECK(first->points()[i].where == second->points()[i].where);
  CHECK(one.shown().size() == 1);
  CHECK(one.sources[1].last_step == 20);
}

TEST_CASE("rotated pieces of one log become one series") {
  State state;
  TestLog a{state, 0}, b{state, 1};
  for (int step = 1; step <= 30; ++step) a.measure(step, step + 0.25);
  for (int step = 31; step <= 50; ++step) b.measure(step, step + 0.25);
  CHECK(state.attempts.size() == 1);
  CHECK(state.find("reward.mean")->points().size() == 50);
  CHECK(state.steps().count == 50);
}

TEST_CASE("values that are not finite are kept as points and counted") {
  State state;
  TestLog log{state};
  log.measure(1, 0.5);
  log.measure(2, std::numeric_limits<double>::quiet_NaN());
  log.measure(3, -std::numeric_limits<double>::infinity());
  const Series* series = state.find("reward.mean");
  CHECK(series->points().size() == 3);
  CHECK(series->non_finite() == 2);
  CHECK(series->min() == 0.5);
  CHECK(series->max() == 0.5);
  CHECK(series->mean() == 0.5);
}

TEST_CASE("a series keeps its newer half and forgets every second of the older points") {
  Series series;
  for (int step = 0; step < 100'000; ++step) series.add({step, static_cast<double>(step), {}, {}, 0});
  CHECK(series.points().size() <= Series::kPointLimit);
  CHECK(series.points().size() > Series::kPointLimit / 2);
  CHECK(series.count() == 100'000);
  CHECK(series.points().back().step == 99'999);
  CHECK(series.points()[series.points().size() - 2].step == 99'998);
  CHECK(series.mean() == doctest::Approx(49'999.5));
  for (size_t i = 1; i < series.points().size(); ++i) CHECK(series.points()[i - 1].step < series.points()[i].step);
}

TEST_CASE("samples of the machine follow one another within a step, a step's own figure is replaced") {
  State state;
  for (int i = 0; i < 10; ++i) {
    fold(state, {{}, {0, 1}, event::Measured{3, false, {{"", "system/gpu.0.gpu", i * 10.0}, {"", "loss", i * 1.0}}}});
  }
  REQUIRE(state.find_raw("system/gpu.0.gpu")->points().size() == 10);
  REQUIRE(state.find_raw("loss")->points().size() == 1);
  CHECK(state.find_raw("loss")->points()[0].value == 9);
}

TEST_CASE("a point that is kept stands for those that were dropped behind it") {
  Series series;
  constexpr int kPoints = 5000;
  for (int i = 0; i < kPoints; ++i) series.add({i, 1.0 * i, {}, {}, 0}, 64);
  CHECK(series.points().size() <= 64);
  uint64_t count = 0;
  for (const Point& point : series.points()) count += point.stands_for;
  CHECK(count == kPoints);
}

TEST_CASE("what comes without a step gets the step that the run was at") {
  State state;
  TestLog trainer{state, 0};
  for (int step = 1; step <= 10; ++step) {
    trainer.at = {1'000'000'000LL * 100 * step};
    trainer.measure(step, 0.5);
  }
  TestLog engine{state, 1};
  engine.at = {1'000'000'000LL * 450};
  engine.say(event::Matched{"engine-died", "EngineCore died", 1, false});
  REQUIRE(state.signature("engine-died") != nullptr);
  CHECK(state.signature("engine-died")->first.step == 4);
  CHECK(state.step_at({1}) == kNoStep);
}

TEST_CASE("a match that counts takes the lead over matches inside samples") {
  State state;
  TestLog log{state};
  log.say(event::Matched{"oom", "the model wrote it", 1, true});
  CHECK(state.signature("oom")->sample);
  log.say(event::Matched{"oom", "real", 1, false});
  log.say(event::Matched{"oom", "the model again", 1, true});
  const SignatureState* seen = state.signature("oom");
  CHECK_FALSE(seen->sample);
  CHECK(seen->text == "real");
  CHECK(seen->first.where.line == 2);
  CHECK(seen->count == 3);
  CHECK(seen->matches.size() == 1);
}

TEST_CASE("ranges join neighbours and stay bounded") {
  Ranges ranges;
  for (const int64_t value : {5, 7, 6, 1, 5}) ranges.add(value);
  CHECK(ranges.count() == 4);
  CHECK(ranges.first() == 1);
  CHECK(ranges.last() == 7);
  CHECK(ranges.holds(6));
  CHECK_FALSE(ranges.holds(2));
  ranges.add(INT64_MAX);
  ranges.add(INT64_MIN + 1);
  CHECK(ranges.last() == INT64_MAX);
  for (int64_t value = 0; value < 20'000; ++value) ranges.add(value * 3);
  CHECK(ranges.holds(59'997));
}

TEST_CASE("everything by name is bounded") {
  State state;
  TestLog log{state};
  for (int i = 0; i < 10'000; ++i) {
    const std::string name = "n" + std::to_string(i);
    log.say(event::Configured{name, "v"});
    log.say(event::Measured{1, false, {{"", name, 1.0}}});
    log.say(event::ToolCalled{name, 1, event::ToolCalled::Outcome::kOk, ""});
    log.say(event::CheckpointSaved{i, name, true});
    log.say(event::Logged{event::Logged::Level::kError, static_cast<uint32_t>(i), name, 1});
    log.say(event::Matched{name, std::string(100'000, 'x'), 1, false});
  }
  CHECK(state.config.size() == State::kNameLimit);
  CHECK(state.series.size() == State::kSeriesLimit);
  CHECK(state.series_dropped == 8000);
  CHECK(state.tools.size() == State::kNameLimit);
  CHECK(state.checkpoints.size() <= State::kCheckpointLimit);
  CHECK(state.templates.size() == State::kTemplateLimit);
  CHECK(state.signatures.size() == State::kSignatureLimit);
  CHECK(state.signatures[0].text.size() <= kTextLimit + 8);
}

TEST_CASE("a plan that the steps go beyond counts from the checkpoint, or is none") {
  const auto planned = [](int64_t resumed, int64_t plan, int64_t last) {
    State state;
    fold(state, {{}, {}, event::SourceOpened{0, "a.log", "text", 10}});
    fold(state, {{}, {0, 1}, event::Planned{plan}});
    if (resumed > 0) fold(state, {{}, {0, 2}, event::Resumed{resumed, ""}});
    for (int64_t step = resumed + 1; step <= last; ++step) {
      fold(state, {{}, {0, static_cast<uint64_t>(step + 2)}, event::Measured{step, false, {{"reward.mean", "r", 1}}}});
    }
    return state.total_steps;
  };
  CHECK(planned(0, 10, 5) == 10);
  CHECK(planned(0, 10, 11) == 10);
  CHECK(planned(6, 5, 11) == 11);
  CHECK(planned(6, 100, 50) == 100);
  CHECK(planned(0, 3, 40) == 0);
  CHECK(planned(6, 5, 40) == 0);
}

TEST_CASE("provisional events that come again take the place of what was said before") {
  State state;
  TestLog log{state};
  log.open("train.log", "text");
  log.measure(1, 0.5);
  const auto say_at = [&](uint64_t line, decltype(Event::body) body) { fold(state, {{}, {0, line}, std::move(body)}); };
  const event::Matched match{"cuda-oom", "torch.OutOfMemoryError: no room", 1, false};
  for (int watch = 0; watch < 2; ++watch) {  // a watch that was killed emits them again
    say_at(0, event::Ticked{true});
    say_at(10, event::TraceSeen{"torch.OutOfMemoryError", "no room", "a.py:1 in f", 14, false, false});
    say_at(14, match);
    say_at(0, event::Ticked{});
    REQUIRE(state.traces.size() == 1);
    REQUIRE(state.signatures.size() == 1);
    CHECK(state.signatures[0].count == 1);
    CHECK(state.signatures[0].matches.size() == 1);
  }
  SUBCASE("it was only a link of a chain") {
    say_at(10, event::TraceSeen{"torch.OutOfMemoryError", "no room", "a.py:1 in f", 14, false, true});
    say_at(14, match);
    REQUIRE(state.traces.size() == 1);
    CHECK(state.traces[0].trace.handled);
    CHECK(state.signatures[0].count == 1);
    CHECK(state.provisional.empty());
    say_at(14, match);  // another one, now that it was said in full
    CHECK(state.signatures[0].count == 2);
  }
  SUBCASE("the file began anew: its lines are others") {
    log.open("train.log", "text");
    say_at(10, event::TraceSeen{"ValueError", "bad", "b.py:2 in g", 12, false, false});
    CHECK(state.traces.size() == 2);
  }
}

TEST_CASE("what midwatch means to do is known until something came of it, and people's words are kept") {
  State state;
  const auto at = [](int64_t seconds) { return Time{seconds * 1'000'000'000}; };
  fold(state, {at(1), {}, event::Note{"mira", "lowered lr"}});
  fold(state, {at(2), {}, event::Intended{7, "restart", "attempt 2", 3, "It died."}});
  REQUIRE(state.actions.size() == 1);
  CHECK_FALSE(state.actions[0].done);
  CHECK(state.last_action == 7);
  fold(state, {at(3), {}, event::Acted{8, true, "of an action that nobody intended", 0}});
  CHECK_FALSE(state.actions[0].done);
  fold(state, {at(4), {}, event::Acted{7, false, "no such program", 0.5}});
  CHECK(state.actions[0].done);
  CHECK_FALSE(state.actions[0].ok);
  CHECK(state.actions[0].outcome == "no such program");
  CHECK(state.actions[0].done_at == at(4));
  REQUIRE(state.notes.size() == 1);
  CHECK(state.notes[0].second.text == "lowered lr");
  for (int64_t i = 1; i <= 5000; ++i) fold(state, {at(5), {}, event::Changed{i, "package", "vllm", "0.8.5", "0.9.0"}});
  CHECK(state.changes.size() <= State::kChangeLimit);
  CHECK(state.changes.front().attempt == 1);
  CHECK(state.changes.back().attempt == 5000);
  for (uint32_t i = 0; i < 5000; ++i) fold(state, {at(5), {}, event::Intended{i, "notify", "", 0, ""}});
  CHECK(state.actions.size() <= State::kActionLimit);
  CHECK(state.actions.front().intent.id == 7);
}

}  // namespace
}  // namespace mw
