// One process at a time: a file that is locked while its holder lives.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"

namespace mw {

/// Held from take() to its end.
class Lock {
 public:
  virtual ~Lock() = default;
  /// False: the file system keeps no locks, so others may have taken this one, too.
  virtual bool excludes() const { return true; }
};

class Locks {
 public:
  virtual ~Locks() = default;
  /// Creates `path` when it is missing. kDenied when another process holds it. Whoever holds it may remove the file.
  virtual Result<std::unique_ptr<Lock>> take(const std::string& path) = 0;
};

std::unique_ptr<Locks> make_posix_locks();

}  // namespace mw
