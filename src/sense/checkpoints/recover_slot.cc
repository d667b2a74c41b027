#include "sense/checkpoints/recover_slot.h"

#include <algorithm>

#include "base/json.h"
#include "base/text.h"
#include "platform/durable.h"
#include "sense/checkpoints/layouts/layout.h"

namespace mw {
namespace {

constexpr std::string_view kInfo = "recover_info", kWeights = "recover_checkpoint";
constexpr size_t kRoles = 64;  // folders of a trial that are looked at

bool is_export_name(std::string_view name) {
  return name.starts_with("epoch") && contains(name, "globalstep") && step_of_name(name) != kNoStep;
}

}  // namespace

bool is_part_of_slot(const std::string& path) { return basename(path) == kInfo || basename(path) == kWeights; }

std::string recover_slot_of(Disk& disk, const std::string& path) {
  const std::string_view name = basename(path);
  std::string trial;
  if (name == kInfo) trial = folder_of(path);
  if (name == kWeights || is_export_name(name)) trial = folder_of(folder_of(path));
  if (trial.empty() || trial == "/") return "";
  const auto info = disk.info(cat(trial, "/", kInfo));
  return info.ok() && info->kind == FileInfo::Kind::kFolder ? trial : "";
}

bool is_recover_slot(Disk& disk, const std::string& trial) {
  const auto info = disk.info(cat(trial, "/", kInfo));
  return info.ok() && info->kind == FileInfo::Kind::kFolder;
}

int64_t step_of_slot(Disk& disk, const std::string& trial) {
  const auto text = read_small(disk, cat(trial, "/", kInfo, "/step_info.json"));
  const auto json = text.ok() ? Json::parse(*text) : Result<Json>(text.error());
  const int64_t step = json.ok() && json->is_object() ? json->integer_or("global_step", kNoStep) : kNoStep;
  return step < 0 ? kNoStep : step;
}

bool is_slot_complete(Disk& disk, const std::string& trial) {
  const auto step = disk.info(cat(trial, "/", kInfo, "/step_info.json"));
  const auto data = disk.info(cat(trial, "/", kInfo, "/dataloader_info.pkl"));
  const auto roles = disk.list(trial);
  if (!step.ok() || !roles.ok()) return false;
  const Time written = data.ok() ? std::min(step->changed, data->changed) : step->changed;
  for (size_t i = 0; i < std::min(roles->size(), kRoles); ++i) {
    const std::string weights = cat(trial, "/", (*roles)[i], "/", kWeights);
    const auto files = disk.list(weights);
    for (const std::string& name : files.ok() ? *files : std::vector<std::string>()) {
      const auto file = disk.info(cat(weights, "/", name));
      if (!file.ok() || file->changed > written) return false;
    }
  }
  return true;
}

std::vector<FoundCheckpoint> exports_of(Disk& disk, const std::string& slot) {
  std::vector<FoundCheckpoint> out;
  const auto roles = disk.list(slot);
  if (!roles.ok() || !disk.info(cat(slot, "/", kInfo)).ok()) return out;
  size_t looked = 0;
  for (const std::string& role : *roles) {
    if (role == kInfo || ++looked > kRoles) continue;
    const std::string folder = cat(slot, "/", role);
    const auto names = disk.list(folder);
    for (const std::string& name : names.ok() ? *names : std::vector<std::string>()) {
      if (is_export_name(name)) out.push_back({cat(folder, "/", name), step_of_name(name)});
    }
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const FoundCheckpoint& a, const FoundCheckpoint& b) { return a.step < b.step; });
  return out;
}

}  // namespace mw
