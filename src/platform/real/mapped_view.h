// Views of files by mmap.
#pragma once

#include <cstdint>
#include <memory>

#include "platform/file_view.h"

namespace mw {

/// Of an open file. Nullptr where it cannot be mapped, where it is not in memory (as far as three of its pages show:
/// whoever reads it then gets it faster), and where as many as can be guarded are there. From the first one on
/// SIGBUS within a view, which is how the system says that a page of it is gone, makes the rest of that view zeros; any
/// other goes to whoever handled it before.
std::unique_ptr<FileView> map_view(int descriptor, uint64_t offset, size_t size);

}  // namespace mw
