#define XXH_INLINE_ALL
#include "base/xxh3.h"

#include <xxhash.h>

namespace mw::xxh3 {

void* create() {
  XXH3_state_t* const state = XXH3_createState();
  if (state != nullptr) XXH3_64bits_reset(state);
  return state;
}
void destroy(void* state) { XXH3_freeState(static_cast<XXH3_state_t*>(state)); }
void update(void* state, const void* bytes, size_t size) {
  XXH3_64bits_update(static_cast<XXH3_state_t*>(state), bytes, size);
}
unsigned long long digest(const void* state) { return XXH3_64bits_digest(static_cast<const XXH3_state_t*>(state)); }

}  // namespace mw::xxh3
