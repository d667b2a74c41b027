// XXH3 for base/checksum.h: xxHash is header-only and takes the CPU's instructions from the compiler, so each width has
// a file of its own.
#pragma once

#include <cstddef>

namespace mw::xxh3 {

void* create();
void destroy(void* state);
void update(void* state, const void* bytes, size_t size);
unsigned long long digest(const void* state);
/// Does the same by AVX2; only where xxh3_wide.cc could be compiled for it.
extern const bool kWide;
void update_wide(void* state, const void* bytes, size_t size);

}  // namespace mw::xxh3
