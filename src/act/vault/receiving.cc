#include "act/vault/receiving.h"

#include "base/text.h"

namespace mw::vault {
namespace {

constexpr int kReceivers = 64;  // of one checkpoint into one folder at once; more are a mistake of somebody's

}  // namespace

ReceivingFolder::~ReceivingFolder() {
  // Before it ends: who takes a lock compares the file that it has with the one of that name.
  if (lock_ != nullptr) (void)disk_->remove(lock_path_).ok();
}

Result<ReceivingFolder> ReceivingFolder::claim(Disk& disk, Locks* locks, const std::string& partial,
                                               const std::string& own) {
  ReceivingFolder out;
  out.disk_ = &disk;
  out.path_ = partial;
  if (locks == nullptr) return out;
  for (int i = 1; i <= kReceivers; ++i) {
    out.path_ = i == 1 ? partial : cat(partial, ".", i);
    out.lock_path_ = out.path_ + ".lock";
    auto lock = locks->take(out.lock_path_);
    if (lock.ok()) {
      out.lock_ = std::move(*lock);
      if (!out.lock_->excludes()) out.path_ = cat(partial, ".", own);
      return out;
    }
    if (lock.error().code != Error::Code::kDenied) return lock.error();
  }
  return Error{Error::Code::kDenied, cat(kReceivers, " processes receive into ", partial, " already"),
               "Wait for one of them, or end them."};
}

}  // namespace mw::vault
