// The includer of xxHash, beside xxh3_wide.cc, which is compiled for AVX2. Its code comes from the header: the archive
// of Debian has nothing that is faster.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/check.h"
#include "base/digest.h"
#include "base/xxh3.h"

namespace mw {
namespace {

std::string text_of(XXH128_hash_t hash) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, hash);
  return to_hex({reinterpret_cast<const char*>(canonical.digest), sizeof canonical.digest});
}

}  // namespace

struct ContentHash::State {
  XXH3_state_t xxh;
};

ContentHash::ContentHash() : state_(std::make_unique<State>()) { MW_CHECK(XXH3_128bits_reset(&state_->xxh) == XXH_OK); }
ContentHash::~ContentHash() = default;
ContentHash::ContentHash(ContentHash&&) noexcept = default;
ContentHash& ContentHash::operator=(ContentHash&&) noexcept = default;

void ContentHash::add(std::string_view bytes) {
#if defined(__x86_64__)
  static const bool wide = xxh3::kWide && __builtin_cpu_supports("avx2");
  if (wide) return xxh3::update_wide(&state_->xxh, bytes.data(), bytes.size());  // of both widths it is the same
#endif
  MW_CHECK(XXH3_128bits_update(&state_->xxh, bytes.data(), bytes.size()) == XXH_OK);
}

uint64_t ContentHash::short_digest() const { return XXH3_64bits_digest(&state_->xxh); }

std::string ContentHash::hex() const { return text_of(XXH3_128bits_digest(&state_->xxh)); }

std::string content_hash(std::string_view bytes) { return text_of(XXH3_128bits(bytes.data(), bytes.size())); }

}  // namespace mw

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
