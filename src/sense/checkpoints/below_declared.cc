#include "sense/checkpoints/below_declared.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "sense/checkpoints/parts.h"
#include "sense/checkpoints/quarantine.h"
#include "sense/checkpoints/roots.h"

namespace mw {
namespace {

constexpr int kLevels = 32;  // folders above one, of which it is asked whether they were declared

/// What lies below `declared`, without it: "p/e"; "": nothing.
std::string rest_below(const std::string& folder, const std::string& declared) {
  const bool below = lies_in(folder, declared) && folder.size() > declared.size() + 1;
  return below ? folder.substr(declared.size() + 1) : "";
}

/// Likewise, where it is called by another path: the folders above it show which of them was declared. What is
/// elsewhere may be on a disk that does not answer.
std::string rest_by_identity(Disk& disk, const std::string& folder, const FileInfo& declared) {
  std::string above = folder;
  for (int i = 0; i < kLevels && above.size() > 1; ++i) {
    above = folder_of(above);
    const auto info = disk.info(above);
    if (!info.ok() && is_silent(info.error())) return "";
    if (!info.ok() || info->inode != declared.inode || info->device != declared.device) continue;
    return folder.substr(above.size() + 1);
  }
  return "";
}

/// Does a link lead from `declared` to what lies `rest` below it?
Result<bool> has_link(Disk& disk, const std::string& declared, const std::string& rest) {
  size_t end = 0;
  while (end < rest.size()) {
    end = std::min(rest.find('/', end + 1), rest.size());
    const auto link = disk.read_link(cat(declared, "/", rest.substr(0, end)));
    if (!link.ok() && is_silent(link.error())) return link.error();
    if (link.ok()) return true;
  }
  return false;
}

/// Has it checkpoints, or what is left of one?
Result<bool> is_root(Disk& disk, const std::string& folder, const CheckpointLayout& layout) {
  const auto steps = checkpoint_steps(disk, folder, layout);
  if (!steps.ok() && is_silent(steps.error())) return steps.error();
  return steps.ok() && !steps->empty();
}

Result<std::set<std::string>> roots_of(Disk& disk, const Ownership& of, const CheckpointLayout& layout,
                                       const std::set<std::string>& folders) {
  const std::vector<std::string> declared(of.declared.begin(), of.declared.end());
  std::set<std::string> found;
  for (const std::string& folder : folders) {
    const auto called = below_declared(disk, declared, folder);
    if (!called.ok()) return called.error();
    for (const std::string& one : {*called, called->empty() ? "" : other_role_of(*called)}) {
      if (one.empty() || of.declared.count(one) != 0 || !of.may_save_in(one)) continue;
      const auto root = is_root(disk, one, layout);
      if (!root.ok()) return root.error();
      if (*root) found.insert(one);
    }
  }
  return found;
}

}  // namespace

Result<std::string> below_declared(Disk& disk, const std::vector<std::string>& declared, const std::string& folder) {
  const std::string plain = plain_path(folder);
  if (!plain.starts_with("/") || contains(cat(plain, "/"), "/../")) return std::string();
  for (const std::string& one : declared) {
    const std::string root = plain_path(one);
    if (root.size() < 2) continue;
    std::string rest = rest_below(plain, root);
    if (rest.empty() && plain != root) {
      const auto info = disk.info(root);
      if (!info.ok() && is_silent(info.error())) return info.error();
      if (!info.ok() || info->inode == 0) continue;
      rest = rest_by_identity(disk, plain, *info);
    }
    if (rest.empty()) continue;
    const auto linked = has_link(disk, root, rest);
    if (!linked.ok()) return linked.error();
    if (!*linked) return cat(root, "/", rest);
  }
  return std::string();
}

Result<std::vector<std::string>> own_roots_below(Disk& disk, const Ownership& of, const CheckpointLayout& layout) {
  if (!layout.known() || of.declared.empty()) return std::vector<std::string>();
  auto found = roots_of(disk, of, layout, of.named);
  if (found.ok() && found->empty()) found = roots_of(disk, of, layout, of.seen);
  if (!found.ok()) return found.error();
  std::set<std::string> pointed;
  for (const std::string& root : *found) {
    const auto pointer = ask_pointer(disk, root, layout);
    if (!pointer.ok()) return pointer.error();
    if (*pointer) pointed.insert({root, other_role_of(root)});
  }
  if (!pointed.empty()) std::erase_if(*found, [&](const std::string& root) { return pointed.count(root) == 0; });
  return std::vector<std::string>(found->begin(), found->end());
}

}  // namespace mw
