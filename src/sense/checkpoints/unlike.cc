#include "sense/checkpoints/unlike.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "base/json.h"
#include "base/numbers.h"
#include "base/text.h"
#include "sense/checkpoints/content_kind.h"
#include "sense/checkpoints/find.h"
#include "sense/checkpoints/layouts/distributed.h"
#include "sense/checkpoints/layouts/layout.h"
#include "sense/checkpoints/layouts/zarr.h"
#include "sense/checkpoints/lost_state.h"
#include "sense/checkpoints/own_config.h"
#include "sense/checkpoints/role_weights.h"
#include "sense/checkpoints/stood_still.h"
#include "sense/checkpoints/tensor_scan.h"
#include "sense/checkpoints/zero_partition.h"

namespace mw {
namespace {

constexpr size_t kFiles = 256;                    // whose tensors are compared
constexpr size_t kConfigBytes = size_t{1} << 20;  // of a config.json
constexpr size_t kMetadataBytes = 64 << 20;       // of a .metadata
constexpr int64_t kLarge = 64 << 10;              // a file that holds weights
constexpr size_t kFewTensors = 4;                 // of which nothing is expected, unless one is known
constexpr size_t kFewMatrices = 3;                // likewise
constexpr double kBegan = 1e-3;  // root mean square: below it is what began at zero, and grows many times
constexpr double kApart = 10;    // norms that are so many times each other

bool is_safetensors(const TreeFile& file) {
  return ending_of(file.name()) == "safetensors" && file.role == FileRole::kWeights;
}

/// What torch.save wrote of weights: whole ones, or those of one rank.
bool is_torch(const TreeFile& file) { return file.role == FileRole::kWeights && may_be_of_torch(file.name()); }

/// A whole model in the layout of transformers: no part of a tensor that a rank holds.
bool is_whole_model(const TreeFile& file) {
  return is_safetensors(file) || (is_torch(file) && file.name().starts_with("pytorch_model"));
}

/// As transformers names it; of a model of several parts that of the one that makes text.
int64_t width_of(const Json& config) {
  for (const char* const name : {"hidden_size", "n_embd"}) {
    if (const int64_t width = config.integer_or(name, 0); width > 0) return width;
  }
  const Json* const text = config.find("text_config");
  return text != nullptr && text->is_object() ? text->integer_or("hidden_size", 0) : 0;
}

/// That a file of settings states; 0: none.
int64_t width_in(Examination& exam, const TreeFile& config) {
  const auto text = exam.text(config, kConfigBytes);
  const auto json = text ? Json::parse(*text) : Result<Json>(Error{});
  return json.ok() && json->is_object() ? width_of(*json) : 0;
}

bool has_size(const std::vector<int64_t>& shape, int64_t size) {
  return std::find(shape.begin(), shape.end(), size) != shape.end();
}

void report_other_width(Examination& exam, const std::string& file, int64_t width, const std::string& config) {
  exam.problem(
      Trouble::kUnlike, file,
      cat("none of its tensors has the size ", width, " that ", config, " states: they are of different models"));
}

/// As transformers names those of which a side is the model's width; else others of the file have it.
bool is_embedding(const TensorPlace& tensor) {
  const auto ends = [&tensor](std::string_view name) { return tensor.name.ends_with(name); };
  return tensor.shape.size() == 2 && (ends("embed_tokens.weight") || ends("lm_head.weight") || ends("wte.weight"));
}

/// By folder: whose tensors were all read, and is there one of that size?
void look_at_config(Examination& exam, const TreeFile& config) {
  const int64_t width = width_in(exam, config);
  if (width <= 0) return;
  size_t tensors = 0;
  bool known = false;
  std::string first;
  for (const TreeFile& file : exam.tree().files()) {
    if (folder_in_tree(file.path) != folder_in_tree(config.path) || !is_whole_model(file)) continue;
    const FileDirectory& directory = exam.directory(file);
    if (directory.clipped || directory.tensors.empty() || directory.bare) return;
    if (first.empty()) first = file.path;
    tensors += directory.tensors.size();
    for (const TensorPlace& tensor : directory.tensors) {
      if (has_size(tensor.shape, width)) return;
      known = known || is_embedding(tensor);
    }
  }
  if (tensors >= kFewTensors || known) report_other_width(exam, first, width, config.path);
}

/// Where the settings of the model whose .metadata lies there are: beside it, in a folder of an export beside it, or
/// likewise one or two folders above (verl: actor/model/dist_ckpt, actor/model/huggingface,
/// actor/transformer_config.json). Not at the root above: models of several roles may lie below it.
const TreeFile* config_of(const Examination& exam, std::string_view metadata) {
  constexpr std::string_view kNames[] = {"config.json", "huggingface/config.json", "hf_model/config.json",
                                         "transformer_config.json"};
  std::string_view folder = folder_in_tree(metadata);
  for (int up = 0; up <= 2; ++up) {
    for (const std::string_view name : kNames) {
      const TreeFile* const file = exam.tree().find(folder.empty() ? std::string(name) : cat(folder, "/", name));
      if (file != nullptr) return file;
    }
    folder = folder_in_tree(folder);
    if (folder.empty()) break;
  }
  return nullptr;
}

/// The same of what torch.distributed.checkpoint saved: matrices of the model, as large as they are over all ranks.
void look_at_distributed_config(Examination& exam, const std::string& metadata,
                                const std::map<std::string, std::vector<int64_t>>& shapes) {
  const TreeFile* const config = config_of(exam, metadata);
  const int64_t width = config == nullptr ? 0 : width_in(exam, *config);
  if (width <= 0) return;
  size_t tensors = 0;
  for (const auto& [name, shape] : shapes) {
    if (shape.size() < 2 || contains(name, "optim") || contains(name, "exp_avg")) continue;
    if (has_size(shape, width)) return;
    ++tensors;
  }
  if (tensors >= kFewMatrices) report_other_width(exam, metadata, width, config->path);
}

/// What a tensor is like. Of torch.distributed.checkpoint only its shape is known.
struct Form {
  Dtype dtype = Dtype::kOther;
  std::vector<int64_t> shape;
  bool operator==(const Form&) const = default;
};
using Forms = std::map<std::string, Form, std::less<>>;

std::string form_text(const Form& form) {
  std::string out = form.dtype == Dtype::kOther ? "[" : cat(name_of(form.dtype), " [");
  for (size_t i = 0; i < form.shape.size(); ++i) out += cat(i == 0 ? "" : ", ", form.shape[i]);
  return out + "]";
}

bool is_of_optimizer(std::string_view name) { return contains(name, "optim") || contains(name, "exp_avg"); }

/// What a model has as long as it is this one. Of an optimizer, or of lists of samples, there is more or less at times.
bool stays(std::string_view name) {
  return !is_of_optimizer(name) && (name.ends_with("weight") || name.ends_with("bias"));
}

/// Of torch.save's files matrices of real numbers only: what else is in there (lists of samples, states of generators)
/// may be as long as it likes. Of other weights the names.
Forms forms_of(const FileDirectory& directory) {
  constexpr size_t kKeys = 2000;  // of which more may be there than were kept
  const bool all = directory.format == FileDirectory::Format::kSafetensors;
  Forms out;
  for (const TensorPlace& tensor : directory.tensors) {
    if (all || (has_point(tensor.dtype) && tensor.shape.size() >= 2)) out[tensor.name] = {tensor.dtype, tensor.shape};
  }
  for (const std::string& key : directory.keys) {
    if (directory.keys.size() < kKeys && stays(key)) out.emplace(key, Form());
  }
  return out;
}
Forms forms_of(const std::map<std::string, std::vector<int64_t>>& shapes) {
  Forms out;
  for (const auto& [name, shape] : shapes) {
    if (shape.size() >= 2) out[name] = {Dtype::kOther, shape};
  }
  return out;
}

/// The same file in a checkpoint beside this one.
struct Neighbour {
  std::string name;  ///< of the checkpoint
  bool before = false;
  Forms forms;
};
using ReadForms = Forms (*)(Disk& disk, const std::string& path);

Forms file_forms(Disk& disk, const std::string& path) {
  const auto info = disk.info(path);
  auto open = info.ok() ? disk.open_read(path) : Result<std::unique_ptr<ReadFile>>(info.error());
  if (!open.ok()) return {};
  return forms_of(read_directory(**open, basename(path), static_cast<uint64_t>(info->size)));
}

Forms metadata_forms(Disk& disk, const std::string& path) {
  const auto info = disk.info(path);
  auto open = info.ok() ? disk.open_read(path) : Result<std::unique_ptr<ReadFile>>(info.error());
  if (!open.ok() || info->size < 0 || static_cast<size_t>(info->size) > kMetadataBytes) return {};
  std::string text;
  if (!(*open)->read_at(0, static_cast<size_t>(info->size), text).ok()) return {};
  const auto index = parse_distributed_metadata(text);
  return index.ok() ? forms_of(index->shapes) : Forms();
}

/// The nearest one of each side.
std::vector<Neighbour> neighbours_of(Examination& exam, const std::string& file, const std::vector<std::string>& beside,
                                     ReadForms read) {
  std::vector<Neighbour> out;
  bool met[2] = {false, false};
  for (const std::string& other : beside) {
    const int64_t step = step_of_name(basename(other));
    if (step == kNoStep || step == exam.step() || met[step < exam.step()]) continue;
    Forms forms = read(exam.disk(), cat(other, "/", file));
    if (forms.empty()) continue;
    met[step < exam.step()] = true;
    out.push_back({std::string(basename(other)), step < exam.step(), std::move(forms)});
  }
  return out;
}

/// The first tensor that differs from the nearest one, and whether both sides agree against it.
void compare_forms(Examination& exam, const std::string& file, const Forms& own, const std::vector<Neighbour>& others) {
  if (own.empty() || others.empty()) return;
  size_t differ = 0, against = 0;
  std::string what;
  for (const auto& [name, form] : own) {
    const auto nearest = others.front().forms.find(name);
    if (nearest == others.front().forms.end() || form == nearest->second || form == Form() || nearest->second == Form())
      continue;
    if (++differ == 1) {
      what = cat(clip(sanitize_utf8(name), 200), " is ", form_text(form), ", and ", form_text(nearest->second), " in ",
                 others.front().name);
    }
    if (others.size() < 2) continue;
    const auto further = others.back().forms.find(name);
    against += further != others.back().forms.end() && further->second == nearest->second ? 1 : 0;
  }
  if (differ == 0) return;
  const std::string more = differ > 1 ? cat(" (and ", differ - 1, " more)") : "";
  const std::string_view whose = against > 0 ? ", before and after it: it is of another model"
                                             : ": one of them is of another model, or the settings were changed";
  exam.problem(Trouble::kUnlike, file, cat(what, more, whose), against > 0);
}

// ---- tensors that are not there

/// A tensor may lie in one file now and in another one of its role in the next save. True where not all files could be
/// read.
bool may_hold(Examination& exam, std::string_view name, std::string_view role) {
  const auto& files = exam.tree().files();
  return std::any_of(files.begin(), files.end(), [&](const TreeFile& file) {
    if ((!is_safetensors(file) && !is_torch(file)) || role_in(file.path) != role) return false;
    const FileDirectory& directory = exam.directory(file);
    return directory.clipped || (directory.tensors.empty() && file.bytes >= kLarge) ||
           std::any_of(directory.tensors.begin(), directory.tensors.end(),
                       [name](const TensorPlace& one) { return one.name == name; });
  });
}

/// The first of those that `others` have alike and `own` has not; `count`: how many there are.
std::string lost_one(Examination& exam, const std::string& file, const Forms& own, const std::vector<Neighbour>& others,
                     size_t* count) {
  std::string first;
  for (const auto& [name, form] : others.front().forms) {
    if (own.count(name) != 0 || !stays(name)) continue;
    const auto further = others.back().forms.find(name);
    if (further == others.back().forms.end() || form != further->second) continue;
    if (*count == 0 && may_hold(exam, name, role_in(file))) return "";
    if (++*count == 1) first = name;
  }
  return first;
}

/// Both sides have it: it was lost here. Of one side only it is worth knowing, and only where nothing else came or
/// went: adapters are merged and parts frozen at the end of a run.
void look_for_lost(Examination& exam, const std::string& file, const Forms& own, const std::vector<Neighbour>& others) {
  if (own.empty() || others.empty() || (others.size() == 1 && !others.front().before)) return;
  const Forms& nearest = others.front().forms;
  const bool more = std::any_of(own.begin(), own.end(), [&](const auto& one) { return nearest.count(one.first) == 0; });
  size_t count = 0;
  const std::string name = lost_one(exam, file, own, others, &count);
  const bool both = others.size() > 1;
  if (name.empty() || count * 2 > nearest.size() || (!both && more)) return;
  const bool known = nearest.find(name)->second != Form();
  exam.problem(
      Trouble::kUnlike, file,
      cat(clip(sanitize_utf8(name), 200), count > 1 ? cat(" (and ", count - 1, " more)") : "", " is not in it, and is ",
          known ? cat(form_text(nearest.find(name)->second), " ") : "", "in ", others.front().name,
          both ? cat(" and in ", others.back().name, ", before and after it")
               : ": it was lost, or the settings were changed"),
      both);
}

/// None of its names is one that the nearest has. What wraps a model for training puts its own name before them, and
/// who loads a whole model by its names finds none of those; another version of a library may name them anew and know
/// both.
void look_for_other_names(Examination& exam, const TreeFile& file, const Forms& own,
                          const std::vector<Neighbour>& others) {
  constexpr std::array<std::string_view, 4> kWraps = {"module.", "_orig_mod.", "_fsdp_wrapped_module.",
                                                      "_forward_module."};
  if (own.size() < kFewTensors || others.empty() || others.front().forms.size() < kFewTensors) return;
  const Forms& nearest = others.front().forms;
  const auto has = [&nearest](std::string_view name) { return nearest.find(name) != nearest.end(); };
  if (std::any_of(own.begin(), own.end(), [&](const auto& one) { return has(one.first); })) return;
  const auto wrap = std::find_if(kWraps.begin(), kWraps.end(), [&](std::string_view begin) {
    return std::all_of(own.begin(), own.end(), [&](const auto& one) {
      return one.first.starts_with(begin) && has(std::string_view(one.first).substr(begin.size()));
    });
  });
  const std::string what = cat("none of its ", own.size(), " tensors has a name that ", others.front().name, " has");
  if (wrap == kWraps.end())
    return exam.problem(Trouble::kUnlike, file.path, cat(what, ": one of them is of another model, or was named anew"),
                        false);
  exam.problem(Trouble::kUnlike, file.path,
               cat(what, ": other names, all with ", *wrap,
                   " before those. What loads them by name finds none, and begins with random numbers"));
}

/// True: a checkpoint beside this one has that file.
bool compare_shapes(Examination& exam, const TreeFile& file, const std::vector<std::string>& beside) {
  const Forms own = forms_of(exam.directory(file));
  if (own.empty()) return false;
  const std::vector<Neighbour> others = neighbours_of(exam, file.path, beside, file_forms);
  compare_forms(exam, file.path, own, others);
  if (is_whole_model(file)) look_for_other_names(exam, file, own, others);
  look_for_lost(exam, file.path, own, others);
  return !others.empty();
}

/// Moments of other shapes than before, where the weights have those of before.
void compare_optimizers(Examination& exam, const std::vector<std::string>& beside) {
  const auto& problems = exam.problems();
  const auto is_unlike = [](const CheckpointProblem& one) { return one.trouble == Trouble::kUnlike; };
  if (std::any_of(problems.begin(), problems.end(), is_unlike)) return;
  size_t compared = 0;
  for (const TreeFile& file : exam.tree().files()) {
    if (!is_pickle_by_name(file.name()) || kind_of_name(file.name()) != ContentKind::kOptimizer) continue;
    if (++compared > kFiles) return;
    const Forms own = file_forms(exam.disk(), exam.tree().full(file.path));  // an examination keeps none of them
    if (!own.empty()) compare_forms(exam, file.path, own, neighbours_of(exam, file.path, beside, file_forms));
  }
}

// ---- zarr: a folder for each tensor, and nothing lists them

/// Of a checkpoint beside this one: all tensors in the folders `parents`. Beyond a bound those that this one has, too,
/// are taken for such as they are here.
Forms arrays_beside(Examination& exam, const std::string& other, const std::set<std::string>& parents) {
  Forms out;
  size_t read = 0;
  for (const std::string& parent : parents) {
    const auto names = exam.disk().list(parent.empty() ? other : cat(other, "/", parent));
    for (const std::string& name : names.ok() ? *names : std::vector<std::string>()) {
      std::string folder = in_folder(parent, name);
      const auto own = exam.arrays().find(folder);
      if (own != exam.arrays().end() && ++read > kFiles) {
        out[folder] = {Dtype::kOther, own->second};
        continue;
      }
      std::string text;
      auto open = exam.disk().open_read(cat(other, "/", folder, "/.zarray"));
      if (!open.ok() || !(*open)->read_at(0, kConfigBytes, text).ok()) continue;
      if (auto shape = shape_in_zarray(text)) out[std::move(folder)] = {Dtype::kOther, std::move(*shape)};
    }
  }
  return out;
}

/// Does one side say enough? Before it, where nothing else came or went; after it, where the optimizer has its part.
bool is_lost_array(const Forms& own, const std::string& name, const Neighbour& other, size_t lost) {
  if (contains(name, "lora") || contains(name, "adapter")) return false;
  if (!other.before)
    return std::any_of(own.begin(), own.end(), [&](const auto& one) { return one.first.ends_with(cat(".", name)); });
  const auto is_new = [&](const auto& one) { return other.forms.count(one.first) == 0 && !is_of_optimizer(one.first); };
  return !is_of_optimizer(name) && lost * 2 <= other.forms.size() && std::none_of(own.begin(), own.end(), is_new);
}

void look_for_lost_arrays(Examination& exam, const Forms& own, const std::vector<Neighbour>& others) {
  const bool optimizer =
      std::any_of(own.begin(), own.end(), [](const auto& one) { return is_of_optimizer(one.first); });
  std::vector<std::string> lost;
  for (const auto& [name, form] : others.front().forms) {
    const bool expected = optimizer || !is_of_optimizer(name);
    if (!expected || others.back().forms.count(name) == 0 || exam.tree().has_folder(name)) continue;
    if (own.count(name) == 0) lost.push_back(name);
  }
  const bool both = others.size() > 1;
  for (const std::string& name : lost) {
    const bool breaks = both || is_lost_array(own, name, others.front(), lost.size());
    if (!breaks && !others.front().before) continue;
    exam.problem(
        Trouble::kMissing, clip(sanitize_utf8(name), 200),
        cat("it is missing, and ", others.front().name, both ? cat(" and ", others.back().name, " have") : " has",
            " this tensor", breaks ? "" : ": it was lost, or the settings were changed"),
        breaks);
  }
}

void look_at_arrays(Examination& exam, const std::vector<std::string>& beside) {
  if (exam.arrays().empty() || exam.step() == kNoStep) return;
  Forms own, matrices;
  std::set<std::string> parents;
  for (const auto& [folder, shape] : exam.arrays()) {
    own[folder] = {Dtype::kOther, shape};
    if (shape.size() >= 2) matrices[folder] = own[folder];
    parents.emplace(folder_in_tree(folder));
  }
  std::vector<Neighbour> others;
  for (const std::string& other : beside) {
    const int64_t step = step_of_name(basename(other));
    const auto same_side = [&](const Neighbour& one) { return one.before == (step < exam.step()); };
    if (step == kNoStep || step == exam.step() || std::any_of(others.begin(), others.end(), same_side)) continue;
    Forms forms = arrays_beside(exam, other, parents);
    if (!forms.empty()) others.push_back({std::string(basename(other)), step < exam.step(), std::move(forms)});
  }
  if (others.empty()) return;
  compare_forms(exam, "", matrices, others);
  look_for_lost_arrays(exam, own, others);
}

const CheckpointManifest* nearest_before(const std::vector<const CheckpointManifest*>& others, int64_t step) {
  const CheckpointManifest* found = nullptr;
  for (const CheckpointManifest* const one : others) {
    if (one->step == kNoStep || one->step >= step || one->verdict != "whole") continue;
    if (found == nullptr || one->step > found->step) found = one;
  }
  return found;
}

/// DeepSpeed keeps a rank's weights beside its moments, which may be of any size.
WeightFigures weights_in(const TreeFile& file, const ManifestFile& read) {
  return file.role == FileRole::kWeights ? WeightFigures{read.numbers, read.norm} : partition_figures(read);
}

}  // namespace

void look_at_shapes(Examination& exam, const std::vector<std::string>& beside) {
  if (exam.tree().single_file()) return;
  size_t compared = 0;
  bool known = false;  // weights beside this one have been compared
  for (const TreeFile& file : exam.tree().files()) {
    if (is_export(file.path) && exam.tree().folders().size() > 1) continue;
    if (file.name() == "config.json") look_at_config(exam, file);
    look_at_own_config(exam, file);
    if (exam.step() != kNoStep && !beside.empty() && (is_safetensors(file) || is_torch(file)) && ++compared <= kFiles)
      known = compare_shapes(exam, file, beside) || known;
  }
  if (known) compare_optimizers(exam, beside);
  for (const auto& [metadata, shapes] : exam.shapes()) {
    look_at_distributed_config(exam, metadata, shapes);
    const Forms own = exam.step() == kNoStep ? Forms() : forms_of(shapes);
    if (own.empty()) continue;
    const std::vector<Neighbour> others = neighbours_of(exam, metadata, beside, metadata_forms);
    compare_forms(exam, metadata, own, others);
    look_for_lost(exam, metadata, own, others);
    if (others.empty() || !others.front().before) continue;
    std::set<std::string> earlier;
    for (const auto& [name, form] : others.front().forms) earlier.insert(name);
    look_for_moments_gone(exam, metadata, shapes, earlier, others.front().name);
  }
  look_at_arrays(exam, beside);
}

void look_at_norms(Examination& exam, const std::vector<ManifestFile>& hashed,
                   const std::vector<const CheckpointManifest*>& others) {
  int64_t step = exam.step();
  if (step == kNoStep && exam.tree().single_file()) step = step_of_file(exam.tree().files().front().name());
  const CheckpointManifest* const before = step == kNoStep ? nullptr : nearest_before(others, step);
  look_for_lost_moments(exam, hashed, before);
  if (before == nullptr) return;
  look_for_other_tokenizer(exam, hashed, *before);
  if (const FellToZero fell = fell_to_zero(*before, hashed); !fell.what.empty())
    exam.problem(Trouble::kUnlike, fell.path, fell.what, true, CheckDepth::kSane);
  if (const std::string still = weights_stood_still(*before, hashed); !still.empty())
    exam.problem(Trouble::kUnlike, "", still, false, CheckDepth::kSane);
  if (const std::string still = moments_stood_still(*before, hashed); !still.empty())
    exam.problem(Trouble::kUnlike, "", still, false, CheckDepth::kSane);
  std::map<std::string_view, const ManifestFile*> then;
  for (const ManifestFile& file : before->files) then.emplace(file.path, &file);
  for (const ManifestFile& now : hashed) {
    const auto was = then.find(now.path);
    const TreeFile* const file = exam.tree().find(now.path);
    if (was == then.end() || file == nullptr) continue;
    const WeightFigures own = weights_in(*file, now), old = weights_in(*file, *was->second);
    if (own.numbers == 0 || own.numbers != old.numbers) continue;
    if (old.norm < kBegan * std::sqrt(static_cast<double>(old.numbers))) continue;  // LoRA's B, a new head
    if (own.norm < old.norm * kApart && own.norm * kApart > old.norm) continue;
    exam.problem(Trouble::kUnlike, now.path,
                 cat("the norm of its ", file->role == FileRole::kWeights ? "numbers" : "weights", " is ",
                     format_short(own.norm), ", and was ", format_short(old.norm), " in ", basename(before->path),
                     ": no training does that and goes on well"),
                 true, CheckDepth::kSane);
  }
}

}  // namespace mw
