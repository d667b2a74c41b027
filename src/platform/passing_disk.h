// A disk that passes everything on to another one.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "platform/disk.h"

namespace mw {

/// Whoever derives from it changes some of that. `disk` must outlive it.
class PassingDisk : public Disk {
 public:
  explicit PassingDisk(Disk& disk) : disk_(disk) {}

  Result<std::unique_ptr<ReadFile>> open_read(const std::string& path) override { return disk_.open_read(path); }
  Result<std::unique_ptr<AppendFile>> open_append(const std::string& path) override { return disk_.open_append(path); }
  Result<FileInfo> info(const std::string& path) override { return disk_.info(path); }
  Result<std::vector<std::string>> list(const std::string& folder) override { return disk_.list(folder); }
  Result<void> make_folders(const std::string& path) override { return disk_.make_folders(path); }
  Result<void> rename(const std::string& from, const std::string& to) override { return disk_.rename(from, to); }
  Result<void> remove(const std::string& path) override { return disk_.remove(path); }
  Result<std::string> read_link(const std::string& path) override { return disk_.read_link(path); }
  Result<void> make_link(const std::string& text, const std::string& path) override {
    return disk_.make_link(text, path);
  }

 protected:
  Disk& disk_;
};

}  // namespace mw
