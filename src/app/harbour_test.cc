#include "app/harbour.h"

#include <doctest/doctest.h>

#include <cstdlib>

#include "base/text.h"
#include "platform/real/posix_disk.h"

namespace mw {

TEST_CASE("a run lies below a bucket; where runs are looked for the bucket itself is a place") {
  ::setenv("AWS_ACCESS_KEY_ID", "id", 0);
  ::setenv("AWS_SECRET_ACCESS_KEY", "secret", 0);
  const auto disk = make_posix_disk();
  StoreAddress address;
  for (const char* const place : {"s3://runs", "s3://runs/"}) {
    address.place = place;
    address.root = false;
    CHECK_FALSE(open_harbour(*disk, address).ok());
    address.root = true;
    const auto harbour = open_harbour(*disk, address);
    REQUIRE(harbour.ok());
    CHECK((*harbour)->prefix.empty());
  }
  address.place = "s3://";
  CHECK_FALSE(open_harbour(*disk, address).ok());
}

TEST_CASE("a store at the root of a mount is refused before a run begins, with what to name instead") {
  const auto disk = make_posix_disk();
  const auto refused = must_take_files(*disk, "/proc/");
  REQUIRE_FALSE(refused.ok());
  CHECK(contains(refused.error().what, "a mounted file system of its own"));
  CHECK(contains(refused.error().hint, "/proc/RUN"));
  CHECK_FALSE(must_take_files(*disk, "file:///proc").ok());
  for (const char* fine : {"/proc/self", "/usr", "/usr/not-there/run", "s3://bucket/run"}) {
    CAPTURE(fine);
    CHECK(must_take_files(*disk, fine).ok());
  }
}

}  // namespace mw
