#include "sense/checkpoints/unlike.h"

#include <doctest/doctest.h>

#include <cstring>

#include "base/checksum.h"
#include "base/json.h"
#include "base/text.h"
#include "platform/fake/fake_disk.h"
#include "sense/checkpoints/samples_for_test.h"
#include "sense/checkpoints/torch_save_for_test.h"
#include "sense/checkpoints/verify.h"

namespace mw {
namespace {

using State = CheckpointVerdict::State;

/// A file of five F32 tensors, square but for a vector, all of the same number.
std::string weights(int64_t width, float value, std::string_view dtype = "F32", std::string_view prefix = "layers.") {
  std::string head, data;
  {
    JsonWriter json(head);
    json.begin_object();
    for (int i = 0; i < 5; ++i) {
      const int64_t numbers = i == 0 ? width : width * width;
      const size_t begin = data.size();
      for (int64_t n = 0; n < numbers; ++n) data.append(reinterpret_cast<const char*>(&value), sizeof value);
      json.key(cat(prefix, i, ".weight")).begin_object().key("dtype").string(dtype).key("shape").begin_array();
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

/// A file of square F32 tensors of these names.
std::string named(const std::vector<std::string>& names, int64_t width = 4) {
  std::string head = "{";
  const int64_t bytes = 4 * width * width;
  for (size_t i = 0; i < names.size(); ++i) {
    const int64_t at = static_cast<int64_t>(i) * bytes;
    head += cat(i == 0 ? "\"" : ",\"", names[i], "\":{\"dtype\":\"F32\",\"shape\":[", width, ",", width,
                "],\"data_offsets\":[", at, ",", at + bytes, "]}");
  }
  head += "}";
  const uint64_t size = head.size();
  return std::string(reinterpret_cast<const char*>(&size), sizeof size) + head +
         std::string(names.size() * static_cast<size_t>(bytes), '\x3f');
}

TEST_CASE("an embedding shows its model's width, however few other tensors there are") {
  Place place;
  place.save(10, 4, 1, 8);
  place.disk.put(Place::path(10) + "/model.safetensors", named({"model.embed_tokens.weight", "lm_head.weight"}));
  CHECK(place.look(10, {}).state == State::kSuspect);
  CHECK(contains(said(place.look(10, {})), "none of its tensors has the size 8 that config.json states"));
  place.disk.put(Place::path(10) + "/model.safetensors", named({"v_head.weight", "other.weight"}));
  CHECK(place.look(10, {}).state == State::kWhole);
}

TEST_CASE("a tensor that was there before and after is missed; where one side has it, it is worth knowing at most") {
  Place place;
  const std::vector<std::string> all = {"m.weight", "n.bias", "n.weight"}, less = {"m.weight", "n.weight"};
  place.disk.set_time(Time::from_seconds(1768465800));
  const auto put = [&](int64_t step, const std::vector<std::string>& names, const std::string& file = "model") {
    place.disk.put(cat(Place::path(step), "/", file, ".safetensors"), named(names));
  };
  for (const int64_t step : {20, 30, 40}) put(step, step == 30 ? less : all);
  const CheckpointVerdict lost = place.look(30, {20, 40});
  CHECK(lost.state == State::kSuspect);
  CHECK(said(lost) ==
        "breaks: n.bias is not in it, and is F32 [4, 4] in checkpoint-20 and in checkpoint-40, before and after it");
  CHECK(place.look(30, {20}).state == State::kWhole);
  CHECK(said(place.look(30, {20})) ==
        "n.bias is not in it, and is F32 [4, 4] in checkpoint-20: it was lost, or the settings were changed");
  CHECK(said(place.look(30, {40})).empty());
  for (const int64_t step : {20, 40}) CHECK(said(place.look(step, {30})).empty());
  put(40, less);  // gone for good
  CHECK(said(place.look(30, {20, 40})).empty());
  put(40, all);
  put(30, {"n.bias"}, "model-more");  // it lies in another file now
  CHECK(said(place.look(30, {20, 40})).empty());
  put(30, {"other.weight"}, "model-more");
  put(30, {"m.weight", "n.weight", "merged.weight"});  // others came, and one went
  CHECK(said(place.look(30, {20})).empty());
  place.disk.unlink(Place::path(30) + "/model-more.safetensors");
  put(30, {"m.weight"});  // an adapter in the place of the whole
  CHECK(said(place.look(30, {20, 40})).empty());
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

TEST_CASE("what began at zero grows many times") {
  Place place;
  place.save(1, 8, 1e-5F);  // a new head after one step
  place.save(40, 8, 4e-4F);
  place.remember(1);
  CHECK(said(place.look(40, {1}, true)).empty());
}

// ---- what torch wrote: real samples, and copies of them in which a matrix lies the other way round

void replace_all(std::string& text, std::string_view what, std::string_view with) {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size()))
    text.replace(at, what.size(), with);
}

std::string little(uint32_t number) {
  std::string out(4, '\0');
  for (size_t i = 0; i < 4; ++i) out[i] = static_cast<char>((number >> (8 * i)) & 0xff);
  return out;
}

/// In a pickle: the tuple (16, 8) becomes (8, 16).
constexpr std::string_view kTall("K\x10K\x08\x86"), kWide("K\x08K\x10\x86");

/// Of an archive the pickle is what lies between its name and its end, and its checksum stands in two places.
std::string turned(std::string content) {
  const size_t tall = content.find(kTall);
  if (tall == std::string::npos) return content;
  if (!content.starts_with("PK")) {
    replace_all(content, kTall, kWide);
    return content;
  }
  const size_t head = content.rfind("PK\x03\x04", tall);
  const auto number = [&](size_t at, size_t bytes) {
    size_t out = 0;
    for (size_t i = 0; i < bytes; ++i)
      out |= static_cast<size_t>(static_cast<unsigned char>(content[at + i])) << (8 * i);
    return out;
  };
  const size_t begin = head + 30 + number(head + 26, 2) + number(head + 28, 2);
  const size_t end = content.find("PK\x07\x08", begin);  // torch.save puts checksum and size behind each member
  REQUIRE(end != std::string::npos);
  std::string pickle = content.substr(begin, end - begin);
  const std::string before = little(crc32_ieee(pickle, 0));
  replace_all(pickle, kTall, kWide);
  content.replace(begin, pickle.size(), pickle);
  replace_all(content, before, little(crc32_ieee(pickle, 0)));
  return content;
}

struct Samples {
  FakeDisk disk;
  Samples() { testing::put_samples(disk); }
  /// Copies a sample's checkpoint to /turned/step_N.
  std::string copy(const std::string& from, int64_t step, bool turn) {
    std::string to = cat("/turned/step_", step);
    for (const std::string& path : disk.paths()) {
      if (!path.starts_with(from + "/")) continue;
      const std::string content = disk.content(path);
      disk.put(to + path.substr(from.size()), turn ? turned(content) : content);
    }
    return to;
  }
  std::string said_of(const std::string& path, const std::vector<std::string>& beside) {
    VerifyOptions options;
    options.now = Time::from_seconds(1768500000);
    options.beside = beside;
    const auto verdict = verify_checkpoint(disk, path, options);
    REQUIRE(verdict.ok());
    return said(*verdict);
  }
};

TEST_CASE("shapes of torch.save and of torch.distributed.checkpoint are compared as those of safetensors are") {
  struct Case {
    const char *before, *own, *tensor;
  };
  for (const Case& one :
       {Case{"/ck/torch-bin/step_10", "/ck/torch-bin/step_20", "is F16 [16, 8], and F16 [8, 16]"},
        Case{"/ck/prime-rl/checkpoints/step_10", "/ck/prime-rl/checkpoints/step_20", "is [16, 8], and [8, 16]"}}) {
    CAPTURE(std::string(one.own));
    Samples at;
    CHECK(at.said_of(one.own, {one.before}).empty());
    const std::string before = at.copy(one.before, 10, true), own = at.copy(one.own, 20, false),
                      after = at.copy(one.before, 30, true);
    const std::string both = at.said_of(own, {before, after}), side = at.said_of(own, {before});
    CAPTURE(both);
    CHECK(both.starts_with("breaks: "));
    CHECK(contains(both, one.tensor));
    CHECK_FALSE(side.starts_with("breaks: "));
    CHECK(contains(side, "or the settings were changed"));
    at.copy(one.own, 30, false);
    CHECK_FALSE(at.said_of(own, {before, after}).starts_with("breaks: "));  // the two sides do not agree
  }
}

TEST_CASE("a whole model by torch.save is held against config.json, too") {
  Samples at;
  const std::string config = "/ck/torch-bin/step_20/config.json";
  at.disk.put("/ck/torch-bin/step_20/pytorch_model-more.bin",
              at.disk.content("/ck/torch-bin/step_20/pytorch_model-00001-of-00003.bin"));
  CHECK(at.said_of("/ck/torch-bin/step_20", {}).empty());
  std::string text = at.disk.content(config);
  replace_all(text, "\"hidden_size\": 8", "\"hidden_size\": 12");
  at.disk.put(config, text);
  CHECK(contains(at.said_of("/ck/torch-bin/step_20", {}), "none of its tensors has the size 12"));
}

TEST_CASE("of every real sample no tensor is unlike that of the step before") {
  Samples at;
  for (const testing::Sample& sample : testing::samples()) {
    CAPTURE(std::string(sample.layout));
    if (*sample.before != '\0') CHECK(at.said_of(cat("/ck/", sample.path), {cat("/ck/", sample.before)}).empty());
  }
}

TEST_CASE("settings of another model than what torch.distributed.checkpoint saved, wherever they lie beside it") {
  struct Place {
    std::string sample, config;
  };
  const Place kPlaces[] = {{"skyrl-megatron/global_step_20", "policy/huggingface/config.json"},
                           {"verl-megatron/global_step_20", "actor/model/huggingface/config.json"},
                           {"prime-rl/checkpoints/step_20", "trainer/config.json"},
                           {"nemo-rl/step_20", "policy/config.json"}};
  for (const Place& place : kPlaces) {
    const std::string &sample = place.sample, &config = place.config;
    CAPTURE(sample);
    Samples at;
    const std::string path = cat("/ck/", sample);
    at.disk.put(cat(path, "/", config), R"({"hidden_size": 8})");
    CHECK(at.said_of(path, {}).empty());
    at.disk.put(cat(path, "/", config), R"({"hidden_size": 12})");
    CHECK(contains(at.said_of(path, {}), cat("breaks: none of its tensors has the size 12 that ", config)));
    at.disk.put(cat(path, "/", config), R"({"hidden_size": "wide"})");
    CHECK(at.said_of(path, {}).empty());
  }
  Samples at;  // of all roles below it: whose they are is not known
  at.disk.put("/ck/prime-rl/checkpoints/step_20/config.json", R"({"hidden_size": 12})");
  CHECK(at.said_of("/ck/prime-rl/checkpoints/step_20", {}).empty());
  at.disk.unlink("/ck/verl-megatron/global_step_20/actor/model/huggingface/config.json");
  at.disk.put("/ck/verl-megatron/global_step_20/actor/transformer_config.json", R"({"hidden_size": 12})");
  CHECK(contains(at.said_of("/ck/verl-megatron/global_step_20", {}), "actor/transformer_config.json states"));
}

TEST_CASE("a whole model under other names than before is suspect where a wrapper's name is before them all") {
  Place place;
  for (const int64_t step : {10, 20}) place.save(step, 8, 1);
  const auto named = [&place](std::string_view begin) {
    place.disk.put(Place::path(20) + "/model.safetensors", weights(8, 1, "F32", begin));
    return said(place.look(20, {10}));
  };
  CHECK(named("layers.").empty());
  CHECK(contains(named("module.layers."), "breaks: none of its 5 tensors has a name that checkpoint-10 has"));
  CHECK(contains(named("_orig_mod.layers."), "begins with random numbers"));
  CHECK(contains(named("language_model.layers."), "or was named anew"));
  CHECK_FALSE(contains(named("language_model.layers."), "breaks"));
  place.disk.put(Place::path(10) + "/model.safetensors", weights(8, 1, "F32", "module.layers."));
  CHECK(named("module.layers.").empty());  // as it always was
}

TEST_CASE("moments of other shapes than in the save before, and a vector that no rank has any more") {
  using testing::TorchSave;
  Place place;
  const auto optimizer = [&place](int64_t step, int32_t width) {
    TorchSave torch;
    const std::string object = torch.optimizer(4, {width, width}, static_cast<int32_t>(step));
    place.disk.put(Place::path(step) + "/optimizer.pt", torch.archive(object, "optimizer"));
  };
  for (const int64_t step : {10, 20}) {
    place.save(step, 8, 1);
    optimizer(step, 8);
  }
  CHECK(said(place.look(20, {10})).empty());
  optimizer(20, 4);
  const std::string other = said(place.look(20, {10}));
  CHECK(contains(other, "state.0.exp_avg is F32 [4, 4], and F32 [8, 8] in checkpoint-10"));
  CHECK_FALSE(other.starts_with("breaks"));
  FakeDisk disk;
  const auto ranks = [&disk](int64_t step, bool norm) {
    for (int rank = 0; rank < 2; ++rank) {
      TorchSave torch;
      std::vector<std::pair<std::string, std::string>> weights;
      for (int i = 0; i < 5; ++i) {
        std::string tensor = torch.tensor({8, 4});
        weights.emplace_back(TorchSave::text(cat("layers.", i, ".weight")), std::move(tensor));
      }
      if (norm) {
        std::string tensor = torch.tensor({4});
        weights.emplace_back(TorchSave::text("norm.weight"), std::move(tensor));
      }
      const std::string name = cat("model_world_size_2_rank_", rank);
      disk.put(cat("/run/global_step_", step, "/actor/", name, ".pt"), torch.archive(TorchSave::dict(weights), name));
    }
  };
  ranks(10, true);
  ranks(20, false);
  VerifyOptions options;
  options.now = Time::from_seconds(1768500000);
  options.beside = {"/run/global_step_10"};
  const auto verdict = verify_checkpoint(disk, "/run/global_step_20", options);
  REQUIRE(verdict.ok());
  CHECK(contains(said(*verdict), "norm.weight is not in it, and is in global_step_10"));
}

}  // namespace
}  // namespace mw
