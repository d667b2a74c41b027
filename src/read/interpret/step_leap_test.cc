#include "read/interpret/step_leap.h"

#include <doctest/doctest.h>

#include <string>

#include "base/text.h"
#include "read/testing/whole_log.h"

namespace mw {
namespace {

/// The steps of the records that came out, in order.
class Log {
 public:
  void record(int64_t step) {
    const bool waits = leap_.comes(step, out_);
    settle();
    if (waits) {
      leap_.hold({{}, {}, event::StepBegan{step}});
    } else {
      steps.push_back(step);
    }
  }
  void records(int64_t from, int64_t to, int64_t by = 1) {
    for (int64_t step = from; step <= to; step += by) record(step);
  }
  void end(int64_t planned = 0) {
    leap_.finish(planned, out_);
    settle();
  }
  void begin_anew() { leap_.begin_anew(); }
  std::vector<int64_t> steps;

 private:
  void settle() {
    for (const Event& event : out_) steps.push_back(std::get<event::StepBegan>(event.body).step);
    out_.clear();
  }
  StepLeap leap_;
  std::vector<Event> out_;
};

using Steps = std::vector<int64_t>;

std::string verl(int64_t step) {
  return cat("(TaskRunner pid=71) step:", step, " - actor/pg_loss:0.01", step % 7, " - actor/entropy:0.6 - ",
             "critic/rewards/mean:0.3", step % 9, " - timing_s/step:20.1 - training/global_step:", step, "\n");
}

}  // namespace

TEST_CASE("a step far beyond the run's, behind which the run's go on, is quoted") {
  Log log;
  log.records(1, 5);
  log.record(900);
  log.records(6, 7);
  CHECK(log.steps == Steps{1, 2, 3, 4, 5, 6, 7});
  log.records(300, 302);  // several lines of another log
  log.record(8);
  CHECK(log.steps == Steps{1, 2, 3, 4, 5, 6, 7, 8});
  log.record(900);
  log.record(8);  // another record of the same step
  log.record(900);
  log.record(3);  // the run went back
  log.end();
  CHECK(log.steps == Steps{1, 2, 3, 4, 5, 6, 7, 8, 8, 3});
}

TEST_CASE("where a log goes on far ahead, nothing is lost") {
  Log hole;
  hole.records(1, 5);
  hole.records(900, 905);
  CHECK(hole.steps == Steps{1, 2, 3, 4, 5, 900, 901, 902, 903, 904, 905});
  Log twice;  // two records of each step
  twice.records(1, 5);
  for (int64_t step = 900; step < 906; ++step) twice.records(step, step), twice.record(step);
  CHECK(twice.steps.size() == 5 + 2 * 6);
  Log sparse;  // first each step, then each hundredth
  sparse.records(1, 10);
  sparse.records(100, 900, 100);
  CHECK(sparse.steps.size() == 10 + 9);
  Log strides;
  strides.records(50, 900, 50);
  strides.record(1300);
  CHECK(strides.steps.back() == 1300);
}

TEST_CASE("what waits at the end of a log counts unless it is beyond the plan, at the end of an attempt it does not") {
  for (const int64_t planned : {0, 1000, 200}) {
    Log log;
    log.records(1, 5);
    log.record(900);
    log.end(planned);
    CHECK(log.steps.back() == (planned == 200 ? 5 : 900));
  }
  Log attempts;
  attempts.records(1, 5);
  attempts.record(900);
  attempts.begin_anew();
  attempts.records(700, 702);
  CHECK(attempts.steps == Steps{1, 2, 3, 4, 5, 700, 701, 702});
}

TEST_CASE("a log line within a model's answer moves neither the step nor the plan") {
  for (const std::string& quoted :
       {verl(900), verl(900) + verl(901), std::string("Step 900/2000 | loss 0.5 | reward 0.9\n")}) {
    CAPTURE(quoted);
    std::string log = "(TaskRunner pid=71) Total training steps: 200\n";
    for (int64_t step = 1; step <= 40; ++step) log += cat(step == 20 ? quoted : "", verl(step));
    const State state = state_of(log);
    REQUIRE(state.attempts.size() == 1);
    CHECK(state.attempts.back().last_step == 40);
    CHECK(state.total_steps == 200);
  }
}

}  // namespace mw
