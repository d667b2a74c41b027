#include "act/vault/tree.h"

#include <algorithm>

#include "base/digest.h"
#include "base/text.h"
#include "platform/object_store.h"

namespace mw::vault {
namespace {

constexpr size_t kFiles = 200'000;  // of one checkpoint; a sharded one of 1024 ranks has some thousands
constexpr int kDepth = 32;          // folders within folders; a link that leads upwards ends here

bool same(const LocalFile& a, const LocalFile& b) {
  return a.path == b.path && a.info.size == b.info.size && a.info.changed == b.info.changed &&
         a.info.inode == b.info.inode && a.info.device == b.info.device;
}

Result<void> collect(Disk& disk, const std::string& folder, const std::string& below, int depth, Tree& tree) {
  if (depth > kDepth) return Error{Error::Code::kInvalid, cat("folders lead in circles at ", folder, "/", below), ""};
  const auto names = disk.list(below.empty() ? folder : cat(folder, "/", below));
  if (!names.ok()) return names.error();
  for (const std::string& name : *names) {
    const std::string path = below.empty() ? name : cat(below, "/", name);
    const auto info = disk.info(cat(folder, "/", path));
    if (!info.ok()) return info.error();
    if (!is_plain_path(path)) {
      return Error{Error::Code::kInvalid, cat("no object store keeps such a name: ", escape_terminal(path)), ""};
    }
    if (info->kind == FileInfo::Kind::kFolder) {
      MW_TRY(collect(disk, folder, path, depth + 1, tree));
      continue;
    }
    if (info->kind != FileInfo::Kind::kFile) {
      return Error{Error::Code::kInvalid, cat(folder, "/", path, " is neither a file nor a folder"), ""};
    }
    if (tree.files.size() == kFiles) return Error{Error::Code::kLimit, cat("more than ", kFiles, " files"), ""};
    tree.bytes += info->size;
    tree.newest = std::max(tree.newest, info->changed);
    tree.files.push_back({path, *info});
  }
  return {};
}

}  // namespace

Result<Tree> walk(Disk& disk, const std::string& folder) {
  Tree tree;
  MW_TRY(collect(disk, folder, "", 0, tree));
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

}  // namespace mw::vault
