// A disk with checkpoints and core dumps of one run, for the tests of what may be deleted.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "act/cleanup/cleanup_plan.h"
#include "act/cleanup/remove_item.h"
#include "act/keeper/record.h"
#include "base/text.h"
#include "journal/journal.h"
#include "platform/fake/fake_disk.h"
#include "platform/fake/fake_process.h"
#include "sense/checkpoints/quarantine.h"

namespace mw {

template <typename Number>
inline std::string number(Number value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

inline std::string safetensors() {
  const std::string header = R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
  return number(uint64_t{header.size()}) + header + "weights!";
}

/// A core dump of a process of that session.
inline std::string core(int32_t session) {
  std::string head("\x7f\x45\x4c\x46\x02\x01\x01", 7);
  head.resize(64 + 56 + 12 + 8 + 136);
  const auto put = [&head](size_t at, const std::string& bytes) { head.replace(at, bytes.size(), bytes); };
  put(16, number(uint16_t{4}));
  put(32, number(uint64_t{64}));
  put(54, number(uint16_t{56}));
  put(56, number(uint16_t{1}));
  put(64, number(uint32_t{4}));
  put(64 + 8, number(uint64_t{120}));
  put(64 + 32, number(uint64_t{156}));
  put(120, number(uint32_t{5}) + number(uint32_t{136}) + number(uint32_t{3}));
  put(140 + 24, number(int32_t{77}));
  put(140 + 36, number(session));
  put(140 + 40, "trainer");
  return head;
}

inline const std::vector<std::string> kAll = {"core-dumps", "broken-checkpoints", "quarantine", "old-checkpoints"};

struct Place {
  FakeDisk disk;
  FakeSystem system;
  FakeProcesses processes;
  CleanupScope scope{
      {"/data/run", "/data/work", {"/data/ck"}}, {"step_{step}", "latest", "{step}"}, Time::from_seconds(5000)};
  CleanupSettings settings{Mode::kAct, kAll, "", 2, 0};
  Place() {
    disk.set_time(Time::from_seconds(1500));
    scope.own.has_snapshot = true;
    scope.own.snapshot.folders["/data/ck"];
    scope.own.lives = {{Time::from_seconds(1000), Time::from_seconds(2000)}};
    scope.own.declared = {"/data/ck"};
    for (int64_t step = 5; step <= 200; step += 5) scope.own.logged.insert(step);
    put("/data/run/attempts/1/record/journal", "");
    (void)disk.make_folders("/data/work").ok();
  }
  void put(const std::string& path, std::string content) {
    (void)disk.make_folders(path.substr(0, path.rfind('/'))).ok();
    disk.put(path, std::move(content));
  }
  void whole(int step) { put(cat("/data/ck/step_", step, "/model.safetensors"), safetensors()); }
  /// A save that never came to its end.
  void cut(int step) { put(cat("/data/ck/step_", step, "/model.safetensors"), ""); }
  void quarantine(const std::string& label, const std::string& run_folder) {
    QuarantineManifest of;
    of.run_folder = run_folder;
    put(cat("/data/ck/.midwatch-quarantine/", label, "/step_65/model.safetensors"), safetensors());
    put(cat("/data/ck/.midwatch-quarantine/", label, "/manifest.json"), manifest_text(of));
  }
  CleanupPlan all() {
    const CleanupDoors doors{system, processes, [](const auto&, const auto&, const auto&) { return false; }, 0};
    return plan_cleanup(disk, doors, scope, settings);
  }
  std::vector<std::string> plan() {
    std::vector<std::string> names;
    for (const CleanupItem& item : all().items) names.push_back(item.name);
    return names;
  }
};

/// The same, where what is planned is carried out.
struct Remover : Place {
  Result<Removed> remove(const CleanupItem& item) {
    const RemovalDoors doors{disk, system,
                             [this](const std::string& root, const std::string& below, const Identity* only) {
                               return disk.remove_tree(root, below, only);
                             },
                             [this](const std::string& folder) { (void)disk.remove_empty(folder).ok(); }};
    return remove_item(doors, item);
  }
  Remover() {
    for (const int step : {10, 20, 30}) whole(step);
    settings.what = {"old-checkpoints"};
  }
};

using Names = std::vector<std::string>;

}  // namespace mw
