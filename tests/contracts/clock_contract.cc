// What every Clock promises: run over the machine's and over the one that tests own.
#include <doctest/doctest.h>

#include <chrono>
#include <functional>
#include <thread>

#include "platform/clock.h"

namespace mw {
namespace {

const Time kLongAgo = Time::from_seconds(1'600'000'000);  // September 2020

void run_contract(Clock& clock, const std::function<void(Duration)>& pass) {
  CHECK(clock.now() > kLongAgo);
  const Time now = clock.now();
  const Duration steady = clock.steady();
  CHECK(clock.steady() >= steady);
  pass(Duration::millis(5));
  CHECK(clock.steady().ns - steady.ns >= Duration::millis(5).ns);
  CHECK(clock.now() - now >= Duration::millis(5));
}

TEST_CASE("clock contract: fake") {
  FakeClock clock;
  run_contract(clock, [&clock](Duration time) { clock.pass(time); });
}

TEST_CASE("clock contract: posix") {
  const auto clock = make_posix_clock();
  run_contract(*clock, [](Duration time) { std::this_thread::sleep_for(std::chrono::nanoseconds(time.ns)); });
}

TEST_CASE("the fake stands still until it is advanced, and setting it moves no deadline") {
  FakeClock clock;
  const Time now = clock.now();
  const Duration steady = clock.steady();
  CHECK(clock.now() == now);
  CHECK(clock.steady() == steady);
  clock.set(kLongAgo);
  CHECK(clock.now() == kLongAgo);
  CHECK(clock.steady() == steady);
}

}  // namespace
}  // namespace mw
