#include "read/new_content.h"

#include <doctest/doctest.h>

#include "platform/fake/fake_disk.h"

namespace mw {
namespace {

struct Fixture {
  FakeDisk disk;
  NewContent view{disk};

  std::string content(const std::string& path) {
    auto file = view.open_read(path);
    std::string out;
    REQUIRE(file.ok());
    REQUIRE((*file)->read_at(0, 1000, out).ok());
    CHECK((*file)->info()->size == static_cast<int64_t>(out.size()));
    CHECK(view.info(path)->size == static_cast<int64_t>(out.size()));
    return out;
  }
};

TEST_CASE("of a log there is what was added, and how many lines come before it") {
  Fixture fixture;
  fixture.disk.put("/run/train.log", "one\ntwo\n");
  fixture.view.leave_out({"/run"});
  CHECK(fixture.content("/run/train.log").empty());
  fixture.disk.write("/run/train.log", "three\n");
  CHECK(fixture.content("/run/train.log") == "three\n");
  CHECK(fixture.view.info("/run/train.log")->lines_before == 2);
  fixture.disk.put("/run/new.log", "new\n");
  CHECK(fixture.content("/run/new.log") == "new\n");
  CHECK(fixture.view.info("/run/new.log")->lines_before == 0);
}

TEST_CASE("a log that was begun anew is there as a whole, however long it becomes") {
  Fixture fixture;
  fixture.disk.put("/run/train.log", "the first of the old lines\n");
  fixture.view.leave_out({"/run/train.log"});
  SUBCASE("shorter than it was") {
    fixture.disk.put("/run/train.log", "fresh\n");
    CHECK(fixture.content("/run/train.log") == "fresh\n");
    fixture.disk.write("/run/train.log", "and longer than what was there before\n");
    CHECK(fixture.content("/run/train.log") == "fresh\nand longer than what was there before\n");
  }
  SUBCASE("longer, by other first bytes") {
    fixture.disk.put("/run/train.log", "a fresh log that is longer than what was there before\n");
    CHECK(fixture.content("/run/train.log") == "a fresh log that is longer than what was there before\n");
  }
}

TEST_CASE("a file that makes no sense from its middle on is there as a whole once it has grown") {
  Fixture fixture;
  fixture.disk.put("/run/metrics.csv", "step,loss\n1,0.5\n");
  fixture.view.leave_out({"/run"});
  CHECK(fixture.content("/run/metrics.csv").empty());
  fixture.disk.write("/run/metrics.csv", "2,0.4\n");
  CHECK(fixture.content("/run/metrics.csv") == "step,loss\n1,0.5\n2,0.4\n");
}

TEST_CASE("what was left out is still left out by the next watch") {
  Fixture fixture;
  fixture.disk.put("/run/train.log", "one\n");
  fixture.view.leave_out("/run/train.log", 4);
  fixture.disk.write("/run/train.log", "two\n");
  NewContent next(fixture.disk);
  next.restore(fixture.view.text());
  CHECK(next.leaves_out("/run/train.log"));
  CHECK(next.info("/run/train.log")->size == 4);
  CHECK(next.info("/run/train.log")->lines_before == 1);
  for (const char* broken : {"", "{", "[]", R"({"files":3})", R"({"files":[{"bytes":-1},{"device":"x"},4]})"}) {
    NewContent none(fixture.disk);
    none.restore(broken);
    CHECK(none.info("/run/train.log")->size == 8);
  }
}

}  // namespace
}  // namespace mw
