// Nothing but xxHash may be included here: what is compiled for AVX2 must not end up in other files' functions.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#pragma GCC target("avx2")
#define MW_XXH3_WIDE 1
#endif
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/xxh3.h"

namespace mw::xxh3 {

#ifdef MW_XXH3_WIDE
const bool kWide = true;
#else
const bool kWide = false;
#endif
void update_wide(void* state, const void* bytes, size_t size) {
  XXH3_64bits_update(static_cast<XXH3_state_t*>(state), bytes, size);
}

}  // namespace mw::xxh3
