#include "act/vault/ship.h"

#include <unistd.h>

#include <optional>

#include "act/vault/tree.h"
#include "base/numbers.h"
#include "base/text.h"
#include "platform/link_tree.h"
#include "platform/paths.h"
#include "platform/remove_tree.h"
#include "sense/checkpoints/own_folders.h"
#include "sense/checkpoints/scan.h"

namespace mw::vault {
namespace {

Error gone(const std::string& folder) {
  return {Error::Code::kNotFound, cat(basename(folder), " was deleted meanwhile"), std::string(kGoneHint)};
}

/// It had more bytes when it was scanned: somebody deletes it, or it was cut.
Error grown_less(const VaultDoors& doors, const ShipOptions& options, const Tree& before) {
  const std::string& folder = options.push.folder;
  doors.sleep(options.push.settle);
  const auto now = walk(doors.disk, folder);
  if (!now.ok()) return now.error().code == Error::Code::kNotFound ? gone(folder) : now.error();
  if (now->bytes < before.bytes) return gone(folder);
  const CheckpointScan scan = scan_checkpoint(doors.disk, folder, options.push.step, nullptr);
  if (scan.there && scan.seen.how == event::CheckpointSeen::How::kBroken)
    return {Error::Code::kInvalid, cat("the checkpoint is broken: ", scan.seen.what), std::string(kBrokenHint)};
  return {
      Error::Code::kNotFound,
      cat("not all of ", basename(folder), " is there any more: it has ", format_bytes(static_cast<double>(now->bytes)),
          " of the ", format_bytes(static_cast<double>(options.least_bytes)), " that it had"),
      std::string(kGoneHint)};
}

/// The second names, for as long as it lives.
class Links {
 public:
  explicit Links(const ShipOptions& options) : root_(real_path(folder_of(options.push.folder))), owner_(options.owner) {
    if (options.beside) place_ = own_folder_beside(root_, kShippingFolder);
    if (!options.beside) place_ = own_folder_in(root_, kShippingFolder);
    clear_shipping(root_, owner_);
  }
  ~Links() { clear_shipping(root_, owner_); }
  Links(const Links&) = delete;
  Links& operator=(const Links&) = delete;
  /// "": there is no place for them.
  std::string folder(const std::string& of) const {
    return place_ ? cat(place_->path(), "/", owner_, "/", basename(of)) : "";
  }

 private:
  std::string root_, owner_;
  std::optional<OwnFolder> place_;
};

}  // namespace

void clear_shipping(const std::string& root, const std::string& owner) {
  const std::string real = real_path(root);
  for (const auto& place :
       {own_folder_beside(real, kShippingFolder), std::optional<OwnFolder>(own_folder_in(real, kShippingFolder))}) {
    if (!place) continue;
    (void)remove_tree(place->base, cat(place->name, "/", owner)).ok();
    (void)::rmdir(place->path().c_str());  // unless another run uses it
    if (place->beside) (void)::rmdir(folder_of(place->path()).c_str());
  }
}

Result<Pushed> ship(const VaultDoors& doors, const ShipOptions& options) {
  const std::string folder = options.push.folder;
  const auto before = walk(doors.disk, folder);
  if (!before.ok())
    return before.error().code == Error::Code::kNotFound ? Result<Pushed>(gone(folder)) : before.error();
  if (before->bytes < options.least_bytes) return grown_less(doors, options, *before);
  const Links links(options);
  PushOptions how = options.push;
  how.folder = links.folder(folder);
  const bool may = options.links && !how.folder.empty();
  const auto linked = may ? link_tree(doors.disk, folder, how.folder)
                          : Result<void>(Error{Error::Code::kUnsupported, "the disk is short", ""});
  if (!linked.ok() && linked.error().code == Error::Code::kNotFound) return gone(folder);
  if (!linked.ok()) how.folder = folder;  // it is read where it lies
  if (linked.ok()) {
    const auto second = walk(doors.disk, how.folder);
    if (!second.ok()) return second.error();
    if (const std::string other = difference(*before, *second); !other.empty()) {
      if (!doors.disk.info(cat(folder, "/", other)).ok()) return gone(folder);
      return Error{Error::Code::kInvalid, cat("the checkpoint is still being written: ", other, " changed"), ""};
    }
  }
  for (size_t i = 0; i < how.parts.size() && linked.ok(); ++i) {
    PushPart& part = how.parts[i];
    const auto info = doors.disk.info(part.from);
    if (!info.ok()) return gone(folder);
    if (info->kind != FileInfo::Kind::kFolder) continue;  // a trainer that keeps fewer weights keeps these
    std::string second = cat(folder_of(how.folder), "/beside-", i, "/", basename(part.from));
    if (link_tree(doors.disk, part.from, second).ok()) part.from = std::move(second);
  }
  auto pushed = push(doors, how);
  if (!pushed.ok() && !linked.ok() && !doors.disk.info(folder).ok()) return gone(folder);
  return pushed;
}

}  // namespace mw::vault
