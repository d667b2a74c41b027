#include "read/discover.h"

#include <doctest/doctest.h>

#include "base/text.h"
#include "platform/fake/fake_disk.h"
#include "platform/real/posix_disk.h"

namespace mw {
namespace {

TEST_CASE("a stream, a device and an empty path are refused with what to do instead") {
  const auto disk = make_posix_disk();
  const auto refused = [&disk](const std::string& path) {
    const auto found = discover(*disk, {path}, [](std::string_view, int64_t) { return true; });
    REQUIRE_FALSE(found.ok());
    return found.error();
  };
  CHECK(contains(refused("").what, "an empty path"));
  CHECK(contains(refused("-").hint, "save the stream first"));
  CHECK(contains(refused("/dev/null").what, "/dev/null is a pipe or a device"));
  CHECK(contains(refused("/dev/null").hint, "save the stream first"));
  CHECK(refused("/nowhere-at-all").code == Error::Code::kNotFound);
}

TEST_CASE("the notebooks of a folder are taken where it holds nothing else to read") {
  FakeDisk disk;
  const auto taken = [&disk] {
    const auto found = discover(
        disk, {"/w"}, [](std::string_view path, int64_t) { return path.ends_with(".log"); }, true);
    std::string out;
    if (!found.ok()) return found.error().what;
    for (const FoundFile& file : found->files) out += cat(file.path, file.named ? "! " : " ");
    for (const std::string& notebook : found->notebooks) out += cat("(", notebook, ") ");
    return cat(out, found->notes.size());
  };
  disk.put("/w/.ipynb_checkpoints/train-checkpoint.ipynb", "{}");
  disk.put("/w/notes.txt", "x");
  CHECK(taken() == "no log or metric file in /w");
  disk.put("/w/train.ipynb", "{}");
  CHECK(taken() == "/w/train.ipynb 1");
  CHECK_FALSE(discover(disk, {"/w"}, [](std::string_view, int64_t) { return false; }).ok());
  disk.put("/w/train.log", "step 1");
  CHECK(taken() == "/w/train.log (/w/train.ipynb) 0");
}

}  // namespace
}  // namespace mw
