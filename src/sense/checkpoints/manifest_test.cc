#include "sense/checkpoints/manifest.h"

#include <doctest/doctest.h>

#include "base/text.h"
#include "platform/fake/fake_disk.h"

namespace mw {
namespace {

constexpr std::string_view kWide = "00112233445566778899aabbccddeeff";

TEST_CASE("a manifest is read as it was written, whichever checksum is known") {
  FakeDisk disk;
  CheckpointManifest manifest;
  manifest.path = "/ck/step_40";
  manifest.step = 40;
  manifest.verdict = "whole";
  manifest.at = Time::from_seconds(1768465800);
  manifest.files = {{"both.pt", 3, {5}, 0xabcdef, std::string(kWide)}, {"received.pt", 4, {6}, 0, std::string(kWide)}};
  REQUIRE(save_manifest(disk, "/home", manifest).ok());
  const auto read = load_manifest(disk, "/home", "/ck/step_40");
  REQUIRE(read.ok());
  REQUIRE(read->files.size() == 2);
  CHECK(read->files[0].xxh3 == 0xabcdef);
  CHECK(read->files[0].xxh3_128 == kWide);
  CHECK(read->files[1].xxh3 == 0);
  CHECK(read->files[1].xxh3_128 == kWide);
}

TEST_CASE("what an earlier midwatch wrote is compared by the checksum that it has") {
  const auto old = parse_checkpoint_manifest(
      R"({"schema":"midwatch.checkpoint-manifest/1","path":"/ck/step_40","framework":"","layouts":[],"verdict":"whole",)"
      R"("at":"2026-01-15T08:00:00Z","program":"0.1.0","files":[{"path":"a.pt","bytes":3,"changed_ns":5,)"
      R"("xxh3":"0000000000abcdef"}]})");
  REQUIRE(old.ok());
  REQUIRE(old->files.size() == 1);
  CHECK(old->files[0].xxh3_128.empty());
  CHECK(same_bytes(old->files[0], {"a.pt", 3, {5}, 0xabcdef, std::string(kWide)}));
  CHECK_FALSE(same_bytes(old->files[0], {"a.pt", 3, {5}, 0xabcdee, std::string(kWide)}));
  CHECK_FALSE(same_bytes({"a.pt", 3, {5}, 0, std::string(kWide)}, {"a.pt", 3, {5}, 0, std::string(32, '0')}));
}

TEST_CASE("a file without a checksum makes it no manifest") {
  for (const std::string_view hash :
       {R"("xxh3":"abc")", R"("xxh3":"0000000000000000")", R"("xxh3_128":"0011")", R"("other":1)"}) {
    const auto read = parse_checkpoint_manifest(
        cat(R"({"schema":"midwatch.checkpoint-manifest/1","path":"/ck","files":[{"path":"a",)", hash, "}]}"));
    CHECK_FALSE(read.ok());
  }
}

}  // namespace
}  // namespace mw
