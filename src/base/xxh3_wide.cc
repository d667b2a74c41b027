// Nothing but xxHash may be included here: what is compiled for AVX2 (CMakeLists.txt) must not end up in other files'
// functions.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/xxh3.h"

namespace mw::xxh3 {

#ifdef __AVX2__
const bool kWide = true;
#else
const bool kWide = false;
#endif
void update_wide(void* state, const void* bytes, size_t size) {
  XXH3_64bits_update(static_cast<XXH3_state_t*>(state), bytes, size);
}

}  // namespace mw::xxh3
