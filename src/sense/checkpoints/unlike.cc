#include "sense/checkpoints/unlike.h"

#include <algorithm>
#include <map>
#include <optional>

#include "base/json.h"
#include "base/numbers.h"
#include "base/text.h"
#include "sense/checkpoints/layouts/layout.h"

namespace mw {
namespace {

constexpr size_t kFiles = 256;                    // whose tensors are compared
constexpr size_t kConfigBytes = size_t{1} << 20;  // of a config.json
constexpr size_t kFewTensors = 4;                 // of which nothing is expected
constexpr double kApart = 10;                     // norms that are so many times each other

bool is_safetensors(const TreeFile& file) {
  return ending_of(file.name()) == "safetensors" && file.role == FileRole::kWeights;
}

std::string shape_text(const TensorPlace& tensor) {
  std::string out = cat(name_of(tensor.dtype), " [");
  for (size_t i = 0; i < tensor.shape.size(); ++i) out += cat(i == 0 ? "" : ", ", tensor.shape[i]);
  return out + "]";
}

/// As transformers names it; of a model of several parts that of the one that makes text.
int64_t width_of(const Json& config) {
  for (const char* const name : {"hidden_size", "n_embd"}) {
    if (const int64_t width = config.integer_or(name, 0); width > 0) return width;
  }
  const Json* const text = config.find("text_config");
  return text != nullptr && text->is_object() ? text->integer_or("hidden_size", 0) : 0;
}

/// By folder: whose tensors were all read, and is there one of that size?
void look_at_config(Examination& exam, const TreeFile& config) {
  const auto text = exam.text(config, kConfigBytes);
  const auto json = text ? Json::parse(*text) : Result<Json>(Error{});
  const int64_t width = json.ok() && json->is_object() ? width_of(*json) : 0;
  if (width <= 0) return;
  size_t tensors = 0;
  std::string first;
  for (const TreeFile& file : exam.tree().files()) {
    if (folder_in_tree(file.path) != folder_in_tree(config.path) || !is_safetensors(file)) continue;
    const FileDirectory& directory = exam.directory(file);
    if (directory.clipped || directory.tensors.empty()) return;
    if (first.empty()) first = file.path;
    tensors += directory.tensors.size();
    for (const TensorPlace& tensor : directory.tensors) {
      if (std::find(tensor.shape.begin(), tensor.shape.end(), width) != tensor.shape.end()) return;
    }
  }
  if (tensors < kFewTensors) return;
  exam.problem(
      Trouble::kUnlike, first,
      cat("none of its tensors has the size ", width, " that ", config.path, " states: they are of different models"));
}

using Places = std::map<std::string, const TensorPlace*, std::less<>>;

Places by_name(const FileDirectory& directory) {
  Places out;
  for (const TensorPlace& tensor : directory.tensors) out.emplace(tensor.name, &tensor);
  return out;
}

bool alike(const TensorPlace& one, const TensorPlace& other) {
  return one.shape == other.shape && one.dtype == other.dtype;
}

/// The same file in a checkpoint beside this one.
struct Neighbour {
  std::string name;  ///< of the checkpoint
  bool before = false;
  FileDirectory directory;
  Places places;
};

std::vector<Neighbour> neighbours_of(Examination& exam, const TreeFile& file, const std::vector<std::string>& beside) {
  std::vector<Neighbour> out;
  out.reserve(beside.size());
  for (const std::string& other : beside) {
    const int64_t step = step_of_name(basename(other));
    if (step == kNoStep || step == exam.step()) continue;
    const bool before = step < exam.step();
    const auto same_side = [before](const Neighbour& one) { return one.before == before; };
    if (std::any_of(out.begin(), out.end(), same_side)) continue;  // the nearest one of each side
    const std::string path = cat(other, "/", file.path);
    const auto info = exam.disk().info(path);
    auto open = info.ok() ? exam.disk().open_read(path) : Result<std::unique_ptr<ReadFile>>(info.error());
    if (!open.ok()) continue;
    Neighbour& one = out.emplace_back();
    one.name = basename(other);
    one.before = before;
    one.directory = read_directory(**open, file.name(), static_cast<uint64_t>(info->size));
    one.places = by_name(one.directory);
  }
  return out;
}

/// The first tensor that differs from the nearest one, and whether both sides agree against it.
void compare_shapes(Examination& exam, const TreeFile& file, const std::vector<std::string>& beside) {
  const FileDirectory& own = exam.directory(file);
  if (own.tensors.empty()) return;
  const std::vector<Neighbour> others = neighbours_of(exam, file, beside);
  if (others.empty()) return;
  size_t differ = 0, against = 0;
  std::string what;
  for (const TensorPlace& tensor : own.tensors) {
    const auto nearest = others.front().places.find(tensor.name);
    if (nearest == others.front().places.end() || alike(tensor, *nearest->second)) continue;
    if (++differ == 1) {
      what = cat(clip(sanitize_utf8(tensor.name), 200), " is ", shape_text(tensor), ", and ",
                 shape_text(*nearest->second), " in ", others.front().name);
    }
    if (others.size() < 2) continue;
    const auto further = others.back().places.find(tensor.name);
    against += further != others.back().places.end() && alike(*further->second, *nearest->second) ? 1 : 0;
  }
  if (differ == 0) return;
  const std::string more = differ > 1 ? cat(" (and ", differ - 1, " more)") : "";
  const std::string_view whose = against > 0 ? ", before and after it: it is of another model"
                                             : ": one of them is of another model, or the settings were changed";
  exam.problem(Trouble::kUnlike, file.path, cat(what, more, whose), against > 0);
}

const CheckpointManifest* nearest_before(const std::vector<const CheckpointManifest*>& others, int64_t step) {
  const CheckpointManifest* found = nullptr;
  for (const CheckpointManifest* const one : others) {
    if (one->step == kNoStep || one->step >= step || one->verdict != "whole") continue;
    if (found == nullptr || one->step > found->step) found = one;
  }
  return found;
}

}  // namespace

void look_at_shapes(Examination& exam, const std::vector<std::string>& beside) {
  if (exam.tree().single_file()) return;
  size_t compared = 0;
  for (const TreeFile& file : exam.tree().files()) {
    if (is_export(file.path) && exam.tree().folders().size() > 1) continue;
    if (file.name() == "config.json") look_at_config(exam, file);
    if (exam.step() != kNoStep && is_safetensors(file) && ++compared <= kFiles) compare_shapes(exam, file, beside);
  }
}

void look_at_norms(Examination& exam, const std::vector<ManifestFile>& hashed,
                   const std::vector<const CheckpointManifest*>& others) {
  const CheckpointManifest* const before = exam.step() == kNoStep ? nullptr : nearest_before(others, exam.step());
  if (before == nullptr) return;
  std::map<std::string_view, const ManifestFile*> then;
  for (const ManifestFile& file : before->files) then.emplace(file.path, &file);
  for (const ManifestFile& now : hashed) {
    const auto was = then.find(now.path);
    const TreeFile* const file = exam.tree().find(now.path);
    if (was == then.end() || file == nullptr || file->role != FileRole::kWeights) continue;
    const ManifestFile& old = *was->second;
    if (now.numbers == 0 || now.numbers != old.numbers || old.norm <= 0) continue;
    if (now.norm < old.norm * kApart && now.norm * kApart > old.norm) continue;
    exam.problem(Trouble::kUnlike, now.path,
                 cat("the norm of its numbers is ", format_short(now.norm), ", and was ", format_short(old.norm),
                     " in ", basename(before->path), ": no training does that and goes on well"),
                 true, CheckDepth::kSane);
  }
}

}  // namespace mw
