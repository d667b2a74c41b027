#include "act/vault/tree.h"

#include <algorithm>

#include "base/digest.h"
#include "base/text.h"
#include "platform/object_store.h"
#include "sense/checkpoints/walk_files.h"

namespace mw::vault {
namespace {

constexpr size_t kFiles = 200'000;  // of one checkpoint; a sharded one of 1024 ranks has some thousands
constexpr int kDepth = 32;          // folders within folders; a link that leads upwards ends here

bool same(const LocalFile& a, const LocalFile& b) {
  return a.path == b.path && a.info.size == b.info.size && a.info.changed == b.info.changed &&
         a.info.inode == b.info.inode && a.info.device == b.info.device;
}

/// What cannot be shipped as it lies there is not shipped in part either.
Result<void> refuse(const std::string& folder, Unseen why, const std::string& path, const Error& error) {
  switch (why) {
    case Unseen::kFolder:
    case Unseen::kEntry:
      return error;
    case Unseen::kDepth:
      return Error{Error::Code::kInvalid, cat("folders lead in circles at ", folder, "/", escape_terminal(path)), ""};
    case Unseen::kCount:
      return Error{Error::Code::kLimit, cat("more than ", kFiles, " files"), ""};
    case Unseen::kOther:
      break;
  }
  return Error{Error::Code::kInvalid, cat(folder, "/", escape_terminal(path), " is neither a file nor a folder"), ""};
}

Result<void> add(const std::string& folder, std::string path, const FileInfo& info, Tree& tree) {
  if (!is_plain_path(path))
    return Error{Error::Code::kInvalid, cat("no object store keeps such a name: ", escape_terminal(path)), ""};
  // A manifest is JSON: such a name would come back as another one.
  if (sanitize_utf8(path) != path) {
    return Error{Error::Code::kInvalid, cat("a file's name is not UTF-8: ", folder, "/", escape_terminal(path)),
                 "No store keeps such a name. Rename it, or move it out of the checkpoint."};
  }
  tree.bytes += info.size;
  tree.newest = std::max(tree.newest, info.changed);
  tree.files.push_back({std::move(path), info});
  return {};
}

}  // namespace

Result<Tree> walk_one(Disk& disk, const std::string& folder, const std::string& name) {
  const auto info = disk.info(cat(folder, "/", name));
  if (!info.ok()) return info.error();
  if (info->kind != FileInfo::Kind::kFile)
    return Error{Error::Code::kInvalid, cat(folder, "/", escape_terminal(name), " is no file"), ""};
  Tree tree;
  MW_TRY(add(folder, name, *info, tree));
  return tree;
}

Result<Tree> walk(Disk& disk, const std::string& folder) {
  Tree tree;
  FileWalk how{kFiles, kDepth};
  how.file = [&tree, &folder](std::string path, const FileInfo& info) {
    return add(folder, std::move(path), info, tree);
  };
  how.unseen = [&folder](Unseen why, const std::string& path, const Error& error) {
    return refuse(folder, why, path, error);
  };
  MW_TRY(walk_files(disk, folder, how));
  std::sort(tree.files.begin(), tree.files.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
  return tree;
}

std::string Tree::state() const {
  ContentHash hash;
  for (const LocalFile& file : files) {
    hash.add(cat(file.path, "\n", file.info.size, "\n", file.info.changed.ns, "\n"));
  }
  return hash.hex().substr(0, 16);
}

std::string difference(const Tree& before, const Tree& after) {
  for (size_t i = 0; i < before.files.size(); ++i) {
    if (i >= after.files.size() || !same(before.files[i], after.files[i])) {
      const bool gone = i >= after.files.size() || before.files[i].path < after.files[i].path;
      return gone || before.files[i].path == after.files[i].path ? before.files[i].path : after.files[i].path;
    }
  }
  return after.files.size() > before.files.size() ? after.files[before.files.size()].path : "";
}

Error removed_meanwhile(const std::string& what) {
  return {Error::Code::kInvalid, what, "latest in the store stays as it was; push one that is there."};
}

Error still_being_written(const std::string& what) {
  return {Error::Code::kInvalid, cat("the checkpoint is still being written: ", what), std::string(kWrittenHint)};
}

}  // namespace mw::vault
