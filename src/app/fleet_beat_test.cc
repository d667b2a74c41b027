#include "app/fleet_beat.h"

#include <doctest/doctest.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <string>

#include "act/fleet/beat.h"
#include "app/early_end.h"
#include "app/fleet_machine.h"
#include "app/harbour.h"
#include "app/receiving_beat.h"
#include "base/text.h"
#include "platform/process.h"
#include "platform/real/posix_disk.h"
#include "platform/remove_tree.h"

namespace mw {
namespace {

const std::string kNonce = "0123456789abcdef";

/// The environment of a rented machine, and its store in a folder; gone again at the end.
struct RentedMachine {
  std::string folder = "/tmp/midwatch-beat-XXXXXX";
  RentedMachine() {
    REQUIRE(::mkdtemp(folder.data()) != nullptr);
    ::unsetenv(kMarkerVariable);
    ::setenv(fleet::kStoreVariable, cat(folder, "/run").c_str(), 1);
    ::setenv(fleet::kEpochVariable, "1", 1);
    ::setenv(fleet::kMachineVariable, kNonce.c_str(), 1);
    ::setenv(fleet::kEveryVariable, "100ms", 1);
  }
  ~RentedMachine() {
    for (const char* name :
         {fleet::kStoreVariable, fleet::kEpochVariable, fleet::kMachineVariable, fleet::kEveryVariable}) {
      ::unsetenv(name);
    }
    (void)remove_tree("/tmp", folder.substr(5)).ok();
  }
  std::optional<fleet::Heartbeat> said() const {
    const auto store = make_folder_store(folder);
    const auto beat = fleet::FleetStore(*store, "run").heartbeat(kNonce);
    return beat.ok() ? beat->beat : std::nullopt;
  }
};

TEST_CASE("a machine that receives its checkpoint says so, with its bytes and the time in which they came") {
  const RentedMachine machine;
  {
    ReceivingBeat beat(send_beat);
    beat.moved(5, 10);
    sleep_for(Duration::millis(5));
    beat.moved(7, 10);
    std::optional<fleet::Heartbeat> said;
    for (int tries = 0; tries < 6000 && (!said || said->received < 7); ++tries) {
      sleep_for(Duration::millis(10));
      said = machine.said();
    }
    REQUIRE(said.has_value());
    CHECK(said->phase == fleet::Heartbeat::Phase::kReceiving);
    CHECK(said->received == 7);
    CHECK(said->total == 10);
    CHECK(said->receiving.ns > 0);
    CHECK(beat.receiving().ns > 0);
    const Duration before = beat.receiving();
    beat.moved(7, 10);  // nothing came
    CHECK(beat.receiving() == before);
  }
  CHECK(machine.said()->received == 7);
}

TEST_CASE("a machine that nobody rented says nothing") {
  ReceivingBeat beat(send_beat);
  beat.moved(5, 10);
  CHECK(beat.receiving().ns == 0);
}

/// MIDWATCH_HOME of a machine, while it lives.
class HomeOf {
 public:
  explicit HomeOf(const std::string& folder) {
    if (const char* const set = ::getenv("MIDWATCH_HOME"); set != nullptr) before_ = set;
    ::setenv("MIDWATCH_HOME", cat(folder, "/home").c_str(), 1);
  }
  ~HomeOf() { before_.empty() ? ::unsetenv("MIDWATCH_HOME") : ::setenv("MIDWATCH_HOME", before_.c_str(), 1); }
  HomeOf(const HomeOf&) = delete;
  HomeOf& operator=(const HomeOf&) = delete;

 private:
  std::string before_;
};

TEST_CASE("a machine that is taken away before its run began says so, and nothing is written over that") {
  const RentedMachine machine;
  const HomeOf home(machine.folder);
  const auto disk = make_posix_disk();
  const fleet::MachineIdentity identity = **own_identity();
  std::atomic<int> ended{0};
  {
    const EarlyEnd early([&ended](int signal) { ended = signal; });
    ReceivingBeat beat(early.send());
    beat.moved(5, 10);
    for (int tries = 0; tries < 6000 && !machine.said(); ++tries) sleep_for(Duration::millis(10));
    REQUIRE(machine.said().has_value());
    CHECK(machine.said()->phase == fleet::Heartbeat::Phase::kReceiving);
    ::kill(::getpid(), SIGTERM);
    for (int tries = 0; tries < 6000 && ended == 0; ++tries) sleep_for(Duration::millis(10));
    CHECK(ended == SIGTERM);
    CHECK(machine.said()->phase == fleet::Heartbeat::Phase::kPreempted);
    CHECK(machine.said()->reason == kGotSigterm);
    CHECK_FALSE(early.send()(*disk, identity, about_machine(identity)).ok());
    beat.moved(9, 10);
    sleep_for(Duration::millis(300));  // three heartbeats' time
  }
  CHECK(machine.said()->phase == fleet::Heartbeat::Phase::kPreempted);
  CHECK(noted_taken_away(*disk, identity) == std::string(kGotSigterm));
  (void)send_beat(*disk, identity, about_machine(identity)).ok();      // no controller keeps books here
  CHECK(machine.said()->phase == fleet::Heartbeat::Phase::kStarting);  // a machine that begins again is heard
}

TEST_CASE("on a machine that nobody rented a signal does what it always does") {
  const EarlyEnd early;
  sigset_t blocked;
  REQUIRE(pthread_sigmask(SIG_SETMASK, nullptr, &blocked) == 0);
  CHECK(sigismember(&blocked, SIGTERM) == 0);
  CHECK(sigismember(&blocked, SIGINT) == 0);
}

TEST_CASE("a machine that was notified that it goes is preempted, whatever its start script says then") {
  const RentedMachine machine;
  const HomeOf home(machine.folder);
  const auto disk = make_posix_disk();
  const fleet::MachineIdentity identity = **own_identity();
  (void)say_unfit(*disk, "onstart failed").ok();  // no controller keeps books here
  CHECK(machine.said()->phase == fleet::Heartbeat::Phase::kUnfit);
  note_taken_away(*disk, identity, "midwatch got SIGTERM");  // and its last heartbeat did not come through
  (void)say_unfit(*disk, "onstart failed").ok();             // no controller keeps books here
  CHECK(machine.said()->phase == fleet::Heartbeat::Phase::kPreempted);
  CHECK(machine.said()->reason == "midwatch got SIGTERM");
  forget_taken_away(*disk, identity);  // it begins again
  CHECK_FALSE(noted_taken_away(*disk, identity).has_value());
  note_of_taken_away()(SIGINT);
  CHECK_FALSE(noted_taken_away(*disk, identity).has_value());
  note_of_taken_away()(SIGTERM);
  for (int tries = 0; tries < 6000 && !noted_taken_away(*disk, identity); ++tries) sleep_for(Duration::millis(10));
  CHECK(noted_taken_away(*disk, identity) == std::string(kGotSigterm));
}

TEST_CASE(
    "the last heartbeat of a machine that is taken away has what is left of its grace, and some time in any case") {
  const auto until = [](double now, std::optional<double> preempted, double grace) {
    const auto at = preempted ? std::optional<Duration>(Duration::seconds(*preempted)) : std::nullopt;
    return last_beat_until(Duration::seconds(now), at, Duration::seconds(grace)).seconds() - now;
  };
  CHECK(until(100, std::nullopt, 5) == doctest::Approx(20));
  CHECK(until(100, 99, 5) == doctest::Approx(4));
  CHECK(until(100, 90, 5) == doctest::Approx(2));
  CHECK(until(100, 99, 600) == doctest::Approx(20));
}

}  // namespace
}  // namespace mw
