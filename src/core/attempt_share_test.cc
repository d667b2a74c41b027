#include "core/attempt_share.h"

#include <doctest/doctest.h>

#include <initializer_list>
#include <utility>
#include <vector>

#include "core/state.h"

namespace mw {
namespace {

constexpr Time at(int64_t minute) { return {(1'767'000'000 + 60 * minute) * 1'000'000'000}; }

/// A trainer that did steps 0 to 6, one each minute, stood still and did 5 to 20 from minute 30 on.
void trainer(State& state, uint32_t source) {
  uint64_t line = 0;
  const auto step = [&](int64_t number, int64_t minute) {
    fold(state, {at(minute), {source, ++line}, event::Measured{number, false, {{"loss.total", "loss", 0.5}}}});
  };
  for (int64_t i = 0; i <= 6; ++i) step(i, i);
  fold(state, {at(5), {source, ++line}, event::CheckpointSaved{5, "ckpt/5", true}});
  fold(state, {at(30), {source, ++line}, event::Resumed{5, "ckpt/5"}});
  for (int64_t i = 5; i <= 20; ++i) step(i, 26 + i);
}

/// The generating process beside it, which says no word of starting again.
void orchestrator(State& state, uint32_t source) {
  uint64_t line = 0;
  const auto step = [&](int64_t number, int64_t minute) {
    fold(state, {at(minute), {source, ++line}, event::Measured{number, false, {{"reward.mean", "reward", 0.25}}}});
  };
  for (int64_t i = 0; i <= 6; ++i) step(i, i);
  for (int64_t i = 5; i <= 20; ++i) step(i, 26 + i);
}

}  // namespace

TEST_CASE("whichever file is read first, what each said is of the attempt in which it said it") {
  for (const bool trainer_first : {true, false}) {
    CAPTURE(trainer_first);
    State state;
    if (!trainer_first) orchestrator(state, 0);
    trainer(state, 1);
    if (trainer_first) orchestrator(state, 0);
    REQUIRE(state.attempts.size() == 2);
    CHECK(state.attempts[0].first_step == 0);
    CHECK(state.attempts[0].last_step == 6);
    CHECK(state.attempts[0].last.at == at(6));
    CHECK(state.attempts[0].last_checkpoint == 5);
    CHECK(state.attempts[1].resumed_at == 5);
    CHECK(state.attempts[1].first_step == 5);
    CHECK(state.attempts[1].last_step == 20);
    CHECK(state.attempts[1].last.at == at(46));
    const Series* reward = state.find("reward.mean");
    REQUIRE(reward != nullptr);
    REQUIRE(reward->points().size() == 23);
    for (size_t i = 0; i < 23; ++i) CHECK(reward->points()[i].attempt == (i < 7 ? 0 : 1));
  }
}

/// A file of the user's own with a row for each step, without a clock.
void sink(State& state, std::initializer_list<std::pair<int64_t, int64_t>> spans) {
  uint64_t line = 0;
  for (const auto& [from, to] : spans) {
    for (int64_t i = from; i <= to; ++i)
      fold(state, {{}, {0, ++line}, event::Measured{i, false, {{"reward.mean", "reward", 0.25}}}});
  }
}

TEST_CASE("what has no clock goes by its steps: those from the first one of an attempt on are of it") {
  for (const bool clock : {true, false}) {
    CAPTURE(clock);
    State all, again, second;
    sink(all, {{0, 20}});
    sink(again, {{0, 6}, {5, 20}});
    sink(second, {{5, 20}});
    for (State* state : {&all, &again, &second}) {
      if (clock) {
        trainer(*state, 1);
      } else {
        uint64_t line = 0;
        const auto log = [&](auto body) { fold(*state, {{}, {1, ++line}, std::move(body)}); };
        for (int64_t i = 0; i <= 6; ++i) log(event::Measured{i, false, {{"loss.total", "loss", 0.5}}});
        log(event::AttemptBegan{"another start"});
        for (int64_t i = 5; i <= 20; ++i) log(event::Measured{i, false, {{"loss.total", "loss", 0.5}}});
      }
      REQUIRE(state->attempts.size() == 2);
      CHECK(state->attempts[0].first_step == 0);
      CHECK(state->attempts[0].last_step == 6);
      CHECK(state->attempts[1].first_step == 5);
      CHECK(state->attempts[1].last_step == 20);
    }
    const std::vector<Point>& points = again.find("reward.mean")->points();
    REQUIRE(points.size() == 23);
    for (size_t i = 0; i < points.size(); ++i) CHECK(points[i].attempt == (i < 7 ? 0 : 1));
    CHECK(all.find("reward.mean")->points()[4].attempt == 0);
    CHECK(all.find("reward.mean")->points()[7].attempt == 1);
    CHECK(second.find("reward.mean")->points()[0].attempt == 1);
  }
}

TEST_CASE("a file without a clock that ends where the attempt before did stays where it was") {
  State state;
  sink(state, {{0, 6}});
  trainer(state, 1);
  REQUIRE(state.attempts.size() == 2);
  for (const Point& point : state.find("reward.mean")->points()) CHECK(point.attempt == 0);
}

}  // namespace mw
