#include "platform/real/from_errno.h"

#include <cerrno>
#include <cstring>

#include "base/text.h"

namespace mw {

Error from_errno(std::string_view what) {
  const int problem = errno;
  const bool gone = problem == ENOENT || problem == ESRCH || problem == ENOTDIR;
  const bool denied = problem == EPERM || problem == EACCES;
  return {gone     ? Error::Code::kNotFound
          : denied ? Error::Code::kDenied
                   : Error::Code::kIo,
          cat(what, ": ", std::strerror(problem)), ""};
}

}  // namespace mw
