#include "sense/checkpoints/unlike.h"

#include <doctest/doctest.h>

#include <cstring>

#include "base/json.h"
#include "base/text.h"
#include "platform/fake/fake_disk.h"
#include "sense/checkpoints/verify.h"

namespace mw {
namespace {

using State = CheckpointVerdict::State;

/// A file of five F32 tensors, square but for a vector, all of the same number.
std::string weights(int64_t width, float value, std::string_view dtype = "F32") {
  std::string head, data;
  {
    JsonWriter json(head);
    json.begin_object();
    for (int i = 0; i < 5; ++i) {
      const int64_t numbers = i == 0 ? width : width * width;
      const size_t begin = data.size();
      for (int64_t n = 0; n < numbers; ++n) data.append(reinterpret_cast<const char*>(&value), sizeof value);
      json.key(cat("layers.", i, ".weight")).begin_object().key("dtype").string(dtype).key("shape").begin_array();
      json.integer(width);
      if (i > 0) json.integer(width);
      json.end_array().key("data_offsets").begin_array().integer(static_cast<int64_t>(begin));
      json.integer(static_cast<int64_t>(data.size())).end_array().end_object();
    }
    json.end_object();
  }
  const uint64_t size = head.size();
  return std::string(reinterpret_cast<const char*>(&size), sizeof size) + head + data;
}

struct Place {
  FakeDisk disk;
  std::vector<CheckpointManifest> manifests;

  void save(int64_t step, int64_t width, float value, int64_t stated = 0, std::string_view dtype = "F32") {
    disk.set_time(Time::from_seconds(1768465800 + static_cast<double>(step) * 600));
    disk.put(path(step) + "/model.safetensors", weights(width, value, dtype));
    disk.put(path(step) + "/config.json", cat("{\"hidden_size\":", stated == 0 ? width : stated, "}"));
  }
  static std::string path(int64_t step) { return cat("/ck/checkpoint-", step); }
  CheckpointVerdict look(int64_t step, const std::vector<int64_t>& beside, bool deep = false) {
    VerifyOptions options;
    options.now = Time::from_seconds(1768500000);
    options.deep = deep;
    for (const int64_t other : beside) options.beside.push_back(path(other));
    for (const CheckpointManifest& one : manifests) options.others.push_back(&one);
    auto verdict = verify_checkpoint(disk, path(step), options);
    REQUIRE(verdict.ok());
    return std::move(*verdict);
  }
  void remember(int64_t step) {
    const auto kept =
        parse_checkpoint_manifest(manifest_json(manifest_of(look(step, {}, true), Time::from_seconds(1))));
    REQUIRE(kept.ok());
    manifests.push_back(*kept);
  }
};

std::string said(const CheckpointVerdict& verdict) {
  for (const CheckpointProblem& one : verdict.problems) {
    if (one.trouble == Trouble::kUnlike) return cat(one.breaks ? "breaks: " : "", one.what);
  }
  return "";
}

TEST_CASE("settings of another model than the weights are suspect") {
  Place place;
  place.save(10, 8, 1);
  CHECK(place.look(10, {}).state == State::kWhole);
  place.save(10, 8, 1, 12);
  CHECK(place.look(10, {}).state == State::kSuspect);
  CHECK(contains(said(place.look(10, {})), "none of its tensors has the size 12 that config.json states"));
  place.disk.put(Place::path(10) + "/config.json", R"({"text_config":{"hidden_size":8}})");
  CHECK(place.look(10, {}).state == State::kWhole);
  place.disk.put(Place::path(10) + "/config.json", R"({"d_model":12,"hidden_size":"wide"})");
  CHECK(said(place.look(10, {})).empty());
}

TEST_CASE("weights of another shape than before and after are suspect; than on one side they are worth knowing") {
  Place place;
  place.save(10, 8, 1);
  place.save(20, 12, 1.1F);
  place.save(30, 8, 1.2F);
  CHECK(place.look(20, {10, 30}).state == State::kSuspect);
  CHECK(said(place.look(20, {10, 30})) ==
        "breaks: layers.0.weight is F32 [12], and F32 [8] in checkpoint-10 (and 4 more), before and after it: it is of "
        "another model");
  CHECK(place.look(10, {20, 30}).state == State::kWhole);  // begun anew with other settings, as far as one side says
  CHECK(contains(said(place.look(10, {20, 30})), "or the settings were changed"));
  CHECK(place.look(30, {20, 10}).state == State::kWhole);
  place.save(20, 8, 1.1F);
  for (const int64_t step : {10, 20, 30}) CHECK(said(place.look(step, {10, 20, 30})).empty());
  place.save(30, 8, 1.2F, 8, "I32");
  CHECK(contains(said(place.look(30, {20, 10})), "layers.0.weight is I32 [8], and F32 [8] in checkpoint-20"));
  CHECK(place.look(30, {20, 10}).state == State::kWhole);
}

TEST_CASE("weights that blew up are suspect, beside the nearest whole one before") {
  Place place;
  place.save(10, 8, 1);
  place.save(20, 8, 1.5F);
  place.save(30, 8, 20);
  place.save(40, 8, 22);
  place.remember(10);
  CHECK(said(place.look(20, {10}, true)).empty());
  place.remember(20);
  const CheckpointVerdict blown = place.look(30, {20}, true);
  CHECK(blown.state == State::kSuspect);
  CHECK(contains(said(blown), "breaks: the norm of its numbers is 325, and was 24.37 in checkpoint-20"));
  place.remember(30);
  CHECK(place.manifests.back().verdict == "suspect");
  CHECK(place.look(40, {30}, true).state == State::kSuspect);  // it is no excuse that the one before is as bad
  CHECK(said(place.look(20, {30}, true)).empty());             // and nothing speaks against those before
  CHECK(said(place.look(30, {20})).empty());                   // what was not read is not known
  place.save(30, 8, 0.1F);
  CHECK(place.look(30, {20}, true).state == State::kSuspect);
  place.save(30, 12, 20);  // of another shape: its norm says nothing
  CHECK(said(place.look(30, {}, true)).empty());
}

}  // namespace
}  // namespace mw
