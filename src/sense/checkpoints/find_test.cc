#include "sense/checkpoints/find.h"

#include <doctest/doctest.h>

#include "base/text.h"
#include "platform/fake/fake_disk.h"
#include "sense/checkpoints/layouts/layout.h"

namespace mw {
namespace {

/// "NAME STEP, …" of the checkpoints that are a file each.
std::string files(const std::vector<std::string>& names) {
  FakeDisk disk;
  for (const std::string& name : names) disk.put(cat("/ck/", name), name);
  std::string out;
  for (const FoundCheckpoint& one : checkpoint_files_in(disk, "/ck", names))
    out += cat(out.empty() ? "" : ", ", basename(one.path), " ", one.step == kNoStep ? -1 : one.step);
  return out;
}

TEST_CASE("names of files that say the epoch and the step are of as many checkpoints") {
  CHECK(files({"checkpoint_1_10.pt", "checkpoint_1_20.pt", "checkpoint_2_30.pt", "checkpoint_last.pt"}) ==
        "checkpoint_last.pt -1, checkpoint_1_10.pt 10, checkpoint_1_20.pt 20, checkpoint_2_30.pt 30");
  CHECK(files({"ep0-ba10-rank0.pt", "ep0-ba20-rank0.pt", "latest-rank0.pt"}) ==
        "latest-rank0.pt -1, ep0-ba10-rank0.pt 10, ep0-ba20-rank0.pt 20");
}

TEST_CASE("files of ranks and shards are parts of one checkpoint") {
  CHECK(files({"checkpoint_100_0.pt", "checkpoint_100_1.pt"}).empty());
  CHECK(files({"ep0-ba10-rank0.pt", "ep0-ba10-rank1.pt"}).empty());
  CHECK(files({"ep0-ba10-rank0.pt", "ep0-ba10-rank1.pt", "ep0-ba20-rank0.pt"}).empty());
}

TEST_CASE("a folder's step may have zeros before it") {
  CHECK(step_of_name("step_000010") == 10);
  CHECK(step_of_name("step-00000400") == 400);
  CHECK(step_of_name("step_10b") == kNoStep);
  CHECK(step_of_name("step_") == kNoStep);
}

}  // namespace
}  // namespace mw
