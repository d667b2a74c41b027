// CHECK: a condition that only a bug of ours can break. Always on, in every build.
#pragma once

namespace mw {

/// Prints `what` with its place to standard error and aborts.
[[noreturn]] void check_failed(const char* what, const char* file, int line);

}  // namespace mw

#define MW_CHECK(condition) ((condition) ? void(0) : ::mw::check_failed(#condition, __FILE__, __LINE__))
