#include "read/why_unread.h"

#include <doctest/doctest.h>

#include "base/text.h"
#include "platform/fake/fake_disk.h"

namespace mw {
namespace {

std::string why(const std::string& bytes) {
  FakeDisk disk;
  disk.put("/r/train.log", bytes);
  return why_unread(disk, "/r/train.log");
}

TEST_CASE("an empty file and a packed one say why they are not read") {
  CHECK(why("") == "it is empty");
  CHECK(contains(why(std::string("\xfd"
                                 "7zXZ\0\0\4",
                                 8)),
                 "packed with xz"));
  CHECK(contains(why("BZh91AY&SY"), "packed with bzip2"));
  CHECK(contains(why(std::string("PK\3\4\24\0\0\0", 8)), "packed with zip"));
  CHECK(why("step 1 reward 0.25\n").empty());
  FakeDisk disk;
  CHECK(why_unread(disk, "/nowhere").empty());
}

TEST_CASE("a table of numbers without a header says so") {
  FakeDisk disk;
  disk.put("/r/log.csv", "10,0.5,0.25\n20,0.4,0.5\n");
  disk.put("/r/named.csv", "step,loss,reward\n20,0.4,0.5\n");
  disk.put("/r/train.log", "10,0.5,0.25\n20,0.4,0.5\n");
  CHECK(contains(why_unnamed(disk, "/r/log.csv"), "no header"));
  CHECK(why_unnamed(disk, "/r/named.csv").empty());
  CHECK(why_unnamed(disk, "/r/train.log").empty());
}

}  // namespace
}  // namespace mw
