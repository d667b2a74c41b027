#include "read/discover.h"

#include <doctest/doctest.h>

#include "base/text.h"
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

}  // namespace
}  // namespace mw
