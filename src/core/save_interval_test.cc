#include "core/save_interval.h"

#include <doctest/doctest.h>

#include "core/shipments.h"

namespace mw {
namespace {

/// Attempts of `steps` steps each, a step every 20 s, a save every `every` steps that takes `save_s`.
State run(int attempts, int64_t every, double save_s, int steps = 180) {
  State state;
  uint64_t line = 0;
  double at = 1'000'000;
  const auto say = [&](decltype(Event::body) body) {
    fold(state, {Time::from_seconds(at), {0, ++line}, std::move(body)});
  };
  say(event::SourceOpened{0, "train.log", "text", 1000});
  int64_t step = 0;
  for (int attempt = 0; attempt < attempts; ++attempt) {
    say(event::AttemptBegan{"banner"});
    if (attempt > 0) say(event::Resumed{step, ""});
    for (int i = 0; i < steps; ++i, at += 20) {
      say(event::Measured{++step, false, {{"time.step", "s/step", 20.0}}});
      if (step % every != 0) continue;
      say(event::Measured{step, false, {{"time.save", "s/save", save_s}}});
      say(event::CheckpointSaved{step, "", true});
    }
  }
  return state;
}

TEST_CASE("the interval at which saves and lost steps cost least, by the run's own figures") {
  const auto found = save_interval(run(4, 50, 30));
  REQUIRE(found.has_value());
  CHECK(found->steps == 50);
  CHECK(found->step_s == 20);
  CHECK(found->save_s == 30);
  CHECK(found->lasts_s == doctest::Approx(4 * 3600.0 / 3).epsilon(0.01));  // by the ends that were seen
  CHECK(found->best == 26);  // sqrt(2 * 30 * 4800) * (1 + sqrt(1 / 320) / 3 + 1 / 2880) - 30 = 517 s
  CHECK(found->lost > 0.02);
  CHECK(save_advice(run(4, 50, 30)).starts_with("every 50 steps (16m 40s)"));
  CHECK(save_advice(run(4, 50, 30)).find("every 26 steps (8m 40s)") != std::string::npos);
  CHECK(save_change(run(4, 50, 30), "trainer.save_freq") == "trainer.save_freq: 50 -> 26");
  CHECK(save_change(run(4, 50, 30), "").empty());
  CHECK(save_change(run(4, 25, 30), "trainer.save_freq").empty());
  CHECK(save_advice(run(4, 25, 30)).empty());  // near enough
  CHECK(save_advice(run(4, 2, 30)).find("every 2 steps") != std::string::npos);
}

TEST_CASE("a run of a day that never failed is taken to last twice as long as it has") {
  const auto found = save_interval(run(1, 50, 30, 5400));
  REQUIRE(found.has_value());
  CHECK(found->lasts_s == doctest::Approx(2 * 5400 * 20.0).epsilon(0.01));
  CHECK(save_advice(run(1, 2000, 30, 8000)).find("an attempt that has not failed yet may last") != std::string::npos);
}

TEST_CASE("saves come no faster than they are shipped") {
  State state = run(4, 50, 30);
  ActionState action;
  action.intent.action = kShip;
  action.done = action.ok = true;
  action.seconds = 1200;
  state.actions.push_back(action);
  CHECK(save_interval(state)->best == 60);
}

TEST_CASE("nothing is advised while a figure is missing") {
  CHECK_FALSE(save_interval(State()).has_value());
  CHECK_FALSE(save_interval(run(1, 50, 30)).has_value());   // it never failed
  CHECK_FALSE(save_interval(run(3, 50, 0)).has_value());    // what a save takes is not known
  CHECK_FALSE(save_interval(run(3, 500, 30)).has_value());  // too few saves
}

}  // namespace
}  // namespace mw
