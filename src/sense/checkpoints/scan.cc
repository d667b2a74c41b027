#include "sense/checkpoints/scan.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/checksum.h"
#include "base/numbers.h"
#include "base/text.h"
#include "sense/checkpoints/file_role.h"
#include "sense/checkpoints/walk_files.h"
#include "sense/checkpoints/weights_file.h"

namespace mw {
namespace {

using How = event::CheckpointSeen::How;

constexpr size_t kFiles = 20'000;             // of one checkpoint
constexpr int kDepth = 8;                     // folders below it
constexpr size_t kProvenFiles = 1024;         // files of weights whose bytes are looked at
constexpr size_t kSampleBytes = 4096;         // of a file's beginning, and at each place where it is sampled
constexpr uint64_t kZeroSamples = 64;         // places of a file that may be nothing but zeros
constexpr size_t kMetadataBytes = 32U << 20;  // of a .metadata or an index
constexpr std::string_view kMetadataOnly = "ckpt-metadata-only", kSafetensors = "safetensors-header-error",
                           kZip = "torch-zip-corrupt", kDistributed = "dcp-missing-metadata",
                           kUnfinished = "checkpoint-save-unfinished";

using Role = FileRole;

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

class Scanner {
 public:
  Scanner(Disk& disk, const std::string& folder, int64_t step) : disk_(disk), folder_(folder) {
    scan_.seen.step = step;
    scan_.seen.path = folder;
  }

  CheckpointScan scan(const CheckpointScan* before) {
    const auto top = disk_.info(folder_);
    if (!top.ok() || (top->kind != FileInfo::Kind::kFolder && top->kind != FileInfo::Kind::kFile)) return scan_;
    if (top->kind == FileInfo::Kind::kFile) {
      add(std::string(basename(folder_)), *top);
      folder_ = folder_of(folder_);
    }
    scan_.there = !files_.empty() || list();
    if (!scan_.there) return scan_;
    scan_.seen.files = static_cast<int64_t>(files_.size());
    judge_names();
    for (size_t i = 0; i < files_.size() && proven_ < kProvenFiles; ++i) prove(files_[i]);
    scan_.parts = parts();
    if (before != nullptr && before->there) compare(*before);
    if (scan_.seen.how != How::kBroken && whole_ > 0 && !partial_) scan_.seen.how = How::kWhole;
    if (scan_.seen.how != How::kBroken) {
      scan_.seen.what = cat(format_bytes(static_cast<double>(scan_.seen.bytes)), " in ", files_.size(),
                            files_.size() == 1 ? " file" : " files");
    }
    if (scan_.seen.how == How::kBroken || !scan_.may_hold_weights) scan_.touched = touched();
    scan_.partial = partial_;
    return std::move(scan_);
  }

 private:
  /// Unknown where a folder's own time is not.
  Time touched() const {
    Time last = scan_.newest;
    std::set<std::string> folders = {folder_};
    for (const FoundFile& file : files_) {
      for (std::string_view path = file.path; path.rfind('/') != std::string_view::npos;) {
        path = path.substr(0, path.rfind('/'));
        folders.insert(cat(folder_, "/", path));
      }
    }
    for (const std::string& folder : folders) {
      const auto info = disk_.info(folder);
      if (!info.ok() || !info->changed.known()) return {};
      last = std::max(last, info->changed);
    }
    return last;
  }

  /// False: it went meanwhile, or others may not list it.
  bool list() {
    bool listed = true;
    FileWalk walk{kFiles, kDepth};
    walk.passes_over = [](const std::string& path, const FileInfo& info) {
      return info.kind == FileInfo::Kind::kFile && is_no_part(basename(path));
    };
    walk.file = [this](std::string path, const FileInfo& info) {
      add(std::move(path), info);
      return Result<void>();
    };
    walk.unseen = [this, &listed](Unseen why, const std::string& path, const Error&) {
      partial_ = partial_ || why != Unseen::kOther;
      listed = listed && !path.empty();
      return Result<void>();
    };
    (void)walk_files(disk_, folder_, walk).ok();
    return listed;
  }

  void add(std::string path, const FileInfo& info) {
    const std::string name(basename(path));
    const Role role = role_of(name);
    scan_.seen.bytes += info.size;
    scan_.newest = std::max(scan_.newest, info.changed);
    scan_.state = fnv1a(cat(path, " ", info.size, " ", info.changed.ns, "\n"), scan_.state);
    if (role != Role::kSettings) scan_.may_hold_weights = true;
    if (role != Role::kSettings && role != Role::kOptimizer) scan_.settings_only = false;
    if (role == Role::kWeights || role == Role::kOptimizer) scan_.weights.insert(without_step(path, scan_.seen.step));
    files_.push_back({std::move(path), name, info.size, role});
  }

  /// Only the first thing that is wrong is reported.
  void broken(std::string what, std::string_view sign) {
    if (scan_.seen.how == How::kBroken) return;
    scan_.seen.how = How::kBroken;
    scan_.seen.what = std::move(what);
    scan_.seen.sign = sign;
  }

  bool has(const std::string& path) const {
    return std::any_of(files_.begin(), files_.end(), [&](const FoundFile& file) { return file.path == path; });
  }

  void judge_names() {
    if (has("checkpoint-is-incomplete.txt")) broken("a file in it says that it is not finished", "");
    if (!partial_ && files_.empty()) broken("it is empty", kMetadataOnly);
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
    if (is_export(file.path)) return;
    if (file.name == ".metadata") return prove_metadata(file);
    if (is_shard_index(file.name, "")) return prove_index(file);
    if (file.role != Role::kWeights && file.role != Role::kOptimizer) return;
    ++proven_;
    if (file.bytes == 0) {
      if (is_weights_by_name(file.name)) broken(cat(file.path, " is empty"), kMetadataOnly);
      return;
    }
    if (ending_of(file.name) == "safetensors") return prove_safetensors(file);
    if (!is_of_torch(file.name)) return;
    const std::string head = read(file, 0, kSampleBytes);
    if (is_zero(head) && head.size() >= 8 && is_zero_throughout(file)) {
      return zeros(file);
    }
    if (ending_of(file.name) == "distcp") {
      // .metadata says which there must be; without one it may be a node's own part.
      // Of a rank that writes its own, "__3_0.distcp" has "__3.metadata".
      const std::string own = cat(file.name.substr(0, file.name.find('_', 2)), ".metadata");
      if (has(beside(file.path, ".metadata")) || has(beside(file.path, "metadata.json")) || has(beside(file.path, own)))
        ++whole_;
    } else if (head.starts_with("PK\x03\x04")) {
      prove_zip(file);
    }
  }

  void zeros(const FoundFile& file) {
    broken(cat(file.path, " holds nothing but zeros: its bytes never reached the disk"), kMetadataOnly);
  }

  static bool is_zero(std::string_view bytes) {
    return !bytes.empty() && bytes.find_first_not_of('\0') == std::string_view::npos;
  }

  /// As far as it is sampled, its end too.
  bool is_zero_throughout(const FoundFile& file) {
    const auto size = static_cast<uint64_t>(file.bytes);
    const uint64_t last = size > kSampleBytes ? size - kSampleBytes : 0;
    for (uint64_t i = 0; i <= kZeroSamples; ++i) {
      if (!is_zero(read(file, last / kZeroSamples * i, kSampleBytes))) return false;
    }
    return is_zero(read(file, last, kSampleBytes));
  }

  /// The directory at its end is what a writer writes last. Where there is one, and something else beside, who knows
  /// who wrote it.
  void prove_zip(const FoundFile& file) {
    const auto size = static_cast<uint64_t>(file.bytes);
    const size_t bytes = std::min<uint64_t>(size, kZipTail);
    const std::string tail = read(file, size - bytes, bytes);
    if (tail.empty()) return;
    const auto checked = check_zip_tail(tail, size - bytes + tail.size());
    if (checked.ok()) {
      ++whole_;
    } else if (!contains(tail, "PK\x05\x06")) {
      broken(cat(file.path, ": ", checked.error().what), kZip);
    }
  }

  void prove_safetensors(const FoundFile& file) {
    const std::string head = read(file, 0, kSampleBytes);
    if (head.empty()) return;
    const auto size = static_cast<uint64_t>(file.bytes);
    const auto header_bytes = safetensors_header_bytes(head, size);
    if (!header_bytes.ok() && header_bytes.error().code == Error::Code::kTruncated) {
      return broken(cat(file.path, ": ", header_bytes.error().what), kSafetensors);
    }
    if (!header_bytes.ok() && is_zero_throughout(file)) return zeros(file);
    if (!header_bytes.ok()) return;                  // encrypted, compressed: not what its name says
    if (*header_bytes > kSafetensorsHeader) return;  // not one that is read
    const std::string header = read(file, 8, *header_bytes);
    if (header.size() < *header_bytes) return;
    const auto tensors = parse_safetensors_header(header, size - 8 - *header_bytes);
    if (tensors.ok()) {
      const auto holds = [](const Tensor& one) { return one.end > 0; };  // one without a number proves nothing
      const auto faulty = [](const Tensor& one) { return !fault_of_kind(one).what.empty(); };
      const bool whole = std::any_of(tensors->begin(), tensors->end(), holds) &&
                         std::none_of(tensors->begin(), tensors->end(), faulty);
      whole_ += whole ? 1 : 0;
    } else if (tensors.error().code == Error::Code::kTruncated) {
      broken(cat(file.path, ": ", tensors.error().what), kSafetensors);
    }
  }

  /// Some of what it names is there and some is not. None at all: it was copied from the model that training began
  /// with.
  void prove_named(const FoundFile& file, const std::vector<std::string>& names, std::string_view what) {
    std::string missing;
    size_t found = 0;
    for (const std::string& name : names) {
      if (has(beside(file.path, name))) {
        ++found;
      } else if (missing.empty()) {
        missing = beside(file.path, name);
      }
    }
    if (partial_ || found == 0 || missing.empty()) return;
    broken(cat(clip(sanitize_utf8(missing), 200), " is missing, which ", what, " names"), kUnfinished);
  }

  void prove_index(const FoundFile& file) {
    if (static_cast<size_t>(file.bytes) > kMetadataBytes) return;
    const auto shards = shards_of_index(read(file, 0, kMetadataBytes));
    if (shards.ok()) prove_named(file, *shards, file.path);
  }

  void prove_metadata(const FoundFile& file) {
    if (static_cast<size_t>(file.bytes) > kMetadataBytes) return;
    const bool beside_data = std::any_of(files_.begin(), files_.end(), [&file](const FoundFile& other) {
      return other.path == beside(file.path, other.name) && ending_of(other.name) == "distcp";
    });
    if (file.bytes == 0 && beside_data) return broken(cat(file.path, " is empty"), kDistributed);
    prove_named(file, shards_of_metadata(read(file, 0, kMetadataBytes)), ".metadata");
  }

  /// What the one before has, and this one cannot do without. Fewer files, fewer bytes and fewer ranks are no sign: an
  /// optimizer that is not in every save, an adapter after the whole, a smaller machine.
  void compare(const CheckpointScan& before) {
    if (partial_ || before.seen.how == How::kBroken) return;
    if (!scan_.may_hold_weights && !before.weights.empty() && scan_.seen.bytes < before.seen.bytes) {
      broken(cat("there are no weights in it, only ", format_bytes(static_cast<double>(scan_.seen.bytes)),
                 " of settings and states, and the one ",
                 scan_.seen.step != kNoStep && before.seen.step > scan_.seen.step ? "after" : "before", " it has ",
                 format_bytes(static_cast<double>(before.seen.bytes)), " with weights"),
             kMetadataOnly);
    }
    compare_ranks(before);
    for (const FoundFile& file : files_) {
      const std::string metadata = beside(without_step(file.path, scan_.seen.step), ".metadata");
      if (ending_of(file.name) != "distcp" || is_export(file.path) || has(beside(file.path, ".metadata")) ||
          has(beside(file.path, "metadata.json")) || before.parts.count(metadata) == 0) {
        continue;
      }
      return broken(cat(file.path, " has no .metadata beside it, which is written last"), kDistributed);
    }
  }

  /// Of as many ranks as before some are missing; each family of files names how many there are.
  void compare_ranks(const CheckpointScan& before) {
    std::map<std::string, std::set<int64_t>> now, then;
    const auto sort = [](const std::set<std::string>& paths, auto& into) {
      for (const std::string& path : paths) {
        if (const RankShard shard = rank_shard_of(path); shard.of > 0 && !is_export(path))
          into[shard.family].insert(shard.number);
      }
    };
    sort(scan_.weights, now);
    sort(before.weights, then);
    for (const auto& [family, ranks] : now) {
      const auto was = then.find(family);
      if (was == then.end() || !std::includes(was->second.begin(), was->second.end(), ranks.begin(), ranks.end()) ||
          was->second.size() == ranks.size()) {
        continue;
      }
      return broken(
          cat(clip(sanitize_utf8(family), 200), ": ", ranks.size(), " of ", was->second.size(), " ranks are there"),
          kUnfinished);
    }
  }

  std::set<std::string> parts() const {
    std::set<std::string> found;
    for (const FoundFile& file : files_) {
      if (file.name == ".metadata") found.insert(without_step(file.path, scan_.seen.step));
    }
    return found;
  }

  Disk& disk_;
  std::string folder_;  ///< what lies in it is judged; where a file was asked for the folder of that
  CheckpointScan scan_;
  std::vector<FoundFile> files_;
  size_t proven_ = 0, whole_ = 0;
  bool partial_ = false;  ///< not all of it was seen
};

/// The signature that it is a case of; "": none.
std::string_view sign_of(const CheckpointProblem& problem) {
  if (problem.trouble == Trouble::kMetadataOnly) return kMetadataOnly;
  if (problem.trouble == Trouble::kMissing) return kUnfinished;
  if (problem.trouble != Trouble::kTruncated) return "";
  if (ending_of(basename(problem.path)) == "safetensors") return kSafetensors;
  return may_be_of_torch(basename(problem.path)) ? kZip : std::string_view();
}

/// A file of torch.distributed.checkpoint ends before the .metadata beside it says: whatever else may be known of how
/// this run saves, that cannot be loaded.
bool is_cut_by_metadata(Disk& disk, const std::string& folder, const CheckpointVerdict& verdict) {
  return std::any_of(verdict.problems.begin(), verdict.problems.end(), [&](const CheckpointProblem& one) {
    return one.breaks && one.trouble == Trouble::kTruncated && ending_of(basename(one.path)) == "distcp" &&
           disk.info(cat(folder, "/", beside(one.path, ".metadata"))).ok();
  });
}

/// What verify_checkpoint() adds. `certain`: what it finds wrong is so however this run saves.
void take(const CheckpointVerdict& verdict, const CheckpointScan* before, bool certain, CheckpointScan& out) {
  using State = CheckpointVerdict::State;
  using Resumable = CheckpointVerdict::Resumable;
  out.verified = verdict.state == State::kWhole;
  out.resumable = out.verified && verdict.resumable == Resumable::kYes;
  if (before != nullptr && before->resumable) out.seen.lacks = lacks_of(verdict);
  // A file of weights whose end was never written is broken, though it might have been meant so.
  const bool zeros = verdict.state == State::kSuspect && !verdict.problems.empty() &&
                     verdict.problems.front().trouble == Trouble::kZeros;
  const bool mixed = verdict.state == State::kSuspect && verdict.half_saved_over;
  const bool wrong = verdict.state == State::kPartial || verdict.state == State::kCorrupt || zeros || mixed;
  out.doubtful = wrong || !out.seen.lacks.empty();
  if (out.doubtful && out.seen.how == How::kWhole) out.seen.how = How::kUnknown;
  if (!wrong || verdict.problems.empty()) return;
  const CheckpointProblem& first = verdict.problems.front();  // what breaks it comes first
  const bool known = certain || mixed || (before != nullptr && before->verified);
  std::string what = cat(first.path, first.path.empty() ? "" : ": ", first.what);
  if (!known) {  // under names that nobody knows there may be anything
    if (out.settings_only) out.seen.doubt = std::move(what);
    return;
  }
  out.seen.what = std::move(what);
  out.seen.how = How::kBroken;
  out.seen.sign = sign_of(first);
}

}  // namespace

CheckpointScan scan_checkpoint(Disk& disk, const std::string& folder, int64_t step, const CheckpointScan* before,
                               std::optional<CheckpointVerdict>* verdict, const VerifyOptions& how) {
  CheckpointScan out = Scanner(disk, folder, step).scan(before);
  if (!out.there || out.seen.how == How::kBroken) return out;
  VerifyOptions options = how;
  if (before != nullptr && before->verified) options.before = before->seen.path;
  auto verified = verify_checkpoint(disk, folder, options);
  if (!verified.ok()) return out;
  take(*verified, before, is_cut_by_metadata(disk, folder, *verified), out);
  if (verdict != nullptr) *verdict = std::move(*verified);
  return out;
}

}  // namespace mw
