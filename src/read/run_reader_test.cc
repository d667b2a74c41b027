#include "read/run_reader.h"

#include <doctest/doctest.h>

#include "platform/fake/fake_disk.h"

namespace mw {
namespace {

/// Whatever is done between two readings of it takes 10 ms.
class SlowClock final : public Clock {
 public:
  Time now() override { return {1'700'000'000'000'000'000}; }
  Duration steady() override { return steady_ = {steady_.ns + Duration::millis(10).ns}; }
  void pass(Duration time) { steady_.ns += time.ns; }

 private:
  Duration steady_;
};

TEST_CASE("a live watch judges a quarter of the time at the most, the first at once and none too late") {
  FakeDisk disk;
  SlowClock clock;
  auto knowledge = KnowledgeBase::load({});
  REQUIRE(knowledge.ok());
  RunReader reader(disk, **knowledge, Judge::kAlways, nullptr, {}, &clock);
  const auto error = [&] {
    reader.observe("host:test", {clock.now(), {}, event::Matched{"cuda-oom", "out of memory", 1, false}});
    return !reader.owes_judgement();
  };
  clock.pass(Duration::seconds(1));
  (void)error();  // also opens the source
  clock.pass(Duration::seconds(1));
  CHECK(error());
  CHECK_FALSE(error());
  CHECK(reader.judgement_in() <= Duration::millis(30));
  reader.judge_when_due();
  for (int i = 0; i < 3 && reader.owes_judgement(); ++i) reader.judge_when_due();
  CHECK_FALSE(reader.owes_judgement());
  int64_t judged = 0;
  const Duration from = clock.steady();
  for (int i = 0; i < 1000; ++i) judged += error() ? 1 : 0;
  CHECK(judged > 100);
  CHECK(judged < 1000);
  CHECK(4 * judged * Duration::millis(10).ns <= clock.steady().ns - from.ns);

  RunReader replay(disk, **knowledge, Judge::kAlways, nullptr, {});
  for (int i = 0; i < 100; ++i) {
    replay.observe("host:test", {clock.now(), {}, event::Matched{"cuda-oom", "out of memory", 1, false}});
    CHECK_FALSE(replay.owes_judgement());
  }
}

}  // namespace
}  // namespace mw
