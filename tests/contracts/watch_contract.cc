// What every Watch promises: run over the machine's and over the simulation's.
#include <doctest/doctest.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <utility>

#include "platform/clock.h"
#include "platform/watch.h"
#include "sim/doors.h"

namespace mw {
namespace {

constexpr Duration kAMoment = Duration::millis(20);
constexpr Duration kLong = Duration::seconds(10);  // nobody waits so long: something comes first

void run_contract(Watch& watch, Clock& clock, const std::string& folder, const std::function<void()>& write) {
  watch.add(folder + "/none");  // what cannot be watched is left to time-outs
  watch.add(folder);
  watch.add(folder);
  CHECK_FALSE(watch.stop_came());
  const Duration before = clock.steady();
  CHECK(watch.wait(kAMoment) == Watch::Woke::kTimeout);
  CHECK(clock.steady().ns - before.ns >= kAMoment.ns);
  write();
  const Watch::Woke woke = watch.wait(kLong);
  CHECK((woke == Watch::Woke::kChange || woke == Watch::Woke::kNames));
  CHECK(clock.steady().ns - before.ns < kLong.ns);
  CHECK_FALSE(watch.stop_came());
}

TEST_CASE("watch contract: simulation") {
  FakeClock clock;
  bool written = false;
  sim::SimWatch watch([&](Duration longest) {
    clock.pass(written ? Duration() : longest);
    return std::exchange(written, false) ? Watch::Woke::kChange : Watch::Woke::kTimeout;
  });
  run_contract(watch, clock, "/folder", [&written] { written = true; });
  CHECK(watch.watched().count("/folder") == 1);
}

TEST_CASE("watch contract: posix") {
  std::string root = (std::filesystem::temp_directory_path() / "midwatch-watch-XXXXXX").string();
  REQUIRE(::mkdtemp(root.data()) != nullptr);
  const auto clock = make_posix_clock();
  {
    const auto watch = Watch::make();
    REQUIRE(watch.ok());
    run_contract(**watch, *clock, root, [&root] { std::ofstream(root + "/file") << "more"; });
    kill(getpid(), SIGTERM);
    Watch::Woke woke = Watch::Woke::kTimeout;
    for (int i = 0; i < 10 && woke != Watch::Woke::kStop; ++i) woke = (*watch)->wait(Duration::seconds(1));
    CHECK(woke == Watch::Woke::kStop);
    CHECK_FALSE((*watch)->stop_came());  // each request is reported once
  }
  std::filesystem::remove_all(root);
}

}  // namespace
}  // namespace mw
