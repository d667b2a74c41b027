// Do the ranks of one checkpoint come from one step? Sizes, shapes and names are the same at every step; what differs
// is how often each optimizer has stepped, by its own counters. Of several files that have parts of the same parameters
// (require_same_steps) another count has no other cause. The files of torch.distributed.checkpoint have parameters of
// their own (look_at_distributed_steps): some may have been frozen for a time, so there another count needs a witness.
#include "sense/checkpoints/layouts/optimizer_steps.h"

#include <algorithm>
#include <map>
#include <optional>

#include "base/text.h"
#include "sense/checkpoints/exchanged.h"
#include "sense/checkpoints/layouts/distributed.h"
#include "sense/checkpoints/layouts/layout.h"
#include "sense/checkpoints/save_times.h"

namespace mw {
namespace {

constexpr size_t kCompared = 3;     // counters of one file: one would do, were none of a parameter that is frozen
constexpr size_t kOfOneFile = 256;  // of torch.distributed.checkpoint, spread over all: some experts of a layer may lag
constexpr int64_t kMetadata = 64 << 20;

/// Counters of one file, each read once.
class Counters {
 public:
  Counters(Examination& exam, const TreeFile& file) : exam_(exam), file_(file) {}

  const std::vector<OptimizerCounter>& all() { return exam_.directory(file_).counters; }
  const TreeFile& file() const { return file_; }

  std::optional<int64_t> value(const OptimizerCounter& counter) {
    const auto [known, isNew] = values_.emplace(counter.name, std::nullopt);
    if (isNew && open_ == nullptr) {
      auto opened = exam_.disk().open_read(exam_.tree().full(file_.path));
      if (opened.ok()) open_ = std::move(*opened);
    }
    if (isNew && open_ != nullptr) known->second = steps_counted(counter, *open_);
    return known->second;
  }

 private:
  Examination& exam_;
  const TreeFile& file_;
  std::unique_ptr<ReadFile> open_;
  std::map<std::string, std::optional<int64_t>> values_;
};

struct Both {
  int64_t one = -1, other = -1;  ///< the highest of the counters that both have; -1: they have none in common
};

Both compare(Counters& one, Counters& other) {
  Both out;
  size_t compared = 0;
  for (const OptimizerCounter& counter : one.all()) {
    const auto same = std::find_if(other.all().begin(), other.all().end(),
                                   [&counter](const OptimizerCounter& its) { return its.name == counter.name; });
    if (same == other.all().end()) continue;
    const auto a = one.value(counter), b = other.value(*same);
    if (!a || !b) continue;
    out = {std::max(out.one, *a), std::max(out.other, *b)};
    if (++compared == kCompared) break;
  }
  return out;
}

}  // namespace

void require_same_steps(Examination& exam, const std::vector<const TreeFile*>& files) {
  std::map<int64_t, std::vector<const TreeFile*>> by_steps;
  std::optional<Counters> first;
  int64_t steps = -1;
  size_t compared = 0;
  for (const TreeFile* file : files) {
    Counters counters(exam, *file);
    if (counters.all().empty()) continue;
    if (!first) {
      first.emplace(exam, *file);
      continue;
    }
    const Both both = compare(*first, counters);
    if (both.one < 0) continue;
    if (compared++ == 0) by_steps[steps = both.one].push_back(&first->file());
    by_steps[both.one == both.other ? steps : both.other].push_back(file);
  }
  if (compared > 0 && by_steps.size() == 1) exam.counted_steps(compared + 1, steps);
  require_one_value(exam, by_steps, "optimizer's step");
}

// ---- torch.distributed.checkpoint
namespace {

/// The highest counter of each file that has some, by its path.
using StepsByFile = std::map<std::string, int64_t>;

std::optional<int64_t> steps_at(ReadFile& file, const DistributedItem& item) {
  const FileDirectory directory = read_torch_zip(file, item.at, item.bytes);
  if (!directory.found.empty() || directory.tensors.size() != 1) return std::nullopt;
  const TensorPlace& tensor = directory.tensors.front();
  if (!tensor.dense || tensor.bytes != size_of(tensor.dtype)) return std::nullopt;
  return steps_counted({item.name, std::nullopt, tensor.at, tensor.dtype}, file);
}

std::optional<int64_t> steps_in(Disk& disk, const std::string& path, const std::vector<DistributedItem>& items) {
  std::vector<const DistributedItem*> counters;
  for (const DistributedItem& item : items) {
    if (item.archive && contains(item.name, "optim") && is_step_counter(item.name)) counters.push_back(&item);
  }
  if (counters.empty()) return std::nullopt;
  const auto open = disk.open_read(path);
  if (!open.ok()) return std::nullopt;
  std::optional<int64_t> most;
  const size_t looked = std::min(counters.size(), kOfOneFile);
  for (size_t i = 0; i < looked; ++i) {
    const auto value = steps_at(**open, *counters[i * counters.size() / looked]);
    if (value) most = std::max(most.value_or(0), *value);
  }
  return most;
}

/// Of the same folder in a checkpoint beside this one.
StepsByFile steps_beside(Disk& disk, const std::string& root, const std::string& folder) {
  StepsByFile out;
  const std::string above = cat(root, "/", in_folder(folder, ""));
  std::string text;
  auto open = disk.open_read(above + ".metadata");
  if (!open.ok()) return out;
  const auto info = (*open)->info();
  if (!info.ok() || info->size < 0 || info->size > kMetadata ||
      !(*open)->read_at(0, static_cast<size_t>(info->size), text).ok()) {
    return out;
  }
  const auto index = parse_distributed_metadata(text);
  if (!index.ok()) return out;
  for (const auto& [name, items] : index->files) {
    if (const auto steps = steps_in(disk, above + name, items)) out.emplace(in_folder(folder, name), *steps);
  }
  return out;
}

/// What those that have another count than most have, against them.
enum class Lag { kSame, kOther, kUnknown };

/// Parameters that were frozen for a time are behind by as much in each checkpoint.
Lag lag_beside(const StepsByFile& beside, const std::string& odd, int64_t behind, const std::string& usual) {
  const auto one = beside.find(odd), other = beside.find(usual);
  if (one == beside.end() || other == beside.end()) return Lag::kUnknown;
  return other->second - one->second == behind ? Lag::kSame : Lag::kOther;
}

class DistributedSteps {
 public:
  DistributedSteps(Examination& exam, const std::vector<std::string>& beside) : exam_(exam), beside_(beside) {}

  void look_at(const std::string& folder, const StepsByFile& steps) {
    std::map<int64_t, std::vector<std::string>> by_steps;
    for (const auto& [path, most] : steps) by_steps[most].push_back(path);
    if (steps.size() < 2) return;
    if (by_steps.size() == 1) return exam_.counted_steps(steps.size(), by_steps.begin()->first);
    auto usual = by_steps.begin();
    for (auto one = by_steps.begin(); one != by_steps.end(); ++one) {
      const size_t now = one->second.size(), most = usual->second.size();
      if (now > most || (now == most && (one->first == exam_.step() || usual->first != exam_.step()))) usual = one;
    }
    for (const auto& [most, paths] : by_steps) {
      if (most == usual->first) continue;
      judge(folder, paths.front(), most, usual->second.front(), usual->first);
    }
  }

 private:
  void judge(const std::string& folder, const std::string& odd, int64_t steps, const std::string& usual,
             int64_t usual_steps) {
    Lag lag = Lag::kUnknown;
    std::string other;
    for (size_t i = 0; i < beside_.size() && lag != Lag::kSame; ++i) {
      const Lag here = lag_beside(steps_beside(exam_.disk(), beside_[i], folder), odd, usual_steps - steps, usual);
      if (here == Lag::kUnknown) continue;
      lag = here;
      other = basename(beside_[i]);
    }
    if (lag == Lag::kSame) return;
    const SaveTime save = save_time_of(exam_.tree());
    const auto is_apart = [&](const std::string& path) {
      const TreeFile* const file = exam_.tree().find(path);
      return file != nullptr && written_apart(*file, save);
    };
    const bool apart = is_apart(odd) || is_apart(usual);
    std::string what = cat("its optimizer's step is ", steps, ", and ", usual_steps, " in ", usual);
    if (lag == Lag::kOther) {
      what += cat("; in ", other, " they are not so far apart");
    } else if (apart) {
      what += ", and one of the two was written apart from all others here";
    } else {
      what += ": of another step, or of parameters that were not trained for a time";
    }
    exam_.problem(Trouble::kOtherCount, odd, std::move(what), lag == Lag::kOther || apart);
  }

  Examination& exam_;
  const std::vector<std::string>& beside_;
};

void look_for_exchanged(Examination& exam, const std::vector<std::string>& beside, const std::string& folder,
                        const StepsByFile& steps) {
  const int64_t own = step_of_name(exam.tree().own_name());
  if (own == kNoStep) return;
  const auto counts = counts_beside(own, steps, beside,
                                    [&](const std::string& other) { return steps_beside(exam.disk(), other, folder); });
  for (const auto& [path, all] : counts) report_exchanged(exam, path, "optimizer's step", all, true);
}

}  // namespace

void look_at_distributed_steps(Examination& exam, const std::vector<std::string>& beside) {
  std::map<std::string, StepsByFile> by_folder;
  for (const auto& [path, items] : exam.items()) {
    if (const auto steps = steps_in(exam.disk(), exam.tree().full(path), items))
      by_folder[std::string(folder_in_tree(path))].emplace(path, *steps);
  }
  DistributedSteps look(exam, beside);
  for (const auto& [folder, steps] : by_folder) {
    look.look_at(folder, steps);
    look_for_exchanged(exam, beside, folder, steps);
  }
}

}  // namespace mw
