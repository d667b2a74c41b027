#include "sense/checkpoints/strange_names.h"

#include <doctest/doctest.h>

#include "base/text.h"
#include "platform/fake/fake_disk.h"

namespace mw {
namespace {

struct Place {
  FakeDisk disk;
  const CheckpointLayout trl{"checkpoint-{step}", "", ""};
  void save(const std::string& folder, double at = 2000) {
    disk.set_time(Time::from_seconds(at));
    (void)disk.make_folders(folder).ok();
    disk.put(folder + "/model.safetensors", "weights");
    disk.put(folder + "/optimizer.bin", "moments");
  }
  std::string pattern(const CheckpointLayout& layout) {
    const auto found = find_strange_names(disk, {"/out"}, layout, Time::from_seconds(1000));
    return found ? cat(found->folder, " ", found->pattern) : "";
  }
};

TEST_CASE("checkpoints under names that the framework does not give are found, with the pattern of their names") {
  Place place;
  CHECK(place.pattern(place.trl).empty());
  place.save("/out/checkpoints/checkpoint_0");
  place.save("/out/checkpoints/checkpoint_1");
  CHECK(place.pattern(place.trl) == "/out/checkpoints checkpoint_{step}");
  CHECK(place.pattern({}) == "/out/checkpoints checkpoint_{step}");
  place.save("/out/checkpoint-10");  // it saves as it should, too
  CHECK(place.pattern(place.trl).empty());
}

TEST_CASE("what lay there before, has nothing of a checkpoint in it, or has several kinds of names says nothing") {
  Place old;
  old.save("/out/step_5", 500);
  CHECK(old.pattern(old.trl).empty());
  Place other;
  other.disk.set_time(Time::from_seconds(2000));
  (void)other.disk.make_folders("/out/step_5").ok();
  other.disk.put("/out/step_5/samples.jsonl", "{}");
  CHECK(other.pattern(other.trl).empty());
  Place mixed;
  mixed.save("/out/a/step_5");
  mixed.save("/out/b/ckpt-5");
  CHECK(mixed.pattern(mixed.trl).empty());
}

}  // namespace
}  // namespace mw
