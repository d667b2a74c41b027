// Whether this program is one with sanitizers, under which everything takes some ten times as long: tests over very
// many inputs take a share of them there.
#pragma once

namespace mw::testing {

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define MW_SANITIZED
#endif
#endif
#if defined(MW_SANITIZED) || defined(__SANITIZE_ADDRESS__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace mw::testing
