#include "act/cleanup/remove_item.h"

#include <unistd.h>

#include <set>

#include "act/cleanup/links_into.h"
#include "act/cleanup/stale_resources.h"
#include "base/numbers.h"
#include "base/text.h"
#include "platform/real/posix_disk.h"
#include "platform/uses.h"
#include "sense/checkpoints/ownership.h"
#include "sense/checkpoints/quarantine.h"
#include "sense/checkpoints/scan.h"

namespace mw {
namespace {

Error stays(std::string what) { return {Error::Code::kInvalid, std::move(what), ""}; }

std::string removing_name(std::string_view name, const Identity& only) {
  return cat(name, "~", static_cast<int64_t>(only.device), "-", static_cast<int64_t>(only.inode));
}

/// Is it the very thing? An error: that is not known.
Result<bool> is_it(Disk& disk, const std::string& path, const Identity& only) {
  const auto info = disk.info(path);
  if (!info.ok()) return info.error();
  return info->device == only.device && info->inode == only.inode;
}

Result<void> check_unused(const RemovalDoors& doors, const std::string& root, const std::string& name) {
  const auto real = doors.system.real(root);  // without it nobody knows who uses what there
  if (!real.ok()) return real.error();
  const auto used = used_or_named_below(doors.system, root, ::getpid());
  const auto use = used.find(name.substr(0, name.find('/')));
  return use == used.end() ? Result<void>() : stays(cat("process ", use->second.pid, " ", use->second.how));
}

/// No link leads to it, in whichever of the trees.
Result<void> check_unlinked(const RemovalDoors& doors, const std::string& name, const CleanupGrounds& grounds) {
  const auto links = links_into(doors.disk, doors.system, grounds.roots, grounds.roots);
  if (!links.ok()) return links.error();
  std::set<std::string> own;
  for (const std::string& root : grounds.roots) own.insert(cat(root, "/", name));
  for (const LinkInto& one : *links) {
    if (own.count(one.into) != 0 && own.count(one.from) == 0)
      return stays(cat("a link leads to it by now, ", one.link));
  }
  return {};
}

/// Neither does the trainer's pointer, nor has a process a file of it open.
Result<void> check_unnamed(const RemovalDoors& doors, const std::string& root, const std::string& name,
                           const CleanupGrounds& grounds) {
  const auto pointer = ask_pointer(doors.disk, root, grounds.layout);
  if (!pointer.ok()) return pointer.error();
  if (*pointer && step_in(grounds.layout.pointer_text, **pointer) == grounds.number)
    return stays(cat("the trainer's pointer in ", root, " names it by now"));
  return check_unused(doors, root, name);
}

/// What a trainer, a person or another program did since the plan was made.
Result<void> check_grounds(const RemovalDoors& doors, const CleanupItem& item, const CleanupGrounds& grounds) {
  for (const CleanupGrounds::Counted& one : grounds.counted) {
    const CheckpointScan now = scan_checkpoint(doors.disk, one.path, one.step, nullptr);
    if (!now.there || now.state != one.state)
      return stays(cat(one.path, ", which is to stay, has changed since, or is gone"));
  }
  if (grounds.number == kNoStep) return {};
  const std::string path = cat(item.root, "/", item.name);
  const CheckpointScan now = scan_checkpoint(doors.disk, path, step_of_number(grounds.layout, grounds.number), nullptr);
  if (!now.there || now.state != grounds.state) return stays(cat(path, " has changed since"));
  for (const std::string& root : grounds.roots) MW_TRY(check_unnamed(doors, root, item.name, grounds));
  return check_unlinked(doors, item.name, grounds);
}

/// Where something lies until all of it is gone: below `base`, in `folder`, as `name`.
struct Aside {
  std::string base, folder, name;
  std::string below() const { return cat(folder, "/", name); }
  std::string path() const { return cat(base, "/", below()); }
};

std::string taken_in(const std::string& root) {
  return cat("its trainer takes every folder in ", root, " for a checkpoint, ");
}

/// Where the item is to lie; in a root where any folder is taken for a checkpoint it must not, as the trainer would
/// count it, and end where it deletes it at the same time.
Result<Aside> aside_of(const CleanupItem& item) {
  const std::string above = item.name.substr(0, item.name.size() - basename(item.name).size());
  Aside aside{item.root, cat(above, kRemovingFolder), removing_name(basename(item.name), item.only)};
  if (!item.beside) return aside;
  const auto beside = own_folder_beside(item.root, kRemovingFolder);
  if (!beside) return stays(cat(taken_in(item.root), "and there is no place beside it"));
  aside.base = beside->base;
  aside.folder = beside->name;
  return aside;
}

void remove_empty(const RemovalDoors& doors, const Aside& aside) {
  doors.remove_empty(cat(aside.base, "/", aside.folder));
  if (aside.folder.starts_with(cat(kRemovingFolder, "/"))) doors.remove_empty(cat(aside.base, "/", kRemovingFolder));
}

Result<Removed> remove_named(const RemovalDoors& doors, const Aside& aside, const Identity& only) {
  auto removed = doors.remove_tree(aside.base, aside.below(), &only);
  remove_empty(doors, aside);
  return removed;
}

/// Renames, then deletes.
Result<Removed> remove_checkpoint(const RemovalDoors& doors, const CleanupItem& item) {
  const std::string from = cat(item.root, "/", item.name);
  const auto aside = aside_of(item);
  if (!aside.ok()) return aside.error();
  const std::string to = aside->path();
  const auto same = is_it(doors.disk, from, item.only);
  if (!same.ok()) return same.error();
  if (!*same) return stays(cat(from, " is another one by now"));
  if (doors.system.link(from).ok()) return stays(cat(from, " is a link"));
  if (item.grounds) MW_TRY(check_grounds(doors, item, *item.grounds));
  MW_TRY(check_unused(doors, item.root, item.name));
  const auto made = doors.disk.make_folders(folder_of(to));
  const auto renamed = made.ok() ? doors.disk.rename(from, to) : made;
  if (!renamed.ok()) {
    remove_empty(doors, *aside);
    if (!item.beside) return renamed.error();
    return Error{renamed.error().code, cat(taken_in(item.root), "and beside it: ", renamed.error().what), ""};
  }
  const auto moved = is_it(doors.disk, to, item.only);
  if (!moved.ok() || !*moved || doors.system.link(to).ok()) {  // somebody put another one there in the meantime
    MW_TRY(doors.disk.rename(to, from));
    remove_empty(doors, *aside);
    return moved.ok() ? stays(cat(from, " is another one by now")) : moved.error();
  }
  return remove_named(doors, *aside, item.only);
}

/// What an earlier one left in the middle.
Result<Removed> finish(const RemovalDoors& doors, const CleanupItem& item) {
  const Removing removing = removing_of(basename(item.name));
  const std::string path = cat(item.root, "/", item.name);
  const auto same = removing.only.inode == 0 ? Result<bool>(true) : is_it(doors.disk, path, removing.only);
  if (!same.ok()) return same.error();
  const Aside aside{item.root, folder_of(item.name), std::string(basename(item.name))};
  if (*same) return remove_named(doors, aside, item.only);
  const std::string back = item.before;
  const auto there = doors.disk.info(back);
  if (there.ok() || there.error().code != Error::Code::kNotFound)
    return stays(cat("it is another one than was to go, and ", back, " is there again"));
  MW_TRY(doors.disk.rename(path, back));
  remove_empty(doors, aside);
  return stays(cat("it is another one than was to go, and is ", back, " again"));
}

}  // namespace

Removing removing_of(std::string_view name) {
  const size_t mark = name.rfind('~');
  const auto numbers = split(mark == std::string_view::npos ? "" : name.substr(mark + 1), '-');
  const auto device = numbers.size() == 2 ? parse_int(numbers[0]) : std::nullopt;
  const auto inode = numbers.size() == 2 ? parse_int(numbers[1]) : std::nullopt;
  if (!device || !inode) return {std::string(name), {}};
  return {std::string(name.substr(0, mark)), {static_cast<uint64_t>(*device), static_cast<uint64_t>(*inode), 0, false}};
}

Result<Removed> remove_item(const RemovalDoors& doors, const CleanupItem& item) {
  if (item.unfinished) return finish(doors, item);
  if (item.what == kOldCheckpoints || item.what == kBrokenCheckpoints || item.what == kQuarantine)
    return remove_checkpoint(doors, item);
  if (item.what == kRaySessions) {
    if (const std::string use = use_of_session(doors.system, item.name); !use.empty())
      return stays(cat("it is used again: ", use));
  }
  return doors.remove_tree(item.root, item.name, &item.only);
}

Result<Removed> remove_item(System& system, const CleanupItem& item) {
  const auto disk = make_posix_disk();
  const auto remove_empty = [](const std::string& folder) { (void)::rmdir(folder.c_str()); };
  return remove_item({*disk, system, remove_tree, remove_empty}, item);
}

}  // namespace mw
