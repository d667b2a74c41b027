#include "checkpoints/look.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "base/checksum.h"
#include "base/numbers.h"
#include "base/text.h"
#include "checkpoints/weights_file.h"

namespace mw {
namespace {

using How = event::CheckpointSeen::How;

constexpr size_t kFiles = 20'000;             // of one checkpoint
constexpr int kDepth = 8;                     // folders below it
constexpr size_t kProvenFiles = 1024;         // files of weights whose bytes are looked at
constexpr size_t kSampleBytes = 4096;         // of a tensor, or of a file's beginning
constexpr size_t kSamples = 24;               // tensors of a file
constexpr size_t kMetadataBytes = 32U << 20;  // of a .metadata or an index
constexpr int64_t kNoSettings = 16 << 10;     // a file of an unknown name that is larger may hold weights
constexpr int64_t kLeastShare = 10;           // a checkpoint of less than 1/10 of the one before is no such thing
constexpr std::string_view kMetadataOnly = "ckpt-metadata-only", kSafetensors = "safetensors-header-error",
                           kZip = "torch-zip-corrupt", kDistributed = "dcp-missing-metadata";

enum class Role { kWeights, kOptimizer, kSettings, kUnknown };

std::string_view ending_of(std::string_view name) {
  const size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? std::string_view() : name.substr(dot + 1);
}

template <size_t N>
bool one_of(std::string_view word, const std::array<std::string_view, N>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// By its name. Loaders', schedulers' and random generators' states are settings here: they are small and no weights.
Role role_of(std::string_view name) {
  constexpr std::array<std::string_view, 11> kWeightEndings = {"safetensors", "pt",  "pth", "bin",     "distcp", "ckpt",
                                                               "npz",         "npy", "h5",  "msgpack", "gguf"};
  constexpr std::array<std::string_view, 15> kSettingEndings = {"json", "jsonl", "txt",   "md",       "yaml",
                                                                "yml",  "jinja", "model", "py",       "toml",
                                                                "log",  "csv",   "vocab", "metadata", "merges"};
  constexpr std::array<std::string_view, 9> kStates = {
      "common.pt",         "data.pt",     "trainer_state.pt",     "scheduler.pt", "scaler.pt",
      "training_args.bin", "progress.pt", "fully_async_state.pt", "dataloader.pt"};
  constexpr std::array<std::string_view, 4> kStatePrefixes = {"rng_state", "extra_state", "random_states",
                                                              "dataloader"};
  if (one_of(ending_of(name), kSettingEndings)) return Role::kSettings;
  if (!one_of(ending_of(name), kWeightEndings)) return Role::kUnknown;
  const auto begins = [name](std::string_view prefix) { return name.starts_with(prefix); };
  if (one_of(name, kStates) || std::any_of(kStatePrefixes.begin(), kStatePrefixes.end(), begins))
    return Role::kSettings;
  return begins("optim") || contains(name, "optim_states") ? Role::kOptimizer : Role::kWeights;
}

struct FoundFile {
  std::string path, name;  ///< within the checkpoint
  int64_t bytes = 0;
  Role role = Role::kUnknown;
};

/// `path` with the numbers that are the checkpoint's own step as '#': "global_step40/…" has another name each time.
std::string without_step(std::string_view path, int64_t step) {
  std::string out;
  for (size_t i = 0; i < path.size();) {
    size_t end = i;
    while (end < path.size() && path[end] >= '0' && path[end] <= '9') ++end;
    if (end == i) {
      out += path[i++];
      continue;
    }
    const std::string_view digits = path.substr(i, end - i);
    const bool own = step != kNoStep && digits.size() < 19 && parse_int(digits) == step;
    out += own ? std::string_view("#") : digits;
    i = end;
  }
  return out;
}

class Looker {
 public:
  Looker(Disk& disk, const std::string& folder, int64_t step) : disk_(disk), folder_(folder) {
    look_.seen.step = step;
    look_.seen.path = folder;
  }

  CheckpointLook look(const CheckpointLook* before) {
    const auto top = disk_.info(folder_);
    if (!top.ok() || top->kind != FileInfo::Kind::kFolder) return look_;
    look_.there = list("", 0);
    if (!look_.there) return look_;
    look_.seen.files = static_cast<int64_t>(files_.size());
    judge_names();
    for (size_t i = 0; i < files_.size() && proven_ < kProvenFiles; ++i) prove(files_[i]);
    if (before != nullptr && before->there) compare(*before);
    if (look_.seen.how != How::kBroken && whole_ > 0 && !partial_) look_.seen.how = How::kWhole;
    if (look_.seen.how != How::kBroken) {
      look_.seen.what = cat(format_bytes(static_cast<double>(look_.seen.bytes)), " in ", files_.size(), " files");
    }
    return std::move(look_);
  }

 private:
  bool list(const std::string& below, int depth) {
    const auto names = disk_.list(cat(folder_, below.empty() ? "" : "/", below));
    if (!names.ok()) return depth > 0;  // one that went meanwhile
    for (const std::string& name : *names) {
      if (files_.size() >= kFiles) {
        partial_ = true;
        return true;
      }
      const std::string path = below.empty() ? name : cat(below, "/", name);
      const auto info = disk_.info(cat(folder_, "/", path));
      if (!info.ok()) continue;
      if (info->kind == FileInfo::Kind::kFolder) {
        if (depth < kDepth) list(path, depth + 1);
        continue;
      }
      if (info->kind != FileInfo::Kind::kFile) continue;
      files_.push_back({path, name, info->size, role_of(name)});
      look_.seen.bytes += info->size;
      look_.state = fnv1a(cat(path, " ", info->size, " ", info->changed.ns, "\n"), look_.state);
      if (files_.back().role == Role::kWeights || files_.back().role == Role::kOptimizer) {
        look_.weights.insert(without_step(path, look_.seen.step));
      }
    }
    return true;
  }

  /// The first thing that is wrong is told.
  void broken(std::string what, std::string_view sign) {
    if (look_.seen.how == How::kBroken) return;
    look_.seen.how = How::kBroken;
    look_.seen.what = std::move(what);
    look_.seen.sign = sign;
  }

  bool has(const std::string& path) const {
    return std::any_of(files_.begin(), files_.end(), [&](const FoundFile& file) { return file.path == path; });
  }

  static std::string beside(const std::string& path, std::string_view name) {
    const size_t slash = path.rfind('/');
    return slash == std::string::npos ? std::string(name) : cat(path.substr(0, slash + 1), name);
  }

  void judge_names() {
    if (partial_) return;
    if (has("checkpoint-is-incomplete.txt")) broken("a file in it says that it is not finished", "");
    const bool weights = std::any_of(files_.begin(), files_.end(), [](const FoundFile& file) {
      return file.role == Role::kWeights || (file.role == Role::kUnknown && file.bytes > kNoSettings);
    });
    if (!weights) {
      broken(files_.empty() ? "it is empty"
                            : cat("there are no weights in it, only ",
                                  format_bytes(static_cast<double>(look_.seen.bytes)), " of settings and states"),
             kMetadataOnly);
    }
    for (const FoundFile& file : files_) {
      if (ending_of(file.name) == "distcp" && !has(beside(file.path, ".metadata")) &&
          !has(beside(file.path, "metadata.json"))) {
        broken(cat(file.path, " has no .metadata beside it, which is written last"), kDistributed);
        return;
      }
    }
  }

  std::string read(const FoundFile& file, uint64_t from, size_t bytes) {
    std::string out;
    auto open = disk_.open_read(cat(folder_, "/", file.path));
    if (!open.ok() || !(*open)->read_at(from, bytes, out).ok()) {
      partial_ = true;  // it cannot be read, or went: nothing is proven
      out.clear();
    }
    return out;
  }

  void prove(const FoundFile& file) {
    if (file.name == ".metadata") return prove_metadata(file);
    if (file.name.ends_with(".index.json")) return prove_index(file);
    if (file.role != Role::kWeights && file.role != Role::kOptimizer) return;
    ++proven_;
    if (file.bytes == 0) return broken(cat(file.path, " is empty"), kMetadataOnly);
    const std::string head = read(file, 0, kSampleBytes);
    if (head.empty()) return;
    if (head.find_first_not_of('\0') == std::string::npos && head.size() >= 8) {
      return broken(cat(file.path, " begins with nothing but zeros: its bytes never reached the disk"), kMetadataOnly);
    }
    if (ending_of(file.name) == "safetensors") return prove_safetensors(file, head);
    if (head.starts_with("PK\x03\x04") && ending_of(file.name) != "distcp") return prove_zip(file);
    if (ending_of(file.name) == "distcp") ++whole_;  // .metadata says which there must be
  }

  void prove_zip(const FoundFile& file) {
    const auto size = static_cast<uint64_t>(file.bytes);
    const size_t bytes = std::min<uint64_t>(size, kZipTail);
    const std::string tail = read(file, size - bytes, bytes);
    if (tail.empty()) return;
    const auto checked = check_zip_tail(tail, size - bytes + tail.size());
    if (!checked.ok()) return broken(cat(file.path, ": ", checked.error().what), kZip);
    ++whole_;
  }

  void prove_safetensors(const FoundFile& file, const std::string& head) {
    const auto size = static_cast<uint64_t>(file.bytes);
    const auto header_bytes = safetensors_header_bytes(head, size);
    if (!header_bytes.ok()) return broken(cat(file.path, ": ", header_bytes.error().what), kSafetensors);
    if (*header_bytes > kSafetensorsHeader) return;  // not one that is read
    const std::string header = read(file, 8, *header_bytes);
    if (header.size() < *header_bytes) return;
    const auto tensors = parse_safetensors_header(header, size - 8 - *header_bytes);
    if (!tensors.ok()) return broken(cat(file.path, ": ", tensors.error().what), kSafetensors);
    sample(file, *tensors, 8 + *header_bytes);
    ++whole_;
  }

  /// A few tensors' first numbers: NaN anywhere, or zeros everywhere, are no weights.
  void sample(const FoundFile& file, const std::vector<Tensor>& tensors, uint64_t data) {
    const size_t stride = std::max<size_t>(1, tensors.size() / kSamples);
    size_t sampled = 0, zeros = 0;
    for (size_t i = 0; i < tensors.size(); i += stride) {
      const Tensor& tensor = tensors[i];
      const std::string bytes =
          read(file, data + tensor.begin, std::min<uint64_t>(tensor.end - tensor.begin, kSampleBytes));
      if (bytes.empty()) continue;
      ++sampled;
      if (bytes.find_first_not_of('\0') == std::string::npos) ++zeros;
      if (holds_nan(tensor.dtype, bytes)) {
        return broken(cat(file.path, ": ", clip(sanitize_utf8(tensor.name), 200), " holds NaN"), "");
      }
    }
    if (sampled > 1 && zeros == sampled) {
      broken(cat(file.path, " holds nothing but zeros where it was sampled"), kMetadataOnly);
    }
  }

  void prove_index(const FoundFile& file) {
    if (static_cast<size_t>(file.bytes) > kMetadataBytes) return;
    const std::string text = read(file, 0, kMetadataBytes);
    if (text.empty() && file.bytes > 0) return;
    const auto shards = shards_of_index(text);
    if (!shards.ok()) return broken(cat(file.path, ": ", shards.error().what), kSafetensors);
    for (const std::string& name : *shards) {
      if (!partial_ && !has(beside(file.path, name))) {
        return broken(cat(clip(sanitize_utf8(name), 200), " is missing, which ", file.path, " names"), kMetadataOnly);
      }
    }
  }

  void prove_metadata(const FoundFile& file) {
    if (file.bytes == 0) return broken(cat(file.path, " is empty"), kDistributed);
    if (static_cast<size_t>(file.bytes) > kMetadataBytes) return;
    for (const std::string& name : shards_of_metadata(read(file, 0, kMetadataBytes))) {
      if (!partial_ && !has(beside(file.path, name))) {
        return broken(cat(beside(file.path, clip(sanitize_utf8(name), 200)), " is missing, which .metadata names"),
                      kMetadataOnly);
      }
    }
  }

  void compare(const CheckpointLook& before) {
    if (partial_ || before.seen.how == How::kBroken) return;
    if (look_.seen.bytes < before.seen.bytes / kLeastShare) {
      broken(cat("it holds ", format_bytes(static_cast<double>(look_.seen.bytes)), ", and the one before it ",
                 format_bytes(static_cast<double>(before.seen.bytes))),
             kMetadataOnly);
    }
    const bool subset =
        std::includes(before.weights.begin(), before.weights.end(), look_.weights.begin(), look_.weights.end());
    if (!subset || look_.weights.empty() || look_.weights.size() == before.weights.size()) return;
    for (const std::string& name : before.weights) {
      if (look_.weights.count(name) > 0) continue;
      return broken(cat(clip(sanitize_utf8(name), 200), " is missing, which the one before it has"), kMetadataOnly);
    }
  }

  Disk& disk_;
  const std::string& folder_;
  CheckpointLook look_;
  std::vector<FoundFile> files_;
  size_t proven_ = 0, whole_ = 0;
  bool partial_ = false;  ///< not all of it was seen
};

}  // namespace

CheckpointLook look_at_checkpoint(Disk& disk, const std::string& folder, int64_t step, const CheckpointLook* before) {
  return Looker(disk, folder, step).look(before);
}

}  // namespace mw
