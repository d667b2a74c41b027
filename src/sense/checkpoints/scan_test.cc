#include "sense/checkpoints/scan.h"

#include <doctest/doctest.h>

#include "base/text.h"
#include "core/overwrites.h"
#include "platform/fake/fake_disk.h"
#include "sense/checkpoints/last_whole.h"
#include "sense/checkpoints/roots.h"
#include "sense/checkpoints/weights_file.h"

namespace mw {
namespace {

using How = event::CheckpointSeen::How;

const CheckpointLayout kVerl{"global_step_{step}", "latest_checkpointed_iteration.txt", "{step}"};
const CheckpointLayout kTrl{"checkpoint-{step}", "", ""};

template <typename Number>
std::string number(Number value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

/// A file with one tensor of `bytes`.
std::string safetensors(const std::string& bytes = std::string(64, 'w'), const char* dtype = "F32",
                        const char* name = "model.w") {
  const std::string header = cat("{\"__metadata__\":{\"a\":\"b\"},\"", name, "\":{\"dtype\":\"", dtype,
                                 "\",\"shape\":[", bytes.size() / 4, "],\"data_offsets\":[0,", bytes.size(), "]}}");
  return number(uint64_t{header.size()}) + header + bytes;
}

/// As torch.save leaves it: an archive of one member, with the 64-bit records.
std::string zip() {
  const std::string member = "PK\x03\x04 member", directory = "PK\x01\x02 directory";
  std::string out = member + directory;
  const uint64_t end64 = out.size();
  out += "PK\x06\x06" + number(uint64_t{44}) + std::string(28, '\0') + number(uint64_t{directory.size()}) +
         number(uint64_t{member.size()});
  out += "PK\x06\x07" + number(uint32_t{0}) + number(end64) + number(uint32_t{1});
  out += "PK\x05\x06" + std::string(8, '\xff') + number(uint32_t{0xffffffff}) + number(uint32_t{0xffffffff}) +
         number(uint16_t{0});
  return out;
}

struct Folder {
  FakeDisk disk;
  void put(const std::string& path, std::string content) {
    (void)disk.make_folders(path.substr(0, path.rfind('/'))).ok();
    disk.put(path, std::move(content));
  }
  void whole(const std::string& folder) {
    put(folder + "/config.json", "{}");
    put(folder + "/model.safetensors", safetensors());
  }
  void hollow(const std::string& folder) { put(folder + "/config.json", "{}"); }
  event::CheckpointSeen scan(const std::string& folder) { return scan_checkpoint(disk, folder, 5, nullptr).seen; }
};

TEST_CASE("a folder with whole weights is whole") {
  Folder f;
  f.whole("c/a");
  CHECK(f.scan("c/a").how == How::kWhole);
  CHECK(f.scan("c/a").files == 2);
  f.put("c/e/pytorch_model.bin", "\x80\x02 a pickle of old, whose end nobody can know");
  CHECK(f.scan("c/e").how == How::kUnknown);
  CHECK_FALSE(scan_checkpoint(f.disk, "c/none", 5, nullptr).there);
}

TEST_CASE("what is not whole is reported with what is wrong") {
  const auto wrong = [](const char* file, std::string content, const char* says, const char* sign) {
    Folder fresh;
    fresh.put(cat("c/x/", file), std::move(content));
    fresh.put("c/x/config.json", "{}");
    const event::CheckpointSeen seen = fresh.scan("c/x");
    CAPTURE(seen.what);
    CHECK(seen.how == How::kBroken);
    CHECK(contains(seen.what, says));
    CHECK(seen.sign == sign);
  };
  wrong("model.safetensors", "", "is empty", "ckpt-metadata-only");
  wrong("model.safetensors", safetensors().substr(0, 150), "cut", "safetensors-header-error");
  wrong("model.safetensors", std::string(9000, '\0'), "zeros", "ckpt-metadata-only");
  wrong("model.pt", zip().substr(0, 60), "cut", "torch-zip-corrupt");
  wrong("model.pt", std::string(9000, '\0'), "zeros", "ckpt-metadata-only");
  wrong("checkpoint-is-incomplete.txt", "", "not finished", "");
  Folder f;
  f.put("c/i/model.safetensors.index.json", R"({"weight_map":{"model.w":"m-1.safetensors","b":"m-2.safetensors"}})");
  f.put("c/i/m-1.safetensors", safetensors());
  CHECK(f.scan("c/i").what == "m-2.safetensors is missing, which model.safetensors.index.json names");
  CHECK(f.scan("c/i").sign == "checkpoint-save-unfinished");
  f.put("c/i/m-2.safetensors", safetensors(std::string(64, 'w'), "F32", "b"));
  CHECK(f.scan("c/i").how == How::kWhole);
}

TEST_CASE("beside the one before, what it cannot do without shows when it is missing") {
  Folder f;
  const auto now = [&f](const char* before, const char* folder) {
    const CheckpointScan scan = scan_checkpoint(f.disk, before, 5, nullptr);
    return scan_checkpoint(f.disk, folder, 10, &scan).seen;
  };
  for (const char* rank : {"0", "1"}) f.put(cat("a/global_step5/model_world_size_2_rank_", rank, ".pt"), zip());
  f.put("b/global_step10/model_world_size_2_rank_0.pt", zip());
  CHECK(now("a", "b").what == "global_step#/model_world_size_2_rank_#.pt: 1 of 2 ranks are there");
  f.put("b/global_step10/model_world_size_2_rank_1.pt", zip());
  CHECK(now("a", "b").how == How::kWhole);
  f.put("smaller/global_step10/model_world_size_1_rank_0.pt", zip());
  CHECK(now("a", "smaller").how == How::kWhole);
  f.hollow("hollow");
  CHECK(contains(now("a", "hollow").what, "no weights"));
  CHECK(f.scan("hollow").how == How::kUnknown);  // where there is none before, who knows where its weights are
  f.put("d/.metadata", std::string("\x80\x02\x8c\x0c__0_0.distcp", 16));
  f.put("d/__0_0.distcp", "tensors");
  f.put("e/__0_0.distcp", "tensors");
  CHECK(contains(now("d", "e").what, "no .metadata"));
  CHECK(f.scan("e").how == How::kUnknown);  // of another node, perhaps
}

TEST_CASE("the last good checkpoint is what the files say, or a scan shows, and nothing shows to be broken") {
  State state;
  state.attempts.resize(2);
  const auto seen = [&state](int64_t step, uint16_t attempt, How how = How::kWhole) {
    event::CheckpointSeen one;
    one.step = step;
    one.path = cat("/c/step_", step);
    one.how = how;
    state.checkpoint_scans.push_back({{step, {}, {}, attempt}, one});
  };
  CHECK(last_good_checkpoint(state, {}) == kNoStep);
  seen(3, 0);
  CHECK(last_good_checkpoint(state, {}) == kNoStep);  // the attempt before saved it
  seen(6, 1);
  seen(9, 1);
  seen(12, 1, How::kUnknown);
  CHECK(last_good_checkpoint(state, {}) == 9);
  seen(9, 1, How::kBroken);
  CHECK(last_good_checkpoint(state, {}) == 6);
  state.attempts.back().last_checkpoint = 8;  // its files say so
  CHECK(last_good_checkpoint(state, {}) == 8);
}

TEST_CASE("what was there before the first attempt is no save of it, whenever it is scanned") {
  State state;
  state.attempts.resize(1);
  for (const std::string_view what : {kToGoOnFrom, std::string_view()}) {
    event::CheckpointSeen one;
    one.step = 60;
    one.path = "/c/step_60";
    one.how = How::kWhole;
    one.what = what;
    state.checkpoint_scans.push_back({{60, {}, {}, 0}, one});
  }
  CHECK(last_good_checkpoint(state, {}) == kNoStep);
  state.checkpoint_scans.back().second.step = 70;
  state.checkpoint_scans.back().second.path = "/c/step_70";
  CHECK(last_good_checkpoint(state, {}) == 70);
}

TEST_CASE("a change of any file shows, and the same is the same") {
  Folder f;
  f.whole("c");
  const uint64_t first = scan_checkpoint(f.disk, "c", 5, nullptr).state;
  CHECK(scan_checkpoint(f.disk, "c", 5, nullptr).state == first);
  f.put("c/more.json", "{}");
  CHECK(scan_checkpoint(f.disk, "c", 5, nullptr).state != first);
}

TEST_CASE("a restart goes on from the newest that is not broken") {
  Folder f;
  for (const char* name : {"ck/checkpoint-5", "ck/checkpoint-10"}) f.whole(name);
  CHECK(find_last_whole(f.disk, {"ck"}, kTrl, kNoStep).from == kNoStep);
  f.hollow("ck/checkpoint-15");
  f.hollow("ck/checkpoint-20");
  const LastWhole found = find_last_whole(f.disk, {"ck"}, kTrl, kNoStep);
  CHECK(found.from == 15);
  CHECK(found.kept == 10);
  CHECK(contains(found.why, "step 20"));
  CHECK(find_last_whole(f.disk, {"ck"}, kTrl, 15).from == kNoStep);  // those are quarantined anyway
  f.whole("other/checkpoint-5");                                     // of a critic
  f.hollow("other/checkpoint-10");
  CHECK(find_last_whole(f.disk, {"ck", "other"}, kTrl, kNoStep).from == 10);
  Folder none;
  none.put("ck/checkpoint-5/model.safetensors", "");
  CHECK(find_last_whole(none.disk, {"ck"}, kTrl, kNoStep).from == 5);
  CHECK(find_last_whole(none.disk, {"ck"}, kTrl, kNoStep).kept == kNoStep);
  CHECK(find_last_whole(none.disk, {"nowhere"}, kTrl, kNoStep).from == kNoStep);
}

TEST_CASE("of a save with nothing but settings a later one, which is tainted or broken off, shows what is not in it") {
  Folder f;
  f.hollow("ck/checkpoint-5");
  CHECK(find_last_whole(f.disk, {"ck"}, kTrl, kNoStep).from == kNoStep);  // perhaps its weights are elsewhere
  f.whole("ck/checkpoint-10");
  const LastWhole found = find_last_whole(f.disk, {"ck"}, kTrl, 10);
  CHECK(found.from == 5);
  CHECK(found.kept == kNoStep);
  f.put("ck/checkpoint-8/model.safetensors", "");
  const LastWhole among = find_last_whole(f.disk, {"ck"}, kTrl, 9);
  CHECK(among.from == 5);
  for (const event::CheckpointSeen& seen : among.seen) {
    if (seen.path.ends_with("checkpoint-5")) CHECK(seen.how == event::CheckpointSeen::How::kBroken);
  }
}

TEST_CASE("a checkpoint that is a file is scanned, and a restart goes on from the newest that is not cut") {
  const CheckpointLayout files{"ckpt_{step}.safetensors", "", ""};
  Folder f;
  const std::string good = safetensors();
  f.put("ck/ckpt_5.safetensors", good);
  f.put("ck/ckpt_10.safetensors", good.substr(0, good.size() - 1));
  f.put("ck/ckpt_15.pt", good);  // of another name
  const CheckpointScan whole = scan_checkpoint(f.disk, "ck/ckpt_5.safetensors", 5, nullptr);
  CHECK((whole.there && whole.seen.how == How::kWhole && whole.seen.files == 1));
  CHECK(whole.seen.path == "ck/ckpt_5.safetensors");
  CHECK(scan_checkpoint(f.disk, "ck/ckpt_10.safetensors", 10, nullptr).seen.how == How::kBroken);
  CHECK_FALSE(scan_checkpoint(f.disk, "ck/ckpt_20.safetensors", 20, nullptr).there);
  const LastWhole found = find_last_whole(f.disk, {"ck"}, files, kNoStep);
  CHECK((found.from == 10 && found.kept == 5));
}

TEST_CASE("where names count saves the number orders them, and is the step of nothing") {
  const CheckpointLayout counted{"checkpoint_{step}", "", "", {}, "checkpoints", true};
  Folder f;
  for (const char* name : {"checkpoints/checkpoint_0", "checkpoints/checkpoint_1"}) f.whole(name);
  f.hollow("checkpoints/checkpoint_2");
  const LastWhole found = find_last_whole(f.disk, {"checkpoints"}, counted, kNoStep);
  CHECK(found.from == 2);
  CHECK(found.kept == 1);
  CHECK(found.why.starts_with("the checkpoint checkpoint_2 is not to be resumed from: "));
  for (const event::CheckpointSeen& seen : found.seen) CHECK(seen.step == kNoStep);
  State state;
  event::CheckpointSeen last = found.seen.front();
  last.path = "/w/out/checkpoints/checkpoint_2";
  CHECK(with_logged_step(state, counted, last).step == kNoStep);
  Moment moment;
  moment.step = 30;
  state.checkpoints.emplace_back(moment, event::CheckpointSaved{kNoStep, "out/checkpoints/checkpoint_2/a.bin", true});
  state.checkpoints.emplace_back(moment, event::CheckpointSaved{40, "other/checkpoints/checkpoint_2", true});
  CHECK(with_logged_step(state, counted, last).step == 30);
  CHECK(with_logged_step(state, kTrl, last).step == kNoStep);
}

TEST_CASE("the first one after a rollback is compared with what was quarantined") {
  Folder f;
  f.whole("ck/.midwatch-quarantine/attempt-1-of-run-0123/checkpoint-10");
  f.put("ck/checkpoint-5/config.json", "{}");
  const LastWhole found = find_last_whole(f.disk, {"ck"}, kTrl, kNoStep);
  CHECK(found.from == 5);
  CHECK(found.kept == kNoStep);
  CHECK(contains(found.why, "there are no weights in it"));
  CHECK(found.seen.size() == 1);  // what is quarantined is none of them
  Folder alone;
  alone.put("ck/checkpoint-5/config.json", "{}");
  CHECK(find_last_whole(alone.disk, {"ck"}, kTrl, kNoStep).from == kNoStep);  // nothing shows that it lacks something
}

TEST_CASE("a file of safetensors without a number proves no weights, nor does one of a kind that nobody knows") {
  Folder f;
  f.put("c/config.json", "{}");
  f.put("c/model.safetensors", safetensors(""));
  CHECK(f.scan("c").how != How::kWhole);
  f.put("c/model.safetensors", safetensors(std::string(64, 'w'), "G32"));
  CHECK(f.scan("c").how != How::kWhole);
  f.put("c/model.safetensors", safetensors(std::string(64, 'w')));
  CHECK(f.scan("c").how == How::kWhole);
}

TEST_CASE("where a pointer says what is resumed from, only that counts") {
  Folder f;
  for (const char* name : {"ck/global_step_5", "ck/global_step_10"}) f.whole(name);
  f.hollow("ck/global_step_15");
  f.put("ck/latest_checkpointed_iteration.txt", "10\n");
  CHECK(find_last_whole(f.disk, {"ck"}, kVerl, kNoStep).from == kNoStep);
  f.put("ck/latest_checkpointed_iteration.txt", "15");
  CHECK(find_last_whole(f.disk, {"ck"}, kVerl, kNoStep).from == 15);
  // Cut, of a step that is not there, and whatever else leads nowhere.
  for (const char* text : {"", "20", "best", "a/b", "../x/../global_step_5", "<html>503 Service Unavailable</html>"}) {
    CAPTURE(text);
    f.put("ck/latest_checkpointed_iteration.txt", text);
    CHECK(find_last_whole(f.disk, {"ck"}, kVerl, kNoStep).from == 15);
    CHECK(find_last_whole(f.disk, {"ck"}, kVerl, kNoStep).kept == 10);
  }
  f.whole("ck/best");
  f.put("ck/latest_checkpointed_iteration.txt", "best");
  CHECK(find_last_whole(f.disk, {"ck"}, kVerl, kNoStep).from == kNoStep);
}

}  // namespace
}  // namespace mw
