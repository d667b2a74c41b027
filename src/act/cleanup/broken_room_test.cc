#include "act/cleanup/broken_room.h"

#include <doctest/doctest.h>

#include "act/cleanup/place_for_test.h"

namespace mw {
namespace {

class Paper final : public EventWriter {
 public:
  Result<uint32_t> intend(event::Intended intent) override {
    if (full) return Error{Error::Code::kFull, "no space", ""};
    meant.push_back(intent.target);
    return 1U;
  }
  void acted(event::Acted) override {}
  Result<void> record(SupervisionEvent, Time) override { return {}; }
  Result<void> note(event::Note, Time) override { return {}; }
  bool full = false;
  std::vector<std::string> meant;
};

struct Full : Place {
  Paper paper;
  std::vector<std::string> removed, said;
  QuarantinePlan plan;
  Full() {
    whole(10);
    whole(20);
    cut(30);
    plan = {"/data/ck", "attempt-1", {item(20), item(30)}, 10, false};
  }
  QuarantinePlan::Item item(int64_t step) {
    const auto info = disk.info(cat("/data/ck/step_", step));
    return {step, {info->device, info->inode}};
  }
  bool remove() {
    const BrokenRoom room{disk, settings,
                          [this](const CleanupItem& one) -> Result<Removed> {
                            removed.push_back(cat(one.root, "/", one.name));
                            return Removed{1000, 1};
                          },
                          [this](const std::string& sentence) { said.push_back(sentence); }};
    return remove_broken(room, scope.layout, plan, paper);
  }
};

TEST_CASE("on a full disk the broken checkpoint goes that stands in the way, and the whole ones stay") {
  Full full;
  CHECK(full.remove());
  CHECK(full.removed == std::vector<std::string>{"/data/ck/step_30"});
  CHECK(full.paper.meant == full.removed);
  REQUIRE(full.said.size() == 1);
  CHECK(contains(full.said[0], "the run goes back to step 10"));
}

TEST_CASE("nothing goes without leave, without a whole one to go back to, without a record, or where another lies") {
  Full asks;
  asks.settings.mode = Mode::kAsk;
  CHECK_FALSE(asks.remove());
  Full spares;
  spares.settings.what = {"core-dumps"};
  CHECK_FALSE(spares.remove());
  Full last;
  last.plan.keep = kNoStep;
  CHECK_FALSE(last.remove());
  Full broken;
  broken.cut(10);
  CHECK_FALSE(broken.remove());
  Full unrecorded;
  unrecorded.paper.full = true;
  CHECK_FALSE(unrecorded.remove());
  Full another;
  another.plan.items[1].identity.inode += 1;
  CHECK_FALSE(another.remove());
  for (const Full* one : {&asks, &spares, &last, &broken, &unrecorded, &another}) CHECK(one->removed.empty());
}

}  // namespace
}  // namespace mw
