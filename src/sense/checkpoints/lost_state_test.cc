#include "sense/checkpoints/lost_state.h"

#include <doctest/doctest.h>

#include "base/text.h"
#include "platform/fake/fake_disk.h"
#include "sense/checkpoints/torch_save_for_test.h"
#include "sense/checkpoints/verdict_text_for_test.h"

namespace mw {
namespace {

using State = CheckpointVerdict::State;

struct Run {
  FakeDisk disk;
  std::vector<CheckpointManifest> before;

  Run() { disk.set_time(Time::from_seconds(1'768'465'800)); }
  static std::string path(int step) { return cat("/ck/checkpoint-", step); }
  void put(int step, const std::string& name, const std::string& content) {
    disk.put(cat(path(step), "/", name), content);
  }
  /// Of transformers: an embedding of 40 rows, whose numbers are `weight`.
  void save(int step, float weight, float moment, int steps) {
    const std::vector<int32_t> shape{40, 8};
    testing::TorchSave model, optimizer;
    put(step, "pytorch_model.bin",
        model.archive(model.dict({{model.text("model.embed_tokens.weight"), model.tensor(shape, weight)}}),
                      "pytorch_model"));
    put(step, "optimizer.pt", optimizer.archive(optimizer.optimizer(2, shape, steps, moment), "optimizer"));
    put(step, "config.json", R"({"hidden_size":8})");
    put(step, "trainer_state.json", cat(R"({"global_step":)", step, "}"));
  }
  CheckpointVerdict verify(int step, bool deep = true) {
    VerifyOptions options;
    options.deep = deep;
    options.now = Time::from_seconds(4e9);
    for (const CheckpointManifest& one : before) options.others.push_back(&one);
    const auto verdict = verify_checkpoint(disk, path(step), options);
    REQUIRE(verdict.ok());
    return *verdict;
  }
  void remember(int step) { before.push_back(manifest_of(verify(step), Time::from_seconds(1'768'465'900))); }
};

bool says(const CheckpointVerdict& verdict, std::string_view what) {
  CAPTURE(text_of(verdict));
  CHECK(verdict.state == State::kWhole);  // it can be resumed from
  return contains(text_of(verdict), what);
}

TEST_CASE("moments that are all zero are worth knowing where the optimizer has stepped, or its weights changed") {
  Run run;
  run.save(10, 0.5F, 0.25F, 10);
  CHECK_FALSE(says(run.verify(10), "moments"));
  run.save(20, 0.6F, 0, 20);
  CHECK(says(run.verify(20), "all 2 moments of its optimizer are zero, though it counts 20 steps"));
  CHECK_FALSE(says(run.verify(20, false), "moments"));
  run.save(30, 0.7F, 0, 1);  // as DeepSpeed begins
  CHECK_FALSE(says(run.verify(30), "moments"));
  run.remember(10);
  CHECK(says(run.verify(30), "all 2 moments of its optimizer are zero, though its weights changed since step 10"));
  run.save(40, 0.5F, 0, 0);
  CHECK_FALSE(says(run.verify(40), "are zero"));  // no step was made since
  run.save(50, 0.9F, 0.001F, 50);
  CHECK_FALSE(says(run.verify(50), "moments"));
}

std::string tokenizer(int words, int added = 0) {
  std::string vocab;
  for (int i = 0; i < words; ++i) vocab += cat(i == 0 ? "" : ",", R"("w/)", i, R"(.":)", i, R"(,"w)", i, R"(":)", i);
  std::string extra;
  for (int i = 0; i < added; ++i) extra += cat(i == 0 ? "" : ",", R"({"id":)", words + i, R"(,"content":"<x>"})");
  return cat(R"({"added_tokens":[)", extra, R"(],"model":{"vocab":{)", vocab, "}}}");
}

TEST_CASE("a tokenizer with many words for which the embedding has no row is another model's") {
  Run run;
  run.save(10, 0.5F, 0.25F, 10);
  const auto with = [&](const std::string& content, bool deep = false) {
    run.put(10, "tokenizer.json", content);
    return run.verify(10, deep);
  };
  CHECK_FALSE(says(with(tokenizer(40)), "tokenizer"));
  CHECK_FALSE(says(with(tokenizer(40, 60)), "tokenizer"));  // added, and without a row
  CHECK(
      says(with(tokenizer(200)), "tokenizer.json: it has words up to number 199, and the embedding beside it 40 rows"));
  CHECK(says(with(tokenizer(40, 100)), "100 words have none"));
  CHECK_FALSE(says(with(R"({"model":{"vocab":[["a",-1.5],["b",-900]]},"added_tokens":[{"id":"x"}]})"), "tokenizer"));
  const std::string ranks = cat(Run::path(10), "/model-rank-0-part-0.bin");
  REQUIRE(run.disk.rename(cat(Run::path(10), "/pytorch_model.bin"), ranks).ok());
  CHECK_FALSE(says(with(tokenizer(200)), "tokenizer"));  // some of its rows
}

TEST_CASE("a tokenizer that is not that of the save before is worth knowing") {
  Run run;
  run.save(10, 0.5F, 0.25F, 10);
  run.put(10, "tokenizer.json", tokenizer(30));
  run.put(10, "tokenizer_config.json", "{}");
  run.remember(10);
  run.save(20, 0.6F, 0.35F, 20);
  run.put(20, "tokenizer.json", tokenizer(30));
  run.put(20, "tokenizer_config.json", R"({"chat_template":"mended"})");
  CHECK_FALSE(says(run.verify(20), "tokenizer"));
  run.put(20, "tokenizer.json", tokenizer(31));
  CHECK(says(run.verify(20), "tokenizer.json: it has other bytes than in checkpoint-10: it is another tokenizer"));
}

TEST_CASE("moments that are those of the save before are worth knowing where weights changed") {
  Run run;
  run.save(10, 0.5F, 0.25F, 10);
  run.remember(10);
  run.save(20, 0.6F, 0.25F, 10);
  CHECK(
      says(run.verify(20), "all 2 moments of its optimizer are as in the save of step 10, though its weights changed"));
  run.save(30, 0.5F, 0.25F, 10);  // all of it is that save's
  CHECK_FALSE(says(run.verify(30), "moments of its optimizer are as"));
  run.save(40, 0.6F, 0.3F, 40);
  CHECK_FALSE(says(run.verify(40), "moments of its optimizer are as"));
}

TEST_CASE("a part of the optimizer's state that the save before had is worth knowing, and NeMo-RL lacks it") {
  FakeDisk disk;
  disk.put("/ck/step_20/a", "x");
  const auto tree = CheckpointTree::read(disk, "/ck/step_20");
  REQUIRE(tree.ok());
  using Shapes = std::map<std::string, std::vector<int64_t>>;
  const std::set<std::string> earlier = {"w1", "w2", "optim.w1.exp_avg", "optim.w1.exp_avg_sq", "optim.w2.exp_avg"};
  const auto found = [&](const Shapes& own, std::string_view framework) {
    Examination exam(disk, *tree);
    if (!framework.empty()) exam.found_framework(framework);
    look_for_moments_gone(exam, ".metadata", own, earlier, "step_10");
    CHECK_FALSE(exam.broken());
    CHECK(exam.lacking().empty() == (exam.problems().empty() || framework.empty()));
    return exam.problems().empty() ? "" : exam.problems().front().what;
  };
  const std::vector<int64_t> shape = {4, 4};
  const Shapes all = {{"w1", shape},
                      {"w2", shape},
                      {"optim.w1.exp_avg", shape},
                      {"optim.w1.exp_avg_sq", shape},
                      {"optim.w2.exp_avg", shape}};
  Shapes part = all;
  part.erase("optim.w2.exp_avg");
  CHECK(found(all, "nemo-rl").empty());
  for (const char* const framework : {"nemo-rl", "prime-rl", ""})
    CHECK(contains(found(part, framework), "optim.w2.exp_avg is not in it, and is in step_10"));
  Shapes other = part;
  other["optim.w3.exp_avg"] = shape;  // named anew
  CHECK(found(other, "nemo-rl").empty());
  CHECK(found({{"w1", shape}, {"w2", shape}}, "nemo-rl").empty());  // without any: that is said of all of it
  part.erase("w2");                                                 // so is that a weight was lost
  CHECK(found(part, "nemo-rl").empty());
}

}  // namespace
}  // namespace mw
