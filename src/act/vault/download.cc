#include "act/vault/download.h"

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>

#include "act/vault/upload.h"
#include "base/digest.h"
#include "base/text.h"
#include "platform/paths.h"

namespace mw::vault {
namespace {

constexpr int kTries = 2;  // of a part that came with a wrong checksum

Error wrong(const ManifestFile& file) {
  return {Error::Code::kInvalid, cat(file.path, " is not what its manifest says"), ""};
}

/// What the disk says is not said of the checkpoint: it must not look like the store's word.
Result<void> of_disk(Result<void> done) {
  if (done.ok()) return done;
  Error error = done.error();
  const bool mistakable =
      error.code == Error::Code::kInvalid || error.code == Error::Code::kNotFound || error.code == Error::Code::kLimit;
  if (mistakable) error.code = Error::Code::kIo;
  return error;
}

int64_t part_size(const ManifestFile& file, size_t part) {
  return std::min(file.part, file.size - static_cast<int64_t>(part) * file.part);
}

/// One part, compared with its checksum.
Result<std::string> fetch(const VaultDoors& doors, const std::string& key, const ManifestFile& file, size_t part) {
  const int64_t size = part_size(file, part);
  for (int tries = 1;; ++tries) {
    std::string bytes;
    bytes.reserve(static_cast<size_t>(size));
    const auto got = doors.store.get(key, static_cast<uint64_t>(file.part) * part, size, [&](std::string_view piece) {
      bytes += piece;
      return Result<void>();
    });
    if (!got.ok()) return got.error();
    if (static_cast<int64_t>(bytes.size()) == size && content_hash(bytes) == file.parts[part]) return bytes;
    if (tries == kTries) return wrong(file);
  }
}

/// A file that is being written in order, while its parts come in any.
class Writing {
 public:
  Writing(std::unique_ptr<AppendFile> file, size_t next, size_t window)
      : file_(std::move(file)), next_(next), window_(window) {}

  /// Waits until `part` may be asked for: not too many wait to be written. False: the file could not be written.
  bool wait_for(size_t part) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return failed_ || part < next_ + window_; });
    return !failed_;
  }
  void give_up() {
    const std::lock_guard<std::mutex> lock(mutex_);
    failed_ = true;
    changed_.notify_all();
  }
  Result<void> put(size_t part, std::string bytes) {
    const std::lock_guard<std::mutex> lock(mutex_);
    waiting_[part] = std::move(bytes);
    while (!waiting_.empty() && waiting_.begin()->first == next_) {
      if (auto done = of_disk(file_->append(waiting_.begin()->second)); !done.ok()) {
        failed_ = true;
        changed_.notify_all();
        return done;
      }
      waiting_.erase(waiting_.begin());
      ++next_;
    }
    changed_.notify_all();
    return {};
  }
  Result<void> sync() { return of_disk(file_->sync()); }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::unique_ptr<AppendFile> file_;
  std::map<size_t, std::string> waiting_;
  size_t next_;
  const size_t window_;
  bool failed_ = false;
};

class Downloader {
 public:
  Downloader(const VaultDoors& doors, const std::string& prefix, const CheckpointManifest& manifest,
             const std::string& folder, const Pace& pace, Meter& meter)
      : doors_(doors),
        prefix_(prefix),
        manifest_(manifest),
        folder_(folder),
        pace_(pace),
        meter_(meter),
        pacer_(doors, pace.rate) {}

  Result<void> run() {
    MW_TRY(make_folders());
    Crew crew(threads());
    for (const ManifestFile& file : manifest_.files) {
      if (file.parts.size() > 1) continue;
      if (!crew.give([this, &file] { return small(file); })) break;
    }
    MW_TRY(crew.finish());
    for (const ManifestFile& file : manifest_.files) {
      if (file.parts.size() > 1) MW_TRY(large(file));
    }
    return {};
  }

 private:
  int threads() const {
    int64_t part = kPartBytes;
    for (const ManifestFile& file : manifest_.files) part = std::max(part, file.part);
    // Twice as many parts wait to be written as are on their way.
    return std::max(1, static_cast<int>(std::min<int64_t>(pace_.parallel, kBytesInFlight / part / 2)));
  }

  /// A link on the way would lead elsewhere: somebody else put it there.
  Result<void> make_folders() {
    MW_TRY(of_disk(doors_.disk.make_folders(folder_)));
    folder_ = real_path(folder_);  // links above it are the user's own
    std::string last;
    for (const ManifestFile& file : manifest_.files) {
      const size_t slash = file.path.rfind('/');
      const std::string below = slash == std::string::npos ? "" : file.path.substr(0, slash);
      if (below == last) continue;
      last = below;
      MW_TRY(of_disk(doors_.disk.make_folders(cat(folder_, "/", below))));
      if (!below.empty() && real_path(cat(folder_, "/", below)) != cat(folder_, "/", below)) {
        return Error{Error::Code::kDenied, cat("a link leads out of ", folder_),
                     "Remove it, or choose another folder."};
      }
    }
    return {};
  }

  /// Opens a file for what is missing of it; `parts` of it are there and right.
  Result<std::unique_ptr<AppendFile>> open(const ManifestFile& file, size_t& parts) {
    const std::string path = cat(folder_, "/", file.path);
    if (real_path(path) != path) {
      return Error{Error::Code::kDenied, cat(path, " is a link"), "Remove it, or choose another folder."};
    }
    parts = 0;
    uint64_t right = 0;
    if (auto there = doors_.disk.open_read(path); there.ok()) {
      std::string bytes;
      for (; parts < file.parts.size(); ++parts) {
        const auto size = static_cast<size_t>(part_size(file, parts));
        MW_TRY(of_disk((*there)->read_at(right, size, bytes)));
        if (bytes.size() != size || content_hash(bytes) != file.parts[parts]) break;
        right += size;
        meter_.add(static_cast<int64_t>(size), false);
      }
    }
    auto opened = doors_.disk.open_append(path);
    if (!opened.ok()) return of_disk(opened.error()).error();
    MW_TRY(of_disk((*opened)->truncate(right)));
    return opened;
  }

  Result<void> small(const ManifestFile& file) {
    size_t parts = 0;
    auto opened = open(file, parts);
    if (!opened.ok()) return opened.error();
    if (parts < file.parts.size()) {
      pacer_.take(file.size);
      const auto bytes = fetch(doors_, prefix_ + file.path, file, 0);
      if (!bytes.ok()) return bytes.error();
      MW_TRY(of_disk((*opened)->append(*bytes)));
      meter_.add(file.size, true);
    } else if (file.size == 0) {
      const auto info = doors_.store.head(prefix_ + file.path);
      if (!info.ok()) return info.error();
      if (info->size != 0) return wrong(file);
    }
    return of_disk((*opened)->sync());
  }

  Result<void> large(const ManifestFile& file) {
    size_t first = 0;
    auto opened = open(file, first);
    if (!opened.ok()) return opened.error();
    const int most = threads();
    Writing writing(std::move(*opened), first, static_cast<size_t>(most) * 2);
    Crew crew(most);
    for (size_t part = first; part < file.parts.size(); ++part) {
      if (!writing.wait_for(part)) break;
      const bool more = crew.give([this, &file, &writing, part]() -> Result<void> {
        const int64_t size = part_size(file, part);
        pacer_.take(size);
        auto bytes = fetch(doors_, prefix_ + file.path, file, part);
        if (!bytes.ok()) {
          writing.give_up();
          return bytes.error();
        }
        MW_TRY(writing.put(part, std::move(*bytes)));
        meter_.add(size, true);
        return {};
      });
      if (!more) break;
    }
    MW_TRY(crew.finish());
    return writing.sync();
  }

  const VaultDoors& doors_;
  const std::string& prefix_;
  const CheckpointManifest& manifest_;
  std::string folder_;
  const Pace pace_;
  Meter& meter_;
  Pacer pacer_;
};

}  // namespace

Result<void> download(const VaultDoors& doors, const std::string& prefix, const CheckpointManifest& manifest,
                      const std::string& folder, const Pace& pace, Meter& meter) {
  return Downloader(doors, prefix, manifest, folder, pace, meter).run();
}

}  // namespace mw::vault
