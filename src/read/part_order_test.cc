#include "read/part_order.h"

#include <doctest/doctest.h>

#include "base/text.h"
#include "platform/fake/fake_locks.h"
#include "read/recorder.h"
#include "read/testing/whole_log.h"

namespace mw {
namespace {

std::string steps(int first, int last) {
  std::string log;
  for (int step = first; step <= last; ++step)
    log += cat("step:", step, " - actor/pg_loss:0.1 - critic/score/mean:0.4", step % 7, "\n");
  return log;
}

/// The numbers of the parts, the oldest first.
std::string order(FakeDisk& disk, std::vector<RotatedPart> parts, double changed = 900) {
  sort_oldest_first(disk, parts, Time::from_seconds(changed));
  std::string out;
  for (const RotatedPart& part : parts) out += cat(part.number, " ");
  return out;
}

RotatedPart part(int64_t number, double changed) {
  return {number, cat("/run/run.log.", number), Time::from_seconds(changed)};
}

TEST_CASE("the oldest part of a log is the one whose content is, whichever way the numbers count") {
  FakeDisk disk;
  const auto hold = [&disk](const std::string& first, const std::string& second) {
    disk.put("/run/run.log.1", first);
    disk.put("/run/run.log.2", second);
  };
  const std::vector<RotatedPart> copied{part(1, 500), part(2, 500)}, up{part(1, 500), part(2, 501)},
      down{part(1, 501), part(2, 500)};
  hold("a\n", "b\n");
  CHECK(order(disk, copied) == "2 1 ");  // as logrotate counts
  CHECK(order(disk, up) == "1 2 ");
  CHECK(order(disk, up, 400) == "2 1 ");  // copies: the log itself was not changed last
  CHECK(order(disk, down) == "2 1 ");
  CHECK(order(disk, {part(10, 520), part(2, 510), part(9, 515)}) == "2 9 10 ");
  hold(steps(1, 40), steps(41, 80));
  CHECK(order(disk, copied) == "1 2 ");
  CHECK(order(disk, down) == "1 2 ");  // copied within a second
  hold("{\"global_step\": 41}\n", "num_steps: 90, Step 3 | loss 0.1\n");
  CHECK(order(disk, up) == "2 1 ");
  // A run that began anew counts its steps from 1 again; its files were not changed within one copy.
  CHECK(order(disk, {part(1, 100), part(2, 800)}) == "1 2 ");
  hold("[2026-02-19 09:08:11,482] x\nstep:9\n", "[2026-02-19 10:08:11,482] x\nstep:1\n");
  CHECK(order(disk, copied) == "1 2 ");
  hold("[2026-02-19 10:08:11,482] x\n", "[2026-02-19 09:08:11,482] x\n");
  CHECK(order(disk, up) == "2 1 ");
  hold("=== midwatch: attempt 1 began 2026-02-19T09:08:11Z, process 7 ===\n", "x\n");
  CHECK(order(disk, copied) == "1 2 ");
}

TEST_CASE("a log whose parts count upwards is read once, however often it is rotated, and anew in the same order") {
  FakeDisk disk;
  double now = 1000;
  const auto write = [&](const std::string& text) {
    disk.set_time(Time::from_seconds(now += 10));
    disk.put("/run/run.log", text);
  };
  write(steps(1, 10));
  RunReader reader(disk, built_in_knowledge(), Judge::kAtClose, nullptr, {});
  REQUIRE(reader.open({"/run"}, "").ok());
  reader.read_all({});
  for (int number = 1; number <= 4; ++number) {
    disk.move("/run/run.log", cat("/run/run.log.", number));
    if (number == 3) {  // twice between two turns
      write(steps(31, 35));
      disk.move("/run/run.log", cat("/run/run.log.", ++number));
      write(steps(36, 40));
    } else {
      write(steps(10 * number + 1, 10 * number + 10));
    }
    for (int turn = 0; turn < 10; ++turn) (void)reader.turn();
  }
  RunReader anew(disk, built_in_knowledge(), Judge::kAtClose, nullptr, {});
  REQUIRE(anew.open({"/run"}, "").ok());
  anew.read_all({});
  for (RunReader* one : {&reader, &anew}) {
    one->close();
    REQUIRE(one->state().attempts.size() == 1);
    CHECK(one->state().attempts[0].last_step == 40);
    CHECK(one->state().steps().count == 40);
    CHECK(one->state().sources.size() == 1);
  }
}

TEST_CASE("what was written to a log and rotated away while nobody watched is read by the next watch") {
  FakeDisk disk;
  FakeLocks locks;
  REQUIRE(disk.make_folders("/home").ok());
  const auto watch = [&](int turns) {
    auto recorder = Recorder::open(disk, locks, "/home", "one", {"/run/run.log"});
    REQUIRE(recorder.ok());
    RunReader reader(disk, built_in_knowledge(), Judge::kAtClose, recorder->get(), {});
    REQUIRE((*recorder)->replay_into(reader.state()).ok());
    REQUIRE(reader.open({"/run/run.log"}, "").ok());
    for (int turn = 0; turn < turns; ++turn) (void)reader.turn();
    REQUIRE((*recorder)->flush().ok());
    CHECK(reader.state().attempts.size() == 1);
    return reader.state().steps().count;
  };
  disk.set_time(Time::from_seconds(1000));
  disk.put("/run/run.log", steps(1, 10));
  CHECK(watch(5) == 10);
  disk.set_time(Time::from_seconds(1100));
  disk.put("/run/run.log", steps(1, 15));
  disk.move("/run/run.log", "/run/run.log.1");
  disk.put("/run/run.log", steps(16, 20));
  disk.move("/run/run.log", "/run/run.log.2");
  disk.put("/run/run.log", steps(21, 30));
  CHECK(watch(9) == 30);
  CHECK(watch(9) == 30);
}

TEST_CASE("a part of a log that is followed is no log of its own while the new file is not there yet") {
  FakeDisk disk;
  disk.put("/run/run.log", steps(1, 10));
  RunReader reader(disk, built_in_knowledge(), Judge::kAtClose, nullptr, {});
  REQUIRE(reader.open({"/run"}, "").ok());
  reader.read_all({});
  disk.move("/run/run.log", "/run/run.log.1");
  disk.put("/run/run.log", steps(11, 20));
  for (int turn = 0; turn < 5; ++turn) (void)reader.turn();
  disk.move("/run/run.log", "/run/run.log.2");
  CHECK_FALSE(reader.look_again());
}

}  // namespace
}  // namespace mw
