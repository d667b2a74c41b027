// A stretch of a file in memory as the system holds it, without a copy: to copy a byte out of the page cache costs more
// than to look at it. A file behind the door can have this or not (`dynamic_cast<MappableFile*>`); whoever reads can
// always fall back to ReadFile::read_at.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

namespace mw {

class FileView {
 public:
  virtual ~FileView() = default;
  /// `size` bytes at `offset` of the view, in memory now; "" where they cannot be had: the file is shorter by now, or
  /// its disk did not give them. What is cut off while it is looked at reads as zeros.
  virtual std::string_view bytes(size_t offset, size_t size) = 0;
  /// Was all there that was looked at so far?
  virtual bool sound() const = 0;
};

class MappableFile {
 public:
  virtual ~MappableFile() = default;
  /// Nullptr where it cannot be mapped, or is not in memory. The file must outlive the view. From any thread.
  virtual std::unique_ptr<FileView> view(uint64_t offset, size_t size) = 0;
};

}  // namespace mw
