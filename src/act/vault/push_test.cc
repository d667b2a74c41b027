// A real folder as the store, real files, and several threads: what the simulation, which has one, cannot try. And what
// becomes of pushes that nobody went on with.
#include "act/vault/push.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "act/vault/catalogue.h"
#include "act/vault/pull.h"
#include "base/digest.h"
#include "base/prng.h"
#include "base/text.h"
#include "platform/fake/fake_disk.h"
#include "platform/fake/fake_store.h"
#include "platform/real/posix_disk.h"

namespace mw::vault {
namespace {

struct Scratch {
  Scratch() {
    root = (std::filesystem::temp_directory_path() / "midwatch-vault-XXXXXX").string();
    REQUIRE(::mkdtemp(root.data()) != nullptr);
  }
  ~Scratch() { std::filesystem::remove_all(root); }
  std::string text(const std::string& path) const {
    std::ifstream file(root + path, std::ios::binary);
    std::ostringstream out;
    out << file.rdbuf();
    return out.str();
  }
  void write(const std::string& path, size_t bytes, uint64_t seed) const {
    std::filesystem::create_directories(std::filesystem::path(root + path).parent_path());
    Prng dice(seed);
    std::string content(bytes, ' ');
    for (char& c : content) c = static_cast<char>(dice.next());
    std::ofstream(root + path, std::ios::binary) << content;
  }
  /// To push its step 7 in small parts.
  PushOptions step_7() const {
    PushOptions options;
    options.folder = root + "/step_7";
    options.step = 7;
    options.owner = "me";
    options.settle = {};
    options.part_bytes = 4096;
    return options;
  }
  std::string root;
};

TEST_CASE("several threads send and receive the same bytes as one") {
  const Scratch scratch;
  for (int i = 0; i < 30; ++i) scratch.write(cat("/step_7/small/", i, ".dat"), static_cast<size_t>(i) * 40, 100 + i);
  scratch.write("/step_7/large.dat", 300'001, 1);
  scratch.write("/step_7/other.dat", 81'920, 2);
  const auto disk = make_posix_disk();
  const auto store = make_folder_store(scratch.root + "/bucket");
  const auto clock = make_posix_clock();
  std::atomic<int64_t> done{0};
  const VaultDoors doors{*disk,
                         *store,
                         *clock,
                         [](Duration) {},
                         [](const std::string&) -> Result<int64_t> { return int64_t{1} << 40; },
                         [&](const Progress& now) { done = now.bytes; }};
  PushOptions options = scratch.step_7();
  options.prefix = "run";
  const auto pushed = push(doors, options);
  REQUIRE_MESSAGE(pushed.ok(), (pushed.ok() ? "" : pushed.error().what));
  CHECK(pushed->latest == Moved::kMoved);
  CHECK(pushed->promise == Promise::kSwap);
  CHECK(pushed->manifest.files.size() == 32);
  CHECK(pushed->manifest.verified == "checksums");
  CHECK(done == pushed->manifest.bytes());
  CHECK(pushed->moved.moved == pushed->manifest.bytes());
  const auto again = push(doors, options);
  REQUIRE(again.ok());
  CHECK(again->there);
  CHECK(again->moved.moved == 0);
  PullOptions back;
  back.prefix = "run";
  back.folder = scratch.root + "/back";
  const auto pulled = pull(doors, back);
  REQUIRE_MESSAGE(pulled.ok(), (pulled.ok() ? "" : pulled.error().what));
  CHECK(pulled->latest);
  for (const ManifestFile& file : pulled->manifest.files) {
    CAPTURE(file.path);
    CHECK(scratch.text("/back/" + file.path) == scratch.text("/step_7/" + file.path));
  }
  const auto found = read_catalogue(doors, {"run"}, true);
  REQUIRE(found.ok());
  REQUIRE(found->checkpoints.size() == 1);
  CHECK(found->checkpoints[0].latest);
  CHECK(found->checkpoints[0].trouble.empty());
  CHECK(found->notes.empty());
}

TEST_CASE("a push by hand mends what was damaged in the store since, and sends nothing else") {
  const Scratch scratch;
  scratch.write("/step_7/large.dat", 30'000, 1);  // in parts
  scratch.write("/step_7/other.dat", 30'000, 2);
  scratch.write("/step_7/small.dat", 500, 3);
  const auto disk = make_posix_disk();
  const auto store = make_folder_store(scratch.root + "/bucket");
  const auto clock = make_posix_clock();
  const VaultDoors doors{
      *disk,  *store, *clock, [](Duration) {}, [](const std::string&) -> Result<int64_t> { return int64_t{1} << 40; },
      nullptr};
  PushOptions options = scratch.step_7();
  const auto pushed = push(doors, options);
  REQUIRE(pushed.ok());
  const std::string files = cat("/bucket/checkpoints/", pushed->manifest.id);
  scratch.write(cat(files, "/large.dat"), 30'000, 8);  // of the same size
  scratch.write(cat(files, "/small.dat"), 500, 9);
  const auto seen = push(doors, options);
  REQUIRE(seen.ok());
  CHECK(seen->there);  // sizes say nothing
  options.repair = true;
  const auto mended = push(doors, options);
  REQUIRE(mended.ok());
  CHECK_FALSE(mended->there);
  CHECK(mended->moved.moved == 30'500);
  CHECK(mended->manifest.pushed == pushed->manifest.pushed);
  PullOptions back;
  back.folder = scratch.root + "/back";
  const auto pulled = pull(doors, back);
  REQUIRE_MESSAGE(pulled.ok(), (pulled.ok() ? "" : pulled.error().what));
  CHECK(scratch.text("/back/large.dat") == scratch.text("/step_7/large.dat"));
  CHECK(scratch.text("/back/small.dat") == scratch.text("/step_7/small.dat"));
  const auto again = push(doors, options);
  REQUIRE(again.ok());
  CHECK(again->there);
  CHECK(again->moved.moved == 0);
}

TEST_CASE("bytes that changed though nobody wrote to the file since it was verified are not shipped") {
  const Scratch scratch;
  scratch.write("/step_7/large.dat", 10'000, 1);
  const auto disk = make_posix_disk();
  const auto store = make_folder_store(scratch.root + "/bucket");
  const auto clock = make_posix_clock();
  const VaultDoors doors{
      *disk,  *store, *clock, [](Duration) {}, [](const std::string&) -> Result<int64_t> { return int64_t{1} << 40; },
      nullptr};
  const Time changed = disk->info(scratch.root + "/step_7/large.dat")->changed;
  mw::CheckpointManifest verified;
  verified.files = {{"large.dat", 10'000, changed, 0, std::string(32, '0')}};
  PushOptions options;
  options.folder = scratch.root + "/step_7";
  options.step = 7;
  options.owner = "me";
  options.settle = {};
  options.verified = &verified;
  const auto rotten = push(doors, options);
  REQUIRE_FALSE(rotten.ok());
  CHECK(rotten.error().code == Error::Code::kInvalid);
  CHECK(contains(rotten.error().what, "large.dat has other bytes than at "));
  CHECK(read_catalogue(doors, {""}, true)->checkpoints.empty());
  verified.files[0].xxh3_128 = content_hash(scratch.text("/step_7/large.dat"));
  CHECK(push(doors, options).ok());
  verified.files[0] = {"large.dat", 10'000, {changed.ns - 1}, 0, std::string(32, '0')};  // written anew since
  options.step = 8;
  CHECK(push(doors, options).ok());
}

TEST_CASE("a checkpoint without room for it is not begun") {
  const Scratch scratch;
  scratch.write("/step_7/large.dat", 10'000, 1);
  const auto disk = make_posix_disk();
  const auto store = make_folder_store(scratch.root + "/bucket");
  const auto clock = make_posix_clock();
  int64_t free = 9'999;
  const VaultDoors doors{
      *disk, *store, *clock, [](Duration) {}, [&](const std::string&) -> Result<int64_t> { return free; }, nullptr};
  PushOptions options;
  options.folder = scratch.root + "/step_7";
  options.step = 7;
  options.owner = "me";
  options.settle = {};
  REQUIRE(push(doors, options).ok());
  PullOptions back;
  back.folder = scratch.root + "/back";
  const auto refused = pull(doors, back);
  CHECK(refused.error().code == Error::Code::kFull);
  CHECK_FALSE(std::filesystem::exists(back.folder));
  free = 10'000;
  CHECK(pull(doors, back).ok());
}

/// A store in which killed pushes left files and an upload, four days ago and today; step 7 is pushed now.
struct LeftBehind {
  explicit LeftBehind(FakeStore::Conditions conditions) : store(1, conditions) {
    store.set_time(Time::from_seconds(1'000'000));
    put("step_3-00000000000000aa/model.bin");  // of which nothing came since
    put("step_4-00000000000000aa/model.bin");  // of which more came today
    put("step_5-00000000000000aa/model.bin");  // that is whole
    put("step_9-00000000000000aa/model.bin");  // beyond latest: somebody may go back to it
    REQUIRE(store.put("run/manifests/step_5-00000000000000aa.json", "{}", {}).ok());
    REQUIRE(store.begin_upload("run/checkpoints/step_2-00000000000000aa/large.bin").ok());
    const Time now = Time::from_seconds(1'000'000 + 4 * 86'400);
    store.set_time(now);
    put("step_4-00000000000000aa/optim.bin");
    REQUIRE(store.begin_upload("run/checkpoints/step_4-00000000000000aa/large.bin").ok());
    disk.set_time(now);
    REQUIRE(disk.make_folders("/step_7").ok());
    disk.write("/step_7/rank_0.dat", "weights");
  }
  void put(const std::string& path) { REQUIRE(store.put("run/checkpoints/" + path, "bytes", {}).ok()); }
  bool has(const std::string& path) const { return store.objects().count("run/checkpoints/" + path) != 0; }
  VaultDoors doors() {
    return {disk,   store, clock, [](Duration) {}, [](const std::string&) -> Result<int64_t> { return INT64_MAX; },
            nullptr};
  }
  Result<Pushed> push_step_7() {
    PushOptions options;
    options.prefix = "run";
    options.folder = "/step_7";
    options.step = 7;
    options.owner = "me";
    options.settle = {};
    options.pace.parallel = 1;
    return push(doors(), options);
  }
  FakeStore store;
  FakeDisk disk{1};
  FakeClock clock;
};

TEST_CASE("what is pushed aside of latest, of a later step, is there and is not what a machine begins from") {
  for (const auto conditions : {FakeStore::Conditions::kKept, FakeStore::Conditions::kIgnored}) {
    LeftBehind left(conditions);
    REQUIRE(left.push_step_7().ok());
    REQUIRE(left.disk.make_folders("/step_8").ok());
    left.disk.write("/step_8/rank_0.dat", "another training's");
    PushOptions options;
    options.prefix = "run";
    options.folder = "/step_8";
    options.step = 8;
    options.owner = "me";
    options.settle = {};
    options.aside = options.alone = true;
    const auto pushed = push(left.doors(), options);
    REQUIRE(pushed.ok());
    CHECK(pushed->latest == Moved::kKept);
    PullOptions back;
    back.prefix = "run";
    back.folder = "/got";
    const auto pulled = pull(left.doors(), back);
    REQUIRE(pulled.ok());
    CHECK(pulled->manifest.step == 7);
    CHECK(pulled->latest);
    back.folder = "/got8";
    back.step = 8;
    CHECK(pull(left.doors(), back).ok());
  }
}

TEST_CASE("a push removes what killed ones left, when it is old and nothing names it") {
  LeftBehind left(FakeStore::Conditions::kKept);
  REQUIRE(left.push_step_7().ok());
  CHECK_FALSE(left.has("step_3-00000000000000aa/model.bin"));
  CHECK(left.has("step_4-00000000000000aa/model.bin"));
  CHECK(left.has("step_5-00000000000000aa/model.bin"));
  CHECK(left.has("step_9-00000000000000aa/model.bin"));
  CHECK(left.store.open_uploads() == 1);  // today's
}

TEST_CASE("who was fenced off removes nothing, nor does anybody where nobody can be fenced off") {
  LeftBehind left(FakeStore::Conditions::kKept);
  bool moved = false;
  left.store.changed_at = [&](const std::string& key) {
    if (key != "run/latest.json") return;
    const auto pointer = parse_pointer(left.store.objects().at(key).bytes);
    moved = pointer.ok() && pointer->step == 7 && pointer->owner == "me";
  };
  left.store.before_call = [&] {
    if (!moved) return;
    moved = false;
    const VaultDoors doors = left.doors();
    const Keys keys{"run"};
    LatestPointer other(doors, keys, "other");
    REQUIRE(other.probe().ok());
    REQUIRE(other.claim(0).ok());
  };
  REQUIRE(left.push_step_7().ok());
  CHECK(left.has("step_3-00000000000000aa/model.bin"));

  LeftBehind append(FakeStore::Conditions::kIgnored);
  REQUIRE(append.push_step_7().ok());
  CHECK(append.has("step_3-00000000000000aa/model.bin"));
  CHECK(append.store.open_uploads() == 1);
}

TEST_CASE("latest does not name a checkpoint of which somebody removed files while it was compared") {
  LeftBehind left(FakeStore::Conditions::kKept);
  const auto tree = walk(left.disk, "/step_7");
  REQUIRE(tree.ok());
  const std::string key = cat("run/checkpoints/", checkpoint_id(7, tree->state()), "/rank_0.dat");
  REQUIRE(left.store.put(key, "weights", {}).ok());
  left.store.changed_at = [&](const std::string& changed) {
    if (changed.starts_with("run/manifests/step_7")) left.store.lose(key);
  };
  CHECK_FALSE(left.push_step_7().ok());
  left.store.changed_at = nullptr;
  REQUIRE(left.push_step_7().ok());
  CHECK(left.store.objects().count(key) == 1);
}

TEST_CASE("conditions that were seen are not tried again for an hour, and only those") {
  FakeStore store(1);
  FakeDisk disk{1};
  FakeClock clock;
  const VaultDoors doors{disk,   store, clock, [](Duration) {}, [](const std::string&) -> Result<int64_t> { return 1; },
                         nullptr};
  SeenConditions seen;
  const Keys keys{"run"};
  const auto calls_of_probe = [&](Promise wanted) {
    const uint64_t before = store.calls();
    LatestPointer latest(doors, keys, "me", &seen);
    CHECK(*latest.probe() == wanted);
    return store.calls() - before;
  };
  CHECK(calls_of_probe(Promise::kSwap) > 5);
  CHECK(calls_of_probe(Promise::kSwap) == 0);
  clock.pass(Duration::seconds(3601));
  CHECK(calls_of_probe(Promise::kSwap) > 5);
  // Somebody else began: what this one saw is worth nothing until it was tried again.
  LatestPointer mine(doors, keys, "me", &seen), other(doors, keys, "other");
  REQUIRE(mine.probe().ok());
  REQUIRE(mine.claim(0).ok());
  REQUIRE(other.probe().ok());
  REQUIRE(other.claim(0).ok());
  Pointer target;
  target.step = 7;
  target.checkpoint = "step_7-00000000000000aa";
  CHECK(*mine.move(target, false) == Moved::kFenced);
  CHECK(calls_of_probe(Promise::kSwap) > 5);
  // An error tells nothing of the store either.
  LatestPointer failing(doors, keys, "third", &seen);
  REQUIRE(failing.probe().ok());
  store.fail_at(0, FakeStore::Fault::kBefore, true);
  CHECK_FALSE(failing.claim(0).ok());
  store.heal();
  CHECK(calls_of_probe(Promise::kSwap) > 5);
}

TEST_CASE("that a store keeps no conditions is never remembered") {
  FakeStore store(1, FakeStore::Conditions::kIgnored);
  FakeDisk disk{1};
  FakeClock clock;
  const VaultDoors doors{disk,   store, clock, [](Duration) {}, [](const std::string&) -> Result<int64_t> { return 1; },
                         nullptr};
  const Keys keys{"run"};
  SeenConditions seen;
  for (int i = 0; i < 2; ++i) {
    const uint64_t before = store.calls();
    LatestPointer latest(doors, keys, "me", &seen);
    CHECK(*latest.probe() == Promise::kAppend);
    CHECK(store.calls() - before > 2);
    CHECK_FALSE(seen.at.has_value());
  }
}

TEST_CASE("of two that receive into one folder the later one says so") {
  const Scratch scratch;
  scratch.write("/step_7/large.dat", 30'000, 1);
  const auto disk = make_posix_disk();
  const auto store = make_folder_store(scratch.root + "/bucket");
  const auto clock = make_posix_clock();
  const std::string partial = scratch.root + "/back.partial-";
  std::string id;
  const auto other = [&](const Progress& now) {  // another process, which was faster
    if (now.bytes < 30'000 || id.empty()) return;
    std::filesystem::rename(partial + id, scratch.root + "/back");
    id.clear();
  };
  const VaultDoors doors{
      *disk, *store, *clock, [](Duration) {}, [](const std::string&) -> Result<int64_t> { return int64_t{1} << 40; },
      other};
  const auto pushed = push(doors, scratch.step_7());
  REQUIRE(pushed.ok());
  id = pushed->manifest.id;
  PullOptions back;
  back.folder = scratch.root + "/back";
  const auto pulled = pull(doors, back);
  REQUIRE_FALSE(pulled.ok());
  CHECK(pulled.error().code == Error::Code::kDenied);
  CHECK(pulled.error().what == cat("another process received into ", scratch.root, "/back at the same time"));
}

}  // namespace
}  // namespace mw::vault
