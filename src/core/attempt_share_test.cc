#include "core/attempt_share.h"

#include <doctest/doctest.h>

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

TEST_CASE("what has no clock stays where it was") {
  State state;
  for (int64_t i = 0; i <= 20; ++i)
    fold(state, {{}, {0, static_cast<uint64_t>(i + 1)}, event::Measured{i, false, {{"reward.mean", "reward", 0.25}}}});
  trainer(state, 1);
  CHECK(state.attempts.size() == 2);
  for (const Point& point : state.find("reward.mean")->points()) CHECK(point.attempt == 0);
}

}  // namespace mw
