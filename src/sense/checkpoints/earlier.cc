#include "sense/checkpoints/earlier.h"

#include <array>
#include <map>
#include <string>
#include <string_view>

#include "base/one_of.h"
#include "base/text.h"

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

}  // namespace

bool compare_with_earlier(Examination& exam, const CheckpointManifest& earlier, const std::vector<ManifestFile>& hashed,
                          const std::vector<const CheckpointManifest*>& others) {
  const CheckpointTree& tree = exam.tree();
  std::map<std::string_view, const ManifestFile*> then, read;
  for (const ManifestFile& file : earlier.files) then.emplace(file.path, &file);
  size_t rewritten = 0, both = 0;
  for (const TreeFile& file : tree.files()) {
    const auto was = then.find(file.path);
    if (was == then.end()) continue;
    ++both;
    rewritten += was->second->changed != file.changed ? 1 : 0;
  }
  // A trainer that saves to the same place again writes all of it.
  if (both == 0 || rewritten * 2 > both) {
    exam.note(
        cat("it was saved anew since it was verified at ", format_utc(earlier.at), ": that says nothing of it now"));
    return false;
  }
  for (const ManifestFile& file : hashed) read.emplace(file.path, &file);
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
