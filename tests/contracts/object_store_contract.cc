// What every ObjectStore promises, whatever is behind the door: the fake, a folder, S3's protocol over a server within
// this process, and over a real one where MIDWATCH_TEST_S3 names a bucket ("s3://bucket", reached as the environment
// says).
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <thread>

#include "platform/clock.h"
#include "platform/fake/fake_store.h"
#include "platform/object_store.h"
#include "platform/real/posix_disk.h"
#include "platform/s3/settings.h"
#include "platform/s3/store.h"
#include "tests/contracts/s3_server.h"

namespace mw {
namespace {

using When = PutCondition::When;

std::string text_of(ObjectStore& store, const std::string& key, uint64_t offset = 0, int64_t size = -1) {
  std::string out;
  const auto got = store.get(key, offset, size, [&](std::string_view bytes) -> Result<void> {
    out += bytes;
    return {};
  });
  CHECK_MESSAGE(got.ok(), (got.ok() ? "" : got.error().what));
  return out;
}

void put(ObjectStore& store, const std::string& key, std::string_view bytes) {
  const auto outcome = store.put(key, bytes, {});
  REQUIRE_MESSAGE(outcome.ok(), (outcome.ok() ? "" : outcome.error().what));
  CHECK(outcome->stored);
}

void objects(ObjectStore& store, const std::string& at) {
  const std::string key = at + "/a b/é+%.bin", text = std::string("hello \0world", 12);
  put(store, key, text);
  CHECK(text_of(store, key) == text);
  CHECK(text_of(store, key, 6, 3) == std::string("\0wo", 3));
  CHECK(text_of(store, key, 10, 100) == "ld");
  CHECK(text_of(store, key, 12, 5).empty());
  const auto info = store.head(key);
  REQUIRE(info.ok());
  CHECK(info->size == 12);
  CHECK(info->etag == to_hex(md5(text)));
  put(store, key, "");
  CHECK(store.head(key)->size == 0);
  CHECK(text_of(store, key).empty());
  CHECK(store.remove(key).ok());
  CHECK(store.remove(key).ok());
  CHECK(store.head(key).error().code == Error::Code::kNotFound);
  CHECK(store.get(key, 0, -1, [](std::string_view) -> Result<void> { return {}; }).error().code ==
        Error::Code::kNotFound);
  put(store, key, "x");
  const Error stop{Error::Code::kLimit, "enough", ""};
  CHECK(store.get(key, 0, -1, [&](std::string_view) -> Result<void> { return stop; }).error().code ==
        Error::Code::kLimit);
}

void conditions(ObjectStore& store, const std::string& at) {
  const std::string key = at + "/latest";
  const auto first = store.put(key, "one", {When::kAbsent, ""});
  REQUIRE(first.ok());
  CHECK(first->stored);
  CHECK_FALSE(store.put(key, "two", {When::kAbsent, ""})->stored);
  CHECK(text_of(store, key) == "one");
  const std::string etag = store.head(key)->etag;
  CHECK(first->etag == etag);
  CHECK_FALSE(store.put(key, "three", {When::kMatches, to_hex(md5("other"))})->stored);
  CHECK(text_of(store, key) == "one");
  const auto swapped = store.put(key, "four", {When::kMatches, etag});
  REQUIRE(swapped.ok());
  CHECK(swapped->stored);
  CHECK_FALSE(store.put(key, "five", {When::kMatches, etag})->stored);
  CHECK(store.put(key, "six", {When::kMatches, swapped->etag})->stored);
  CHECK(text_of(store, key) == "six");
  CHECK_FALSE(store.put(at + "/none", "x", {When::kMatches, etag})->stored);
  CHECK_FALSE(store.head(at + "/none").ok());
}

void listing(ObjectStore& store, const std::string& at) {
  const std::vector<std::string> names = {"/l/a", "/l/a.b", "/l/a/b", "/l/a/c d", "/l/b", "/lx"};
  for (const std::string& name : names) put(store, at + name, name);
  const auto all = list_all(store, at + "/l/");
  REQUIRE_MESSAGE(all.ok(), (all.ok() ? "" : all.error().what));
  std::vector<std::string> keys;
  for (const ObjectInfo& one : *all) keys.push_back(one.key.substr(at.size()));
  // A folder cannot hold both a file and a folder of one name.
  CHECK(keys == std::vector<std::string>(names.begin(), names.end() - 1));
  CHECK((*all)[1].size == 6);
  CHECK((*all)[1].etag == to_hex(md5("/l/a.b")));
  CHECK(list_all(store, at + "/l")->size() == 6);
  CHECK(list_all(store, at + "/nothing/")->empty());
}

void listing_of_folders(ObjectStore& store, const std::string& at) {
  for (const char* name : {"/l/a.b", "/l/a/b", "/l/a/c d", "/l/b", "/lx"}) put(store, at + name, name);
  const auto all = list_all(store, at + "/l/");
  REQUIRE(all.ok());
  std::string keys;
  for (const ObjectInfo& one : *all) keys += one.key.substr(at.size()) + ";";
  CHECK(keys == "/l/a.b;/l/a/b;/l/a/c d;/l/b;");
  CHECK(list_all(store, at + "/l")->size() == 5);
  CHECK(list_all(store, at + "/nothing/")->empty());
}

void uploading(ObjectStore& store, const std::string& at, size_t part_bytes) {
  const std::string key = at + "/large/file";
  const auto id = store.begin_upload(key);
  REQUIRE_MESSAGE(id.ok(), (id.ok() ? "" : id.error().what));
  const std::string one(part_bytes, 'a'), two(part_bytes, 'b'), three = "the end";
  CHECK(store.put_part(key, *id, 2, two).ok());
  CHECK(store.put_part(key, *id, 1, "other").ok());
  const auto again = store.put_part(key, *id, 1, one);
  REQUIRE(again.ok());
  CHECK(again->etag == to_hex(md5(one)));
  CHECK(store.put_part(key, *id, 3, three).ok());
  CHECK_FALSE(store.head(key).ok());
  const auto parts = store.parts(key, *id);
  REQUIRE(parts.ok());
  REQUIRE(parts->size() == 3);
  CHECK((*parts)[0].size == static_cast<int64_t>(part_bytes));
  CHECK((*parts)[2].etag == to_hex(md5(three)));
  bool listed = false;
  const auto uploads = store.uploads(at + "/large/");
  REQUIRE(uploads.ok());
  for (const OpenUpload& open : *uploads) listed = listed || (open.key == key && open.id == *id);
  CHECK(listed);
  auto wrong = *parts;
  wrong[1].etag = to_hex(md5("something else"));
  CHECK_FALSE(store.complete(key, *id, wrong).ok());
  CHECK_FALSE(store.head(key).ok());
  const auto done = store.complete(key, *id, *parts);
  REQUIRE_MESSAGE(done.ok(), (done.ok() ? "" : done.error().what));
  CHECK(store.head(key)->size == static_cast<int64_t>(2 * part_bytes + three.size()));
  CHECK(text_of(store, key, part_bytes - 1, 2) == "ab");
  CHECK(text_of(store, key, 2 * part_bytes, -1) == three);
  CHECK(store.put_part(key, *id, 1, "x").error().code == Error::Code::kNotFound);
}

void aborting(ObjectStore& store, const std::string& at) {
  const std::string key = at + "/gone/file";
  const auto id = store.begin_upload(key);
  REQUIRE(id.ok());
  CHECK(store.put_part(key, *id, 1, "abc").ok());
  CHECK(store.abort(key, *id).ok());
  CHECK(store.abort(key, *id).ok());
  CHECK(store.uploads(at + "/gone/")->empty());
  CHECK(store.parts(key, *id).error().code == Error::Code::kNotFound);
}

void run_contract(ObjectStore& store, const std::string& at, bool folder = false, size_t part_bytes = 100) {
  SUBCASE("objects") { objects(store, at); }
  SUBCASE("conditions") { conditions(store, at); }
  SUBCASE("listing") { folder ? listing_of_folders(store, at) : listing(store, at); }
  SUBCASE("uploading") { uploading(store, at, part_bytes); }
  SUBCASE("aborting") { aborting(store, at); }
}

s3::Settings local_settings() {
  s3::Settings settings;
  settings.endpoint = "http://127.0.0.1:1";
  settings.region = "us-east-1";
  settings.credentials = {"KEY", "SECRET", ""};
  return settings;
}

TEST_CASE("object store contract: fake") {
  FakeStore store;
  store.set_page(2);
  run_contract(store, "run");
}

TEST_CASE("object store contract: folder") {
  std::string root = (std::filesystem::temp_directory_path() / "midwatch-store-XXXXXX").string();
  REQUIRE(::mkdtemp(root.data()) != nullptr);
  run_contract(*make_folder_store(root), "run", true);
  std::filesystem::remove_all(root);
}

TEST_CASE("object store contract: S3's protocol") {
  for (const bool bare : {false, true}) {
    S3Server server;
    server.behind.set_page(2);
    server.bare_etags = bare;
    const auto clock = make_posix_clock();
    run_contract(*s3::make_store(local_settings(), "bucket", server, *clock, [](Duration) {}), "run");
  }
}

TEST_CASE("object store contract: a real S3 server") {
  const char* const bucket = std::getenv("MIDWATCH_TEST_S3");
  if (bucket == nullptr) return;  // tests/e2e/s3.py starts one and says where it is
  const std::string name = std::string(bucket).substr(5);
  const auto disk = make_posix_disk();
  const auto settings = s3::find_settings(
      {}, name,
      [](std::string_view variable) -> std::optional<std::string> {
        const char* const value = std::getenv(std::string(variable).c_str());
        return value == nullptr ? std::nullopt : std::optional<std::string>(value);
      },
      *disk);
  REQUIRE(settings.ok());
  const auto clock = make_posix_clock();
  const auto http = make_http(true);
  const auto store = s3::make_store(*settings, name, *http, *clock, [](Duration) {});
  const std::string at = cat("contract-", hex_of(static_cast<uint64_t>(clock->now().ns)));
  run_contract(*store, at, false, size_t{5} << 20);
}

TEST_CASE("a folder never leads out of itself") {
  std::string root = (std::filesystem::temp_directory_path() / "midwatch-store-XXXXXX").string();
  REQUIRE(::mkdtemp(root.data()) != nullptr);
  const auto store = make_folder_store(root + "/bucket");
  for (const char* key : {"../x", "/x", "a/../../x", "a//b", "", ".", "a\nb", ".midwatch-store/lock", "a\\b"}) {
    CAPTURE(key);
    CHECK_FALSE(store->put(key, "x", {}).ok());
    CHECK_FALSE(store->head(key).ok());
    CHECK_FALSE(store->begin_upload(key).ok());
  }
  CHECK_FALSE(std::filesystem::exists(root + "/x"));
  std::filesystem::remove_all(root);
}

TEST_CASE("objects of a folder are swapped by one at a time, whoever waits goes on, and nothing else waits") {
  std::string root = (std::filesystem::temp_directory_path() / "midwatch-store-XXXXXX").string();
  REQUIRE(::mkdtemp(root.data()) != nullptr);
  const auto store = make_folder_store(root);
  REQUIRE(store->put("run/a", "nought", {}).ok());
  const auto swap = [&](const char* text) {
    const auto info = store->head("run/a");
    const auto put = store->put("run/a", text, {When::kMatches, info.ok() ? info->etag : ""});
    return put.ok() && put->stored;
  };
  REQUIRE(swap("one"));
  const int lock = ::open((root + "/.midwatch-store/lock").c_str(), O_RDWR | O_CLOEXEC);
  REQUIRE(lock >= 0);
  REQUIRE(::flock(lock, LOCK_EX | LOCK_NB) == 0);  // nobody holds it between two puts
  std::atomic<bool> stored{false};
  CHECK(store->put("run/b", "whoever holds the lock may be frozen", {}).ok());
  CHECK(store->put("run/c", "likewise", {When::kAbsent, ""})->stored);
  std::thread other([&] { stored = swap("two"); });
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  CHECK(text_of(*store, "run/a") == "one");
  ::close(lock);
  other.join();
  CHECK(stored);
  CHECK(text_of(*store, "run/a") == "two");
  std::filesystem::remove_all(root);
}

TEST_CASE("what may pass is tried again, and nothing else") {
  S3Server server;
  const auto clock = make_posix_clock();
  std::vector<double> waits;
  const auto store = s3::make_store(local_settings(), "bucket", server, *clock,
                                    [&](Duration wait) { waits.push_back(wait.seconds()); });
  server.statuses = {503, -1, 500, -2};
  CHECK(store->put("k", "bytes", {})->stored);
  REQUIRE(waits.size() == 4);
  CHECK(waits[0] <= 0.2);
  CHECK(waits[3] >= 0.8);
  server.statuses = {-3, 0};
  CHECK(text_of(*store, "k") == "bytes");
  server.statuses = {-2};
  CHECK_FALSE(store->put("new", "x", {When::kAbsent, ""})->stored);  // it was this very put
  server.requests = 0;
  server.statuses = {403, 0};
  const auto denied = store->head("k");
  CHECK(denied.error().code == Error::Code::kDenied);
  CHECK(server.requests == 1);
  server.statuses.assign(100, 503);
  server.requests = 0;
  CHECK(store->head("k").error().code == Error::Code::kIo);
  CHECK(server.requests == 9);
}

}  // namespace
}  // namespace mw
