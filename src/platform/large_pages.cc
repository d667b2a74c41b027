#include "platform/large_pages.h"

#include <malloc.h>
#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>

namespace mw {
namespace {

constexpr size_t kPage = size_t{2} << 20;  // of x86-64 and most of AArch64
constexpr size_t kSpare = 64;              // bytes that the allocator may put before and behind an allocation
constexpr int kOwnMapping = 32 << 20;      // bytes of an allocation that has a mapping of its own: the most there is
constexpr int kOwnMappings = 65536;        // as it is unless somebody sets it

/// Leaves what lies between the heap's end and the first large page unused, untouched.
void align(size_t gap) {
  if (gap <= kSpare) return;
  [[maybe_unused]] void* volatile unused = std::malloc(gap - kSpare / 2);
}

}  // namespace

bool grow_heap_in_large_pages() {
#if defined(__GLIBC__) && defined(MADV_HUGEPAGE)
  // No mapping of its own for the space, and what is freed at the end stays. A sanitizer's allocator refuses.
  if (mallopt(M_MMAP_MAX, 0) == 0 || mallopt(M_TRIM_THRESHOLD, -1) == 0) return false;
  auto* const space = static_cast<char*>(std::malloc(kLargePageHeap + kPage));  // the heap's end, for a moment
  const size_t gap = (kPage - reinterpret_cast<uintptr_t>(space) % kPage) % kPage;
  const bool granted = space != nullptr && madvise(space + gap, kLargePageHeap, MADV_HUGEPAGE) == 0;
  std::free(space);
  if (granted) align(gap);
  return mallopt(M_MMAP_MAX, kOwnMappings) != 0 && mallopt(M_MMAP_THRESHOLD, kOwnMapping) != 0 && granted;
#else
  return false;
#endif
}

}  // namespace mw
