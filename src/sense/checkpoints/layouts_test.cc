// Healthy checkpoints as trainers of many kinds lay them out. None may ever be called broken, whatever lies beside it:
// what is called broken is quarantined before a restart, and may be deleted.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>

#include "base/text.h"
#include "platform/fake/fake_disk.h"
#include "sense/checkpoints/last_whole.h"
#include "sense/checkpoints/samples_for_test.h"
#include "sense/checkpoints/scan.h"
#include "sense/checkpoints/verdict_text_for_test.h"

namespace mw {
namespace {

using How = event::CheckpointSeen::How;

const CheckpointLayout kByPointer{"global_step_{step}", "latest_checkpointed_iteration.txt", "{step}"};
const CheckpointLayout kByNumber{"global_step_{step}", "", ""};

template <typename Number>
std::string number(Number value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

std::string safetensors(const std::string& bytes = std::string(64, 'w'), const std::string& rest = "") {
  const std::string header = cat("{\"model.w\":{\"dtype\":\"F32\",\"shape\":[", bytes.size() / 4,
                                 "],\"data_offsets\":[0,", bytes.size(), "]}}");
  return number(uint64_t{header.size()}) + header + bytes + rest;
}

std::string zip(size_t bytes = 0) {
  const std::string member = "PK\x03\x04 member" + std::string(bytes, 'w'), directory = "PK\x01\x02 directory";
  return member + directory + "PK\x05\x06" + std::string("\0\0\0\0\1\0\1\0", 8) +
         number(static_cast<uint32_t>(directory.size())) + number(static_cast<uint32_t>(member.size())) +
         number(uint16_t{0});
}

std::string metadata(const std::vector<std::string>& names) {
  std::string out = "\x80\x02";
  for (const std::string& name : names) out += cat("\x8c", static_cast<char>(name.size()), name);
  return out;
}

std::string nan() { return {"\0\0\xc0\x7f", 4}; }
std::string zeros(size_t bytes) { return std::string(bytes, '\0'); }

struct Save {
  FakeDisk& disk;
  std::string folder;
  int step;
  void put(const std::string& path, const std::string& content) { disk.put(cat(folder, "/", path), content); }
  void ranks(int of, const std::string& kind = "model") {
    for (int rank = 0; rank < of; ++rank) put(cat(kind, "_world_size_", of, "_rank_", rank, ".pt"), zip());
  }
  bool first() const { return step == 10; }
  bool last() const { return step == 30; }
};

struct Layout {
  const char* name;
  std::function<void(Save&)> save;
};

/// Each is saved at steps 10, 20 and 30.
const Layout kLayouts[] = {
    {"NaN in a buffer that is not trained",
     [](Save& s) {
       s.put("model.safetensors", safetensors(nan() + std::string(60, 'w')));
       s.put("config.json", "{}");
     }},
    {"compressed weights", [](Save& s) { s.put("model.pt.zst", "\x28\xb5\x2f\xfd data"); }},
    {"small files of unknown suffix",
     [](Save& s) {
       for (const char* name : {"layer0.shard", "layer1.shard", "meta.x"}) s.put(name, "weights");
     }},
    {"a .bin that begins with zeros", [](Save& s) { s.put("weights.bin", zeros(8192) + "weights"); }},
    {"a .bin of zeros: moments that are all zero yet",
     [](Save& s) {
       s.put("moments.bin", zeros(20'000));
       s.put("weights.npy", "x");
     }},
    {"weights elsewhere",
     [](Save& s) {
       s.put("trainer_state.json", "{}");
       s.put("weights_path.txt", "/mnt/models/17");
     }},
    {"weights elsewhere, by a link that does not lead anywhere here",
     [](Save& s) { s.put("trainer_state.json", "{}"); }},
    {"an adapter after the whole",
     [](Save& s) {
       if (s.first()) s.put("model.safetensors", safetensors(std::string(100'000, 'w')));
       s.put("adapter_model.safetensors", safetensors());
       s.put("adapter_config.json", "{}");
     }},
    {"an adapter whose second half is zero at first",
     [](Save& s) { s.put("adapter_model.safetensors", safetensors(s.first() ? zeros(64) : std::string(64, 'w'))); }},
    {"an optimizer that is not in every save",
     [](Save& s) {
       s.ranks(2);
       if (!s.last()) s.ranks(2, "optim");
     }},
    {"four ranks, then two", [](Save& s) { s.ranks(s.last() ? 2 : 4); }},
    {"four ranks, then two, by names that do not say of how many",
     [](Save& s) {
       for (int rank = 0; rank < (s.last() ? 2 : 4); ++rank) s.put(cat("mp_rank_0", rank, "_model_states.pt"), zip());
     }},
    {"two ranks, then four", [](Save& s) { s.ranks(s.first() ? 2 : 4); }},
    {"this node's part of a checkpoint of many",
     [](Save& s) {
       s.put("__8_0.distcp", zip());
       s.put("__9_0.distcp", zip());
     }},
    {"one distributed checkpoint, of fewer ranks than before",
     [](Save& s) {
       const int ranks = s.last() ? 1 : 2;
       std::vector<std::string> names;
       for (int rank = 0; rank < ranks; ++rank) names.push_back(cat("__", rank, "_0.distcp"));
       for (const std::string& name : names) s.put(name, zip());
       s.put(".metadata", metadata(names));
     }},
    {"an export or the best one saved once",
     [](Save& s) {
       s.ranks(2);
       if (s.first()) s.put("huggingface/model.safetensors", safetensors(std::string(50'000, 'w')));
       if (s.first()) s.put("best/model.safetensors", safetensors());
     }},
    {"an export that is being written while the next step trains",
     [](Save& s) {
       s.ranks(2);
       s.put("huggingface/config.json", "{}");
       s.put("huggingface/model.safetensors", s.last() ? safetensors().substr(0, 90) : safetensors());
     }},
    {"an index copied with the settings of the model that it began with",
     [](Save& s) {
       s.ranks(2);
       s.put("hf/model.safetensors.index.json", R"({"weight_map":{"a":"model-1.safetensors"}})");
       s.put("model.safetensors.index.json", R"({"weight_map":{"a":"model-1.safetensors","b":"model-2.safetensors"}})");
     }},
    {"a critic that is dropped",
     [](Save& s) {
       s.put("actor/model_world_size_1_rank_0.pt", zip());
       if (!s.last()) s.put("critic/model_world_size_1_rank_0.pt", zip(4000));
     }},
    {"full weights now and then, an adapter else",
     [](Save& s) {
       s.put(s.step == 20 ? "pytorch_model.bin" : "adapter_model.bin", zip(s.step == 20 ? 100'000 : 10));
     }},
    {"pickles of old", [](Save& s) { s.put("pytorch_model.bin", "\x80\x02 a pickle"); }},
    {"a file with something behind its archive", [](Save& s) { s.put("model.pt", zip() + "signature"); }},
    {"a file with room left behind its tensors",
     [](Save& s) { s.put("model.safetensors", safetensors(std::string(64, 'w'), zeros(4096))); }},
    {"encrypted weights", [](Save& s) { s.put("model.safetensors", std::string(500, '\xe7')); }},
    {"empty marks beside the weights",
     [](Save& s) {
       s.ranks(1);
       for (const char* mark : {"COMPLETE", ".done", "best.ckpt", "latest.pt", "__init__.py"}) s.put(mark, "");
     }},
    {"one array per file, one of them empty",
     [](Save& s) {
       s.put("params/layer0.npy", "x");
       s.put("params/empty.npy", "");
     }},
    {"orbax",
     [](Save& s) {
       s.put("default/_METADATA", "{}");
       s.put("default/d/0a1b2c", "ocdbt");
       s.put("_CHECKPOINT_METADATA", "{}");
     }},
    {"optimizer and random states first, weights by another writer later",
     [](Save& s) {
       s.put("optimizer.pt", zip());
       if (!s.last()) s.put("model.safetensors", safetensors());
       s.put("rng_state_0.pth", zip());
     }},
};

TEST_CASE("no healthy layout is called broken, alone or beside the one before, and none is moved") {
  for (const Layout& layout : kLayouts) {
    CAPTURE(layout.name);
    FakeDisk disk;
    for (const int step : {10, 20, 30}) {
      Save save{disk, cat("/ck/global_step_", step), step};
      layout.save(save);
    }
    disk.put(cat("/ck/", kByPointer.pointer), "30");
    std::optional<CheckpointScan> before;
    for (const int step : {10, 20, 30}) {
      CheckpointScan scan = scan_checkpoint(disk, cat("/ck/global_step_", step), step, before ? &*before : nullptr);
      CAPTURE(scan.seen.what);
      CHECK(scan.there);
      CHECK(scan.seen.how != How::kBroken);
      before = std::move(scan);
    }
    for (const CheckpointLayout& by : {kByPointer, kByNumber}) {
      CHECK(find_last_whole(disk, {"/ck"}, by, kNoStep).from == kNoStep);
    }
  }
  CHECK(std::size(kLayouts) >= 25);
}

TEST_CASE("AReaL's weights without any recover_info are partial, and an export is whole") {
  FakeDisk disk;
  mw::testing::put_samples(disk);
  for (const std::string& file : disk.paths()) {
    if (file.starts_with("/ck/areal/recover_info/")) disk.unlink(file);
  }
  const CheckpointVerdict verdict = mw::testing::verified(disk, "/ck/areal");
  CHECK(verdict.state == CheckpointVerdict::State::kPartial);
  CHECK(verdict.framework == "areal");
  REQUIRE_FALSE(verdict.problems.empty());
  CHECK(verdict.problems[0].path == "recover_info");
  CHECK(mw::testing::verified(disk, "/ck/areal-export/epoch0epochstep20globalstep20").state ==
        CheckpointVerdict::State::kWhole);
}

TEST_CASE("what somebody made of one of Megatron's folders, beside it, needs no common.pt") {
  FakeDisk disk;
  mw::testing::put_samples(disk);
  for (const char* const name : {"iter_0000020_hf", "iter_0000020-hf"}) {
    for (const char* const file : {"model.safetensors", "config.json"})
      disk.put(cat("/ck/slime/", name, "/", file), disk.content(cat("/ck/trl/checkpoint-20/", file)));
    CHECK(mw::testing::verified(disk, cat("/ck/slime/", name)).state == CheckpointVerdict::State::kWhole);
  }
  disk.unlink("/ck/slime/iter_0000020/common.pt");
  disk.unlink("/ck/slime/iter_0000020/metadata.json");
  CHECK(mw::testing::verified(disk, "/ck/slime/iter_0000020").state == CheckpointVerdict::State::kPartial);
}

TEST_CASE("AReaL's weights alone are partial where their trial has no recover_info") {
  FakeDisk disk;
  mw::testing::put_samples(disk);
  const std::string weights = "/ck/areal/default/recover_checkpoint";
  CHECK(mw::testing::verified(disk, weights).state == CheckpointVerdict::State::kWhole);
  for (const std::string& file : disk.paths()) {
    if (file.starts_with("/ck/areal/recover_info/")) disk.unlink(file);
  }
  disk.unlink_folder("/ck/areal/recover_info");
  const CheckpointVerdict verdict = mw::testing::verified(disk, weights);
  CHECK(verdict.state == CheckpointVerdict::State::kPartial);
  CHECK(verdict.framework == "areal");
  REQUIRE_FALSE(verdict.problems.empty());
  CHECK(verdict.problems[0].path == "../../recover_info");
}

TEST_CASE("files that an earlier save by another number of ranks left are opened by none") {
  constexpr int64_t kSaved = 1768465800;
  const std::string folder = "/ck/verl/global_step_20/actor/";
  const auto with_earlier = [&](FakeDisk& disk, int64_t seconds, int ranks) {
    mw::testing::put_samples(disk);
    disk.set_time(Time::from_seconds(static_cast<double>(kSaved + seconds)));
    for (int rank = 0; rank < ranks; ++rank) {
      for (const char* const kind : {"model", "optim", "extra_state"})
        disk.put(cat(folder, kind, "_world_size_4_rank_", rank, ".pt"),
                 disk.content(cat(folder, kind, "_world_size_2_rank_", rank % 2, ".pt")));
    }
    return mw::testing::verified(disk, "/ck/verl/global_step_20");
  };
  using State = CheckpointVerdict::State;
  for (const bool said : {true, false}) {
    FakeDisk disk;
    const auto look = [&](int64_t seconds, int ranks) {
      if (!said) mw::testing::put_samples(disk);
      const CheckpointVerdict verdict = with_earlier(disk, seconds, ranks);
      if (said) return verdict;
      disk.unlink(folder + "fsdp_config.json");
      return mw::testing::verified(disk, "/ck/verl/global_step_20");
    };
    const CheckpointVerdict whole = look(-86'400, 4);
    CAPTURE(text_of(whole));
    CHECK(whole.state == State::kWhole);
    CHECK(whole.resumable == CheckpointVerdict::Resumable::kYes);
    const auto noted = [](const std::string& note) {
      return contains(note, "of an earlier save by another number of ranks");
    };
    CHECK(std::count_if(whole.notes.begin(), whole.notes.end(), noted) == 1);
    CHECK(look(86'400, 3).state != State::kWhole);  // written since, and not whole: no save is
  }
  FakeDisk cut;
  with_earlier(cut, -86'400, 4);
  cut.unlink(folder + "model_world_size_2_rank_1.pt");
  CHECK(mw::testing::verified(cut, "/ck/verl/global_step_20").state != State::kWhole);
}

}  // namespace
}  // namespace mw
