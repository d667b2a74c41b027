#include "act/cleanup/disk_share.h"

#include <doctest/doctest.h>

#include "act/cleanup/place_for_test.h"

namespace mw {
namespace {

/// Four checkpoints of which the rules let three go, on a disk of so many bytes.
struct Filled : Place {
  int64_t one = 0;  ///< bytes of a checkpoint
  Filled() {
    settings.keep_last = 1;
    settings.what = {"core-dumps", "old-checkpoints"};
    for (const int step : {5, 10, 15, 20}) whole(step);
    one = all().items.front().bytes;
    REQUIRE(one > 0);
  }
  std::vector<std::string> goes(int64_t size, int64_t free, double share = 0.85) {
    system.spaces["/data"] = {free, size, 0, 0};
    CleanupPlan plan = all();
    keep_what_share_needs(disk, system, scope.roots, share, plan);
    above = plan.above_share;
    said = plan.notes;
    std::vector<std::string> names;
    for (const CleanupItem& item : plan.items) names.push_back(item.name);
    return names;
  }
  bool above = false;
  std::vector<std::string> said;
};

TEST_CASE("above the share goes what the rules let go, in their order, and only until less is used") {
  Filled f;
  const int64_t size = 100 * f.one;
  CHECK(f.goes(size, 16 * f.one).empty());  // 84 %
  CHECK_FALSE(f.above);
  CHECK_FALSE(is_above_share(f.system, f.scope.roots, 0.85));
  CHECK(f.goes(size, 14 * f.one) == Names{"step_5"});
  CHECK(is_above_share(f.system, f.scope.roots, 0.85));
  REQUIRE(f.said.size() == 1);
  CHECK(f.said[0] == "The disk of /data/ck is 86 % full, more than the 85 % of disk_share of [cleanup]");
  CHECK(f.goes(size, 13 * f.one) == Names{"step_5", "step_10"});
  CHECK(f.goes(size, 12 * f.one) == Names{"step_5", "step_10", "step_15"});
  CHECK_FALSE(is_above_share(f.system, f.scope.roots, 1));
  CHECK_FALSE(is_above_share(f.system, f.scope.roots, 0));
}

TEST_CASE("a disk that others fill takes nothing of this run's, however full it is") {
  Filled f;
  CHECK(f.goes(100 * f.one, 11 * f.one).empty());  // all three together would leave 86 % used
  CHECK(f.above);
  CHECK(f.said.empty());
  CHECK(f.goes(1'000'000'000, 100'000'000).empty());
  CHECK(f.goes(1'000'000'000, 0).empty());
}

TEST_CASE("what was begun goes on, and a disk that does not answer is not above the share") {
  Filled f;
  f.scope.removals = {"/data/ck/step_3"};
  f.put("/data/ck/.midwatch-removing/step_3~0-7/model.safetensors", "x");
  CHECK(f.goes(100 * f.one, 11 * f.one) == Names{".midwatch-removing/step_3~0-7"});
  f.system.spaces.clear();
  CleanupPlan plan = f.all();
  keep_what_share_needs(f.disk, f.system, f.scope.roots, 0.85, plan);
  CHECK(plan.items.size() == 1);
  CHECK_FALSE(plan.above_share);
}

}  // namespace
}  // namespace mw
