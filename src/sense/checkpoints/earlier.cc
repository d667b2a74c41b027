#include "sense/checkpoints/earlier.h"

#include <array>
#include <map>
#include <string>
#include <string_view>

#include "base/one_of.h"
#include "base/text.h"
#include "sense/checkpoints/find.h"
#include "sense/checkpoints/save_order.h"

namespace mw {
namespace {

void report_changed(Examination& exam, const CheckpointManifest& earlier, const ManifestFile& now,
                    const std::vector<const CheckpointManifest*>& others) {
  for (const CheckpointManifest* other : others) {
    for (const ManifestFile& file : other->files) {
      if (file.path != now.path || !same_bytes(file, now)) continue;
      return exam.problem(
          Trouble::kMixed, now.path,
          cat("its bytes are those of ", basename(other->path), ", and were others at ", format_utc(earlier.at)), true,
          CheckDepth::kContent);
    }
  }
  exam.problem(Trouble::kChanged, now.path, cat("its bytes are not those that it had at ", format_utc(earlier.at)),
               true, CheckDepth::kContent);
}

/// No weights depend on it, and people mend such files: a chat template, a card. Where nobody wrote to it, it rotted.
bool is_text_of_people(std::string_view path) {
  constexpr std::array<std::string_view, 5> kNames = {"tokenizer_config.json", "generation_config.json",
                                                      "special_tokens_map.json", "chat_template.json", "LICENSE"};
  const std::string_view name = basename(path), ending = ending_of(name);
  return is_one_of(name, kNames) || ending == "md" || ending == "jinja";
}

void note_mended(Examination& exam, const CheckpointManifest& earlier, std::string_view path) {
  exam.problem(Trouble::kChanged, std::string(path),
               cat("it is not what it was at ", format_utc(earlier.at),
                   ": no weights depend on it, so somebody may have mended it; verify --deep records it as it is now"),
               false, CheckDepth::kContent);
}

using ByPath = std::map<std::string_view, const ManifestFile*>;

/// Of what was saved anew: the first file that has other bytes than it had, where one that each save writes with it or
/// after it was left as it was. Without --deep the times say it, and nothing is sure.
bool look_for_half(Examination& exam, const CheckpointManifest& earlier, const ByPath& then, const ByPath& read) {
  for (const SaveOrder& order : orders_of_save(exam.tree(), exam.framework())) {
    const PlacedFile *made = nullptr, *kept = nullptr;
    for (const PlacedFile& one : order) {
      const auto was = then.find(one.file->path), is = read.find(one.file->path);
      if (was == then.end()) continue;
      const bool same = is == read.end() || same_bytes(*is->second, *was->second);
      if (was->second->changed == one.file->changed && was->second->bytes == one.file->bytes && same) {
        if (kept == nullptr || one.place > kept->place) kept = &one;
      } else if ((is == read.end() || !same) && (made == nullptr || one.place < made->place)) {
        made = &one;
      }
    }
    if (made == nullptr || kept == nullptr || made->place > kept->place) continue;
    const bool sure = read.count(made->file->path) != 0;
    exam.problem(sure ? Trouble::kMixed : Trouble::kChanged, made->file->path,
                 cat("it was saved anew since ", format_utc(earlier.at), ", and ", kept->file->path,
                     ", which each save writes ", made->place == kept->place ? "with it" : "after it", ", was not: ",
                     sure ? "that save was cut, and what lies here is of two"
                          : "that save was cut, or --deep finds the same bytes"),
                 sure, sure ? CheckDepth::kContent : CheckDepth::kStructural);
    return sure;
  }
  return false;
}

/// Of what was saved anew: everything that has other bytes than it had has those of one other step.
bool look_for_other_step(Examination& exam, const CheckpointManifest& earlier, const ByPath& then, const ByPath& read,
                         const std::vector<const CheckpointManifest*>& others) {
  const bool file = exam.tree().single_file();
  const int64_t step = file ? step_of_file(basename(exam.tree().files().front().path)) : exam.step();
  for (const CheckpointManifest* other : others) {
    if (step == kNoStep || other->step == kNoStep || other->step == step) continue;
    ByPath theirs;
    for (const ManifestFile& one : other->files) theirs.emplace(one.path, &one);
    const ManifestFile* first = nullptr;
    bool all = true;
    for (const auto& [path, now] : read) {
      const auto was = then.find(path);
      const auto its = theirs.find(path);
      if (was == then.end() || same_bytes(*was->second, *now)) continue;
      all = all && its != theirs.end() && same_bytes(*its->second, *now);
      if (first == nullptr || role_of(basename(path)) == FileRole::kWeights) first = now;
    }
    if (!all || first == nullptr) continue;
    exam.problem(Trouble::kMixed, first->path,
                 cat("its bytes are those of ", basename(other->path), ", and were others at ", format_utc(earlier.at)),
                 true, CheckDepth::kContent);
    return true;
  }
  return false;
}

}  // namespace

bool compare_with_earlier(Examination& exam, const CheckpointManifest& earlier, const std::vector<ManifestFile>& hashed,
                          const std::vector<const CheckpointManifest*>& others) {
  const CheckpointTree& tree = exam.tree();
  ByPath then, read;
  for (const ManifestFile& file : earlier.files) then.emplace(file.path, &file);
  for (const ManifestFile& file : hashed) read.emplace(file.path, &file);
  size_t rewritten = 0, both = 0;
  for (const TreeFile& file : tree.files()) {
    const auto was = then.find(file.path);
    if (was == then.end()) continue;
    ++both;
    rewritten += was->second->changed != file.changed ? 1 : 0;
  }
  // A trainer that saves to the same place again writes all of it.
  if (both == 0 || rewritten * 2 > both) {
    if (look_for_half(exam, earlier, then, read) || look_for_other_step(exam, earlier, then, read, others)) return true;
    exam.note(
        cat("it was saved anew since it was verified at ", format_utc(earlier.at), ": that says nothing of it now"));
    return false;
  }
  for (const auto& [path, was] : then) {
    const TreeFile* const now = tree.find(path);
    const auto hash = read.find(path);
    // Recorded by a midwatch that took it for a part.
    if (now == nullptr && (is_no_part(basename(path)) || tree.is_left_over(path))) continue;
    if (now == nullptr) {
      exam.problem(Trouble::kMissing, std::string(path),
                   cat("it is missing, and was there at ", format_utc(earlier.at)));
    } else if (const bool other = now->bytes != was->bytes || (hash != read.end() && !same_bytes(*hash->second, *was));
               other && now->changed != was->changed && is_text_of_people(path)) {
      note_mended(exam, earlier, path);
    } else if (now->bytes != was->bytes) {
      exam.problem(Trouble::kChanged, std::string(path),
                   cat("it has ", now->bytes, " bytes, and had ", was->bytes, " at ", format_utc(earlier.at)));
    } else if (hash != read.end()) {
      if (!same_bytes(*hash->second, *was)) report_changed(exam, earlier, *hash->second, others);
    } else if (now->changed != was->changed) {
      exam.problem(Trouble::kChanged, std::string(path),
                   cat("it was written again at ", format_utc(now->changed).substr(0, 19),
                       "Z, after its bytes were recorded at ", format_utc(earlier.at),
                       ": --deep says whether they are still the same"),
                   false);
    }
  }
  return true;
}

}  // namespace mw
