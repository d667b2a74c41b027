#include "sense/checkpoints/other_content.h"

#include <algorithm>
#include <map>
#include <optional>

#include "base/one_of.h"
#include "base/text.h"
#include "sense/checkpoints/content_kind.h"
#include "sense/checkpoints/layouts/layout.h"

namespace mw {
namespace {

constexpr uint64_t kFewer = 10;  // times as many bytes in the others: no split of one model differs by that
constexpr size_t kRead = 64;     // files of checkpoints beside this one

/// Trainers whose optimizers are saved as torch.optim has them; others may keep their moments under the weights' names.
bool is_of_torch_optim(const Examination& exam, const TreeFile& file) {
  constexpr std::string_view kTrainers[] = {"transformers", "accelerate", "verl", "skyrl"};
  return rank_shard_of(file.name()).of > 0 || file.name().ends_with("_optim_states.pt") ||
         is_one_of(exam.framework(), kTrainers);
}

void lacks_kind(Examination& exam, ContentKind kind) {
  if (kind == ContentKind::kOptimizer) exam.lacks(Piece::kOptimizer);
  if (kind == ContentKind::kScheduler || kind == ContentKind::kExtraState) exam.lacks(Piece::kScheduler);
}

/// True where it was reported.
bool look_at_kind(Examination& exam, const TreeFile& file, ContentKind wanted, const FileDirectory& directory) {
  const ContentKind has = directory.content.kind;
  const bool flat = wanted == ContentKind::kOptimizer && has == ContentKind::kModel && !is_of_torch_optim(exam, file);
  if (has == wanted || flat) return false;
  if (has != ContentKind::kUnknown) {
    exam.problem(Trouble::kDamaged, file.path,
                 cat("it holds ", words_of(has), ", and its name calls for ", words_of(wanted),
                     directory.archive.empty() || kind_of_name(directory.archive) != has
                         ? ""
                         : cat("; it was saved as ", directory.archive)));
  } else if (const ContentKind saved = kind_of_name(directory.archive);
             saved != ContentKind::kUnknown && saved != wanted) {
    exam.problem(Trouble::kSameBytes, file.path,
                 cat("it was saved as ", directory.archive, ": it is another file of a checkpoint, in the place of ",
                     words_of(wanted)));
  } else {
    return false;
  }
  lacks_kind(exam, wanted);
  return true;
}

// ---- optimizers without what they held

/// A file of an optimizer that was read to its end.
struct Optimizer {
  const TreeFile* file = nullptr;
  FileContent content;
};

/// The same file in a checkpoint beside this one, and in which; nothing where that has none, or not of its kind.
struct Other {
  std::string checkpoint;
  FileContent content;
};

class Optimizers {
 public:
  Optimizers(Examination& exam, const std::vector<std::string>& beside) : exam_(exam), beside_(beside) {}

  void look_at(const std::vector<Optimizer>& family) {
    const auto largest = std::max_element(family.begin(), family.end(), [](const Optimizer& a, const Optimizer& b) {
      return a.content.bytes < b.content.bytes;
    });
    bool odd = false;
    for (const Optimizer& one : family) {
      odd = look_at_ranks(one, *largest) || odd;
    }
    if (odd || largest->content.moments > 0) return;
    const auto other = before(*largest->file);
    if (!other || other->content.moments == 0) return;
    exam_.lacks(Piece::kOptimizer);
    exam_.problem(Trouble::kMetadataOnly, largest->file->path,
                  cat("there is no state of an optimizer in it, and ", other->content.moments, " tensors of one in ",
                      other->checkpoint),
                  false);
  }

 private:
  /// What one rank has less than the others, and had not before.
  bool look_at_ranks(const Optimizer& one, const Optimizer& largest) {
    if (one.content.moments == 0 && largest.content.moments > 0 && has_weights(*one.file)) {
      exam_.lacks(Piece::kOptimizer);
      exam_.problem(Trouble::kUnlike, one.file->path,
                    cat("there is no state of an optimizer in it, and ", largest.content.moments, " tensors of one in ",
                        largest.file->name(), ": ranks of one model have the same"));
      return true;
    }
    if (one.content.bytes * kFewer >= largest.content.bytes) return false;
    const auto other = before(*one.file);
    if (!other || one.content.bytes * kFewer >= other->content.bytes) return false;
    exam_.lacks(Piece::kOptimizer);
    exam_.problem(Trouble::kUnlike, one.file->path,
                  cat("its tensors hold ", format_bytes(static_cast<double>(one.content.bytes)), ", those of ",
                      largest.file->name(), " ", format_bytes(static_cast<double>(largest.content.bytes)),
                      ", and its own in ", other->checkpoint, " ",
                      format_bytes(static_cast<double>(other->content.bytes)), ": most of it is not there"));
    return true;
  }

  /// FSDP's weights of the same rank; an empty rank has nothing to train.
  bool has_weights(const TreeFile& file) {
    constexpr std::string_view kName = "optim";
    if (rank_shard_of(file.name()).of == 0 || !file.name().starts_with(kName)) return false;
    const TreeFile* const model = exam_.tree().find(beside(file.path, cat("model", file.name().substr(kName.size()))));
    return model != nullptr && exam_.directory(*model).content.bytes > 0;
  }

  std::optional<Other> before(const TreeFile& file) {
    for (const std::string& other : beside_) {
      const int64_t step = step_of_name(basename(other));
      if (step == kNoStep || step >= exam_.step()) continue;
      const std::string path = cat(other, "/", file.path);
      const auto info = exam_.disk().info(path);
      if (!info.ok() || info->size < 0 || ++read_ > kRead) return std::nullopt;
      const auto open = exam_.disk().open_read(path);
      if (!open.ok()) return std::nullopt;
      const FileDirectory directory = read_directory(**open, file.name(), static_cast<uint64_t>(info->size));
      if (!directory.proven || directory.clipped) return std::nullopt;
      const FileContent content = content_of(directory);
      if (content.kind != ContentKind::kOptimizer) return std::nullopt;
      return Other{std::string(basename(other)), content};
    }
    return std::nullopt;
  }

  Examination& exam_;
  const std::vector<std::string>& beside_;
  size_t read_ = 0;
};

}  // namespace

bool has_named_weights(Examination& exam) {
  const auto& files = exam.tree().files();
  return std::any_of(files.begin(), files.end(), [&exam](const TreeFile& file) {
    if (file.role != FileRole::kWeights || (is_export(file.path) && exam.tree().folders().size() > 1)) return false;
    return ending_of(file.name()) == "distcp" || (is_weights_by_name(file.name()) && exam.directory(file).proven);
  });
}

void look_at_contents(Examination& exam, const std::vector<std::string>& beside) {
  std::map<std::string, std::vector<Optimizer>> families;
  for (const TreeFile& file : exam.tree().files()) {
    const ContentKind wanted = may_be_of_torch(file.name()) ? kind_of_name(file.name()) : ContentKind::kUnknown;
    const bool exported = is_export(file.path) && exam.tree().folders().size() > 1;
    if (wanted == ContentKind::kUnknown || exported) continue;
    const FileDirectory& directory = exam.directory(file);
    if (!directory.proven || directory.clipped || look_at_kind(exam, file, wanted, directory)) continue;
    if (directory.content.kind == ContentKind::kOptimizer)
      families[family_of(file.path)].push_back({&file, directory.content});
  }
  if (exam.tree().single_file() || exam.step() == kNoStep) return;
  Optimizers optimizers(exam, beside);
  for (const auto& [family, files] : families) optimizers.look_at(files);
}

}  // namespace mw
