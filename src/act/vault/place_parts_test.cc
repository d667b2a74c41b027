#include "act/vault/place_parts.h"

#include <doctest/doctest.h>

#include <map>
#include <vector>

#include "act/vault/pull.h"
#include "act/vault/push.h"
#include "base/text.h"
#include "platform/fake/fake_disk.h"
#include "platform/fake/fake_locks.h"
#include "platform/fake/fake_store.h"

namespace mw::vault {
namespace {

/// Two roles of step 10, as they are shipped and received.
struct World {
  World() {
    disk.set_time(Time::from_seconds(1'000'000));
    put("/ck/_actor/global_step10/rank_0.dat", "the actor");
    put("/ck/_critic/global_step10/rank_0.dat", "the critic");
    PushOptions options;
    options.prefix = "run";
    options.folder = "/ck/_actor/global_step10";
    options.own = "_actor/global_step10";
    options.parts = {{"_critic/global_step10", "/ck/_critic/global_step10"}};
    options.step = 10;
    options.owner = "me";
    options.settle = {};
    options.pace.parallel = 1;
    REQUIRE(push(doors(), options).ok());
  }
  void put(const std::string& path, const std::string& bytes) {
    REQUIRE(disk.make_folders(path.substr(0, path.rfind('/'))).ok());
    disk.write(path, bytes);
  }
  VaultDoors doors() {
    return {disk,   store, clock, [](Duration) {}, [](const std::string&) -> Result<int64_t> { return INT64_MAX; },
            nullptr};
  }
  Result<Pulled> receive(const std::string& folder) {
    REQUIRE(disk.make_folders(folder.substr(0, folder.rfind('/'))).ok());
    PullOptions options;
    options.prefix = "run";
    options.folder = folder;
    options.locks = &locks;
    options.discard = [this](const std::string& path) { removed.push_back(path); };
    return pull(doors(), options);
  }
  FakeStore store{1, FakeStore::Conditions::kKept};
  FakeDisk disk{1};
  FakeClock clock;
  FakeLocks locks;
  std::vector<std::string> removed;
};

TEST_CASE("each role of a step comes back into its own folder") {
  World world;
  const auto pulled = world.receive("/new/_actor/global_step10");
  REQUIRE(pulled.ok());
  CHECK(world.disk.content("/new/_actor/global_step10/rank_0.dat") == "the actor");
  CHECK(world.disk.content("/new/_critic/global_step10/rank_0.dat") == "the critic");
  CHECK(pulled->manifest.beside == std::vector<std::string>{"_critic/global_step10"});
}

TEST_CASE("what has several parts does not come into a folder of any name") {
  World world;
  const auto pulled = world.receive("/got");
  REQUIRE_FALSE(pulled.ok());
  CHECK(contains(pulled.error().hint, "/got/_actor/global_step10"));
  CHECK_FALSE(world.disk.exists("/got/rank_0.dat"));
}

TEST_CASE("a part that is there already is kept where it is the same, and nothing comes where it is another") {
  for (const bool same : {true, false}) {
    CAPTURE(same);
    World world;
    world.put("/new/_critic/global_step10/rank_0.dat", same ? "the critic" : "a stranger");
    CHECK(world.receive("/new/_actor/global_step10").ok() == same);
    CHECK(world.disk.exists("/new/_actor/global_step10/rank_0.dat") == same);
    CHECK(world.disk.content("/new/_critic/global_step10/rank_0.dat") == (same ? "the critic" : "a stranger"));
  }
}

TEST_CASE("a manifest whose parts lead out of their folder is refused") {
  World world;
  for (const auto& [key, object] : world.store.objects()) {
    if (!key.starts_with("run/manifests/")) continue;
    auto manifest = parse_manifest(object.bytes);
    REQUIRE(manifest.ok());
    CHECK(manifest->own == "_actor/global_step10");
    for (const char* part : {"../_critic/global_step10", "/etc", "_actor/global_step10/inner", "elsewhere"}) {
      manifest->beside = {part};
      CHECK_FALSE(parse_manifest(manifest_json(*manifest)).ok());
    }
  }
}

}  // namespace
}  // namespace mw::vault
