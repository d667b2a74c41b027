#include "sense/checkpoints/own_config.h"

#include <doctest/doctest.h>

#include <functional>

#include "base/json.h"
#include "sense/checkpoints/samples_for_test.h"
#include "sense/checkpoints/verify.h"

namespace mw {
namespace {

using State = CheckpointVerdict::State;

/// A file of these tensors, each of `rows` times 4 numbers.
std::string weights(const std::vector<std::string>& names, int64_t rows = 4) {
  std::string head, data;
  {
    JsonWriter json(head);
    json.begin_object();
    for (const std::string& name : names) {
      const size_t begin = data.size();
      for (int64_t i = 0; i < rows * 4; ++i) data += std::string("\0\0\x80\x3f", 4);
      json.key(name).begin_object().key("dtype").string("F32").key("shape").begin_array().integer(rows).integer(4);
      json.end_array().key("data_offsets").begin_array().integer(static_cast<int64_t>(begin));
      json.integer(static_cast<int64_t>(data.size())).end_array().end_object();
    }
    json.end_object();
  }
  const uint64_t size = head.size();
  return std::string(reinterpret_cast<const char*>(&size), sizeof size) + head + data;
}

State state_of(FakeDisk& disk, const std::string& path) {
  VerifyOptions options;
  options.now = Time::from_seconds(4e9);
  const auto verdict = verify_checkpoint(disk, path, options);
  REQUIRE(verdict.ok());
  return verdict->state;
}

std::vector<std::string> model(std::initializer_list<int> layers, bool whole = true) {
  std::vector<std::string> names;
  if (whole) names = {"model.embed_tokens.weight", "model.norm.weight"};
  for (const int layer : layers) names.push_back(cat("model.layers.", layer, ".mlp.up_proj.weight"));
  return names;
}

TEST_CASE("a whole model with fewer layers than its config.json states is suspect") {
  FakeDisk disk;
  disk.set_time(Time::from_seconds(1768465800));
  const auto state = [&](const std::vector<std::string>& names, const std::string& more = "") {
    disk.put("/m/config.json", cat(R"({"hidden_size":4,"num_hidden_layers":3)", more, "}"));
    disk.put("/m/model.safetensors", weights(names));
    return state_of(disk, "/m");
  };
  CHECK(state(model({0, 1, 2})) == State::kWhole);
  CHECK(state(model({0, 1})) == State::kSuspect);
  CHECK(state(model({0, 2})) == State::kSuspect);
  CHECK(state(model({0, 1, 2, 3})) == State::kWhole);                                 // one that predicts further ahead
  CHECK(state(model({0, 1}, false)) == State::kWhole);                                // a stage of a pipeline
  CHECK(state({"model.embed_tokens.weight", "model.norm.weight"}) == State::kWhole);  // named otherwise
  CHECK(state(model({0, 1}), R"(,"block_configs":[{}])") == State::kWhole);
}

TEST_CASE("an adapter whose tensors have another rank than its settings state is suspect") {
  FakeDisk disk;
  disk.set_time(Time::from_seconds(1768465800));
  const auto state = [&](int64_t rank, const std::string& more = "") {
    disk.put("/a/adapter_config.json", cat(R"({"peft_type":"LORA","r":16)", more, "}"));
    disk.put("/a/adapter_model.safetensors", weights({"base.q_proj.lora_A.weight", "base.v_proj.lora_A.weight"}, rank));
    return state_of(disk, "/a");
  };
  CHECK(state(16) == State::kWhole);
  CHECK(state(8) == State::kSuspect);
  CHECK(state(8, R"(,"rank_pattern":{})") == State::kSuspect);
  CHECK(state(8, R"(,"rank_pattern":{"q_proj":8,"v_proj":8})") == State::kWhole);
  CHECK(state(64, R"(,"target_parameters":["experts"])") == State::kWhole);
}

TEST_CASE("words and inner width that the settings state and the tensors have not are worth knowing") {
  FakeDisk disk;
  disk.set_time(Time::from_seconds(1768465800));
  const auto said = [&](std::string_view settings) {
    disk.put("/m/config.json", cat(R"({"hidden_size":4,)", settings, "}"));
    disk.put("/m/model.safetensors",
             weights({"model.embed_tokens.weight", "model.layers.0.mlp.down_proj.weight", "model.norm.weight"}, 8));
    VerifyOptions options;
    options.now = Time::from_seconds(4e9);
    const auto verdict = verify_checkpoint(disk, "/m", options);
    REQUIRE(verdict.ok());
    CHECK(verdict->state == State::kWhole);
    return verdict->problems.empty() ? "" : verdict->problems.front().what;
  };
  CHECK(said(R"("vocab_size":8,"intermediate_size":4)") == "");
  CHECK(said(R"("vocab_size":5)") == "");  // rows that no word has
  CHECK(
      contains(said(R"("vocab_size":100)"), "the rows of its embedding are 8, and config.json states vocab_size 100"));
  CHECK(contains(said(R"("intermediate_size":99)"), "the inner width of its layers is 4"));
  CHECK(said(R"("text_config":{"vocab_size":100})") != "");
  CHECK(said(R"("intermediate_size":[4,8])") == "");
}

/// A model of six layers in three shards; `left_out`: of what the index names.
State state_of_shards(const std::string& ending, const std::function<bool(const std::string&, int)>& left_out,
                      bool config = true) {
  FakeDisk disk;
  disk.set_time(Time::from_seconds(1768465800));
  std::string map;
  for (int shard = 1; shard <= 3; ++shard) {
    std::vector<std::string> names = model({2 * shard - 2, 2 * shard - 1}, false);
    if (shard == 1) names.emplace_back("model.embed_tokens.weight");
    if (shard == 3) names.emplace_back("model.norm.weight");
    const std::string file = cat("model-0000", shard, "-of-00003", ending);
    disk.put(cat("/m/", file), weights(names));
    for (const std::string& name : names) {
      if (!left_out(name, shard)) map += cat(map.empty() ? "" : ",", "\"", name, "\":\"", file, "\"");
    }
  }
  disk.put(cat("/m/model", ending, ".index.json"), cat(R"({"metadata":{},"weight_map":{)", map, "}}"));
  if (config) disk.put("/m/config.json", R"({"hidden_size":4,"num_hidden_layers":6})");
  return state_of(disk, "/m");
}

TEST_CASE("an index that does not name a layer, or a shard, leaves it at random numbers") {
  const std::string ending = ".safetensors";
  const auto layer = [](int number) {
    return [number](const std::string& name, int) { return contains(name, cat("layers.", number, ".")); };
  };
  const auto in_shard = [](int number) { return [number](const std::string&, int shard) { return shard == number; }; };
  for (const bool config : {true, false}) {
    CAPTURE(config);
    CHECK(state_of_shards(
              ending, [](const std::string&, int) { return false; }, config) == State::kWhole);
    for (const int number : {0, 1, 3, 4}) CHECK(state_of_shards(ending, layer(number), config) == State::kSuspect);
    for (const int number : {1, 2, 3}) CHECK(state_of_shards(ending, in_shard(number), config) == State::kSuspect);
  }
  CHECK(state_of_shards(ending, layer(5)) == State::kSuspect);
  CHECK(state_of_shards(ending, layer(5), false) == State::kWhole);  // one that predicts further ahead, left out
}

}  // namespace
}  // namespace mw
