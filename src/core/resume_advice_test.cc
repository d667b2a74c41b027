#include "core/resume_advice.h"

#include <doctest/doctest.h>

#include <string_view>

#include "core/checkpoint_trust.h"

namespace mw {
namespace {

/// A run that did 106 of 200 steps and saved every 20.
State run(std::string_view verdict) {
  State state;
  state.attempts.resize(1);
  state.attempts.back().last_step = 106;
  state.total_steps = 200;
  state.verdict = verdict;
  for (int64_t step = 20; step <= 100; step += 20)
    state.checkpoints.push_back({{step, {}, {}, 0}, {step, "out/step_" + std::to_string(step), true}});
  return state;
}

void went_bad(State& state, std::string_view kind, int64_t step, Severity severity = Severity::kCritical) {
  Incident incident;
  incident.kind = kind;
  incident.severity = severity;
  incident.open = true;
  incident.onset.step = step;
  state.incidents.push_back(incident);
}

void looked_at(State& state, int64_t step, event::CheckpointSeen::How how) {
  event::CheckpointSeen seen;
  seen.step = step;
  seen.path = "out/step_" + std::to_string(step);
  seen.how = how;
  state.checkpoint_scans.push_back({{step, {}, {}, 0}, seen});
}

TEST_CASE("what is saved after the onset of poisoned data is suspect") {
  State state = run("running");
  went_bad(state, "zero-reward", 75);
  auto advice = resume_advice(state);
  REQUIRE(advice.has_value());
  CHECK(to_sentence(*advice) ==
        "Resume from step 60 (saved, by the log); steps 80 and 100 are suspect; 46 of 106 steps are lost.");
  CHECK(advice->path == "out/step_60");
  looked_at(state, 60, event::CheckpointSeen::How::kWhole);
  CHECK(to_sentence(*resume_advice(state)).starts_with("Resume from step 60 (whole on disk); "));
  looked_at(state, 60, event::CheckpointSeen::How::kBroken);
  CHECK(to_sentence(*resume_advice(state)).starts_with("Resume from step 40 (saved, by the log); "));
  went_bad(state, "engine-dead", 10);
  CHECK(to_sentence(*resume_advice(state)) ==
        "No checkpoint from before step 10 was seen; steps 20, 40, 80 and 100 are suspect.");
}

TEST_CASE("what is saved after a broken rule that ends attempts is suspect, and not after one that only reports") {
  State state = run("interrupted");
  went_bad(state, kUserRule, 75);
  state.incidents.back().reaction = "ignore";
  CHECK(resume_advice(state)->step == 100);
  state.incidents.back().reaction = "stop-and-notify";
  CHECK(resume_advice(state)->step == 60);
}

TEST_CASE("a save of which the log says only that it began is over once the log has gone on for long") {
  State state = run("stalled");
  state.checkpoints.clear();
  constexpr int64_t kSecond = 1'000'000'000;
  Moment began;
  began.step = 106;
  began.at = {1'700'000'000 * kSecond};
  state.checkpoints.push_back({began, {106, "out/step_106", false}});
  state.last_at = {began.at.ns + 60 * kSecond};
  CHECK(to_sentence(*resume_advice(state)).starts_with("No checkpoint to resume from was seen"));
  state.last_at = {began.at.ns + 3600 * kSecond};
  CHECK(to_sentence(*resume_advice(state)).starts_with("Resume from step 106 (its save began, by the log)"));
  went_bad(state, "engine-dead", 106);
  CHECK(to_sentence(*resume_advice(state)).starts_with("No checkpoint from before step 106 was seen"));
  state.incidents.back().onset.at = {began.at.ns + 60 * kSecond};  // the save began before
  CHECK(to_sentence(*resume_advice(state)).starts_with("Resume from step 106 (its save began, by the log)"));
}

TEST_CASE("of checkpoints whose step nobody says the newest whole one is named by its path") {
  State state = run("crashed");
  state.checkpoints.clear();
  const auto seen = [&state](const std::string& path, double at, event::CheckpointSeen::How how) {
    state.checkpoint_scans.push_back(
        {{kNoStep, Time::from_seconds(at), {}, 0}, {kNoStep, path, how, "", "", 0, 0, ""}});
  };
  seen("/out/checkpoints/checkpoint_0", 1000, event::CheckpointSeen::How::kWhole);
  seen("/out/checkpoints/checkpoint_1", 2000, event::CheckpointSeen::How::kWhole);
  seen("/out/checkpoints/checkpoint_2", 3000, event::CheckpointSeen::How::kWhole);
  seen("/out/checkpoints/checkpoint_2", 3100, event::CheckpointSeen::How::kBroken);
  seen("/out/checkpoints/checkpoint_0", 3200, event::CheckpointSeen::How::kWhole);  // looked at again
  auto advice = resume_advice(state);
  REQUIRE(advice.has_value());
  CHECK(advice->step == kNoStep);
  CHECK(to_sentence(*advice).starts_with(
      "Resume from /out/checkpoints/checkpoint_1 (whole on disk; at which step it was saved is not known)"));
  went_bad(state, "zero-reward", 75);
  CHECK(resume_advice(state)->path.empty());  // when that was is not known
  state.incidents.back().onset.at = Time::from_seconds(1500);
  CHECK(resume_advice(state)->path.empty());  // that one was found whole later, and may have been saved later
  state.incidents.back().onset.at = Time::from_seconds(2500);
  CHECK(resume_advice(state)->path == "/out/checkpoints/checkpoint_1");
}

TEST_CASE("an attempt that begins in the middle, or got to no step, goes on with the weights of the one before") {
  State state = run("crashed");
  looked_at(state, 100, event::CheckpointSeen::How::kWhole);
  AttemptState next;
  next.first_step = 101;
  next.last_step = 104;
  state.attempts.push_back(next);
  const auto advised = [&state] {
    const auto advice = resume_advice(state);
    return advice ? advice->step : kNoStep;
  };
  CHECK(advised() == 100);
  state.attempts.back().first_step = 1;  // from scratch: what lies there is another training's
  CHECK(advised() == kNoStep);
}

TEST_CASE("where an attempt began from nothing the advice says so, and which one an earlier attempt left") {
  State state = run("crashed");
  looked_at(state, 100, event::CheckpointSeen::How::kWhole);
  AttemptState next;
  next.first_step = 1;
  next.last_step = 4;
  state.attempts.push_back(next);
  const std::string text = to_sentence(*resume_advice(state));
  CHECK(text == "Attempt 2 began from nothing and saved no checkpoint; step 100 of attempt 1 was found whole.");
}

TEST_CASE("one that the log names only later is resumed from, and one that the run cannot have saved is not named so") {
  State state = run("crashed");
  for (int64_t step = 1; step <= 106; ++step) state.ticks.push_back({static_cast<uint64_t>(step), {}, step, true});
  looked_at(state, 107, event::CheckpointSeen::How::kWhole);  // saved before its step was logged
  CHECK(furthest_saved(state) == 116);
  CHECK(resume_advice(state)->step == 107);
  looked_at(state, 150, event::CheckpointSeen::How::kWhole);  // somebody else's
  CHECK(to_sentence(*resume_advice(state)) == "Resume from step 107 (whole on disk); step 107 was found whole.");
  State other = run("crashed");
  other.ticks = state.ticks;
  other.checkpoints.clear();
  looked_at(other, 150, event::CheckpointSeen::How::kWhole);
  CHECK(to_sentence(*resume_advice(other)) ==
        "No checkpoint to resume from was seen; step 150, which this run has not reached by its log, was found whole.");
  State sparse = run("crashed");  // one step in 20 is logged
  for (int64_t step = 6; step <= 106; step += 20) sparse.ticks.push_back({1, {}, step, true});
  CHECK(furthest_saved(sparse) == 146);
  CHECK(furthest_saved(run("crashed")) == 212);  // how many it logs is not known
  CHECK(furthest_saved(State()) == kNoStep);
  State counted = run("crashed");  // of every fifth step there may have been a record
  counted.framework = "trl";
  counted.checkpoints.clear();
  counted.progress.clear();
  counted.total_steps = 0;
  CHECK(furthest_saved(counted) == kNoStep);
  looked_at(counted, 150, event::CheckpointSeen::How::kWhole);
  CHECK(resume_advice(counted)->step == 150);
  counted.total_steps = 200;
  CHECK(furthest_saved(counted) == 212);
}

/// The log says so at `line`, in attempt number `attempt`.
void deleted(State& state, int64_t step, uint64_t line, uint16_t attempt = 0) {
  event::CheckpointSeen seen;
  seen.step = step;
  seen.path = "step_" + std::to_string(step);
  seen.sign = kGoneSign;
  state.checkpoint_scans.push_back({{step, {}, {0, line}, attempt}, seen});
}

TEST_CASE("what the trainer deleted, as its log says, is not resumed from, unless it was saved again") {
  State state = run("running");
  went_bad(state, "zero-reward", 50);
  CHECK(resume_advice(state)->step == 40);
  deleted(state, 20, 5);
  deleted(state, 40, 6);
  CHECK(to_sentence(*resume_advice(state)) ==
        "No checkpoint from before step 50 was seen; steps 60, 80 and 100 are suspect.");
  CHECK_FALSE(only_doubted(state).has_value());
  State again = state;
  again.checkpoints.push_back({{40, {}, {0, 9}, 0}, {40, "out/step_40", true}});
  CHECK(resume_advice(again)->step == 40);
  again.checkpoints.pop_back();
  again.attempts.push_back(again.attempts.back());
  again.attempts.back().resumed_at = 40;
  again.incidents.back().latest.attempt = 1;
  again.checkpoints.push_back({{40, {}, {1, 2}, 1}, {40, "out/step_40", true}});
  CHECK(resume_advice(again)->step == 40);
}

TEST_CASE("a deletion by the log is of what lay there before, on the disk, too, and of no other folder of that step") {
  State state = run("crashed");
  looked_at(state, 100, event::CheckpointSeen::How::kWhole);
  CHECK(resume_advice(state)->whole);
  deleted(state, 100, 7);
  CHECK(resume_advice(state)->step == 80);
  looked_at(state, 100, event::CheckpointSeen::How::kWhole);
  CHECK(resume_advice(state)->step == 100);
  State best = run("crashed");
  best.checkpoints.back().second.path = "out/best_step_100";
  deleted(best, 100, 7);
  CHECK(resume_advice(best)->step == 100);
}

TEST_CASE("a checkpoint from after learning had turned is offered with that word") {
  State state = run("crashed");
  state.attempts.back().first_step = 1;
  went_bad(state, "reward-collapse", 75, Severity::kWarning);
  CHECK(to_sentence(*resume_advice(state)) ==
        "Resume from step 100 (saved, by the log); reward-collapse began before it, at step 75 (step 60 is the newest "
        "from before that); 6 of 106 steps are lost.");
  went_bad(state, "length-collapse", 15, Severity::kWarning);
  CHECK(to_sentence(*resume_advice(state)) ==
        "Resume from step 100 (saved, by the log); length-collapse began before it, at step 15 (no checkpoint from "
        "before that was seen); 6 of 106 steps are lost.");
  state.incidents.clear();
  went_bad(state, "reward-collapse", 100, Severity::kWarning);  // at the very step of the save
  CHECK(
      to_sentence(*resume_advice(state)) ==
      "Resume from step 100 (saved, by the log); reward-collapse began at step 100 (step 80 is the newest from before "
      "that); 6 of 106 steps are lost.");
  state.incidents.clear();
  went_bad(state, "reward-collapse", 103, Severity::kWarning);  // after the newest checkpoint
  went_bad(state, "kl-runaway", 1, Severity::kWarning);         // from the first step: nothing is from before it
  went_bad(state, "entropy-collapse", 50, Severity::kInfo);
  CHECK(to_sentence(*resume_advice(state)) == "Resume from step 100 (saved, by the log); 6 of 106 steps are lost.");
}

TEST_CASE("a save that began before the engine died is none of those that are suspect, whenever it was found whole") {
  State state = run("crashed");
  state.attempts.back().last_step = 100;
  const auto at = [](double seconds) { return Time::from_seconds(seconds); };
  state.checkpoints.back().second.complete = false;  // the log says that it began, and no more
  state.checkpoints.back().first.at = at(1000);
  looked_at(state, 100, event::CheckpointSeen::How::kWhole);
  state.checkpoint_scans.back().first.at = at(1030);
  went_bad(state, "engine-dead", 100);
  state.incidents.back().onset.at = at(1020);
  CHECK(resume_advice(state)->step == 100);
  CHECK(resume_grounds(state).in_time == std::set<int64_t>{100});
  state.incidents.back().onset.at = at(990);
  CHECK(resume_advice(state)->step == 80);
  state.incidents.back().onset.at = at(1020);
  state.incidents.back().kind = "zero-reward";  // the step's own figure
  CHECK(resume_advice(state)->step == 80);
}

TEST_CASE("what is learnt got critically worse in a run that goes on: the whole checkpoint before that is named") {
  State state = run("finished");
  state.attempts.back().first_step = 1;
  went_bad(state, "reward-collapse", 75, Severity::kCritical);
  CHECK_FALSE(resume_advice(state).has_value());  // no more than a line of the log speaks for it
  looked_at(state, 60, event::CheckpointSeen::How::kWhole);
  REQUIRE(resume_advice(state).has_value());
  CHECK(to_sentence(*resume_advice(state)) ==
        "Resume from step 60 (whole on disk); reward-collapse began at step 75; 46 of 106 steps are lost; step 60 was "
        "found whole.");
  state.incidents.back().severity = Severity::kWarning;
  CHECK_FALSE(resume_advice(state).has_value());
}

TEST_CASE("a run that just ended resumes from its newest checkpoint") {
  CHECK(to_sentence(*resume_advice(run("crashed"))) ==
        "Resume from step 100 (saved, by the log); 6 of 106 steps are lost.");
  State none = run("crashed");
  for (int64_t step = 20; step <= 100; step += 20) looked_at(none, step, event::CheckpointSeen::How::kBroken);
  CHECK(to_sentence(*resume_advice(none)) == "No checkpoint to resume from was seen.");
  none.checkpoints.clear();
  none.checkpoint_scans.clear();
  CHECK_FALSE(resume_advice(none).has_value());
  State begun = run("crashed");
  for (auto& [moment, saved] : begun.checkpoints) saved.complete = saved.step < 60;
  CHECK(to_sentence(*resume_advice(begun)) ==
        "Resume from step 100 (its save began, by the log); 6 of 106 steps are lost.");
  begun.attempts.back().last_step = 100;  // nothing shows that the save of step 100 was over
  CHECK(resume_advice(begun)->step == 80);
}

TEST_CASE("where nothing is wrong, or what is wrong no resume answers, nothing is advised") {
  CHECK_FALSE(resume_advice(run("running")).has_value());
  CHECK_FALSE(resume_advice(run("finished")).has_value());
  CHECK_FALSE(resume_advice(State()).has_value());
  State slow = run("running");
  went_bad(slow, "throughput-drop", 40, Severity::kWarning);
  CHECK_FALSE(resume_advice(slow).has_value());
  State news = run("running");
  went_bad(news, "zero-reward", 40, Severity::kInfo);
  CHECK_FALSE(resume_advice(news).has_value());
}

TEST_CASE("what a later attempt left behind is no checkpoint of this run any more") {
  State state = run("running");
  state.attempts.resize(2);
  state.attempts[1].resumed_at = 60;
  state.attempts[1].last_step = 70;
  state.verdict = "crashed";
  CHECK(resume_advice(state)->step == 60);
  state.attempts[1].resumed_at = kNoStep;
  state.attempts[1].first_step = 1;  // from nothing
  CHECK(resume_advice(state)->step == kNoStep);
  state.checkpoints.push_back({{65, {}, {}, 1}, {65, "", true}});
  CHECK(resume_advice(state)->step == 65);
}

TEST_CASE("a step that only began is not lost") {
  State state;
  uint64_t line = 0;
  const auto say = [&](auto body) { fold(state, {{}, {0, ++line}, std::move(body)}); };
  say(event::SourceOpened{0, "train.log", "text", 100});
  for (int64_t step = 1; step <= 3; ++step) {
    say(event::StepBegan{step});
    say(event::Measured{step, false, {{"reward.mean", "reward", 0.5}}});
  }
  say(event::CheckpointSaved{3, "out/step_3", true});
  say(event::StepBegan{4});
  state.verdict = "crashed";
  CHECK(to_sentence(*resume_advice(state)) == "Resume from step 3 (saved, by the log).");
  say(event::Measured{4, false, {{"reward.mean", "reward", 0.5}}});
  state.verdict = "crashed";
  CHECK(to_sentence(*resume_advice(state)) == "Resume from step 3 (saved, by the log); 1 of 4 steps are lost.");
}

TEST_CASE("an attempt that began from nothing by mistake leaves what lies further than it came") {
  State state = run("interrupted");  // saved up to step 100
  state.attempts.resize(2);
  state.attempts.back().first_step = 1;
  state.attempts.back().last_step = 47;
  for (const int64_t step : {20, 40, 60, 100}) looked_at(state, step, event::CheckpointSeen::How::kWhole);
  state.checkpoint_scans.push_back(state.checkpoint_scans[1]);  // 40, while the second attempt ran
  state.checkpoint_scans.back().first.attempt = 1;
  REQUIRE(resume_advice(state).has_value());
  CHECK(resume_advice(state)->step == 40);  // where it was meant to begin anew
  went_bad(state, "restart-from-scratch", 1);
  state.incidents.back().latest.attempt = state.incidents.back().onset.attempt = 1;
  CHECK(resume_advice(state)->step == 100);
  looked_at(state, 100, event::CheckpointSeen::How::kBroken);
  CHECK(resume_advice(state)->step == 80);  // by the log
  for (const int64_t step : {60, 80}) looked_at(state, step, event::CheckpointSeen::How::kBroken);
  CHECK(resume_advice(state)->step == 40);
}

TEST_CASE("what midwatch removed by a rule is nothing to resume from, unless it was saved anew") {
  State state = run("crashed");
  looked_at(state, 100, event::CheckpointSeen::How::kWhole);
  CHECK(resume_advice(state)->step == 100);
  ActionState removed;
  removed.intent.action = "cleanup";
  removed.intent.target = "out/step_100";
  removed.done = removed.ok = true;
  removed.done_at = Time::from_seconds(1000);
  state.actions.push_back(removed);
  CHECK(resume_advice(state)->step == 80);
  state.actions.back().intent.target = "/data/out/step_80";  // which the log names from its own folder
  CHECK(resume_advice(state)->step == 100);
  state.checkpoint_scans.clear();
  state.checkpoints.pop_back();
  CHECK(resume_advice(state)->step == 60);
  state.checkpoints.back().first.at = Time::from_seconds(2000);
  CHECK(resume_advice(state)->step == 80);
}

}  // namespace
}  // namespace mw
