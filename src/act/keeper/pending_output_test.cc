// What waits in a keeper's memory is read behind the file that it belongs to.
#include "act/keeper/pending_output.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <string>

#include "base/text.h"
#include "platform/real/posix_disk.h"
#include "platform/tail.h"

namespace mw {
namespace {

std::string fresh_folder() {
  char name[] = "/tmp/midwatch-pending-XXXXXX";
  REQUIRE(mkdtemp(name) != nullptr);
  return name;
}

/// A file on a disk, its keeper, and a watch that reads it.
struct World {
  World() {
    file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    REQUIRE(file >= 0);
  }
  ~World() {
    close(file);
    unlink(path.c_str());
    rmdir(folder.c_str());
  }
  void write(std::string_view bytes) {
    REQUIRE(::write(file, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
    size += bytes.size();
  }
  std::string read_all() {
    std::string all, piece;
    for (;;) {
      const auto news = tail.read(3, piece);
      REQUIRE(news.ok());
      if (*news == Tail::News::kBeganAnew) all += "<anew>";
      if (*news != Tail::News::kBytes) return all;
      all += piece;
    }
  }

  std::string folder = fresh_folder(), path = cat(folder, "/train.log");
  int file = -1;
  uint64_t size = 0;
  PendingOutput pending;
  std::unique_ptr<Disk> disk = make_posix_disk();
  WithPendingOutput seen{*disk, path, [] { return static_cast<int64_t>(getpid()); }};
  Tail tail{seen, path};
};

TEST_CASE("output that a full disk refuses is read from its keeper, once, and the disk's copy is not read again") {
  World world;
  world.write("step 1\n");
  CHECK(world.read_all() == "step 1\n");
  world.pending.show(world.file, world.size, "step 2\nste");
  CHECK(world.seen.info(world.path)->size == 17);
  CHECK(world.read_all() == "step 2\nste");
  world.pending.show(world.file, world.size, "step 2\nstep 3\n");
  CHECK(world.read_all() == "p 3\n");
  world.write("step 2\n");  // some room came; what is shown is behind by as much
  CHECK(world.read_all().empty());
  world.pending.show(world.file, world.size, "step 3\nstep 4\n");
  CHECK(world.read_all() == "step 4\n");
  world.write("step 3\nstep 4\n");
  world.pending.show(world.file, world.size, "");
  world.write("step 5\n");
  CHECK(world.read_all() == "step 5\n");
  CHECK(world.seen.info(world.path)->size == static_cast<int64_t>(world.size));
}

TEST_CASE("what waits belongs to one file, whatever has its name later") {
  World world;
  world.write("one\n");
  world.pending.show(world.file, world.size, "two\n");
  const int other = open(cat(world.folder, "/other").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  REQUIRE(::write(other, "three\n", 6) == 6);
  close(other);
  REQUIRE(rename(cat(world.folder, "/other").c_str(), world.path.c_str()) == 0);
  CHECK(world.read_all() == "three\n");
}

}  // namespace
}  // namespace mw
