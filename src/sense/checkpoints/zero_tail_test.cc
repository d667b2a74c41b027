#include "sense/checkpoints/zero_tail.h"

#include <doctest/doctest.h>

#include <cstring>

#include "base/json.h"
#include "base/text.h"
#include "platform/fake/fake_disk.h"
#include "sense/checkpoints/scan.h"
#include "sense/checkpoints/verify.h"

namespace mw {
namespace {

using State = CheckpointVerdict::State;

struct Model {
  struct Tensor {
    std::string name;
    std::vector<int64_t> shape;
    size_t at = 0, bytes = 0;
  };
  std::string head, data;
  std::vector<Tensor> tensors;

  void add(const std::string& name, std::vector<int64_t> shape, float value = 0.02F) {
    size_t numbers = 1;
    for (const int64_t size : shape) numbers *= static_cast<size_t>(size);
    tensors.push_back({name, std::move(shape), data.size(), 4 * numbers});
    for (size_t i = 0; i < numbers; ++i) {
      const float one = value == 0 ? 0 : value + static_cast<float>(i % 7);
      data.append(reinterpret_cast<const char*>(&one), sizeof one);
    }
  }
  /// As transformers writes one: an embedding, layers, and what makes text of it.
  static Model usual(int layers = 4) {
    Model out;
    out.add("model.embed_tokens.weight", {512, 256});
    for (int i = 0; i < layers; ++i) {
      out.add(cat("model.layers.", i, ".self_attn.q_proj.weight"), {256, 256});
      out.add(cat("model.layers.", i, ".mlp.up_proj.weight"), {512, 256});
      out.add(cat("model.layers.", i, ".input_layernorm.weight"), {256});
    }
    return out;
  }
  const Tensor& of(std::string_view name) const {
    for (const Tensor& one : tensors) {
      if (one.name == name) return one;
    }
    FAIL("no such tensor");
    return tensors.front();
  }
  void clear(size_t from, size_t bytes) { std::memset(data.data() + from, 0, bytes); }
  void clear_from(size_t from) { clear(from, data.size() - from); }
  std::string bytes() const {
    std::string json_head;
    {
      JsonWriter json(json_head);
      json.begin_object();
      for (const Tensor& one : tensors) {
        json.key(one.name).begin_object().key("dtype").string("F32").key("shape").begin_array();
        for (const int64_t size : one.shape) json.integer(size);
        json.end_array().key("data_offsets").begin_array().integer(static_cast<int64_t>(one.at));
        json.integer(static_cast<int64_t>(one.at + one.bytes)).end_array().end_object();
      }
      json.end_object();
    }
    json_head.append((8 - json_head.size() % 8) % 8, ' ');
    const uint64_t size = json_head.size();
    return std::string(reinterpret_cast<const char*>(&size), sizeof size) + json_head + data;
  }
};

CheckpointVerdict verdict_of(const Model& model, const std::string& file = "model.safetensors") {
  FakeDisk disk;
  disk.set_time(Time::from_seconds(1768465800));
  disk.put(cat("/ck/checkpoint-10/", file), model.bytes());
  VerifyOptions options;
  options.now = Time::from_seconds(1768500000);
  auto verdict = verify_checkpoint(disk, "/ck/checkpoint-10", options);
  REQUIRE(verdict.ok());
  return std::move(*verdict);
}

bool suspect(const Model& model) {
  const CheckpointVerdict verdict = verdict_of(model);
  REQUIRE((verdict.state == State::kSuspect || verdict.state == State::kWhole));
  return verdict.state == State::kSuspect;
}

TEST_CASE("zeros from the middle of a row of weights to the end of the file are suspect, wherever they begin") {
  CHECK_FALSE(suspect(Model::usual()));
  for (const size_t by : {size_t{4}, size_t{700}, size_t{2048 + 12}, size_t{102912}}) {
    for (const char* name : {"model.layers.1.mlp.up_proj.weight", "model.layers.3.mlp.up_proj.weight",
                             "model.layers.2.self_attn.q_proj.weight"}) {
      CAPTURE(by);
      CAPTURE(name);
      Model model = Model::usual();
      model.clear_from(model.of(name).at + size_t{20} * 1024 + by);
      CHECK(suspect(model));
    }
  }
  Model half = Model::usual();
  half.clear_from(half.of("model.layers.2.self_attn.q_proj.weight").at + 1004);
  const CheckpointVerdict verdict = verdict_of(half);
  REQUIRE_FALSE(verdict.problems.empty());
  CHECK(contains(verdict.problems[0].what,
                 "in the middle of the numbers of model.layers.2.self_attn.q_proj.weight, and 5 "
                 "tensors are zero throughout: its end was never written"));
}

TEST_CASE("a file of which most is zero is found by samples") {
  Model model = Model::usual(12);
  model.clear_from(model.of("model.layers.1.mlp.up_proj.weight").at + size_t{1024} * 31 + 40);
  CHECK(model.data.size() > 6'000'000);
  const CheckpointVerdict verdict = verdict_of(model);
  CHECK(verdict.state == State::kSuspect);
  CHECK(contains(verdict.problems[0].what, "of model.layers.1.mlp.up_proj.weight"));
}

TEST_CASE("zeros that begin with a row, or a tensor, are suspect where other layers have numbers there") {
  Model row = Model::usual();
  row.clear_from(row.of("model.layers.3.mlp.up_proj.weight").at + size_t{100} * 1024);
  CHECK(suspect(row));
  Model whole = Model::usual();
  whole.clear_from(whole.of("model.layers.3.self_attn.q_proj.weight").at);
  CHECK(suspect(whole));
  CHECK(contains(verdict_of(whole).problems[0].what, "where it has model.layers.3.self_attn.q_proj.weight"));
}

TEST_CASE("what a healthy file may end with is none") {
  Model rows = Model::usual();  // words that no tokenizer has
  rows.add("lm_head.weight", {512, 256});
  rows.clear_from(rows.of("lm_head.weight").at + size_t{400} * 1024);
  CHECK_FALSE(suspect(rows));
  Model every = Model::usual();  // padding to a multiple, in every layer
  for (int i = 0; i < 4; ++i)
    every.clear(every.of(cat("model.layers.", i, ".mlp.up_proj.weight")).at + size_t{500} * 1024, size_t{12} * 1024);
  every.tensors.pop_back();
  every.data.resize(every.tensors.back().at + every.tensors.back().bytes);
  CHECK_FALSE(suspect(every));
  Model columns = Model::usual();  // and of both sides
  columns.add("proj.weight", {300, 256});
  const size_t at = columns.of("proj.weight").at;
  for (size_t r = 0; r < 300; ++r) columns.clear(at + r * 1024 + 800, 224);
  columns.clear_from(at + size_t{290} * 1024);
  CHECK_FALSE(suspect(columns));
  Model head = Model::usual();  // a critic's, fresh
  head.add("score.weight", {16, 256}, 0);
  head.add("score.bias", {4096}, 0);
  CHECK_FALSE(suspect(head));
  Model exact = Model::usual();  // the number before it ends with a byte of zeros
  exact.add("model.layers.4.self_attn.q_proj.weight", {256, 256});
  const size_t last = exact.data.size() - 4;
  exact.data.replace(last, 4, std::string("\1\0\0\0", 4));
  exact.add("score.weight", {16, 256}, 0);
  CHECK_FALSE(suspect(exact));
  Model moments = Model::usual();  // nothing was routed to the last experts yet
  for (int i = 0; i < 6; ++i) moments.add(cat("exp_avg.", i, ".weight"), {64, 256}, i < 2 ? 0.1F : 0);
  CHECK_FALSE(suspect(moments));
  Model fresh = Model::usual();  // of every layer the last one, which begins at zero
  for (int i = 0; i < 6; ++i) fresh.add(cat("control.", i, ".proj.weight"), {64, 256}, 0);
  CHECK_FALSE(suspect(fresh));
  Model adapter;  // half of the layers were trained
  for (int i = 0; i < 8; ++i) adapter.add(cat("layers.", i, ".q_proj.lora_A.weight"), {8, 256});
  for (int i = 0; i < 8; ++i) adapter.add(cat("layers.", i, ".q_proj.lora_B.weight"), {256, 8}, i < 4 ? 0.1F : 0);
  CHECK_FALSE(suspect(adapter));
  Model mask = Model::usual();
  mask.add("attn.causal_mask", {128, 256});
  mask.clear_from(mask.of("attn.causal_mask").at + 10'004);
  CHECK_FALSE(suspect(mask));
  Model sparse = Model::usual();  // pruned: a number in a hundred is left
  sparse.add("pruned.weight", {300, 256}, 0);
  for (size_t i = 0; i < size_t{290} * 256; i += 100)
    std::memset(sparse.data.data() + sparse.of("pruned.weight").at + 4 * i, 1, 4);
  CHECK_FALSE(suspect(sparse));
  Model few = Model::usual();
  few.tensors.pop_back();
  few.data.resize(few.tensors.back().at + few.tensors.back().bytes);
  few.clear_from(few.data.size() - 1000);
  CHECK_FALSE(suspect(few));
}

TEST_CASE("an adapter whose end was never written is suspect in its second halves, too") {
  Model model;
  for (int i = 0; i < 8; ++i) {
    model.add(cat("layers.", i, ".q_proj.lora_A.weight"), {8, 256});
    model.add(cat("layers.", i, ".q_proj.lora_B.weight"), {256, 8});
  }
  CHECK_FALSE(suspect(model));
  model.clear_from(model.of("layers.5.q_proj.lora_B.weight").at + 1004);
  CHECK(suspect(model));
}

/// One layer's part of a sharded model: nothing in the file is like anything else in it.
Model shard() {
  Model out;
  for (const char* name : {"mlp.gate_proj", "mlp.up_proj"})
    out.add(cat("model.layers.1.", name, ".weight"), {512, 256});
  out.add("model.layers.1.post_attention_layernorm.weight", {256});
  for (const char* name : {"k_proj", "o_proj", "q_proj", "v_proj"})
    out.add(cat("model.layers.1.self_attn.", name, ".weight"), {256, 256});
  out.add("model.norm.weight", {256});
  return out;
}

TEST_CASE("zeros to the end of a file that no training leaves are suspect without a like in the file") {
  CHECK_FALSE(suspect(shard()));
  Model page = Model::usual();  // the header and one page came
  page.clear_from(100);
  CHECK(suspect(page));
  for (const size_t at : {size_t{0}, size_t{64} * 1024, size_t{64} * 1024 + 100, size_t{511} * 1024 + 8}) {
    CAPTURE(at);
    Model model = shard();
    model.clear_from(model.of("model.layers.1.mlp.up_proj.weight").at + at);
    CHECK(suspect(model));
  }
  Model last = shard();  // in its last matrix, and the norm behind it
  last.clear_from(last.of("model.layers.1.self_attn.v_proj.weight").at + size_t{250} * 1024 + 12);
  CHECK(suspect(last));
  Model adapter;
  for (int i = 0; i < 8; ++i) {
    adapter.add(cat("layers.", i, ".q_proj.lora_A.weight"), {8, 256});
    adapter.add(cat("layers.", i, ".q_proj.lora_B.weight"), {256, 8});
  }
  adapter.clear_from(50);
  CHECK(suspect(adapter));
}

TEST_CASE("what begins at zero, is quantized or was never used may end a file") {
  Model head = shard();  // a value head and a bias
  head.add("v_head.summary.weight", {16, 256}, 0);
  head.add("v_head.summary.bias", {2048}, 0);
  CHECK_FALSE(suspect(head));
  Model experts = shard();  // to which nothing was routed
  for (const char* name : {"gate_proj", "up_proj", "down_proj"})
    experts.add(cat("model.layers.1.mlp.experts.7.", name, ".weight"), {64, 256}, 0);
  CHECK_FALSE(suspect(experts));
  Model points = shard();
  for (const char* name : {"k_proj", "q_proj", "v_proj"}) points.add(cat(name, ".weight_zero_point"), {64, 256}, 0);
  CHECK_FALSE(suspect(points));
  Model ones;  // norms to which one is added, before their first step
  ones.add("model.embed_tokens.weight", {512, 256});
  ones.add("model.layers.0.input_layernorm.weight", {256}, 0);
  ones.add("model.layers.0.mlp.up_proj.weight", {512, 256});
  ones.add("proj_out.weight", {256, 256}, 0);
  ones.add("model.norm.weight", {256}, 0);
  CHECK_FALSE(suspect(ones));
  Model fresh;
  for (int i = 0; i < 4; ++i) fresh.add(cat("layers.", i, ".q_proj.lora_A.weight"), {8, 256});
  for (int i = 0; i < 4; ++i) fresh.add(cat("layers.", i, ".q_proj.lora_B.weight"), {256, 8}, 0);
  CHECK_FALSE(suspect(fresh));
}

TEST_CASE("a file that is being written is no wreck") {
  Model model = Model::usual();
  model.clear_from(model.of("model.layers.1.mlp.up_proj.weight").at + 1004);
  FakeDisk disk;
  disk.set_time(Time::from_seconds(1768465800));
  disk.put("/ck/checkpoint-10/model.safetensors", model.bytes());
  VerifyOptions options;
  options.now = Time::from_seconds(1768465810);
  const auto verdict = verify_checkpoint(disk, "/ck/checkpoint-10", options);
  REQUIRE(verdict.ok());
  CHECK(verdict->state == State::kWriting);
}

TEST_CASE("a restart passes over a checkpoint whose end was never written, and it counts as none that is whole") {
  FakeDisk disk;
  disk.set_time(Time::from_seconds(1768465800));
  Model model = Model::usual();
  disk.put("/ck/checkpoint-10/model.safetensors", model.bytes());
  model.clear_from(model.of("model.layers.1.mlp.up_proj.weight").at + 1004);
  disk.put("/ck/checkpoint-20/model.safetensors", model.bytes());
  const CheckpointScan before = scan_checkpoint(disk, "/ck/checkpoint-10", 10, nullptr);
  CHECK(before.verified);
  const CheckpointScan scan = scan_checkpoint(disk, "/ck/checkpoint-20", 20, &before);
  CHECK_FALSE(scan.verified);
  CHECK(scan.seen.how == event::CheckpointSeen::How::kBroken);
  CHECK(contains(scan.seen.what, "its end was never written"));
}

}  // namespace
}  // namespace mw
