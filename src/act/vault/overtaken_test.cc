// Pushes that overtake each other, with the other one's turn before each request of the first; and checkpoints that are
// refused before the first request.
#include <doctest/doctest.h>

#include <map>
#include <string>
#include <vector>

#include "act/vault/catalogue.h"
#include "act/vault/pull.h"
#include "act/vault/push.h"
#include "base/digest.h"
#include "base/text.h"
#include "platform/fake/fake_disk.h"
#include "platform/fake/fake_locks.h"
#include "platform/fake/fake_store.h"

namespace mw::vault {
namespace {

const Keys kKeys{"run"};

struct World {
  explicit World(FakeStore::Conditions conditions = FakeStore::Conditions::kKept) : store(1, conditions) {
    const Time now = Time::from_seconds(1'000'000);
    store.set_time(now);
    disk.set_time(now);
    for (const int step : {10, 20}) {
      REQUIRE(disk.make_folders(cat("/ck/step_", step)).ok());
      disk.write(cat("/ck/step_", step, "/rank_0.dat"), cat("weights of ", step));
    }
  }
  VaultDoors doors() {
    return {disk,   store, clock, [](Duration) {}, [](const std::string&) -> Result<int64_t> { return INT64_MAX; },
            nullptr};
  }
  PushOptions options(int64_t step, const std::string& owner) const {
    PushOptions out;
    out.prefix = "run";
    out.folder = cat("/ck/step_", step);
    out.step = step;
    out.owner = owner;
    out.settle = {};
    out.pace.parallel = 1;
    return out;
  }
  Result<Pushed> push_step(int64_t step, const std::string& owner) { return push(doors(), options(step, owner)); }
  FakeStore store;
  FakeDisk disk{1};
  FakeClock clock;
};

TEST_CASE("a push that was overtaken by one of the same files leaves the manifest that latest names") {
  bool over = false;
  for (uint64_t turn = 0; !over; ++turn) {
    CAPTURE(turn);
    World world;
    bool done = false;
    world.store.before_call = [&] {
      if (done || world.store.calls() != turn) return;
      done = true;
      REQUIRE(world.push_step(10, "second").ok());
    };
    REQUIRE(world.push_step(10, "first").ok());
    world.store.before_call = nullptr;
    over = !done;
    const auto found = read_catalogue(world.doors(), kKeys, true);
    REQUIRE(found.ok());
    CHECK(found->notes.empty());
    REQUIRE(found->checkpoints.size() == 1);
    CHECK(found->checkpoints[0].latest);
  }
}

TEST_CASE("whatever overtakes it, a later step is what a machine begins from, unless somebody went back from it") {
  for (const auto conditions : {FakeStore::Conditions::kKept, FakeStore::Conditions::kIgnored}) {
    bool over = false;
    for (uint64_t turn = 0; !over; ++turn) {
      CAPTURE(turn);
      World world(conditions);
      REQUIRE(world.push_step(10, "before").ok());
      bool done = false;
      world.store.before_call = [&] {
        if (done || world.store.calls() != turn) return;
        done = true;
        REQUIRE(world.push_step(10, "second").ok());
      };
      const auto first = world.push_step(20, "first");
      world.store.before_call = nullptr;
      over = !done;
      REQUIRE(first.ok());
      auto found = read_catalogue(world.doors(), kKeys, true);
      REQUIRE(found.ok());
      const RemoteCheckpoint* newest = newest_usable(*found);
      REQUIRE(newest != nullptr);
      CHECK(newest->manifest.step == 20);
      // The next push sees that latest lags behind.
      REQUIRE(world.push_step(10, "third").ok());
      found = read_catalogue(world.doors(), kKeys, true);
      CHECK(found->pointer.step == 20);
      CHECK(found->notes.empty());
      auto back = world.options(10, "fourth");
      back.older = true;
      REQUIRE(push(world.doors(), back).ok());
      REQUIRE(world.push_step(10, "fifth").ok());
      found = read_catalogue(world.doors(), kKeys, true);
      CHECK(found->pointer.step == 10);
      CHECK(newest_usable(*found)->manifest.step == 10);
    }
  }
}

TEST_CASE("a run that ships its own alone does not bring back a later step that it did not get latest to") {
  World world;
  bool moved = false;
  world.store.before_call = [&] {
    if (moved) return;
    for (const auto& [key, object] : world.store.objects()) moved = moved || key.starts_with(kKeys.manifests());
    if (!moved) return;
    const VaultDoors doors = world.doors();
    LatestPointer other(doors, kKeys, "other");
    REQUIRE(other.claim(0).ok());
  };
  REQUIRE(world.push_step(20, "run").ok());
  world.store.before_call = nullptr;
  auto alone = world.options(10, "run again");
  alone.alone = true;
  REQUIRE(push(world.doors(), alone).ok());
  const auto found = read_catalogue(world.doors(), kKeys, true);
  CHECK(found->pointer.step == 10);
  CHECK(newest_usable(*found)->manifest.step == 10);
}

TEST_CASE("names that are not UTF-8 are refused before anything is sent") {
  World world;
  world.disk.write("/ck/step_20/bad\xff\xfe.json", "{}");
  const auto refused = world.push_step(20, "me");
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().code == Error::Code::kInvalid);
  CHECK(contains(refused.error().what, "not UTF-8"));
  CHECK(world.store.calls() == 0);
}

TEST_CASE("what a verification found suspect is not shipped unasked, as long as nobody saved it anew") {
  World world;
  const auto info = world.disk.info("/ck/step_20/rank_0.dat");
  REQUIRE(info.ok());
  mw::CheckpointManifest earlier;
  earlier.verdict = "suspect";
  earlier.files = {{"rank_0.dat", info->size, info->changed, 0, content_hash("weights of 20")}};
  auto options = world.options(20, "me");
  options.verified = &earlier;
  const auto refused = push(world.doors(), options);
  REQUIRE_FALSE(refused.ok());
  CHECK(contains(refused.error().what, "suspect"));
  CHECK(contains(refused.error().hint, "--allow-suspect"));
  CHECK(world.store.calls() == 0);
  options.suspect = true;
  CHECK(push(world.doors(), options).ok());
  options.suspect = false;
  earlier.files[0].changed.ns -= 1;  // saved anew since
  options.owner = "again";
  CHECK(push(world.doors(), options).ok());
}

TEST_CASE("what TRL saved is followed by what its files show to be of Transformers") {
  World world;
  auto first = world.options(10, "me");
  first.framework = "trl";
  REQUIRE(push(world.doors(), first).ok());
  auto next = world.options(20, "me");
  next.framework = "transformers";
  next.one_framework = true;
  CHECK(push(world.doors(), next)->latest == Moved::kMoved);
}

TEST_CASE("a checkpoint of another framework does not take latest, and fences nobody off") {
  World world;
  auto first = world.options(10, "me");
  first.framework = "skyrl";
  REQUIRE(push(world.doors(), first).ok());
  const VaultDoors doors = world.doors();
  const auto before = LatestPointer(doors, kKeys, "anybody").read();
  auto other = world.options(20, "other");
  other.framework = "verl";
  other.one_framework = true;
  const auto refused = push(world.doors(), other);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().what == "latest in the store names step 10, which skyrl saved, and this checkpoint is of verl");
  const auto after = LatestPointer(doors, kKeys, "anybody").read();
  REQUIRE(before.ok());
  REQUIRE(after.ok());
  CHECK(after->epoch == before->epoch);
  other.framework = "skyrl";
  CHECK(push(world.doors(), other)->latest == Moved::kMoved);
  other.framework = "verl";
  other.suspect = true;
  CHECK(push(world.doors(), other).ok());
}

TEST_CASE("what came of a checkpoint that was passed over does not stay") {
  for (const bool other : {true, false}) {
    CAPTURE(other);
    World world;
    if (other) REQUIRE(world.push_step(10, "first").ok());
    REQUIRE(world.push_step(20, "second").ok());
    for (const auto& [key, object] : std::map(world.store.objects())) {
      if (key.starts_with("run/checkpoints/step_20")) world.store.damage(key, std::string(object.bytes.size(), 'x'));
    }
    PullOptions options;
    options.prefix = "run";
    options.folder = "/pulled";
    std::vector<std::string> removed;
    options.discard = [&removed](const std::string& partial) { removed.push_back(partial); };
    CHECK(pull(world.doors(), options).ok() == other);
    REQUIRE(removed.size() == 1);
    CHECK(removed[0].starts_with("/pulled.partial-step_20-"));
  }
}

/// All files of both folders by their paths below them.
std::map<std::string, std::string> files_in(FakeDisk& disk, const std::string& folder) {
  std::map<std::string, std::string> out;
  const auto tree = walk(disk, folder);
  REQUIRE(tree.ok());
  for (const LocalFile& file : tree->files) out[file.path] = disk.content(cat(folder, "/", file.path));
  return out;
}

TEST_CASE("a receiver that stands still while another one finishes never writes into what that one received") {
  bool over = false;
  for (uint64_t turn = 0; !over; ++turn) {
    CAPTURE(turn);
    World world;
    FakeLocks locks;
    world.disk.write("/ck/step_20/rank_1.dat", std::string(200, 'o'));
    PushOptions pushed = world.options(20, "first");
    pushed.part_bytes = 16;
    REQUIRE(push(world.doors(), pushed).ok());
    PullOptions options;
    options.prefix = "run";
    options.folder = "/pulled";
    options.pace.parallel = 1;
    options.locks = &locks;
    std::vector<std::string> removed;
    options.discard = [&removed](const std::string& partial) { removed.push_back(partial); };
    const uint64_t began = world.store.calls();
    bool done = false;
    world.store.before_call = [&] {
      if (done || world.store.calls() != began + turn) return;
      done = true;
      REQUIRE(pull(world.doors(), options).ok());
      CHECK(files_in(world.disk, "/pulled") == files_in(world.disk, "/ck/step_20"));
    };
    const auto first = pull(world.doors(), options);
    over = !done;
    CHECK(files_in(world.disk, "/pulled") == files_in(world.disk, "/ck/step_20"));
    CHECK(first.ok() == over);
    if (over) continue;
    CHECK(contains(first.error().what, "another process received"));
    for (const std::string& folder : removed) CHECK(folder.starts_with("/pulled.partial-"));
  }
}

TEST_CASE("what a killed receiver left is gone on with, and what one left beside it goes") {
  World world;
  FakeLocks locks;
  REQUIRE(world.push_step(20, "first").ok());
  PullOptions options;
  options.prefix = "run";
  options.folder = "/pulled";
  options.locks = &locks;
  const auto ids = manifest_ids(world.store, kKeys);
  REQUIRE(ids->size() == 1);
  const std::string partial = cat("/pulled.partial-", ids->front());
  for (const char* end : {"", ".2"}) {
    REQUIRE(world.disk.make_folders(partial + end).ok());
    world.disk.write(cat(partial, end, "/rank_0.dat"), "weights of 20");
  }
  std::vector<std::string> removed;
  options.discard = [&removed](const std::string& folder) { removed.push_back(folder); };
  const auto pulled = pull(world.doors(), options);
  REQUIRE(pulled.ok());
  CHECK(pulled->moved.moved == 0);
  CHECK(removed == std::vector<std::string>{partial + ".2"});
}

}  // namespace
}  // namespace mw::vault
