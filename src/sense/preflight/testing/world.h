// A made-up machine on which preflight looks at a command, for tests.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/text.h"
#include "sense/preflight/gather.h"

namespace mw::preflight {

inline const Knowledge& built_in() {
  static const Result<Knowledge> loaded = load_knowledge();
  MW_CHECK(loaded.ok());
  return *loaded;
}

/// A sound machine: two GPUs, room everywhere, logins, limits as engines want them. Tests spoil one thing each.
struct World {
  FakeSystem system;
  std::map<std::string, std::string> environment = {{"PATH", "/usr/bin"},
                                                    {"HOME", "/root"},
                                                    {"WANDB_API_KEY", "a-key-of-forty-letters-and-no-less-than-that"},
                                                    {"HF_TOKEN", "hf_something"},
                                                    {"VLLM_WORKER_MULTIPROC_METHOD", "spawn"}};
  std::string limits =
      "Max open files            65536                1048576              files     \n"
      "Max core file size        0                    unlimited            bytes     \n";
  std::vector<double> gpus = {80e9, 80e9};  ///< bytes
  std::vector<double> gpus_used;
  Asked asked;
  Facts facts;  ///< of what was asked last

  World() {
    asked.folder = "/work";
    system.spaces["/"] = {4'000'000'000'000, 8'000'000'000'000, 1000, 1000};
    system.spaces["/dev/shm"] = {64'000'000'000, 64'000'000'000, 1000, 1000};
    system.files["/dev/shm/.there"] = "";
    for (const char* program : {"uv", "python3", "python", "bash", "ray", "accelerate", "trl"})
      system.files[cat("/usr/bin/", program)] = "";
    system.files["/proc/sys/kernel/core_pattern"] = "core\n";
    system.files["/proc/meminfo"] = "MemTotal:       1000000000 kB\n";
  }

  std::vector<Finding> look(const std::vector<std::string>& command) {
    asked.command = command;
    std::string text;
    for (const auto& [name, value] : environment) text += cat(name, "=", value) + std::string(1, '\0');
    system.files["/proc/self/environ"] = text;
    system.files["/proc/self/limits"] = limits;
    facts = gather(system, built_in(), asked, [&] {
      GpuSnapshot snapshot;
      for (size_t i = 0; i < gpus.size(); ++i) {
        GpuFigures figures;
        figures.index = cat(i);
        figures.memory_size = gpus[i];
        figures.memory_used = i < gpus_used.size() ? gpus_used[i] : 0;
        snapshot.gpus.push_back(figures);
      }
      return snapshot;
    });
    return check(facts, built_in().catalogue);
  }
};

/// Errors and warnings as lines "level lint place what", for messages of tests.
inline std::string lines_of(const std::vector<Finding>& findings, bool notes = false) {
  std::string out;
  for (const Finding& finding : findings) {
    if (finding.level == Level::kNote && !notes) continue;
    out += cat(level_word(finding.level), " ", finding.lint, " ", place_text(finding.place), " ", finding.what, "\n");
  }
  return out;
}

inline const Finding* find_lint(const std::vector<Finding>& findings, std::string_view lint) {
  const auto at = std::find_if(findings.begin(), findings.end(), [&](const Finding& one) { return one.lint == lint; });
  return at == findings.end() ? nullptr : &*at;
}

inline bool has_errors(const std::vector<Finding>& findings) {
  return std::any_of(findings.begin(), findings.end(), [](const Finding& one) { return one.level == Level::kError; });
}

}  // namespace mw::preflight
