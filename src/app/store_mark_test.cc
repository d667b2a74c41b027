#include "app/store_mark.h"

#include <doctest/doctest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/text.h"
#include "platform/real/posix_disk.h"

namespace mw {
namespace {

/// A home of its own, and a place where a share may be mounted.
struct Place {
  std::string base = "/tmp/midwatch-mark-XXXXXX";
  std::unique_ptr<Disk> disk = make_posix_disk();
  std::string before;
  Place() {
    REQUIRE(mkdtemp(base.data()) != nullptr);
    const char* set = ::getenv("MIDWATCH_HOME");
    before = set == nullptr ? "" : set;
    ::setenv("MIDWATCH_HOME", (base + "/home").c_str(), 1);
    std::filesystem::create_directories(base + "/share");
  }
  ~Place() {
    before.empty() ? ::unsetenv("MIDWATCH_HOME") : ::setenv("MIDWATCH_HOME", before.c_str(), 1);
    std::filesystem::remove_all(base);
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  std::string store() const { return base + "/share/run"; }
};

TEST_CASE("a share that is not mounted is distinguished from a run that never was, and from one that is gone") {
  Place p;
  Error error = no_run_in_store(*p.disk, p.store());
  CHECK(contains(error.what, "is empty and no mount point"));
  CHECK(contains(error.hint, "if the run is new"));
  std::filesystem::create_directories(p.base + "/share/other");
  error = no_run_in_store(*p.disk, p.store());  // the share is there, and the run is not
  CHECK_FALSE(contains(error.what, "mount point"));
  CHECK(remembered_run(*p.disk, p.store()).empty());
  remember_store(*p.disk, p.store(), "gsm8k");
  CHECK(remembered_run(*p.disk, p.store()) == "gsm8k");
  CHECK(remembered_run(*p.disk, p.store() + "2").empty());
  error = no_run_in_store(*p.disk, p.store());
  CHECK(contains(error.what, "the run gsm8k was seen at"));
  CHECK(contains(error.hint, "begins anew"));
  std::filesystem::remove_all(p.base + "/share/other");
  error = no_run_in_store(*p.disk, p.store());
  CHECK(contains(error.what, "is empty and no mount point"));
  CHECK(contains(error.hint, "Mount the share. If the run is gone for good, remove "));
  std::filesystem::remove_all(p.base + "/share");
  CHECK(contains(looks_unmounted(*p.disk, p.store()), "there is no folder"));
  CHECK(looks_unmounted(*p.disk, "s3://bucket/run").empty());
}

TEST_CASE("a folder that is only read must be there, and a bucket says so itself") {
  Place p;
  CHECK(must_be_there(*p.disk, p.base + "/share").ok());
  CHECK(must_be_there(*p.disk, "s3://bucket/run").ok());
  const auto none = must_be_there(*p.disk, p.base + "/nothing/run");
  REQUIRE_FALSE(none.ok());
  CHECK(none.error().code == Error::Code::kNotFound);
  CHECK(none.error().what == cat("there is no folder ", p.base, "/nothing/run"));
  CHECK(contains(none.error().hint, "midwatch checkpoint push makes it"));
  CHECK(contains(must_be_there(*p.disk, p.store()).error().hint, "is empty and no mount point"));
  std::ofstream(p.base + "/file") << "x";
  CHECK(must_be_there(*p.disk, p.base + "/file").error().code == Error::Code::kInvalid);
}

}  // namespace
}  // namespace mw
