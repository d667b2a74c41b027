#include "act/cleanup/quarantine_wait.h"

#include <doctest/doctest.h>

#include "act/cleanup/place_for_test.h"
#include "base/text.h"

namespace mw {
namespace {

constexpr double kMoved = 4000, kHour = 3600;  // seconds

/// Steps 50 and 60 are whole, and 65 was moved out of the way.
struct Moved : Place {
  explicit Moved(std::string content = safetensors()) {
    for (const int step : {50, 60}) whole(step);
    for (const int step : {62, 70}) scope.own.logged.insert(step);
    scope.own.lives = {{Time::from_seconds(1000), Time::from_seconds(1e6)}};
    settings.what = {"quarantine"};
    settings.keep_last = 0;
    QuarantineManifest of;
    of.run_folder = "/data/run";
    of.at = Time::from_seconds(kMoved);
    of.items = {{"step_65", ".midwatch-quarantine/attempt-1/step_65", {}}};
    put("/data/ck/.midwatch-quarantine/attempt-1/step_65/model.safetensors", std::move(content));
    put("/data/ck/.midwatch-quarantine/attempt-1/manifest.json", manifest_text(of));
  }
  void saved(int step, double at) {
    disk.set_time(Time::from_seconds(at));
    whole(step);
  }
  bool goes(CleanupFor asks, double now) {
    scope.asks = asks;
    scope.now = Time::from_seconds(now);
    return all().items.size() == 1;
  }
};

TEST_CASE("what was quarantined a moment ago goes by a person's word alone, and it is said why") {
  Moved p;
  CHECK(p.goes(CleanupFor::kPerson, kMoved + 60));
  for (const CleanupFor by : {CleanupFor::kSpace, CleanupFor::kShare}) {
    CHECK_FALSE(p.goes(by, kMoved + 60));
    const CleanupPlan plan = p.all();
    REQUIRE(plan.left.size() == 1);
    CHECK(plan.left[0].why == "it stays until the checkpoint of step 65 or a later one is saved whole, or for 3 days");
    REQUIRE(plan.notes.size() == 1);
    CHECK(plan.notes[0] ==
          cat("Of what midwatch quarantined /data/ck/.midwatch-quarantine/attempt-1 does not go by itself yet: ",
              plan.left[0].why, "; midwatch cleanup --run run --what quarantine removes it now"));
    CHECK_FALSE(p.goes(by, kMoved + 71 * kHour));
    CHECK(p.goes(by, kMoved + 73 * kHour));
  }
}

TEST_CASE("what was quarantined goes once the run got as far again with a whole save") {
  Moved p;
  p.saved(62, kMoved + 100);  // not as far yet
  CHECK_FALSE(p.goes(CleanupFor::kShare, kMoved + 200));
  p.put("/data/ck/step_70/model.safetensors", "");  // not whole
  CHECK_FALSE(p.goes(CleanupFor::kShare, kMoved + 200));
  p.disk.unlink("/data/ck/step_70/model.safetensors");
  p.saved(65, kMoved + 300);
  CHECK(p.goes(CleanupFor::kShare, kMoved + 400));
  CHECK(p.all().items[0].grounds->counted[0].path == "/data/ck/step_65");
}

TEST_CASE("what is whole and further on, but was saved before the quarantine, proves nothing") {
  Moved p;
  p.saved(70, kMoved - 100);
  CHECK_FALSE(p.goes(CleanupFor::kShare, kMoved + 60));
}

TEST_CASE("a broken save that was quarantined goes at once where space is short, and for the share it waits") {
  Moved p("");
  CHECK(p.goes(CleanupFor::kSpace, kMoved + 60));
  CHECK_FALSE(p.goes(CleanupFor::kShare, kMoved + 60));
}

}  // namespace
}  // namespace mw
