#include "sense/checkpoints/strange_names.h"

#include <doctest/doctest.h>

#include "base/text.h"
#include "platform/fake/fake_disk.h"
#include "sense/checkpoints/find.h"

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

TEST_CASE("weights one folder deeper are found, too, where a pattern of the user's own does not fit their names") {
  Place place;
  place.save("/out/global_step_5/actor");
  CHECK(place.pattern({"snap-{step:04}", "", ""}) == "/out global_step_{step}");
  CHECK(place.pattern({"global_step_{step}", "", ""}).empty());
  const auto found = find_strange_names(place.disk, {"/out"}, {}, Time::from_seconds(1000));  // not known yet
  REQUIRE(found.has_value());
  CHECK(found->strange_to({}));
  CHECK(found->strange_to(place.trl));
  CHECK_FALSE(found->strange_to({"global_step_{step}", "", ""}));
  Place old;
  old.save("/out/global_step_5/actor", 500);
  CHECK(old.pattern(old.trl).empty());
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

const Saver kSaver{"accelerate", {"checkpoint_{step}", "", "{step}", {}, "checkpoints", true}};

struct Counted : Place {
  void save_all(const std::string& folder, double at = 2000) {
    save(folder, at);
    disk.put(folder + "/scheduler.bin", "rate");
    disk.put(folder + "/random_states_0.pkl", "dice");
  }
  std::string root(const CheckpointLayout& own = {}) {
    return find_counted(disk, {"/out", "/out/checkpoints", "/out/steps"}, kSaver, own, Time::from_seconds(1000));
  }
};

TEST_CASE("accelerate's own names are known by what lies in them, in the folder that it has for them") {
  Counted place;
  CHECK(place.root().empty());
  place.save_all("/out/checkpoints/checkpoint_0");
  CHECK(place.root() == "/out/checkpoints");
  CHECK(place.root(place.trl) == "/out/checkpoints");
  place.save("/out/checkpoints/checkpoint_1");  // it is being written, or never came to its end
  CHECK(place.root() == "/out/checkpoints");
  place.save("/out/checkpoints/checkpoint-10");  // it saves as its framework does, too
  CHECK(place.root(place.trl).empty());
}

TEST_CASE("a first save that was cut short is known as accelerate's by the name of its optimizer") {
  Counted place;
  place.save("/out/checkpoints/checkpoint_0");
  CHECK(place.root() == "/out/checkpoints");
}

TEST_CASE("no accelerate's: numbers that are steps, other folders, other files, and what lay there before") {
  Counted steps;
  steps.save_all("/out/checkpoints/checkpoint_100");
  steps.save_all("/out/checkpoints/checkpoint_200");
  CHECK(steps.root().empty());
  Counted elsewhere;
  elsewhere.save_all("/out/steps/checkpoint_0");
  CHECK(elsewhere.root().empty());
  Counted trainer;
  trainer.save_all("/out/checkpoints/checkpoint_0");
  trainer.disk.put("/out/checkpoints/checkpoint_0/trainer_state.json", "{}");
  CHECK(trainer.root().empty());
  Counted old;
  old.save_all("/out/checkpoints/checkpoint_0", 500);
  CHECK(old.root().empty());
}

TEST_CASE("files of steps have one pattern, or none") {
  using Names = std::vector<std::string>;
  CHECK(pattern_of_files(Names{"ckpt_5.pt", "ckpt_10.pt"}) == "ckpt_{step}.pt");
  CHECK(pattern_of_files(Names{"v2-step-000005.ckpt", "v2-step-000010.ckpt"}) == "v2-step-{step:06}.ckpt");
  CHECK(pattern_of_files(Names{"model_step_200.safetensors"}) == "model_step_{step}.safetensors");
  CHECK(pattern_of_files(Names{"ckpt_5.pt", "model_step_10.pt"}).empty());
  CHECK(pattern_of_files(Names{"best.pt"}).empty());
  CHECK(pattern_of_files(Names{}).empty());
}

TEST_CASE("files that are checkpoints are found where all of a folder have one pattern") {
  FakeDisk disk;
  disk.set_time(Time::from_seconds(2000));
  for (const char* name : {"/out/ckpt_5.pt", "/out/ckpt_10.pt", "/out/best.pt", "/out/log.txt", "/one/ckpt_5.pt"})
    disk.put(name, "weights");
  const auto found = find_named_files(disk, {"/out", "/one", "/nowhere"});
  REQUIRE(found.size() == 1);
  CHECK((found[0].folder == "/out" && found[0].pattern == "ckpt_{step}.pt"));
  REQUIRE(found[0].saved.size() == 2);
  CHECK(found[0].saved.at("/out/ckpt_10.pt").step == 10);
}

}  // namespace
}  // namespace mw
