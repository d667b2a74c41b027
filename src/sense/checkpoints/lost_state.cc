#include "sense/checkpoints/lost_state.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "base/text.h"
#include "sense/checkpoints/frozen.h"
#include "sense/checkpoints/optimizer_counter.h"
#include "sense/checkpoints/stood_still.h"
#include "sense/checkpoints/tensor_scan.h"
#include "sense/checkpoints/zero_tail.h"

namespace mw {
namespace {

constexpr int64_t kStepped = 2;  // DeepSpeed makes one step with gradients of zero when it begins

/// The highest count of steps that the optimizer's files have; 0: none is known.
int64_t steps_of_optimizer(Examination& exam) {
  int64_t most = exam.counted().steps;
  for (const TreeFile& file : exam.tree().files()) {
    if (file.role != FileRole::kOptimizer) continue;
    const std::vector<OptimizerCounter>& counters = exam.directory(file).counters;
    if (counters.empty()) continue;
    const auto open = exam.disk().open_read(exam.tree().full(file.path));
    if (!open.ok()) continue;
    for (const OptimizerCounter& counter : counters) most = std::max(most, steps_counted(counter, **open).value_or(0));
  }
  return most;
}

bool is_tokenizer(std::string_view name) {
  constexpr std::array<std::string_view, 6> kNames = {"tokenizer.json", "tokenizer.model",     "vocab.json",
                                                      "merges.txt",     "sentencepiece.model", "spiece.model"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

/// Under such a name nothing holds one rank's rows only.
bool is_whole_model(std::string_view name) {
  const bool shard = contains(name, "-of-") && (name.starts_with("model-") || name.starts_with("pytorch_model-"));
  return shard || name == "model.safetensors" || name == "pytorch_model.bin";
}

/// Of a whole model beside that file; 0: there is none, or not all of its files could be read.
int64_t rows_of_embedding(Examination& exam, const TreeFile& beside) {
  int64_t rows = 0;
  for (const TreeFile& file : exam.tree().files()) {
    if (!is_whole_model(file.name()) || folder_in_tree(file.path) != folder_in_tree(beside.path)) continue;
    const FileDirectory& directory = exam.directory(file);
    if (!directory.proven || directory.clipped) return 0;
    for (const TensorPlace& tensor : directory.tensors) {
      const bool embedding = tensor.name.ends_with("embed_tokens.weight") || tensor.name.ends_with("wte.weight");
      if (embedding && tensor.shape.size() == 2 && has_point(tensor.dtype)) rows = std::max(rows, tensor.shape[0]);
    }
  }
  return rows;
}

}  // namespace

void look_for_lost_moments(Examination& exam, const std::vector<ManifestFile>& hashed,
                           const CheckpointManifest* before) {
  size_t all = 0;
  uint64_t numbers = 0;
  for (const ManifestFile& file : hashed) {
    for (const ManifestTensor& tensor : file.tensors) {
      if (tensor.numbers == 0 || part_of(cat(file.path, ":", tensor.name), Dtype::kF32) != TensorPart::kMoment)
        continue;
      if (!tensor.zero) return;
      ++all;
      numbers += tensor.numbers;
    }
  }
  if (numbers < kFewNumbers) return;  // what stands for one that lies elsewhere
  const int64_t steps = steps_of_optimizer(exam);
  const std::string since = before != nullptr ? moments_without_steps(*before, hashed) : "";
  if (steps < kStepped && since.empty()) return;
  exam.problem(
      Trouble::kUnlike, "",
      cat(all == 1 ? "the only moment" : cat("all ", all, " moments"), " of its optimizer",
          all == 1 ? " is zero, " : " are zero, ", since.empty() ? cat("though it counts ", steps, " steps") : since,
          ": its state was lost, or no gradient reached it"),
      false, CheckDepth::kSane);
}

void look_for_moments_gone(Examination& exam, const std::string& metadata,
                           const std::map<std::string, std::vector<int64_t>>& own, const std::set<std::string>& earlier,
                           std::string_view before) {
  const auto is_of_optimizer = [](std::string_view name) {
    return contains(name, "optim") || part_of(name, Dtype::kF32) == TensorPart::kMoment;
  };
  size_t gone = 0, all = 0;
  std::string first;
  for (const std::string& name : earlier) {
    const bool state = is_of_optimizer(name), there = own.count(name) != 0;
    if (!there && !state) return;
    all += state ? 1 : 0;
    if (!there && ++gone == 1) first = name;
  }
  const auto is_new = [&](const auto& one) { return one.second.size() >= 2 && earlier.count(one.first) == 0; };
  if (gone == 0 || gone * 2 > all || std::any_of(own.begin(), own.end(), is_new)) return;
  exam.problem(Trouble::kUnlike, metadata,
               cat(clip(sanitize_utf8(first), 200), gone > 1 ? cat(" (and ", gone - 1, " more)") : "",
                   " is not in it, and is in ", before,
                   ": this part of the optimizer's state was lost, or the settings were changed"),
               false);
  if (exam.framework() == "prime-rl" || exam.framework() == "nemo-rl") exam.lacks(Piece::kOptimizer);
}

void look_for_other_tokenizer(Examination& exam, const std::vector<ManifestFile>& hashed,
                              const CheckpointManifest& before) {
  std::map<std::string_view, const ManifestFile*> then;
  for (const ManifestFile& file : before.files) {
    if (is_tokenizer(basename(file.path))) then.emplace(file.path, &file);
  }
  for (const ManifestFile& file : hashed) {
    const auto was = then.find(file.path);
    if (was == then.end() || same_bytes(file, *was->second)) continue;
    exam.problem(Trouble::kUnlike, file.path,
                 cat("it has other bytes than in ", basename(before.path),
                     ": it is another tokenizer, or another version of its library wrote it"),
                 false, CheckDepth::kContent);
    return;
  }
}

void TokenIds::number(std::string_view path, double value) {
  const bool word = path.starts_with("model/vocab/") && path.find('/', 12) == std::string_view::npos;
  const bool added = path.starts_with("added_tokens/") && path.ends_with("/id");
  if ((word || added) && value >= 0 && value < 1e9) ids_.push_back(static_cast<int64_t>(value));
}

size_t TokenIds::beyond(int64_t rows) const {
  return static_cast<size_t>(std::count_if(ids_.begin(), ids_.end(), [rows](int64_t id) { return id >= rows; }));
}

int64_t TokenIds::highest() const { return ids_.empty() ? -1 : *std::max_element(ids_.begin(), ids_.end()); }

void look_at_words(Examination& exam, const TreeFile& file, const TokenIds& words) {
  const int64_t rows = rows_of_embedding(exam, file);
  const size_t beyond = rows > 0 ? words.beyond(rows) : 0;
  if (beyond < kManyWords) return;
  exam.problem(Trouble::kUnlike, file.path,
               cat("it has words up to number ", words.highest(), ", and the embedding beside it ", rows,
                   " rows: ", beyond, " words have none, so it is another model's"),
               false);
}

}  // namespace mw
