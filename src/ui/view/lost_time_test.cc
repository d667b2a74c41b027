#include "ui/view/lost_time.h"

#include <doctest/doctest.h>

#include "ui/view/attempts.h"

namespace mw {
namespace {

Time at(int64_t second) { return {1'770'000'000'000'000'000 + second * 1'000'000'000}; }

RunRecord::Attempt attempt(int64_t began, int64_t last, int64_t first, int64_t reached, int64_t resumed = kNoStep) {
  return {at(began), at(last), first, reached, resumed, "exit 1"};
}

RunRecord::Incident incident(const char* kind, uint16_t attempt, int64_t second, const char* severity = "critical") {
  RunRecord::Incident one;
  one.kind = kind;
  one.severity = severity;
  one.attempt = attempt;
  one.at = at(second);
  return one;
}

RunRecord record_with(std::vector<RunRecord::Attempt> attempts) {
  RunRecord record;
  record.step_seconds = 60;
  record.attempts = std::move(attempts);
  return record;
}

TEST_CASE("steps that the next attempt did not resume from, and attempts without a step, are lost") {
  RunRecord record = record_with({attempt(0, 3600, 1, 50),                // resumed from 40: ten steps
                                  attempt(3700, 4300, kNoStep, kNoStep),  // nothing came of it
                                  attempt(4400, 8000, 41, 100, 40)});
  record.attempts[1].resumed_at = 40;
  const LostTime lost = lost_time(record);
  CHECK(lost.redone_s == 600);
  CHECK(lost.failed_s == 600);
  CHECK(lost.stalled_s == 0);
  CHECK(lost.between_s == 200);
  CHECK(lost.of_s == 3600 + 600 + 3600);
  CHECK(lost.gpus == 0);
  CHECK(lost_time_text(record) ==
        "20m 00s of 2h 10m (15 %): attempts without a step that is kept 10m 00s, steps done again 10m 00s; besides 3m "
        "20s between attempts");
}

TEST_CASE("GPU-hours where the machines are known, money where the rate is") {
  RunRecord record = record_with({attempt(0, 3600, 1, 50), attempt(3600, 7200, 1, 80)});  // from the first step again
  record.machines = {{"a", "8 x NVIDIA H100 80GB HBM3", 1, 1}, {"b", "4 x A100, 4 x L4", 2, 2}};
  record.cost_per_hour = 20;
  const LostTime lost = lost_time(record);
  CHECK(lost.failed_s == 3600);
  CHECK(lost.gpus == 8);
  CHECK(lost_time_text(record) ==
        "1h 00m of 2h 00m (50 %): attempts without a step that is kept 1h 00m; 8 GPU-hours; 20.00 at 20.00 an hour");
  record.machines.clear();
  record.settings = {{"num_gpus", "16"}};
  CHECK(lost_time(record).gpus == 16);
  record.settings = {{"num_gpus", "many"}};
  CHECK(lost_time(record).gpus == 0);
}

TEST_CASE("a stall and poisoned data count from their onset, and no second counts twice") {
  RunRecord record = record_with({attempt(0, 6000, 1, 50), attempt(6000, 9000, 41, 80, 40)});
  record.incidents = {incident("stall", 1, 3000)};
  CHECK(lost_time(record).stalled_s == 3000);
  CHECK(lost_time(record).redone_s == 600);
  record.incidents.push_back(incident("zero-reward", 1, 2000));
  CHECK(lost_time(record).poisoned_s == 4000);
  CHECK(lost_time(record).stalled_s == 0);  // within it
  CHECK(lost_time(record).redone_s == 0);
  record.incidents = {incident("zero-reward", 1, 2000, "warning"), incident("entropy-collapse", 1, 100),
                      incident("stall", 2, 100)};  // not certain, not tainting, not in its attempt
  CHECK(lost_time(record).seconds() == 600);
  record.incidents = {incident("zero-reward", 1, 10), incident("stall", 2, 6010)};
  CHECK(lost_time(record).seconds() < 9000);
}

TEST_CASE("attempts without a clock are as long as their bars show") {
  RunRecord record = record_with({attempt(0, 0, 1, 50), attempt(0, 0, 41, 80), attempt(0, 1200, 71, 100)});
  for (RunRecord::Attempt& one : record.attempts) one.seconds = 3000;
  record.attempts[0].began = record.attempts[0].last = {};
  const LostTime lost = lost_time(record);
  CHECK(lost.redone_s == 1200);
  CHECK(lost.of_s == 9000);  // the clock of the last one shows less
  CHECK(lost.between_s == 0);
}

TEST_CASE("nothing is lost of a run that goes on, nor where nothing tells") {
  CHECK(lost_time_text(RunRecord()).empty());
  CHECK(lost_time_text(record_with({attempt(0, 3600, 1, 50)})).empty());
  CHECK(lost_time_text(record_with({attempt(0, 3600, kNoStep, kNoStep)})).empty());  // it may still come
  CHECK(lost_time(record_with({attempt(0, 3600, 1, 50), attempt(3600, 3700, kNoStep, kNoStep)})).seconds() == 0);
  CHECK(lost_time(record_with({attempt(0, 3600, 1, 50), attempt(3600, 7200, 51, 90)})).seconds() == 0);
  RunRecord counter = record_with({attempt(0, 3600, 1, 50), attempt(4600, 7200, 1, 90)});
  CHECK(lost_time(counter).failed_s == 3600);
  counter.attempts[0].end = kNoEndSeen;  // only its counter went back
  CHECK(lost_time_text(counter).empty());
  counter.attempts[0].end = kEndComplete;
  CHECK(lost_time(counter).seconds() == 0);
}

}  // namespace
}  // namespace mw
