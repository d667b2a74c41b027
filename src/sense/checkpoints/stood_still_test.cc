#include "sense/checkpoints/stood_still.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "base/text.h"
#include "sense/checkpoints/deep_read.h"
#include "sense/checkpoints/file_directory.h"
#include "sense/checkpoints/samples_for_test.h"

namespace mw {
namespace {

using How = event::CheckpointRead::How;

/// The two saves of each sample that real libraries wrote, read one after the other as beside a training.
struct Samples {
  FakeDisk disk;
  std::atomic<bool> stop{false};
  std::vector<int64_t> trained = {11, 12, 13, 14, 15, 16, 17, 18, 19, 20};

  Samples() { testing::put_samples(disk); }
  void copy(const std::string& from, const std::string& to) {
    const std::string content = disk.content(cat("/ck/", from));
    REQUIRE_FALSE(content.empty());
    disk.put(cat("/ck/", to), content);
  }
  event::CheckpointRead look(const std::string& path, int64_t step) {
    DeepJob job{cat("/ck/", path), step, "/home", 1, Time::from_seconds(1'768'465'800 + 1e6), nullptr};
    job.trained = trained;
    const DeepRead read = read_deeply(disk, job, stop);
    REQUIRE(read.how == DeepRead::How::kRead);
    return read.read;
  }
  event::CheckpointRead both(const std::string& before, const std::string& after) {
    CHECK(look(before, 10).what.empty());
    return look(after, 20);
  }
};

TEST_CASE("between two real saves of any layout nothing stands still") {
  Samples on;
  for (const testing::Sample& sample : testing::samples()) {
    if (*sample.before == '\0') continue;
    CAPTURE(std::string(sample.layout));
    const event::CheckpointRead read = on.both(sample.before, sample.path);
    CHECK(read.how == How::kSane);
    CHECK(read.what == "");
  }
}

TEST_CASE("weights that no step changed are noted, and only where steps were trained") {
  Samples on;
  on.copy("trl/checkpoint-10/model.safetensors", "trl/checkpoint-20/model.safetensors");
  const event::CheckpointRead read = on.both("trl/checkpoint-10", "trl/checkpoint-20");
  CHECK(read.how == How::kSane);  // it can be resumed from
  CHECK(contains(read.what, "as in the save of step 10, though 10 steps were trained at a learning rate above 0"));
  for (const char* rank : {"0", "1"}) {
    const std::string file = cat("/actor/model_world_size_2_rank_", rank, ".pt");
    on.copy(cat("verl/global_step_10", file), cat("verl/global_step_20", file));
  }
  CHECK(contains(on.both("verl/global_step_10", "verl/global_step_20").what, "as in the save of step 10"));
  for (const std::vector<int64_t>& steps : {std::vector<int64_t>{}, {10}, {20}, {5, 6, 7}}) {
    on.trained = steps;  // the rate was 0, or is not logged; or one line of it
    CHECK(on.look("trl/checkpoint-20", 20).what == "");
  }
}

TEST_CASE("an optimizer whose moments are those of the save before is noted while weights change") {
  Samples on;
  on.copy("trl/checkpoint-10/optimizer.pt", "trl/checkpoint-20/optimizer.pt");
  const event::CheckpointRead read = on.both("trl/checkpoint-10", "trl/checkpoint-20");
  CHECK(read.how == How::kSane);
  CHECK(contains(read.what, "moments of its optimizer are as in the save of step 10, though its weights changed"));
}

TEST_CASE("a weight that fell to zero is suspect, by name") {
  Samples on;
  const std::string file = "/ck/trl/checkpoint-20/model.safetensors";
  std::string content = on.disk.content(file);
  auto open = on.disk.open_read(file);
  REQUIRE(open.ok());
  std::string name;
  for (const TensorPlace& tensor : read_directory(**open, "model.safetensors", content.size()).tensors) {
    if (tensor.bytes < 256 || !name.empty()) continue;
    name = tensor.name;
    content.replace(tensor.at, tensor.bytes, tensor.bytes, '\0');
  }
  REQUIRE_FALSE(name.empty());
  on.disk.put(file, content);
  const event::CheckpointRead read = on.both("trl/checkpoint-10", "trl/checkpoint-20");
  CHECK(read.how == How::kSuspect);
  CHECK(contains(read.what, name));
  CHECK(contains(read.what, "are zero, and were not in the save of step 10"));
}

/// What a manifest knows of a weight of 1 MB, of which so many bytes are zero in whole pages.
ManifestFile with_zeros(const std::vector<int64_t>& zeros) {
  ManifestFile file;
  file.path = "model.safetensors";
  for (size_t i = 0; i < zeros.size(); ++i)
    file.tensors.push_back({cat("layers.", i, ".weight"), 262'144, 10, zeros[i] == 1 << 20, 0, zeros[i]});
  return file;
}
FellToZero fell(const std::vector<int64_t>& before, const std::vector<int64_t>& after) {
  CheckpointManifest was;
  was.step = 10;
  was.files = {with_zeros(before)};
  return fell_to_zero(was, {with_zeros(after)});
}

TEST_CASE("a hole in weights that were whole in the save before is found, and pruning is none") {
  constexpr int64_t kHole = 256 << 10;
  CHECK(fell({0, 0, 0}, {0, 0, 0}).what.empty());
  CHECK(fell({0, 0, 0}, {0, kHole, 0}).what ==
        "262 KB of layers.1.weight are zeros in whole pages, and were not in the save of step 10");
  CHECK(fell({0, kHole, 0}, {0, kHole, 0}).what.empty());  // it was so
  CHECK(fell({-1, -1, -1}, {0, kHole, 0}).what.empty());   // nobody knows
  CHECK(fell({0, 0, 0}, {0, 4096, 0}).what.empty());
  CHECK(fell(std::vector<int64_t>(12, 0), std::vector<int64_t>(12, kHole)).what.empty());
  CHECK(contains(fell({0, 0, 0}, {0, 1 << 20, kHole}).what, "all 262144 numbers of layers.1.weight are zero"));
}

TEST_CASE("bytes of zeros in whole pages are remembered") {
  CheckpointManifest manifest;
  manifest.path = "/ck/step_10";
  manifest.files = {with_zeros({0, 8192, -1})};
  manifest.files[0].xxh3 = 1;
  const auto read = parse_checkpoint_manifest(manifest_json(manifest));
  REQUIRE(read.ok());
  REQUIRE(read->files[0].tensors.size() == 3);
  CHECK(read->files[0].tensors[0].zero_bytes == 0);
  CHECK(read->files[0].tensors[1].zero_bytes == 8192);
  CHECK(read->files[0].tensors[2].zero_bytes == -1);
}

struct Two {
  CheckpointManifest before;
  std::vector<ManifestFile> after;
  ManifestFile weights[2], optimizer[2];

  Two() {
    before.step = 10;
    for (ManifestFile* side : {weights, optimizer}) {
      side[0].path = side[1].path = side == weights ? "model.safetensors" : "optimizer.pt";
      side[0].xxh3 = 1;
      side[1].xxh3 = 2;
    }
  }
  Two& weight(const char* name, double from, double to) {
    weights[0].tensors.push_back({name, 4096, from, from == 0, 0});
    weights[1].tensors.push_back({name, 4096, to, to == 0, 0});
    return *this;
  }
  Two& moment(const char* name, double from, double to) {
    optimizer[0].tensors.push_back({name, 4096, from, from == 0, static_cast<uint32_t>(1 + from)});
    optimizer[1].tensors.push_back({name, 4096, to, to == 0, static_cast<uint32_t>(1 + to)});
    return *this;
  }
  StoodStill found(int64_t trained = 10) {
    before.files = {weights[0], optimizer[0]};
    return stood_still(before, {weights[1], optimizer[1]}, trained);
  }
};

TEST_CASE("what is frozen on purpose, or begins at zero, is no matter") {
  CHECK(Two().weight("base", 5, 5).weight("lora_A", 1, 2).weight("lora_B", 0, 0).found().what == "");
  CHECK(Two().weight("embed", 5, 5).weight("layer", 1, 2).moment("state.0.exp_avg", 1, 2).found().what == "");
  CHECK(Two().weight("layer", 1, 2).weight("q.lora_B", 3, 0).found().what == "");  // merged
  CHECK(Two().weight("layer", 1, 2).weight("tokens_per_expert", 3, 0).found().what == "");
  CHECK(Two().weight("layer", 1, 2).moment("state.0.exp_avg", 1, 2).moment("state.1.exp_avg", 3, 3).found().what == "");
  CHECK(Two().moment("state.0.exp_avg", 1, 1).found().what == "");  // there is no weight to compare
  Two same;
  same.weight("layer", 5, 5);
  CHECK(same.found().what == "");  // the norm alone proves nothing: the files differ
  same.weights[1].xxh3 = 1;
  CHECK(same.found().what != "");
  CHECK(same.found(1).what == "");
}

TEST_CASE("weights that stand still while the optimizer's moments change are noted by hand, too") {
  const auto said = [](Two two, bool same) {
    if (same) two.weights[1].xxh3 = 1;
    (void)two.found();
    return weights_stood_still(two.before, {two.weights[1], two.optimizer[1]});
  };
  const Two still = Two().weight("layer", 5, 5).moment("a.exp_avg", 1, 2);
  CHECK(contains(said(still, true), "as in the save of step 10, though moments of its optimizer changed"));
  CHECK(said(still, false).empty());
  CHECK(said(Two().weight("layer", 5, 5).moment("a.exp_avg", 1, 1), true).empty());  // a copy of the save before
  CHECK(said(Two().weight("layer", 5, 5), true).empty());
  CHECK(said(Two().weight("layer", 5, 5).weight("head", 1, 2).moment("a.exp_avg", 1, 2), true).empty());
}

TEST_CASE("moments that are all zero while weights change are noted; one that is not zero is enough") {
  CHECK(contains(Two().weight("layer", 1, 2).moment("state.0.exp_avg", 0, 0).found().what,
                 "all 1 moments of its optimizer are zero"));
  CHECK(Two().weight("layer", 1, 2).moment("a.exp_avg", 0, 0).moment("b.exp_avg", 0, 1).found().what == "");
}

TEST_CASE("what a manifest remembers of tensors is there when it is read again") {
  CheckpointManifest manifest;
  ManifestFile file;
  file.path = "model.pt";
  file.xxh3 = 7;
  file.numbers = 5;
  file.tensors = {{"a\n\"b", 4, 0.1 + 0.2, false, 0xfeedbeef}, {"c", 1, 0, true, 0}};
  manifest.files = {file};
  const auto read = parse_checkpoint_manifest(manifest_json(manifest));
  REQUIRE(read.ok());
  REQUIRE(read->files[0].tensors.size() == 2);
  CHECK(read->files[0].tensors[0].name == "a\n\"b");
  CHECK(read->files[0].tensors[0].norm == 0.1 + 0.2);
  CHECK(read->files[0].tensors[0].crc == 0xfeedbeef);
  CHECK_FALSE(read->files[0].tensors[0].zero);
  CHECK(read->files[0].tensors[1].zero);
}

/// An actor and a critic of two saves; files of these kinds of the actor are those of the first save in both.
event::CheckpointRead with_critic(const std::vector<std::string>& frozen, const std::string& role = "actor") {
  Samples on;
  for (const int step : {10, 20}) {
    for (const std::string kind : {"model", "optim", "extra_state"}) {
      for (const char* const rank : {"0", "1"}) {
        const std::string file = cat(kind, "_world_size_2_rank_", rank, ".pt"), save = cat("verl/global_step_", step);
        on.copy(cat(save, "/actor/", file), cat(save, "/critic/", file));
        if (step == 20 && std::find(frozen.begin(), frozen.end(), kind) != frozen.end())
          on.copy(cat("verl/global_step_10/actor/", file), cat(save, "/", role, "/", file));
      }
    }
  }
  return on.both("verl/global_step_10", "verl/global_step_20");
}

TEST_CASE("an actor that no step changes shows beside a critic that is trained") {
  CHECK(with_critic({}).what == "");
  const std::string what = with_critic({"model"}).what;
  CHECK(contains(what, "every byte of the actor's "));
  CHECK(contains(what, " as in the save of step 10, though moments of its optimizer changed and 10 steps"));
  CHECK_FALSE(contains(with_critic({"model", "optim"}).what, "every byte of"));  // it waits for its critic
  CHECK(with_critic({"model"}, "critic").what == "");                            // at a rate of its own, which may be 0
}

}  // namespace
}  // namespace mw
