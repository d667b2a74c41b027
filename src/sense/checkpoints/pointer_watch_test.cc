#include "sense/checkpoints/pointer_watch.h"

#include <doctest/doctest.h>

#include "base/text.h"
#include "core/pointer_words.h"
#include "platform/fake/fake_disk.h"
#include "sense/checkpoints/quarantine.h"

namespace mw {
namespace {

/// A trainer that takes a step a minute and saves each tenth, and a scan at its folder every ten seconds.
class World {
 public:
  World() {
    layout_.folder = "global_step_{step}";
    layout_.pointer = "latest.txt";
    layout_.pointer_text = "{step}";
  }
  void pass(int64_t seconds) {
    for (int64_t i = 0; i < seconds; i += 10) {
      now_ += 10;
      disk_.set_time(Time::from_seconds(1'700'000'000.0 + static_cast<double>(now_)));
      const PointerScan scan = scan_pointer(disk_, "/ck", layout_);
      PointerWatch::Facts facts{Duration::seconds(static_cast<double>(now_)),
                                trains ? now_ / 60 : started_,
                                saving,
                                whole_,
                                broken_,
                                elsewhere};
      if (auto seen = watch_.judge("/ck", layout_, scan, facts)) reports.push_back(*seen);
    }
  }
  void begin(int64_t step) {
    disk_.put(cat("/ck/global_step_", step, "/part.pt"), "half");
    saving = true;
  }
  void end(int64_t step, bool good = true) {
    disk_.put(cat("/ck/global_step_", step, "/model.pt"), "all");
    (good ? whole_ : broken_).insert(step);
    saving = false;
  }
  void remove(int64_t step) {
    for (const char* file : {"part.pt", "model.pt"}) disk_.unlink(cat("/ck/global_step_", step, "/", file));
    whole_.erase(step);
    broken_.erase(step);
    if (!leaves_folder) (void)disk_.rename(cat("/ck/global_step_", step), cat("/gone/", step)).ok();
  }
  void point(int64_t step) { disk_.put("/ck/latest.txt", cat(step, "\n")); }
  void empty() { disk_.put("/ck/latest.txt", ""); }
  void drop_pointer() { disk_.unlink("/ck/latest.txt"); }
  void reported_before(int64_t step) { watch_.reported("/ck", step); }
  void save(int64_t step) {
    begin(step);
    end(step);
  }

  std::vector<event::PointerSeen> reports;
  bool saving = false, trains = true, leaves_folder = false, elsewhere = false;

 private:
  FakeDisk disk_;
  CheckpointLayout layout_;
  PointerWatch watch_;
  int64_t now_ = 0, started_ = 0;
  std::set<int64_t> whole_, broken_;
};

TEST_CASE("in whatever order a framework saves, removes and points, a pointer that moves in the end is right") {
  constexpr std::string_view kOrders[] = {"bep",  "bpe",  "pbe",  "rbep", "brep", "rpbe",  "prbe", "berp",
                                          "bepr", "bper", "dbep", "bdep", "bedp", "drbep", "dbpe"};
  for (const std::string_view order : kOrders) {
    CAPTURE(std::string(order));
    World world;
    for (int64_t step = 10; step <= 60; step += 10) {
      for (const char act : order) {
        if (act == 'b') world.begin(step);
        if (act == 'e') world.end(step);
        if (act == 'p') world.point(step);
        if (act == 'd') world.drop_pointer();
        if (act == 'r' && step > 10) world.remove(step - 10);
        world.pass(act == 'b' ? 1500 : 60);  // a save that lasts 25 minutes
      }
      world.pass(600);
    }
    CHECK(world.reports.empty());
  }
}

TEST_CASE("a pointer that an asynchronous save moves a step later is right; so is one that waits for the folder") {
  World world;
  for (int64_t step = 10; step <= 40; step += 10) {
    if (step > 10) world.remove(step - 10);
    world.begin(step);
    world.pass(300);
    world.end(step);
    world.pass(100);  // less than two steps
    world.point(step);
    world.pass(600);
    world.point(step + 10);  // a shared file system shows it first
    world.pass(120);
  }
  CHECK(world.reports.empty());
}

TEST_CASE("a pointer to what was removed is reported once a further save is over and it stays; and that it is mended") {
  World world;
  world.begin(10);
  world.end(10);
  world.point(10);
  world.pass(600);
  world.remove(10);
  world.begin(20);
  world.pass(300);
  world.end(20);
  world.pass(100);
  CHECK(world.reports.empty());
  world.pass(120);
  REQUIRE(world.reports.size() == 1);
  CHECK_FALSE(world.reports[0].right);
  CHECK(world.reports[0].path == "/ck/latest.txt");
  CHECK(world.reports[0].what == "it names step 10, which is not there");
  CHECK(world.reports[0].whole == 20);
  CHECK(world.reports[0].whole_path == "/ck/global_step_20");
  world.pass(3600);
  CHECK(world.reports.size() == 1);
  world.point(20);
  world.pass(10);
  REQUIRE(world.reports.size() == 2);
  CHECK(world.reports[1].right);
}

TEST_CASE("an asynchronous save that points when the next one begins is right, from its first to its last") {
  World world;
  for (int64_t step = 10; step <= 80; step += 10) {
    if (step > 10) world.point(step - 10);
    world.begin(step);
    world.pass(200);
    world.end(step);
    world.pass(600);
  }
  CHECK(world.reports.empty());
}

TEST_CASE("a pointer that is removed is reported once a further save is over, and that it is back") {
  World world;
  world.save(10);
  world.point(10);
  world.pass(600);
  world.drop_pointer();
  world.pass(600);
  CHECK(world.reports.empty());
  world.save(20);
  world.pass(150);
  REQUIRE(world.reports.size() == 1);
  CHECK_FALSE(world.reports[0].right);
  CHECK(is_missing(world.reports[0]));
  CHECK(world.reports[0].whole == 20);
  world.point(20);
  world.pass(10);
  REQUIRE(world.reports.size() == 2);
  CHECK(world.reports[1].right);
}

TEST_CASE("one that was never there is reported after two saves, unless another folder of the run has it") {
  for (const bool exports : {false, true}) {
    World world;
    world.elsewhere = exports;
    world.pass(60);
    world.save(10);
    world.pass(7200);
    CHECK(world.reports.empty());
    world.save(20);
    world.pass(600);
    CHECK(world.reports.size() == (exports ? 0 : 1));
  }
}

TEST_CASE(
    "a pointer that saves do not move any more is behind, as long as it stays; one that a person set back is not") {
  World world;
  world.save(10);
  world.point(10);
  world.pass(600);
  world.save(20);
  world.pass(7200);
  CHECK(world.reports.empty());  // an asynchronous save moves it when the next one begins
  world.save(30);
  world.pass(150);
  REQUIRE(world.reports.size() == 1);
  CHECK(is_behind(world.reports[0]));
  CHECK(world.reports[0].what == "it still names step 10, though step 30 is whole");
  world.save(40);
  world.pass(600);
  CHECK(world.reports.size() == 1);
  world.point(20);  // chosen by somebody
  world.pass(600);
  REQUIRE(world.reports.size() == 2);
  CHECK(world.reports[1].right);
}

TEST_CASE("a trainer that saves each minute is judged though nothing is ever still") {
  for (const char act : {'d', 'r', 's'}) {  // removed, its checkpoint removed, not moved
    CAPTURE(act);
    World world;
    world.save(1);
    world.point(1);
    world.pass(60);
    if (act == 'd') world.drop_pointer();
    if (act == 'r') world.remove(1);
    for (int64_t step = 2; step <= 4; ++step) {
      world.save(step);
      world.pass(60);
    }
    CHECK(world.reports.empty());
    for (int64_t step = 5; step <= 7; ++step) {
      world.save(step);
      world.pass(60);
    }
    CHECK(world.reports.size() == 1);
  }
}

TEST_CASE(
    "what an earlier attempt left behind is no save since; and what was reported before stays until it is right") {
  World world;
  for (const int64_t step : {10, 20, 30}) {
    world.save(step);
    world.point(step);
    world.pass(600);
  }
  world.point(10);  // between two attempts
  world.pass(7200);
  CHECK(world.reports.empty());
  World other;
  other.save(10);
  other.save(20);
  other.point(10);
  other.reported_before(10);
  other.pass(600);
  CHECK(other.reports.empty());
  other.point(20);
  other.pass(10);
  REQUIRE(other.reports.size() == 1);
  CHECK(other.reports[0].right);
}

TEST_CASE("without a further save a pointer that names nothing is reported after half an hour of training") {
  for (const bool cut : {false, true}) {
    World world;
    world.leaves_folder = true;
    for (const int64_t step : {10, 20}) {
      world.begin(step);
      world.end(step);
      world.point(step);
      world.pass(600);
    }
    if (cut) {
      world.empty();
    } else {
      world.remove(20);
    }
    world.pass(1700);
    CHECK(world.reports.empty());
    world.pass(200);
    REQUIRE(world.reports.size() == 1);
    CHECK(world.reports[0].what == (cut ? "it is empty" : "it names step 20, which is an empty folder"));
    CHECK(world.reports[0].whole == (cut ? 20 : 10));
  }
}

TEST_CASE("a pointer to what is not whole is reported when the next save did not move it") {
  World world;
  world.begin(10);
  world.end(10);
  world.begin(20);
  world.end(20, false);
  world.point(20);
  world.pass(900);
  CHECK(world.reports.empty());
  world.begin(30);
  world.end(30);
  world.pass(300);
  REQUIRE(world.reports.size() == 1);
  CHECK(world.reports[0].what == "it names step 20, which is not whole");
}

TEST_CASE("nothing is said while nobody trains, while something is written, or where there is nothing to go back to") {
  World idle, busy, alone;
  for (World* world : {&idle, &busy}) {
    world->begin(10);
    world->end(10);
    world->point(7);
  }
  alone.point(7);
  alone.pass(7200);
  CHECK(alone.reports.empty());
  idle.trains = false;
  idle.pass(7200);
  CHECK(idle.reports.empty());
  busy.saving = true;
  busy.pass(7200);
  CHECK(busy.reports.empty());
  busy.saving = false;
  busy.pass(1900);
  CHECK(busy.reports.size() == 1);
}

}  // namespace
}  // namespace mw
