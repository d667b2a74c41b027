#include "read/books/embedded.h"

#include <cstddef>
#include <cstdint>

namespace {

struct EmbeddedBytes {
  const char* path;
  const char* begin;
  const char* end;
};

}  // namespace

extern "C" {
extern const EmbeddedBytes mw_embedded_table[];
extern const uint64_t mw_embedded_count;
}

namespace mw {

std::vector<EmbeddedFile> embedded_files(std::string_view prefix) {
  std::vector<EmbeddedFile> files;
  for (size_t i = 0; i < mw_embedded_count; ++i) {
    const EmbeddedBytes& row = mw_embedded_table[i];
    const std::string_view path = row.path;
    if (path.substr(0, prefix.size()) != prefix) continue;
    files.push_back({path, {row.begin, static_cast<size_t>(row.end - row.begin)}});
  }
  return files;
}

}  // namespace mw
