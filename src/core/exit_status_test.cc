#include "core/exit_status.h"

#include <doctest/doctest.h>

#include "base/text.h"
#include "core/advance.h"

namespace mw {
namespace {

/// A run of one text log with a plan, which ends by the word that an attempt's keeper writes.
class Log {
 public:
  Log() {
    Signature done;
    done.id = "said-done";
    done.kind = "died-silently";
    done.role = Role::kBenign;
    knowledge.by_id[done.id] = 0;
    knowledge.signatures.push_back(done);
    Signature stop;
    stop.id = "sigterm-received";
    stop.kind = "interrupted";
    stop.role = Role::kRoot;
    stop.fatal = true;
    stop.severity = Severity::kWarning;
    knowledge.by_id[stop.id] = 1;
    knowledge.signatures.push_back(stop);
    say(event::SourceOpened{0, "train.log", "text", 0});
  }
  template <typename Body>
  void say(Body body) {
    Event event;
    event.where = {0, ++line};
    event.body = std::move(body);
    std::vector<Event> decided;
    advance(state, event, knowledge, Judge::kAlways, decided);
  }
  void steps(int64_t from, int64_t to) {
    for (int64_t step = from; step <= to; ++step) {
      say(event::Measured{
          step, false, {{"reward.mean", "reward", 0.3 + 0.002 * static_cast<double>(step + step % 5)}}});
    }
  }
  void trace() { say(event::TraceSeen{"KeyError", "'answer'", "train.py:10 in step", line + 1, false, false}); }
  void done() { say(event::Matched{"said-done", "Training finished", 1, false}); }
  void signalled() { say(event::Matched{"sigterm-received", "Received SIGTERM, saving", 1, false}); }
  /// As a supervised run has it: midwatch received what `event` says at second `at`.
  template <typename Body>
  void supervise(double at, Body body) {
    Event event;
    event.received = Time::from_seconds(1000 + at);
    event.body = std::move(body);
    std::vector<Event> decided;
    advance(state, event, knowledge, Judge::kAlways, decided);
  }
  std::string end(int64_t code = 0) {
    say(event::Ended{event::Ended::How::kExit, code, ""});
    return state.verdict;
  }
  bool belied() const { return belies_status(state, knowledge); }

  Knowledge knowledge;
  State state;
  uint64_t line = 0;
};

}  // namespace

TEST_CASE("status 0 at the end of the plan is success, and what fails as it is taken down changes nothing") {
  Log log;
  log.say(event::Planned{40});
  log.steps(1, 40);
  log.trace();
  CHECK(log.end() == "finished");
  CHECK_FALSE(log.belied());
}

TEST_CASE("a signal that the trainer handles by the book: it saves and ends with status 0, and that was wanted") {
  Log log;
  log.say(event::Planned{40});
  log.steps(1, 20);
  log.signalled();
  CHECK(log.end() == "interrupted");
  CHECK(log.belied());  // its plan is open: whoever waits for a trained model has none
  const WordOfEnd word = word_of_end(log.state, log.knowledge, 0);
  CHECK(word.text == "Received SIGTERM, saving");
  CHECK(word.from_outside);

  Log went_on;  // it said so of something else
  went_on.say(event::Planned{40});
  went_on.steps(1, 20);
  went_on.signalled();
  went_on.steps(21, 25);
  CHECK(went_on.end() == "ended-early");
  CHECK(word_of_end(went_on.state, went_on.knowledge, 0).text.empty());

  Log by_rule;
  by_rule.say(event::Planned{40});
  by_rule.steps(1, 20);
  by_rule.done();
  CHECK(by_rule.end() == "finished");
  CHECK_FALSE(word_of_end(by_rule.state, by_rule.knowledge, 0).from_outside);
  CHECK(word_of_end(by_rule.state, by_rule.knowledge, 0).text == "Training finished");

  Log failed;  // an error before it is what ended it
  failed.say(event::Planned{40});
  failed.steps(1, 20);
  failed.trace();
  failed.end();
  CHECK(word_of_end(failed.state, failed.knowledge, 0).text.empty());
}

TEST_CASE("what was to end when it did is no incident, whatever its plan was") {
  for (const bool asked : {true, false}) {
    CAPTURE(asked);
    Log log;
    log.supervise(0, event::AttemptStarted{1, 42, "boot"});
    log.say(event::Planned{40});
    log.steps(1, 20);
    if (asked) {
      log.supervise(20, event::Requested{"stop", "mira@node7"});
      log.signalled();  // midwatch sent it
    }
    log.supervise(25, event::AttemptExited{1, true, 0, 0, ""});
    if (!asked) log.supervise(30, event::Requested{"stop", "mira@node7"});  // once it had ended
    CHECK(log.end() == (asked ? "interrupted" : "ended-early"));
    CHECK(log.state.incidents.empty() == asked);
    CHECK(stop_was_requested(log.state, 0) == asked);
  }
}

TEST_CASE("a signal to the command and to midwatch at once is a request, whichever of them was the first to take it") {
  for (const int64_t signal : {15, 9}) {
    for (const double later : {1.0, 5.0}) {
      CAPTURE(signal);
      CAPTURE(later);
      Log log;
      log.supervise(0, event::AttemptStarted{1, 42, "boot"});
      log.say(event::Planned{40});
      log.steps(1, 20);
      log.supervise(25, event::AttemptExited{1, true, -signal, signal, ""});
      log.supervise(25 + later, event::Requested{"stop", "midwatch"});
      CHECK(stop_was_requested(log.state, 0) == (signal == 15 && later == 1.0));
    }
  }
}

TEST_CASE("status 0 in the middle of the plan") {
  Log silent;
  silent.say(event::Planned{40});
  silent.steps(1, 20);
  CHECK(silent.end() == "ended-early");
  CHECK(silent.belied());
  Log died;
  died.say(event::Planned{40});
  died.steps(1, 20);
  died.trace();
  CHECK(died.end() == "crashed");
  CHECK(died.belied());
  Log straggler;  // the last step's line comes by another pipe than the error
  straggler.say(event::Planned{40});
  straggler.steps(1, 19);
  straggler.trace();
  straggler.steps(20, 20);
  CHECK(straggler.end() == "crashed");
}

TEST_CASE("a log that fell silent, and saves that went on to the end of the plan") {
  for (const int64_t saved : {20, 40}) {
    Log log;
    log.say(event::Planned{40});
    log.steps(1, 12);
    event::CheckpointSeen seen;
    seen.step = saved;
    seen.path = cat("ck/step_", saved);
    seen.how = event::CheckpointSeen::How::kWhole;
    log.say(seen);
    CHECK((log.end() == "finished") == (saved == 40));
  }
}

TEST_CASE("nobody knows the plan: an error at the very end counts, silence does not") {
  Log silent;
  silent.steps(1, 20);
  CHECK(silent.end() == "finished");
  CHECK_FALSE(silent.belied());
  Log died;
  died.steps(1, 20);
  died.trace();
  CHECK(died.end() == "crashed");
  CHECK(died.belied());
  Log before_the_first;
  before_the_first.say(event::Planned{40});
  before_the_first.trace();
  CHECK(before_the_first.end() == "crashed");
  Log handled;
  handled.steps(1, 20);
  handled.trace();
  handled.steps(21, 40);
  CHECK(handled.end() == "finished");
}

TEST_CASE("what says that it is done is done, unless it goes on") {
  Log log;
  log.say(event::Planned{40});
  log.steps(1, 20);
  log.done();
  log.trace();
  CHECK(log.end() == "finished");
  Log first_phase;
  first_phase.say(event::Planned{40});
  first_phase.steps(1, 10);
  first_phase.done();
  first_phase.steps(11, 20);
  CHECK(first_phase.end() == "ended-early");
}

TEST_CASE("other counters that came to the goal") {
  Log resumed;  // the counter begins anew, and the plan does not
  resumed.say(event::Planned{40});
  resumed.say(event::Resumed{20, "ckpt/20"});
  resumed.steps(1, 20);
  CHECK(resumed.end() == "finished");
  Log updates;
  updates.say(event::Planned{40});
  updates.steps(1, 10);
  updates.say(event::Progressed{"updates", 40, 40});
  CHECK(updates.end() == "finished");
  Log epochs;
  epochs.say(event::Configured{"epochs", "2"});
  epochs.say(event::Planned{40});
  for (int64_t step = 1; step <= 20; ++step) {
    epochs.say(event::Measured{step, false, {{"", "epoch", 0.1 * static_cast<double>(step)}}});
  }
  CHECK(epochs.end() == "finished");
  CHECK(epochs_done(epochs.state));
  Log last_record;  // the next one would lie beyond the end: it is not written
  last_record.say(event::Configured{"epochs", "2"});
  for (int64_t step = 1; step <= 17; ++step) {
    last_record.say(event::Measured{step * 10, false, {{"", "epoch", 0.11 * static_cast<double>(step)}}});
    CHECK(epochs_done(last_record.state) == false);
  }
  last_record.say(event::Measured{180, false, {{"", "epoch", 1.98}}});
  CHECK(epochs_done(last_record.state));
  Log evaluation;
  evaluation.say(event::Planned{40});
  CHECK_FALSE(evaluation.belied());
  CHECK(evaluation.end() == "finished");
}

TEST_CASE("what a later attempt completed says nothing of the one that midwatch started again") {
  Log log;
  log.say(event::Planned{40});
  log.supervise(0, event::AttemptStarted{1, 42, "boot"});
  log.steps(1, 12);
  log.trace();
  log.end(0);  // of a pipeline
  CHECK(log.belied());
  log.supervise(30, event::AttemptExited{1, true, 0, 0, ""});
  log.supervise(31, event::AttemptStarted{2, 43, "boot"});
  log.say(event::AttemptBegan{});
  log.say(event::Resumed{10, "ckpt/10"});
  log.steps(11, 40);
  log.say(event::Progressed{"", 40, 40});
  CHECK(log.end(0) == "finished");
  REQUIRE(log.state.incidents.size() == 1);
  CHECK(log.state.incidents[0].latest.attempt == 0);
  CHECK(log.state.incidents[0].severity == Severity::kCritical);
}

TEST_CASE("a launcher's word that it failed, in a pipeline whose status is 0") {
  Log log;
  log.say(event::Planned{40});
  log.steps(1, 20);
  CHECK(log.end(1) == "crashed");
  log.end(0);
  CHECK(log.state.verdict == "crashed");
  CHECK(log.belied());
  Log cell;  // a tool's exit status, and training goes on
  cell.say(event::Planned{40});
  cell.steps(1, 20);
  cell.end(1);
  cell.steps(21, 40);
  cell.end(0);
  CHECK_FALSE(cell.belied());
}

TEST_CASE("a shell that says of a live command's helper that it was killed speaks of no end") {
  const std::string helper = "go.sh: line 1:  2554 Killed                  python3 -m tensorboard.main";
  const std::string trainer = "go.sh: line 1:  2554 Killed                  python3 train_grpo.py";
  for (const std::string& text : {helper, trainer}) {
    Log log;
    log.supervise(0, event::AttemptStarted{1, 42, "boot"});
    log.say(event::Planned{100});
    log.steps(1, 20);
    Event event;
    event.where = {0, ++log.line};
    event.received = Time::from_seconds(1060);
    event.body = event::Ended{event::Ended::How::kFailed, 0, text};
    std::vector<Event> decided;
    advance(log.state, event, log.knowledge, Judge::kAlways, decided);
    CHECK((log.state.verdict == "running") == (text == helper));
  }
}

TEST_CASE("a command that left its training behind is not judged by its own status while that goes on") {
  Log log;
  log.say(event::AttemptStarted{1, 4711, "boot"});
  log.say(event::Planned{40});
  log.end(0);
  log.say(event::Note{"midwatch", cat("attempt 1", kGoesOn, "python (4712)")});
  log.steps(1, 20);
  CHECK(goes_on_behind(log.state, 0));
  CHECK(log.state.incidents.empty());
  log.say(event::Decided{1, false, 0, "It ended.", "", false, ""});
  log.steps(21, 21);
  CHECK_FALSE(goes_on_behind(log.state, 0));
  CHECK_FALSE(log.state.incidents.empty());
}

TEST_CASE("a log that says that its training is over has finished, where no plan is open") {
  const auto verdict = [](std::string_view text, int64_t plan, int64_t steps_after) {
    Log log;
    if (plan > 0) log.say(event::Planned{plan});
    log.steps(1, 30);
    if (!text.empty()) log.say(event::Matched{"said-done", std::string(text), 1, false});
    log.steps(31, 30 + steps_after);
    log.say(event::Closed{});
    return log.state.verdict;
  };
  CHECK(verdict("PPO training completed successfully!", 0, 0) == "finished");
  CHECK(verdict("", 0, 0) == "unknown");
  CHECK(verdict("PPO training completed successfully!", 0, 5) == "unknown");
  CHECK(verdict("PPO training completed successfully!", 400, 0) == "unknown");
  CHECK(verdict("Training of epoch 2 is done", 0, 0) == "unknown");
  CHECK(verdict("All done.", 0, 0) == "unknown");
}

}  // namespace mw
