// The table of layouts and of frameworks, and what they share.
#include <algorithm>
#include <array>

#include "base/numbers.h"
#include "base/text.h"
#include "core/checkpoint_layout.h"
#include "sense/checkpoints/layouts/layout.h"

namespace mw {
namespace layouts {
extern const CheckpointFormat safetensors, torch_index, distributed, fsdp_ranks, megatron, zarr, deepspeed;
extern const CheckpointFramework areal, prime_rl, nemo_rl, skyrl, verl, accelerate, transformers, openrlhf, slime,
    deepspeed_alone, megatron_alone;
}  // namespace layouts

std::span<const CheckpointFormat* const> all_formats() {
  static constexpr std::array kAll = {&layouts::safetensors, &layouts::torch_index, &layouts::distributed,
                                      &layouts::fsdp_ranks,  &layouts::megatron,    &layouts::zarr,
                                      &layouts::deepspeed};
  return kAll;
}

std::span<const CheckpointFramework* const> all_frameworks() {
  static constexpr std::array kAll = {&layouts::areal,           &layouts::prime_rl,      &layouts::nemo_rl,
                                      &layouts::skyrl,           &layouts::verl,          &layouts::accelerate,
                                      &layouts::transformers,    &layouts::openrlhf,      &layouts::slime,
                                      &layouts::deepspeed_alone, &layouts::megatron_alone};
  return kAll;
}

int64_t step_of_name(std::string_view name) {
  constexpr std::array<std::string_view, 9> kPatterns = {"global_step_{step}", "global_step{step}", "checkpoint-{step}",
                                                         "checkpoint_{step}",  "iter_{step:07}",    "step_{step}",
                                                         "step-{step}",        "tmp_step_{step}",   "old_step_{step}"};
  for (const std::string_view pattern : kPatterns) {
    if (const auto step = step_in(pattern, name)) return *step;
  }
  for (const std::string_view word : {"step_", "step-"}) {  // with zeros before it: "step_000010"
    if (!name.starts_with(word) || name.size() > word.size() + 12) continue;
    const std::string_view digits = name.substr(word.size());
    const auto step =
        digits.find_first_not_of("0123456789") == std::string_view::npos ? parse_int(digits) : std::nullopt;
    if (step) return *step;
  }
  // Lightning, where it shards: folders "epoch=0-step=40.ckpt", and other figures between the two.
  constexpr std::string_view kEnd = ".ckpt", kStep = "step=";
  if (const size_t at = name.rfind(kStep);
      at != std::string_view::npos && name.ends_with(kEnd) && (at == 0 || name[at - 1] == '-')) {
    const std::string_view rest = name.substr(at + kStep.size(), name.size() - at - kStep.size() - kEnd.size());
    const size_t digits = rest.find_first_not_of("0123456789");
    if (const auto step = parse_int(rest.substr(0, digits));
        step && (digits == std::string_view::npos || rest[digits] == '-'))
      return *step;
  }
  constexpr std::string_view kLast = "globalstep";  // AReaL: epoch0epochstep3globalstep40
  const size_t last = name.rfind(kLast);
  if (name.starts_with("epoch") && last != std::string_view::npos) {
    if (const auto step = parse_int(name.substr(last + kLast.size())); step && *step >= 0) return *step;
  }
  return kNoStep;
}

std::vector<std::string> most_precise(std::set<std::string> layouts) {
  if (layouts.count("safetensors, sharded") + layouts.count("LoRA adapter") > 0) layouts.erase("safetensors");
  if (layouts.count("torch.save, sharded") > 0) layouts.erase("torch.save");
  if (layouts.count("Megatron torch_dist") > 0) layouts.erase("PyTorch DCP");
  if (layouts.count("Megatron zarr") > 0) layouts.erase("zarr");
  if (layouts.count("Megatron ranks") > 0) layouts.erase("torch.save");
  return {layouts.begin(), layouts.end()};
}

std::string in_folder(std::string_view folder, std::string_view name) {
  return folder.empty() ? std::string(name) : cat(folder, "/", name);
}

size_t require_named(Examination& exam, const TreeFile& by, const std::vector<std::string>& names,
                     std::string_view what) {
  constexpr size_t kShown = 20;
  std::vector<std::string> missing;
  for (const std::string& name : names) {
    std::string path = beside(by.path, name);
    if (!exam.tree().has(path)) missing.push_back(std::move(path));
  }
  const size_t found = names.size() - missing.size();
  if (missing.size() > kShown) {  // what is shown of them ends somewhere: how many there are comes first
    exam.problem(Trouble::kMissing, by.path,
                 cat(missing.size(), " of the ", names.size(), " files that it names are missing"));
    missing.resize(kShown);
  }
  for (const std::string& path : missing)
    exam.problem(Trouble::kMissing, clip(sanitize_utf8(path), 300), cat("it is missing, and ", what, " names it"));
  return found;
}

void require_numbered(Examination& exam, const std::string& folder, const std::vector<const TreeFile*>& files,
                      std::string_view ending) {
  struct Shards {
    size_t there = 0, wanted = 0;
    std::string index, single;  ///< names: of what lists them, and of a whole model in one file
  };
  std::map<std::string, Shards> all;  // by what their names have in common
  bool index = false;
  for (const TreeFile* file : files) {
    const std::string_view name = file->name();
    index = index || is_shard_index(name, ending);
    const size_t of = name.rfind("-of-");
    if (of == std::string_view::npos || of == 0 || !name.ends_with(ending) || of + 4 + ending.size() > name.size())
      continue;
    const size_t dash = name.rfind('-', of - 1);
    const auto wanted = parse_int(name.substr(of + 4, name.size() - of - 4 - ending.size()));
    if (dash == std::string_view::npos || !wanted || *wanted < 1 || *wanted > 100'000) continue;
    Shards& shards = all[cat(name.substr(0, dash), "-*", name.substr(of))];
    ++shards.there;
    shards.wanted = static_cast<size_t>(*wanted);
    shards.index = cat(name.substr(0, dash), ending, ".index.json");
    shards.single = cat(name.substr(0, dash), ending);
  }
  for (const auto& [name, shards] : all) {
    const TreeFile* const single = index ? nullptr : exam.tree().find(in_folder(folder, shards.single));
    if (single != nullptr && exam.directory(*single).proven) {  // transformers takes the whole one
      exam.problem(Trouble::kContradicts, in_folder(folder, name),
                   cat(shards.there, " of ", shards.wanted, " shards are beside ", shards.single,
                       ", which is whole: no index names them, and nothing loads them"),
                   false);
      continue;
    }
    if (shards.there < shards.wanted)
      exam.problem(Trouble::kMissing, in_folder(folder, name),
                   cat(shards.there, " of the ", shards.wanted, " shards that the names speak of are there"));
    if (!index && shards.wanted > 1)
      exam.problem(Trouble::kMissing, in_folder(folder, shards.index),
                   "it is missing: it says which tensor is in which shard");
  }
}

void require_same_numbers(Examination& exam, const std::vector<const TreeFile*>& files,
                          std::span<const std::string_view> numbers) {
  for (const std::string_view number : numbers) {
    std::map<int64_t, std::vector<const TreeFile*>> by_value;
    for (const TreeFile* file : files) {
      const auto& all = exam.directory(*file).numbers;
      if (const auto found = all.find(std::string(number)); found != all.end()) by_value[found->second].push_back(file);
    }
    require_one_value(exam, by_value, number);
  }
}

void require_own_rank(Examination& exam, const std::vector<const TreeFile*>& files, bool shared) {
  for (const TreeFile* file : files) {
    const std::string& archive = exam.directory(*file).archive;
    const std::string_view stem = file->name().substr(0, file->name().rfind('.'));
    if (archive.empty() || archive == stem || family_of(archive) != family_of(stem)) continue;
    if (rank_shard_of(archive).family != rank_shard_of(stem).family) continue;  // renamed for another world size
    exam.problem(
        Trouble::kSameBytes, file->path,
        cat("it was saved as ", archive, ": it is another rank's file, exchanged with this one or copied over it"),
        !shared);
  }
}

void require_one_value(Examination& exam, const std::map<int64_t, std::vector<const TreeFile*>>& by_value,
                       std::string_view name) {
  if (by_value.size() < 2) return;
  const auto fewer = [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); };
  auto usual = std::max_element(by_value.begin(), by_value.end(), fewer);
  const auto own = by_value.find(exam.step());  // of as many, those of another step than the folder's are the odd ones
  if (own != by_value.end() && own->second.size() == usual->second.size()) usual = own;
  for (const auto& [value, of] : by_value) {
    if (value == usual->first) continue;
    exam.problem(Trouble::kMixed, of.front()->path,
                 cat("its ", name, " is ", value, ", and ", usual->first, " in ", usual->second.front()->path));
  }
}

}  // namespace mw
