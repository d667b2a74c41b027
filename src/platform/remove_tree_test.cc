#include "platform/remove_tree.h"

#include <doctest/doctest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

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

}  // namespace
}  // namespace mw
