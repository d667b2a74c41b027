#include "sense/checkpoints/own_folders.h"

#include <algorithm>
#include <iterator>

#include "base/text.h"

namespace mw {
namespace {

constexpr std::string_view kProbe = ".midwatch-probe";
constexpr std::string_view kEverybodys[] = {"", "/", "/tmp", "/var/tmp", "/dev/shm"};

/// An error of the moment, which says nothing of the place.
bool is_of_the_moment(const Error& error) {
  return error.code == Error::Code::kIo || error.code == Error::Code::kFull ||
         error.code == Error::Code::kInterrupted || error.code == Error::Code::kLimit;
}

/// Can what lies in the root be renamed to that folder? A mount may lie between them that no number of a device shows.
Result<void> try_rename(Disk& disk, const std::string& root, const std::string& folder) {
  const std::string probe = cat(folder, "/", kProbe), there = cat(root, "/", kProbe);
  const auto made = disk.open_append(probe);
  if (!made.ok()) return made.error();
  const auto moved = disk.rename(probe, there);
  const auto removed = disk.remove(moved.ok() ? there : probe);
  return moved.ok() ? removed : moved;
}

/// "": it can lie there, and the folder is made.
Result<std::string> why_not(Disk& disk, const std::string& root, const OwnFolder& beside, const std::string& label) {
  const auto inside = disk.info(root), above = disk.info(beside.base);
  if (!inside.ok()) return inside.error();
  if (!above.ok()) return above.error();
  if (inside->device != above->device) return cat(beside.base, " is on another file system");
  const std::string folder = cat(beside.path(), "/", label);
  auto done = disk.make_folders(folder);
  if (done.ok()) done = try_rename(disk, root, folder);
  if (done.ok()) return std::string();
  if (is_of_the_moment(done.error())) return done.error();
  return done.error().what;
}

}  // namespace

std::string OwnFolder::path() const { return cat(base, "/", name); }

OwnFolder own_folder_in(const std::string& root, std::string_view name) { return {root, std::string(name), false}; }

std::optional<OwnFolder> own_folder_beside(const std::string& root, std::string_view name) {
  const std::string_view own = basename(root);
  if (root.empty() || root.front() != '/' || own.empty() || own == "." || own == "..") return std::nullopt;
  std::string above = folder_of(root);
  if (std::find(std::begin(kEverybodys), std::end(kEverybodys), above) != std::end(kEverybodys)) return std::nullopt;
  return OwnFolder{std::move(above), cat(name, "/", own), true};
}

std::string seen_from_root(const OwnFolder& folder, std::string_view below) {
  return cat(folder.beside ? "../" : "", folder.name, "/", below);
}

std::string path_seen_from(const std::string& root, const std::string& name) {
  return name.starts_with("../") ? cat(folder_of(root), name.substr(2)) : cat(root, "/", name);
}

Result<ChosenFolder> choose_own_folder(Disk& disk, const CheckpointLayout& layout, const std::string& root,
                                       std::string_view name, const std::string& label) {
  ChosenFolder in{own_folder_in(root, name), ""};
  if (layout.takes_any_folder) {
    auto beside = own_folder_beside(root, name);
    const auto why = beside ? why_not(disk, root, *beside, label) : cat(folder_of(root), " is a place of everybody's");
    if (!why.ok()) return why.error();
    if (why->empty()) return ChosenFolder{std::move(*beside), ""};
    in.trouble = *why;
  }
  MW_TRY(disk.make_folders(cat(in.folder.path(), "/", label)));
  return in;
}

}  // namespace mw
