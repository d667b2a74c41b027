#include "sense/checkpoints/earlier.h"

#include <map>
#include <string>
#include <string_view>

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
    if (now == nullptr) {
      exam.problem(Trouble::kMissing, std::string(path),
                   cat("it is missing, and was there at ", format_utc(earlier.at)));
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
