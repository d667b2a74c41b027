#include "act/vault/manifest.h"

#include <doctest/doctest.h>

#include "base/digest.h"
#include "base/text.h"

namespace mw::vault {
namespace {

CheckpointManifest one() {
  CheckpointManifest manifest;
  manifest.id = "step_40-0123456789abcdef";
  manifest.step = 40;
  manifest.name = "global_step_40";
  manifest.epoch = 3;
  manifest.run = {{"wandb_run_id", "a\"b"}};
  const std::string hash = content_hash("x");
  manifest.files = {{"a/b c.bin", 20, hash, 16, {hash, hash}}, {"empty", 0, content_hash(""), 16, {}}};
  return manifest;
}

std::string with(std::string text, std::string_view from, std::string_view to) {
  const size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  text.replace(at, from.size(), to);
  // Its checksum is made right again: what is wrong inside must be found by itself.
  const size_t body = text.find("\"content\":") + 10;
  const std::string content = text.substr(body, text.size() - body - 2);
  const size_t sum = text.find("xxh3_128\":\"") + 11;
  return text.replace(sum, 32, content_hash(content));
}

TEST_CASE("a manifest comes back as it was, and no changed byte goes unseen") {
  const std::string text = manifest_json(one());
  const auto back = parse_manifest(text);
  REQUIRE(back.ok());
  CHECK(manifest_json(*back) == text);
  CHECK(back->bytes() == 20);
  CHECK(back->run == one().run);
  for (size_t i = 0; i < text.size(); ++i) {
    std::string other = text;
    other[i] ^= 1;
    CAPTURE(i);
    CHECK_FALSE(parse_manifest(other).ok());
  }
  CHECK_FALSE(parse_manifest(text.substr(0, text.size() - 1)).ok());
  CHECK_FALSE(parse_manifest("").ok());
}

TEST_CASE("a manifest that leads out of its checkpoint is refused as a whole") {
  const std::string text = manifest_json(one());
  for (const char* path : {"../b", "/etc/passwd", "a/../../b", "a//b", "a/./b", "a\\\\b", "", "a/b\\n", "a/"}) {
    CAPTURE(path);
    CHECK_FALSE(parse_manifest(with(text, "a/b c.bin", path)).ok());
  }
  CHECK_FALSE(parse_manifest(with(text, "\"empty\"", "\"a/b c.bin\"")).ok());
  CHECK_FALSE(parse_manifest(with(text, "\"empty\"", "\"a\"")).ok());
  CHECK_FALSE(parse_manifest(with(text, "\"size\":20", "\"size\":40")).ok());
  CHECK_FALSE(parse_manifest(with(text, "\"size\":20", "\"size\":-1")).ok());
  CHECK_FALSE(parse_manifest(with(text, "\"part_size\":16", "\"part_size\":0")).ok());
  CHECK_FALSE(parse_manifest(with(text, "\"part_size\":16", "\"part_size\":4611686018427387904")).ok());
  CHECK_FALSE(parse_manifest(with(text, "\"step\":40", "\"step\":41")).ok());
  CHECK(parse_manifest(with(text, "a/b c.bin", "a/.b..c")).ok());
}

TEST_CASE("a pointer comes back as it was") {
  Pointer pointer;
  pointer.epoch = 7;
  pointer.owner = "o";
  CHECK(*parse_pointer(pointer_json(pointer)) == pointer);
  pointer.step = 40;
  pointer.checkpoint = "step_40-0123456789abcdef";
  pointer.manifest_hash = content_hash("m");
  pointer.named_in = 6;
  pointer.older = true;
  pointer.back_in = 5;
  pointer.at = *parse_time("2026-11-24T12:00:49Z");
  const std::string text = pointer_json(pointer);
  CHECK(*parse_pointer(text) == pointer);
  CHECK_FALSE(parse_pointer(with(text, "\"step\":40", "\"step\":41")).ok());
  CHECK_FALSE(parse_pointer(with(text, "step_40-", "step_040-")).ok());
  CHECK_FALSE(parse_pointer(manifest_json(one())).ok());
}

TEST_CASE("ids have a step and a state") {
  CHECK(step_of_id(checkpoint_id(0, "0123456789abcdef")) == 0);
  for (const char* wrong :
       {"step_40", "step_-1-0123456789abcdef", "step_40-0123456789abcdeg", "step_04-0123456789abcdef",
        "step_40-0123456789abcdef0", "../x", "step_9999999999999-0123456789abcdef"}) {
    CHECK_FALSE(step_of_id(wrong));
  }
  CHECK(Keys{""}.manifest("i") == "manifests/i.json");
  CHECK(Keys{"a/b"}.files("i") == "a/b/checkpoints/i/");
}

}  // namespace
}  // namespace mw::vault
