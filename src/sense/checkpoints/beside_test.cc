#include "sense/checkpoints/beside.h"

#include <doctest/doctest.h>

#include <set>
#include <string>

#include "base/text.h"
#include "platform/fake/fake_disk.h"
#include "platform/system.h"

namespace mw {
namespace {

Time second(double s) { return Time{1'700'000'000'000'000'000} + Duration::seconds(s); }

/// A run that does a step every two seconds, looked at each second.
StepsInTime walked(int64_t last) {
  StepsInTime steps;
  for (int64_t s = 0; s <= 2 * last; ++s) steps.at(second(static_cast<double>(s)), s / 2);
  return steps;
}

TEST_CASE("what is made when the run is at a step belongs to it") {
  const StepsInTime steps = walked(60);
  CHECK(steps.fits(20, second(40.5)));
  CHECK(steps.fits(20, second(41.9)));
  CHECK_FALSE(steps.fits(20, second(30)));  // not reached yet
  CHECK_FALSE(steps.fits(20, second(60)));  // long passed
  CHECK_FALSE(steps.fits(80, second(110)));
  CHECK_FALSE(steps.fits(0, second(-100)));  // before the watch began
  CHECK_FALSE(StepsInTime().fits(0, second(1)));
  CHECK(steps.fits(60, second(500)));  // it stands at its last step, and saves
}

TEST_CASE("a watch that came late knows less of when a step was reached") {
  StepsInTime steps;
  for (int s = 0; s <= 4; ++s) steps.at(second(s), 5 + s);
  steps.at(second(9.5), 9);  // read before the disk hung
  steps.at(second(10), 14);
  CHECK(steps.fits(10, second(5)));
  CHECK_FALSE(steps.fits(10, second(0.5)));
  CHECK_FALSE(steps.fits(10, second(14)));
}

TEST_CASE("a folder is the run's when two of its checkpoints were made in time, and no other has any") {
  const StepsInTime steps = walked(60);
  std::map<std::string, SavedBeside> saved{{"/w/out/checkpoint-20", {20, second(40.7)}}};
  CHECK(steps.folder_of(saved).empty());
  saved["/w/out/checkpoint-40"] = {40, second(81)};
  CHECK(steps.folder_of(saved) == "/w/out");
  saved["/w/other/checkpoint-20"] = {20, second(55)};  // of a slower run
  CHECK(steps.folder_of(saved) == "/w/out");
  saved["/w/other/checkpoint-10"] = {10, second(20.5)};  // it was in step only then
  saved["/w/other/checkpoint-12"] = {12, second(25)};
  CHECK(steps.folder_of(saved) == "/w/out");
  saved["/w/twin/checkpoint-20"] = {20, second(40.5)};
  CHECK(steps.folder_of(saved) == "/w/out");
  saved["/w/twin/checkpoint-40"] = {40, second(80.5)};  // of one in step with this
  CHECK(steps.folder_of(saved).empty());
}

TEST_CASE("a save whose step is not read yet speaks neither for its folder nor against it") {
  const StepsInTime steps = walked(39);
  std::map<std::string, SavedBeside> saved{{"/w/out/checkpoint-10", {10, second(20.5)}},
                                           {"/w/out/checkpoint-20", {20, second(40.5)}},
                                           {"/w/out/checkpoint-40", {40, second(78.1)}}};
  CHECK(steps.folder_of(saved) == "/w/out");
  saved["/w/out/checkpoint-40"].changed = second(70);  // long before: of somebody else
  CHECK(steps.folder_of(saved).empty());
  CHECK(steps.folder_of({{"/w/out/checkpoint-20", {20, second(40.5)}}, {"/w/out/checkpoint-40", {40, second(78.1)}}})
            .empty());
}

TEST_CASE("in a folder that the command names as its output one checkpoint is enough") {
  const StepsInTime steps = walked(60);
  std::map<std::string, SavedBeside> saved{{"/w/out/checkpoint-20", {20, second(40.7), true}}};
  CHECK(steps.folder_of(saved) == "/w/out");
  saved["/w/out/checkpoint-22"] = {22, second(20), true};  // of somebody else's
  CHECK(steps.folder_of(saved).empty());
}

TEST_CASE("one checkpoint is enough where the log announced that save just then") {
  const StepsInTime steps = walked(60);
  std::map<std::string, SavedBeside> saved{{"/w/out/checkpoints/step_20", {20, second(40.7)}}};
  const std::map<int64_t, Time> announced{{20, second(40)}, {40, second(80)}};
  CHECK(steps.folder_of(saved, announced) == "/w/out/checkpoints");
  CHECK(StepsInTime().folder_of(saved, announced) == "/w/out/checkpoints");  // it ended before it was looked at
  CHECK(steps.folder_of(saved, {{20, second(400)}}).empty());
  saved["/w/out/weights/step_20"] = {20, second(40.9)};  // the weights alone
  CHECK(steps.folder_of(saved, announced) == "/w/out/checkpoints");
  saved["/w/ckpt/step_20"] = {20, second(40.9)};
  CHECK(steps.folder_of(saved, announced).empty());
}

TEST_CASE("checkpoints are found below a folder, as deep as is asked") {
  FakeDisk disk;
  disk.put("/data/w/a/checkpoints/step_5/model.pt", "x");
  disk.put("/data/w/a/b/checkpoints/step_5/model.pt", "x");
  disk.put("/data/w/.cache/step_5/model.pt", "x");
  const CheckpointLayout layout{"step_{step}", "", "", {}};
  CHECK(saved_below(disk, {{"/data/w/a", 1}}, layout).count("/data/w/a/checkpoints/step_5") == 1);
  CHECK(saved_below(disk, {{"/data/w", 2}}, layout).size() == 1);
  CHECK(saved_below(disk, {{"/data/w", 3}}, layout).size() == 2);
}

TEST_CASE("checkpoints are found in the folders that a command names, as its first word or behind an equals sign") {
  FakeDisk disk;
  disk.put("/data/runs/first-one/checkpoint-10/model.safetensors", "x");
  disk.put("/data/runs/second-one/checkpoint-20/model.safetensors", "x");
  disk.put("/work/third/checkpoint-30/model.safetensors", "x");
  FakeSystem system;
  constexpr char kCommand[] = "/data/runs/first-one/\0--output_dir=/data/runs/second-one\0--save\0third\0";
  system.files["/proc/7/cmdline"] = std::string(kCommand, sizeof kCommand - 1);
  system.files["/proc/7/cwd"] = "/work";
  const auto saved = saved_beside(disk, system, {7}, {"checkpoint-{step}", "", "", {}});
  std::set<std::string> found;
  for (const auto& [path, one] : saved) found.insert(cat(path, " ", one.step, one.output ? " output" : ""));
  CHECK(found == std::set<std::string>{"/data/runs/first-one/checkpoint-10 10",
                                       "/data/runs/second-one/checkpoint-20 20 output",
                                       "/work/third/checkpoint-30 30 output"});
}

}  // namespace
}  // namespace mw
