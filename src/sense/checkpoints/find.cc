#include "sense/checkpoints/find.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/numbers.h"
#include "base/one_of.h"
#include "base/text.h"
#include "core/checkpoint_layout.h"
#include "platform/durable.h"
#include "sense/checkpoints/file_directory.h"
#include "sense/checkpoints/file_role.h"
#include "sense/checkpoints/layouts/layout.h"
#include "sense/checkpoints/ownership.h"

namespace mw {
namespace {

constexpr int kDepth = 4;              // folders below the one that a person names
constexpr size_t kFolders = 20'000;    // that are listed
constexpr size_t kCheckpoints = 4096;  // that are found

bool is_folder(Disk& disk, const std::string& path) {
  const auto info = disk.info(path);
  return info.ok() && info->kind == FileInfo::Kind::kFolder;
}

/// Of one checkpoint, by its name in small letters.
bool is_part(std::string_view name) {
  constexpr std::array<std::string_view, 10> kParts = {"rank",  "shard", "part", "layer", "-of-",
                                                       "optim", "sched", "_pp",  "_tp",   "expert"};
  return std::any_of(kParts.begin(), kParts.end(), [name](std::string_view part) { return contains(name, part); });
}

/// Composer's names say epoch, batch and rank, "ep0-ba10-rank0"; where it does not shard only rank 0 saves.
std::optional<int64_t> of_composer(std::string_view stem) {
  constexpr std::string_view kBatch = "-ba", kEnd = "-rank0";
  const size_t at = stem.find(kBatch);
  if (!stem.starts_with("ep") || at == std::string_view::npos || !stem.ends_with(kEnd)) return std::nullopt;
  const std::string_view epoch = stem.substr(2, at - 2), behind = stem.substr(at + kBatch.size());
  const auto step =
      behind.size() > kEnd.size() ? parse_int(behind.substr(0, behind.size() - kEnd.size())) : std::nullopt;
  return parse_int(epoch) && step && *step >= 0 ? step : std::nullopt;
}

/// What a file's name is but for its numbers, and the one that says the step.
struct NumberedFile {
  int64_t step = kNoStep;
  std::string family;
};
NumberedFile numbered(std::string_view name) {
  constexpr std::array<std::string_view, 5> kEndings = {"pt", "pth", "ckpt", "bin", "safetensors"};
  constexpr std::array<std::string_view, 6> kWords = {"step", "iter", "checkpoint", "ckpt", "epoch", "save"};
  const std::string_view ending = ending_of(name);
  if (!is_one_of(ending, kEndings) || role_of(name) != FileRole::kWeights) return {};
  const std::string stem = to_lower(name.substr(0, name.size() - ending.size() - 1));
  if (const auto composer = of_composer(stem)) return {*composer, "ep#-ba*-rank0.pt"};
  if (is_part(stem)) return {};
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  NumberedFile out;
  size_t from = 0, to = 0;  // of the step's digits
  for (const std::string_view word : kWords) {
    const size_t at = stem.rfind(word);
    if (at == std::string::npos) continue;
    from = std::min(stem.size(), at + word.size());
    if (from < stem.size() && (stem[from] == '_' || stem[from] == '-' || stem[from] == '=')) ++from;
    to = from;
    while (to < stem.size() && is_digit(stem[to])) ++to;
    const auto step =
        to > from && to - from <= 12 ? parse_int(std::string_view(stem).substr(from, to - from)) : std::nullopt;
    if (!step) continue;
    out.step = *step;
    // fairseq's names say the epoch, then the step: "checkpoint_1_400".
    const size_t last = to + 1;
    const auto behind = word == "checkpoint" && to < stem.size() && stem[to] == '_' && stem.size() - last <= 12
                            ? parse_int(std::string_view(stem).substr(last))
                            : std::nullopt;
    if (!behind || *behind <= *step) break;
    out.step = *behind;
    from = last;
    to = stem.size();
    break;
  }
  if (out.step == kNoStep) return {};
  for (size_t i = 0; i < stem.size(); ++i) {
    if (i == from) out.family += '*';
    if (i >= from && i < to) continue;
    const bool digit = is_digit(stem[i]);
    if (!digit || out.family.empty() || out.family.back() != '#') out.family += digit ? '#' : stem[i];
  }
  out.family += cat(".", ending);
  return out;
}

/// All that lies beside it is one checkpoint: a layout's own file, or an optimizer beside the weights.
bool makes_one_checkpoint(const std::string& name) {
  constexpr std::array<std::string_view, 6> kOfOne = {"recover_info", "trainer_state.json", "common.pt",
                                                      ".metadata",    "metadata.json",      "adapter_config.json"};
  return is_one_of(name, kOfOne) || contains(name, ".index.") || role_of(name) == FileRole::kOptimizer;
}

std::vector<FoundCheckpoint> files_named_by_step(Disk& disk, const std::string& folder,
                                                 const std::vector<std::string>& names) {
  std::map<std::string, std::set<int64_t>> families;
  if (std::any_of(names.begin(), names.end(), makes_one_checkpoint)) return {};
  for (const std::string& name : names) {
    const NumberedFile one = numbered(name);
    const bool other = one.step == kNoStep && role_of(name) == FileRole::kWeights;
    if (other && name != "latest-rank0.pt" && (is_weights_by_name(name) || is_part(to_lower(name)))) return {};
    // The same step twice: parts of it.
    if (one.step != kNoStep && !families[one.family].insert(one.step).second) return {};
  }
  const bool several =
      std::any_of(families.begin(), families.end(), [](const auto& one) { return one.second.size() > 1; });
  if (!several) return {};
  std::vector<FoundCheckpoint> found;
  std::set<std::pair<uint64_t, uint64_t>> met;  // a link to one of them, "last.ckpt", is not another one
  for (const bool with_step : {true, false}) {
    for (const std::string& name : names) {
      const std::string_view ending = ending_of(name);
      const int64_t step = step_of_file(name);
      const bool single = ending == "pt" || ending == "pth" || ending == "ckpt";
      if ((step != kNoStep) != with_step || role_of(name) != FileRole::kWeights || (!with_step && !single)) continue;
      std::string path = cat(folder == "/" ? "" : folder, "/", name);
      const auto info = disk.info(path);
      if (!info.ok() || info->kind != FileInfo::Kind::kFile || found.size() >= kCheckpoints) continue;
      if (info->inode != 0 && !met.emplace(info->device, info->inode).second) continue;
      found.push_back({std::move(path), step});
    }
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const FoundCheckpoint& a, const FoundCheckpoint& b) { return a.step < b.step; });
  return found;
}

/// Lightning's names may hold a metric and no step ("model-val_reward=0.31.ckpt"), and each file says its own, beside
/// its weights. Nothing where fewer than two say one, or where one that was written to its end says none. Of what
/// cannot be read the step is not known.
std::vector<FoundCheckpoint> files_that_say_their_step(Disk& disk, const std::string& folder,
                                                       const std::vector<std::string>& names) {
  constexpr size_t kRead = 256;
  if (std::any_of(names.begin(), names.end(), makes_one_checkpoint)) return {};
  std::vector<std::string> files;
  std::copy_if(names.begin(), names.end(), std::back_inserter(files), [](const std::string& name) {
    return ending_of(name) == "ckpt" && role_of(name) == FileRole::kWeights && !is_part(to_lower(name));
  });
  if (files.size() < 2 || files.size() > kRead) return {};
  std::vector<FoundCheckpoint> found;
  std::set<int64_t> steps;
  std::set<std::pair<uint64_t, uint64_t>> met;  // a link to one of them is not another one
  for (const std::string& name : files) {
    std::string path = cat(folder == "/" ? "" : folder, "/", name);
    const auto info = disk.info(path);
    if (!info.ok() || info->kind != FileInfo::Kind::kFile) continue;
    if (info->inode != 0 && !met.emplace(info->device, info->inode).second) continue;
    auto open = disk.open_read(path);
    const FileDirectory says =
        open.ok() ? read_directory(**open, name, static_cast<uint64_t>(info->size)) : FileDirectory();
    const auto step = says.numbers.find("global_step");
    const bool known = step != says.numbers.end() && step->second >= 0 && says.keys.count("state_dict") != 0;
    if (says.proven && !known) return {};
    if (known) steps.insert(step->second);
    found.push_back({std::move(path), known ? step->second : kNoStep});
  }
  if (steps.size() < 2) return {};
  std::stable_sort(found.begin(), found.end(),
                   [](const FoundCheckpoint& a, const FoundCheckpoint& b) { return a.step < b.step; });
  return found;
}

class Search {
 public:
  explicit Search(Disk& disk) : disk_(disk) {}

  /// `only_steps`: it is part of one already, and only what is named by a step is another one.
  void look(const std::string& folder, int depth, bool only_steps = false) {
    if (found_.size() >= kCheckpoints || ++listed_ > kFolders) return;
    const auto names = disk_.list(folder);
    const bool step = step_of_name(basename(folder)) != kNoStep;
    if (!names.ok() && step) keep(folder);  // whoever looks at it hears why it cannot be seen
    if (!names.ok()) return;
    const auto files = step || only_steps ? std::vector<FoundCheckpoint>() : checkpoint_files_in(disk_, folder, *names);
    found_.insert(found_.end(), files.begin(), files.end());
    only_steps = only_steps || !files.empty();
    if (step || (!only_steps &&
                 (is_checkpoint_by_names(without_steps(folder, *names)) || is_checkpoint_by_folders(folder, *names)))) {
      keep(folder);
      if (step) return;
      only_steps = true;
    }
    // Those named by a step first: a link to one of them, whatever it is called, is not another one.
    for (const bool steps : {true, false}) {
      for (const std::string& name : *names) {
        if (name.starts_with('.') || depth >= kDepth || (step_of_name(name) != kNoStep) != steps) continue;
        const std::string path = cat(folder == "/" ? "" : folder, "/", name);
        if (folder != "/" || !is_of_system(name)) enter(path, depth + 1, only_steps);
      }
    }
  }

  std::vector<FoundCheckpoint> take() {
    std::stable_sort(found_.begin(), found_.end(), [](const FoundCheckpoint& a, const FoundCheckpoint& b) {
      return std::pair(folder_of(a.path), a.step) < std::pair(folder_of(b.path), b.step);
    });
    return std::move(found_);
  }

 private:
  /// The kernel's own files, which look like folders without end.
  static bool is_of_system(std::string_view name) { return name == "proc" || name == "sys" || name == "dev"; }

  /// No folder twice, whatever links lead to it.
  void enter(const std::string& path, int depth, bool only_steps) {
    const auto info = disk_.info(path);
    if (!info.ok() || info->kind != FileInfo::Kind::kFolder) return;
    if (info->inode != 0 && !entered_.emplace(info->device, info->inode).second) return;
    look(path, depth, only_steps);
  }

  /// Without folders that are called as files of weights are ("epoch=0-step=10.ckpt").
  std::vector<std::string> without_steps(const std::string& folder, std::vector<std::string> names) {
    const auto is_step = [&](const std::string& name) {
      return ending_of(name) == "ckpt" && step_of_name(name) != kNoStep &&
             is_folder(disk_, cat(folder == "/" ? "" : folder, "/", name));
    };
    names.erase(std::remove_if(names.begin(), names.end(), is_step), names.end());
    return names;
  }

  /// One of several roles, which was copied to a folder of another name.
  bool is_checkpoint_by_folders(const std::string& folder, const std::vector<std::string>& names) {
    const auto has = [&names](std::string_view name) {
      return std::find(names.begin(), names.end(), name) != names.end();
    };
    if (has("policy") && (has("trainer_state.pt") || has("training_info.json"))) return true;
    if (!has("actor")) return false;
    const auto in_actor = disk_.list(cat(folder == "/" ? "" : folder, "/actor"));
    return in_actor.ok() && (has("data.pt") || is_part_of_verl(*in_actor));
  }

  void keep(const std::string& folder) { found_.push_back({folder, step_of_name(basename(folder))}); }

  Disk& disk_;
  std::set<std::pair<uint64_t, uint64_t>> entered_;  // by device and inode
  std::vector<FoundCheckpoint> found_;
  size_t listed_ = 0;
};

}  // namespace

int64_t step_of_file(std::string_view name) { return numbered(name).step; }

std::string pattern_of_files(const std::vector<std::string>& names) {
  if (names.empty()) return "";
  const std::string& first = names.front();
  const int64_t step = step_of_file(first);
  const auto fits_all = [&names](const std::string& pattern) {
    return std::all_of(names.begin(), names.end(), [&pattern](const std::string& name) {
      const auto in = step_in(pattern, name);
      return in && *in == step_of_file(name);
    });
  };
  for (size_t from = 0; step != kNoStep && from < first.size(); ++from) {
    const size_t to = std::min(first.find_first_not_of("0123456789", from), first.size());
    if (to == from) continue;
    for (const std::string& place : {std::string("{step}"), cat("{step:0", to - from, "}")}) {
      std::string pattern = cat(first.substr(0, from), place, first.substr(to));
      if (fits_all(pattern)) return pattern;
    }
    from = to;
  }
  return "";
}

std::vector<FoundCheckpoint> checkpoint_files_in(Disk& disk, const std::string& folder,
                                                 const std::vector<std::string>& names) {
  auto found = files_named_by_step(disk, folder, names);
  return found.empty() ? files_that_say_their_step(disk, folder, names) : found;
}

bool counts_saves(const std::string& checkpoint) {
  return step_in("checkpoint_{step}", basename(checkpoint)) && basename(folder_of(checkpoint)) == "checkpoints";
}

bool is_checkpoint_by_names(const std::vector<std::string>& names) {
  const auto has = [&names](std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  if (has("recover_info") || has("trainer_state.json") || has("common.pt") || has(".metadata") ||
      has("adapter_config.json"))
    return true;
  const bool steps =
      std::any_of(names.begin(), names.end(), [](const std::string& name) { return name.starts_with("iter_"); });
  return std::any_of(names.begin(), names.end(), [steps](const std::string& name) {
    if (steps && name == "latest_train_state.pt") return false;  // Megatron-Bridge's pointer to one of them
    const FileRole role = role_of(name);
    return role == FileRole::kWeights || role == FileRole::kOptimizer || name.ends_with(".index.json");
  });
}

bool is_part_of_verl(const std::vector<std::string>& names) {
  const auto has = [&names](std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  if (has("ckpt_contents.json") || has("dist_ckpt")) return true;
  return std::any_of(names.begin(), names.end(), [](const std::string& name) {
    return name.starts_with("model_world_size_") && rank_shard_of(name).of > 0;
  });
}

Result<std::vector<FoundCheckpoint>> find_checkpoints(Disk& disk, const std::string& path) {
  const auto info = disk.info(path);
  if (!info.ok()) return info.error();
  if (info->kind == FileInfo::Kind::kOther)
    return Error{Error::Code::kInvalid, cat(path, " is neither a file nor a folder"), ""};
  if (info->kind != FileInfo::Kind::kFolder) return std::vector<FoundCheckpoint>{{path, kNoStep}};
  if (const auto names = disk.list(path); !names.ok()) return names.error();
  Search search(disk);
  search.look(path, 0);
  auto found = search.take();
  if (found.empty()) found.push_back({path, kNoStep});
  return found;
}

std::string behind_link(Disk& disk, const std::string& path) {
  const auto info = disk.info(path);
  if (!info.ok() || info->kind != FileInfo::Kind::kFolder || info->inode == 0) return path;
  if (step_of_name(basename(path)) != kNoStep) return path;
  for (const FoundCheckpoint& one : checkpoints_beside(disk, cat(folder_of(path), "/step_0"))) {
    const auto other = disk.info(one.path);
    if (other.ok() && other->inode == info->inode && other->device == info->device) return one.path;
  }
  constexpr int kHops = 8;  // of links to links
  std::string to = path;
  for (int i = 0; i < kHops; ++i) {
    const auto text = disk.read_link(to);
    if (!text.ok()) break;
    to = plain_path(text->starts_with('/') ? *text : cat(folder_of(to), "/", *text));
  }
  const auto other = disk.info(to);
  const bool same = other.ok() && other->inode == info->inode && other->device == info->device;
  return same && step_of_name(basename(to)) != kNoStep ? to : path;
}

std::vector<FoundCheckpoint> checkpoints_beside(Disk& disk, const std::string& checkpoint) {
  std::vector<FoundCheckpoint> found;
  if (step_of_name(basename(checkpoint)) == kNoStep) return found;
  const std::string folder = folder_of(checkpoint);
  const auto names = disk.list(folder);
  for (const std::string& name : names.ok() ? *names : std::vector<std::string>()) {
    const int64_t step = step_of_name(name);
    std::string path = cat(folder == "/" ? "" : folder, "/", name);
    if (step != kNoStep && found.size() < kCheckpoints && is_folder(disk, path))
      found.push_back({std::move(path), step});
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const FoundCheckpoint& a, const FoundCheckpoint& b) { return a.step < b.step; });
  return found;
}

std::vector<FoundCheckpoint> files_beside(Disk& disk, const std::string& file) {
  std::vector<FoundCheckpoint> found;
  const NumberedFile own = numbered(basename(file));
  if (own.step == kNoStep) return found;
  const auto names = disk.list(folder_of(file));
  for (const std::string& name : names.ok() ? *names : std::vector<std::string>()) {
    const NumberedFile one = numbered(name);
    if (one.step != kNoStep && one.family == own.family && found.size() < kCheckpoints)
      found.push_back({cat(folder_of(file) == "/" ? "" : folder_of(file), "/", name), one.step});
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const FoundCheckpoint& a, const FoundCheckpoint& b) { return a.step < b.step; });
  return found;
}

bool names_something(Disk& disk, const CheckpointPointer& pointer) {
  const std::string& text = pointer.text;
  const bool control =
      std::any_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; });
  if (text.empty() || control) return false;
  bool down = false;  // it has a name in it, besides dots
  for (const std::string_view piece : split(text, '/')) {
    if (piece == "..") return false;
    down = down || (!piece.empty() && piece != ".");
  }
  if (!down || text == basename(pointer.path)) return false;
  if (text.front() == '/') return disk.info(text).ok();
  if (!contains(text, "/")) return disk.info(cat(folder_of(pointer.path), "/", text)).ok();
  return !leads_nowhere(disk, folder_of(pointer.path), text) ||
         (basename(text) != basename(pointer.path) &&
          disk.info(cat(folder_of(pointer.path), "/", basename(text))).ok());
}

bool leads_nowhere(Disk& disk, const std::string& folder, std::string_view text) {
  for (std::string from = folder;; from = folder_of(from)) {
    const auto info = disk.info(cat(from == "/" ? "" : from, "/", text));
    if (info.ok() || info.error().code != Error::Code::kNotFound) return false;
    if (from.find('/') == std::string::npos || from == "/" || from == folder_of(from)) return true;
  }
}

bool is_zeros(const CheckpointPointer& pointer) {
  return !pointer.text.empty() && pointer.text.find_first_not_of('\0') == std::string::npos;
}

std::string_view pointer_of(std::string_view framework) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kOf = {
      {{"verl", "latest_checkpointed_iteration.txt"},
       {"slime", "latest_checkpointed_iteration.txt"},
       {"skyrl", "latest_ckpt_global_step.txt"},
       {"openrlhf", "latest"}}};
  const auto* const found =
      std::find_if(kOf.begin(), kOf.end(), [&](const auto& one) { return one.first == framework; });
  return found == kOf.end() ? "" : found->second;
}

std::vector<CheckpointPointer> pointers_beside(Disk& disk, const std::string& checkpoint) {
  constexpr std::array<std::string_view, 3> kNames = {"latest_checkpointed_iteration.txt",
                                                      "latest_ckpt_global_step.txt", "latest"};
  constexpr int64_t kLongest = 4096;  // bytes of a pointer
  std::vector<CheckpointPointer> out;
  const auto names = disk.list(folder_of(checkpoint));
  for (const std::string_view name : kNames) {
    CheckpointPointer pointer;
    pointer.path = cat(folder_of(checkpoint), "/", name);
    const auto info = disk.info(pointer.path);
    if (!info.ok() && names.ok() && std::find(names->begin(), names->end(), name) != names->end()) {
      pointer.leads_nowhere = true;
      out.push_back(std::move(pointer));
      continue;
    }
    // "latest" may be a link to the newest checkpoint.
    pointer.is_folder = info.ok() && info->kind == FileInfo::Kind::kFolder && name.ends_with(".txt");
    if (pointer.is_folder) out.push_back(pointer);
    if (!info.ok() || info->kind != FileInfo::Kind::kFile || info->size > kLongest) continue;
    const auto text = read_small(disk, pointer.path);
    pointer.unread = !text.ok();
    if (text.ok()) pointer.text = trim(*text);
    const auto number = parse_int(pointer.text);
    pointer.step = number && *number >= 0 ? *number : step_of_name(pointer.text);
    out.push_back(std::move(pointer));
  }
  return out;
}

}  // namespace mw
