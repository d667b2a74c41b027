// Memory in large pages, for a process that reads much and ends.
#pragma once

#include <cstddef>

namespace mw {

/// Address space that the heap may take; what of it is never touched takes no memory.
constexpr size_t kLargePageHeap = size_t{64} << 20;

/// From here on the heap grows in pages of 2 MiB, where the system grants them: a fault of a page costs as much as
/// reading it through, in a virtual machine many times that, and a reader of a megabyte has a thousand faults. What is
/// freed stays with the process, so this is for verbs that answer and end, not for a watch that has little memory.
/// Once a process; false where the system or the allocator has no such thing, and all is as before.
bool grow_heap_in_large_pages();

}  // namespace mw
