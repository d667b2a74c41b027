#include "platform/remove_tree.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "base/testing/skip.h"
#include "base/text.h"

namespace mw {
namespace {

struct Place {
  std::string root;
  Place() {
    char name[] = "/tmp/midwatch-remove-XXXXXX";
    REQUIRE(mkdtemp(name) != nullptr);
    root = name;
    for (const char* folder : {"/in", "/in/a", "/in/a/b", "/out"}) REQUIRE(mkdir((root + folder).c_str(), 0755) == 0);
    for (const char* file : {"/in/a/one", "/in/a/b/two", "/out/kept"}) std::ofstream(root + file) << "bytes";
  }
  ~Place() { (void)system(cat("rm -rf ", root).c_str()); }
  bool there(const char* path) const {
    struct stat status {};
    return lstat((root + path).c_str(), &status) == 0;
  }
};

TEST_CASE("a folder goes with all that is in it; a link in it goes, and what it leads to stays") {
  Place p;
  REQUIRE(symlink((p.root + "/out").c_str(), (p.root + "/in/a/b/link").c_str()) == 0);
  const auto removed = remove_tree(p.root + "/in", "a");
  REQUIRE(removed.ok());
  CHECK(removed->entries == 5);
  CHECK_FALSE(p.there("/in/a"));
  CHECK(p.there("/out/kept"));
  CHECK(remove_tree(p.root + "/in", "a").error().code == Error::Code::kNotFound);
}

TEST_CASE("what leads out of the root is refused") {
  Place p;
  REQUIRE(symlink((p.root + "/out").c_str(), (p.root + "/in/link").c_str()) == 0);
  REQUIRE(symlink((p.root + "/in").c_str(), (p.root + "/way").c_str()) == 0);
  for (const char* below : {"", "/", ".", "..", "../out/kept", "a/../../out", "/etc/passwd", "a//..", "link/kept"}) {
    CAPTURE(below);
    CHECK_FALSE(remove_tree(p.root + "/in", below).ok());
  }
  CHECK_FALSE(remove_tree(p.root + "/way", "a").ok());
  for (const char* root : {"", "/", "in", "//", "/..", "/."}) {
    CAPTURE(root);
    CHECK_FALSE(remove_tree(root, "a").ok());
  }
  CHECK(p.there("/out/kept"));
  CHECK(p.there("/in/a/one"));
  REQUIRE(remove_tree(p.root + "/in", "link").ok());  // the link itself
  CHECK(p.there("/out/kept"));
  REQUIRE(remove_tree(p.root + "/in", "a/one").ok());
  CHECK(p.there("/in/a/b/two"));
}

Identity identity_of(const std::string& path) {
  struct stat status {};
  REQUIRE(lstat(path.c_str(), &status) == 0);
  return {status.st_dev, status.st_ino, int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec, false};
}

TEST_CASE("what has the name by then, but is not what was meant, stays") {
  Place p;
  Identity file = identity_of(p.root + "/in/a/one");
  REQUIRE(rename((p.root + "/in/a/one").c_str(), (p.root + "/in/a/moved").c_str()) == 0);
  std::ofstream(p.root + "/in/a/one") << "another";
  CHECK(remove_tree(p.root + "/in", "a/one", &file).error().code == Error::Code::kInvalid);
  CHECK(p.there("/in/a/one"));
  CHECK(remove_tree(p.root + "/in", "a/moved", &file).ok());
  file = identity_of(p.root + "/in/a/one");
  ++file.changed_ns;
  CHECK_FALSE(remove_tree(p.root + "/in", "a/one", &file).ok());  // written to since
  Identity folder = identity_of(p.root + "/in/a");
  folder.changed_ns = 0;
  REQUIRE(rename((p.root + "/in/a").c_str(), (p.root + "/in/old").c_str()) == 0);
  REQUIRE(mkdir((p.root + "/in/a").c_str(), 0755) == 0);
  std::ofstream(p.root + "/in/a/new") << "bytes";
  CHECK_FALSE(remove_tree(p.root + "/in", "a", &folder).ok());
  CHECK(p.there("/in/a/new"));
  CHECK(remove_tree(p.root + "/in", "old", &folder).ok());
}

/// Shared memory of this test's own.
struct Shared {
  std::string name = cat("midwatch-test-", getpid(), "-shared");
  std::string path = cat("/dev/shm/", name);
  Identity only;
  Shared() {
    std::ofstream(path) << "bytes";
    only = identity_of(path);
    only.unheld = true;
  }
  ~Shared() { unlink(path.c_str()); }
};

TEST_CASE("a file that somebody has open or mapped is not removed, and one that nobody holds is" *
          doctest::test_suite(testing::kMachine)) {
  Shared shared;
  if (!nobody_holds("/dev/shm", shared.name, shared.only)) {
    testing::skip("this system gives no leases on files in memory");
    return;
  }
  const int file = open(shared.path.c_str(), O_RDWR | O_CLOEXEC);
  REQUIRE(file >= 0);
  CHECK_FALSE(nobody_holds("/dev/shm", shared.name, shared.only));
  void* memory = mmap(nullptr, 4096, PROT_READ, MAP_SHARED, file, 0);
  REQUIRE(memory != MAP_FAILED);
  close(file);
  CHECK_FALSE(nobody_holds("/dev/shm", shared.name, shared.only));
  const auto held = remove_tree("/dev/shm", shared.name, &shared.only);
  REQUIRE_FALSE(held.ok());
  CHECK(contains(held.error().what, "holds"));
  munmap(memory, 4096);
  Identity other = shared.only;
  ++other.inode;
  CHECK_FALSE(nobody_holds("/dev/shm", shared.name, other));
  CHECK(nobody_holds("/dev/shm", shared.name, shared.only));
  CHECK(remove_tree("/dev/shm", shared.name, &shared.only).ok());
  CHECK(access(shared.path.c_str(), F_OK) != 0);
}

TEST_CASE("who opens the file while it is being removed does not end us" * doctest::test_suite(testing::kMachine)) {
  Shared shared;
  if (!nobody_holds("/dev/shm", shared.name, shared.only)) {
    testing::skip("this system gives no leases on files in memory");
    return;
  }
  std::atomic<bool> over = false;
  std::thread opener([&] {
    while (!over) {
      const int file = open(shared.path.c_str(), O_RDONLY | O_CLOEXEC);
      if (file >= 0) close(file);
    }
  });
  for (int i = 0; i < 2000; ++i) (void)nobody_holds("/dev/shm", shared.name, shared.only);
  over = true;
  opener.join();
  CHECK(access(shared.path.c_str(), F_OK) == 0);
}

}  // namespace
}  // namespace mw
