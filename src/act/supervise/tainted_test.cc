#include "act/supervise/tainted.h"

#include <doctest/doctest.h>

#include "platform/fake/fake_disk.h"

using namespace mw;

namespace {

const CheckpointLayout kLayout{"global_step_{step}", "", ""};

Trip trip_at(const std::string& kind, int64_t step, uint64_t line = 0, uint32_t source = 0) {
  Trip trip;
  trip.kind = kind;
  trip.step = step;
  trip.where = {source, line};
  return trip;
}

State with_saved(std::initializer_list<std::pair<int64_t, uint64_t>> step_and_line) {
  State state;
  state.attempts.emplace_back().first_step = 1;
  for (const auto& [step, line] : step_and_line) {
    Moment moment;
    moment.where = {1, line};
    state.checkpoints.emplace_back(moment, event::CheckpointSaved{step, "", true});
  }
  return state;
}

}  // namespace

TEST_CASE("what was reported after the onset is suspect: by its line in the same file, else by its step") {
  const State state = with_saved({{10, 100}, {20, 200}, {30, 300}});
  CHECK(first_reported_tainted(state, trip_at("engine-dead", 20, 150, 1)) == 20);
  CHECK(first_reported_tainted(state, trip_at("engine-dead", 20, 150, 2)) == 30);
  CHECK(first_reported_tainted(state, trip_at("engine-dead", 30, 400, 1)) == kNoStep);
}

TEST_CASE("what was saved at a step whose figures are poison holds it, though its line came first") {
  const State state = with_saved({{10, 100}, {20, 200}});
  CHECK(first_reported_tainted(state, trip_at("zero-reward", 20, 201, 1)) == 20);
  CHECK(first_reported_tainted(state, trip_at("non-finite", 20, 7, 2)) == 20);
  CHECK(first_reported_tainted(state, trip_at("non-finite", 21, 201, 1)) == kNoStep);
}

TEST_CASE("what was saved without a step was saved at the one that the run was at") {
  State state = with_saved({{kNoStep, 100}, {kNoStep, 200}});
  state.checkpoints[0].first.step = 10;
  state.checkpoints[1].first.step = 15;
  CHECK(first_reported_tainted(state, trip_at("engine-dead", 13, 2, 7)) == 15);  // seen by the host: of another source
  CHECK(first_reported_tainted(state, trip_at("engine-dead", 15, 2, 7)) == kNoStep);
  CHECK(first_reported_tainted(state, trip_at("non-finite", 10, 2, 7)) == 10);
  CHECK(first_reported_tainted(state, trip_at("engine-dead", 9, 150, 1)) == 15);
}

TEST_CASE("what lies on the disk unreported is suspect from the onset's step on, unless it was there before") {
  FakeDisk disk;
  disk.set_time(Time::from_seconds(1000));
  disk.put("/ck/global_step_40/weights.pt", "of a run before");
  disk.set_time(Time::from_seconds(2000));
  disk.put("/ck/global_step_10/weights.pt", "x");
  disk.put("/ck/global_step_20/weights.pt", "x");
  disk.put("/ck/global_step_30/weights.pt", "x");
  const auto first = [&disk](const State& state, int64_t step) {
    const auto found =
        first_unreported_tainted(disk, {"/ck"}, kLayout, state, trip_at("engine-dead", step), Time::from_seconds(1500));
    REQUIRE(found.ok());
    return *found;
  };
  CHECK(first(with_saved({{10, 1}}), 20) == 20);
  CHECK(first(with_saved({{10, 1}, {20, 2}}), 20) == 30);
  CHECK(first(with_saved({{10, 1}, {20, 2}, {30, 3}}), 20) == kNoStep);
  CHECK(first(with_saved({}), 31) == kNoStep);
  CHECK(first(with_saved({}), kNoStep) == 10);  // nothing was trained yet when it began
  State without_steps = with_saved({});
  without_steps.attempts.back().first_step = kNoStep;
  CHECK(first(without_steps, kNoStep) == kNoStep);
}

TEST_CASE("where names count saves the time decides what was saved since the onset, and no number is a step") {
  const CheckpointLayout counted{"checkpoint_{step}", "", "", {}, "checkpoints", true};
  FakeDisk disk;
  const auto save = [&disk](double at, const std::string& name) {
    disk.set_time(Time::from_seconds(at));
    disk.put("/out/checkpoints/" + name + "/model.safetensors", "x");
  };
  save(2010, "checkpoint_0");
  save(2020, "checkpoint_1");
  save(2030, "checkpoint_2");
  State state = with_saved({});
  for (const int step : {10, 20, 30}) state.ticks.push_back({0, Time::from_seconds(2000.0 + step), step, true});
  const auto first = [&](const std::string& kind, int64_t step) {
    const auto found = first_unreported_tainted(disk, {"/out/checkpoints"}, counted, state, trip_at(kind, step),
                                                Time::from_seconds(1500));
    REQUIRE(found.ok());
    return *found;
  };
  CHECK(first("non-finite", 31) == 2);       // saved at the very time at which step 30 was last seen
  CHECK(first("non-finite", 25) == 1);       // all that was saved since step 20 was last seen
  CHECK(first("non-finite", 2) == 0);        // and 2 is no checkpoint_2
  CHECK(first("non-finite", kNoStep) == 0);  // nothing was trained yet when it began
  state.ticks.push_back({0, Time::from_seconds(2031), 30, true});
  CHECK(first("non-finite", 31) == kNoStep);
}

TEST_CASE(
    "what was written before the engine was seen to die is sound, though the step that it was at is the onset's") {
  FakeDisk disk;
  const auto at = [](double seconds) { return Time::from_seconds(seconds); };
  disk.set_time(at(2000));
  disk.put("/ck/global_step_20/weights.pt", "x");
  disk.set_time(at(2100));
  disk.put("/ck/global_step_21/weights.pt", "x");
  State state = with_saved({});
  state.sources.resize(3);
  state.sources[2].kind = kHostKind;
  state.ticks.push_back({1, at(1990), 19, true});
  state.ticks.push_back({5, at(2200), 20, true});
  const auto first = [&](const Trip& trip) {
    const auto found = first_unreported_tainted(disk, {"/ck"}, kLayout, state, trip, at(1500));
    REQUIRE(found.ok());
    return *found;
  };
  const auto dies = [&state](double seconds) {
    ComponentState::Trouble trouble;
    trouble.began.at = Time::from_seconds(seconds);
    trouble.began.where = {2, 7};
    state.components.assign(1, {});
    state.components[0].troubles.push_back(trouble);
  };
  const auto says = [&state](double seconds, uint64_t order) {
    SignatureState::Match match;
    if (seconds > 0) match.moment.at = Time::from_seconds(seconds);
    match.moment.where = {1, 300};
    match.order = order;
    state.signatures.assign(1, {});
    state.signatures[0].matches.push_back(match);
  };
  CHECK(first(trip_at("engine-dead", 20, 7, 2)) == 20);  // nothing shows when
  dies(2050);
  CHECK(first(trip_at("engine-dead", 20, 7, 2)) == 21);
  dies(2000);
  CHECK(first(trip_at("engine-dead", 20, 7, 2)) == 20);
  dies(2150);
  CHECK(first(trip_at("engine-dead", 20, 7, 2)) == kNoStep);  // the log lags behind
  CHECK(first(trip_at("zero-reward", 20, 7, 2)) == 20);       // holds the step whose figures are bad
  says(2150, 4);
  CHECK(first(trip_at("engine-dead", 20, 300, 1)) == 21);  // the log says when, and of which step
  says(2150 + 3600, 4);                                    // the clock of another zone
  CHECK(first(trip_at("engine-dead", 20, 300, 1)) == 20);
  says(0, 4);  // no clock: it was read after the watch was at step 19
  CHECK(first(trip_at("engine-dead", 20, 300, 1)) == 20);
  state.ticks.insert(state.ticks.begin() + 1, {3, at(2060), 20, true});
  CHECK(first(trip_at("engine-dead", 20, 300, 1)) == 21);
}
