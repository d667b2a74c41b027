#include "platform/real/posix_disk.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "base/text.h"

namespace mw {
namespace {

TEST_CASE("a link that leads to itself leads nowhere, as one whose target is gone") {
  std::string folder = "/tmp/midwatch-disk-XXXXXX";
  REQUIRE(::mkdtemp(folder.data()) != nullptr);
  const auto disk = make_posix_disk();
  for (const auto& [name, target] : {std::pair("loop", "loop"), std::pair("gone", "nowhere")}) {
    const std::string link = cat(folder, "/", name);
    REQUIRE(::symlink(target, link.c_str()) == 0);
    const auto info = disk->info(link);
    REQUIRE_FALSE(info.ok());
    CHECK(info.error().code == Error::Code::kNotFound);  // not kIo, which is asked again
    CHECK(::unlink(link.c_str()) == 0);
  }
  CHECK(::rmdir(folder.c_str()) == 0);
}

}  // namespace
}  // namespace mw
