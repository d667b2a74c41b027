#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace mw {

void check_failed(const char* what, const char* file, int line) {
  std::fprintf(stderr, "midwatch: bug: CHECK(%s) failed at %s:%d\n", what, file, line);
  std::abort();
}

}  // namespace mw
