// One process at a time: a file that is locked while its holder lives.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"

namespace mw {

class Lock {
 public:
  /// Creates `path` when it is missing. kDenied when another process holds it.
  static Result<std::unique_ptr<Lock>> take(const std::string& path);
  virtual ~Lock() = default;
};

}  // namespace mw
