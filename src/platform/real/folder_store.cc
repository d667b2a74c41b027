// An object store that is a folder. Its own work lies in .midwatch-store there: parts of uploads, files that are being
// written, the lock.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <functional>
#include <thread>
#include <utility>

#include "base/digest.h"
#include "base/numbers.h"
#include "base/text.h"
#include "platform/clock.h"
#include "platform/object_store.h"
#include "platform/paths.h"
#include "platform/real/posix_disk.h"
#include "platform/remove_tree.h"
#include "platform/send_limit.h"

namespace mw {
namespace {

constexpr std::string_view kOwn = ".midwatch-store";
constexpr size_t kPage = 1000;
constexpr int64_t kHashed = int64_t{4} << 20;  // bytes of an object up to which its ETag is its MD5: it is read for it
constexpr size_t kPiece = size_t{1} << 20;     // bytes read or joined at a time
constexpr int kDepth = 64;                     // folders within folders that are listed

/// Open for as long as it lives.
struct File {
  explicit File(int given) : number(given) {}
  ~File() {
    if (number >= 0) ::close(number);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int number;
};

Error error_of(int number, std::string_view what, const std::string& path) {
  using Code = Error::Code;
  const bool none = number == ENOENT || number == ENOTDIR;
  const bool denied = number == EACCES || number == EPERM || number == EROFS;
  const bool full = number == ENOSPC || number == EDQUOT;
  const Code code = none ? Code::kNotFound : denied ? Code::kDenied : full ? Code::kFull : Code::kIo;
  constexpr std::string_view kDenied = "Midwatch must be able to write there: check its rights, and how it is mounted.";
  return {code, cat(what, " ", path, ": ", std::strerror(number)),
          full ? "Free some space there." : std::string(denied ? kDenied : "")};
}

/// How fast bytes may be written, and when no more of them are.
struct Pace {
  int64_t rate = 0;  ///< bytes a second, at most; 0: as fast as it goes
  std::function<bool()> stopped;
};

Result<void> write_all(int file, std::string_view bytes, const std::string& path, const Pace& pace) {
  while (!bytes.empty()) {
    const size_t piece = pace.rate > 0 ? SendLimit::piece(bytes.size(), pace.rate) : bytes.size();
    if (pace.rate > 0 && pace.stopped && pace.stopped()) {
      return Error{Error::Code::kInterrupted, cat("writing to ", path, " was stopped"), ""};
    }
    wait_to_send(piece, pace.rate);
    const ssize_t put = ::write(file, bytes.data(), piece);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return error_of(errno, "cannot write to", path);
    bytes.remove_prefix(static_cast<size_t>(put));
    // A share would send all of them together when the file is synced. Nobody waits for it here.
    if (pace.rate > 0) (void)::sync_file_range(file, 0, 0, SYNC_FILE_RANGE_WRITE);
  }
  return {};
}

Result<void> write_file(const std::string& path, std::string_view bytes, const Pace& pace = {}) {
  const File file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644));
  if (file.number < 0) return error_of(errno, "cannot write", path);
  MW_TRY(write_all(file.number, bytes, path, pace));
  if (::fsync(file.number) != 0) return error_of(errno, "cannot sync", path);
  return {};
}

void sync_folder(const std::string& path) {
  const File file(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (file.number >= 0) (void)::fsync(file.number);  // some file systems cannot
}

class FolderStore final : public ObjectStore {
 public:
  FolderStore(std::string folder, Pace pace)
      : root_(std::move(folder)), own_(cat(root_, "/", kOwn)), pace_(std::move(pace)), disk_(make_posix_disk()) {}

  std::string name() const override { return root_; }

  Result<PutOutcome> put(const std::string& key, const Content& content, const PutCondition& condition) override {
    const auto path = path_of(key);
    if (!path.ok()) return path.error();
    MW_TRY(disk_->make_folders(own_));
    const std::string fresh = cat(own_, "/put-", ticket());
    const auto written = write_file(fresh, content.bytes, pace_);
    auto outcome = written.ok() ? put_there(fresh, *path, condition) : Result<PutOutcome>(written.error());
    (void)::unlink(fresh.c_str());
    const bool large = content.bytes.size() > static_cast<size_t>(kHashed);
    if (large && outcome.ok() && outcome->stored) write_tag(*path, to_hex(content.sum()));
    if (outcome.ok() && outcome->stored) {
      const auto tag = etag_of(*path);
      if (tag.ok()) outcome->etag = tag->value_or("");
    }
    return outcome;
  }

  Result<ObjectInfo> head(const std::string& key) override {
    const auto path = path_of(key);
    if (!path.ok()) return path.error();
    return info_of(key, *path, true);
  }

  Result<void> get(const std::string& key, uint64_t offset, int64_t size, const ByteSink& sink) override {
    const auto path = path_of(key);
    if (!path.ok()) return path.error();
    const auto there = info_of(key, *path, false);
    if (!there.ok()) return there.error();
    const auto file = disk_->open_read(*path);
    if (!file.ok()) return file.error();
    std::string bytes;
    for (uint64_t left = size < 0 ? UINT64_MAX : static_cast<uint64_t>(size); left > 0; left -= bytes.size()) {
      MW_TRY((*file)->read_at(offset, static_cast<size_t>(std::min<uint64_t>(left, kPiece)), bytes));
      if (bytes.empty()) break;
      MW_TRY(sink(bytes));
      offset += bytes.size();
    }
    return {};
  }

  Result<ObjectPage> list(const std::string& prefix, const std::string& from) override {
    std::vector<std::string> keys;
    // Only the folder that all of the keys lie in is walked.
    const size_t slash = prefix.rfind('/');
    MW_TRY(collect(slash == std::string::npos ? "" : prefix.substr(0, slash + 1), prefix, from, keys, 0));
    std::sort(keys.begin(), keys.end());
    ObjectPage page;
    for (const std::string& key : keys) {
      if (page.objects.size() == kPage) {
        page.next = page.objects.back().key;
        break;
      }
      auto info = info_of(key, cat(root_, "/", key), true);
      if (!info.ok() && info.error().code == Error::Code::kNotFound) continue;  // removed meanwhile
      if (!info.ok()) return info.error();
      page.objects.push_back(std::move(*info));
    }
    return page;
  }

  Result<void> remove(const std::string& key) override {
    const auto path = path_of(key);
    if (!path.ok()) return path.error();
    if (::unlink(path->c_str()) != 0 && errno != ENOENT && errno != ENOTDIR) {
      return error_of(errno, "cannot remove", *path);
    }
    return {};
  }

  Result<std::string> begin_upload(const std::string& key) override {
    if (const auto path = path_of(key); !path.ok()) return path.error();
    const std::string id = ticket();
    MW_TRY(disk_->make_folders(folder_of_upload(id)));
    MW_TRY(write_file(folder_of_upload(id) + "/key", key));
    return id;
  }

  Result<UploadedPart> put_part(const std::string& key, const std::string& upload, int number,
                                const Content& content) override {
    MW_TRY(check_upload(key, upload));
    const std::string folder = folder_of_upload(upload);
    const std::string fresh = cat(folder, "/new-", ticket());
    MW_TRY(write_file(fresh, content.bytes, pace_));
    const std::string path = cat(folder, "/part-", number);
    if (::rename(fresh.c_str(), path.c_str()) != 0) return error_of(errno, "cannot rename", fresh);
    return UploadedPart{number, static_cast<int64_t>(content.bytes.size()), to_hex(content.sum())};
  }

  Result<std::vector<UploadedPart>> parts(const std::string& key, const std::string& upload) override {
    MW_TRY(check_upload(key, upload));
    const auto names = disk_->list(folder_of_upload(upload));
    if (!names.ok()) return names.error();
    std::vector<UploadedPart> out;
    for (const std::string& name : *names) {
      constexpr std::string_view kPart = "part-";
      const auto number = name.starts_with(kPart) ? parse_int(name.substr(kPart.size())) : std::nullopt;
      if (!number) continue;
      std::string bytes;
      MW_TRY(read_part(upload, static_cast<int>(*number), bytes));
      out.push_back({static_cast<int>(*number), static_cast<int64_t>(bytes.size()), to_hex(md5(bytes))});
    }
    std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.number < b.number; });
    return out;
  }

  Result<void> complete(const std::string& key, const std::string& upload,
                        const std::vector<UploadedPart>& parts) override {
    MW_TRY(check_upload(key, upload));
    const auto path = path_of(key);
    if (!path.ok()) return path.error();
    const std::string whole = folder_of_upload(upload) + "/whole";
    MW_TRY(join(upload, parts, whole));
    auto put = put_there(whole, *path, {});
    if (!put.ok()) return put.error();
    keep_tag(*path, parts);
    return abort(key, upload);
  }

  Result<void> abort(const std::string& key, const std::string& upload) override {
    if (!check_upload(key, upload).ok()) return {};
    const auto removed = remove_tree(real_path(root_), cat(kOwn, "/uploads/", upload));
    if (!removed.ok() && removed.error().code != Error::Code::kNotFound) return removed.error();
    return {};
  }

  Result<std::vector<OpenUpload>> uploads(const std::string& prefix) override {
    std::vector<OpenUpload> out;
    const auto ids = disk_->list(own_ + "/uploads");
    if (!ids.ok() && ids.error().code == Error::Code::kNotFound) return out;
    if (!ids.ok()) return ids.error();
    for (const std::string& id : *ids) {
      const std::string key = key_of(id);
      const auto info = disk_->info(folder_of_upload(id) + "/key");
      if (!key.empty() && key.starts_with(prefix) && info.ok()) out.push_back({key, id, info->changed});
    }
    return out;
  }

 private:
  Result<std::string> path_of(const std::string& key) const {
    if (!is_plain_path(key) || key.starts_with(kOwn)) {
      return Error{Error::Code::kInvalid, cat("no key of an object: ", escape_terminal(clip(key, 200))), ""};
    }
    return cat(root_, "/", key);
  }
  std::string folder_of_upload(const std::string& id) const { return cat(own_, "/uploads/", id); }

  /// A name that nobody else has: also not on another machine that writes here.
  std::string ticket() const {
    static std::atomic<uint64_t> next{0};
    std::array<char, 64> host{};
    (void)::gethostname(host.data(), host.size() - 1);
    const auto clock = make_posix_clock();
    return hex_of(fnv1a_of(cat(host.data(), " ", ::getpid(), " ", clock->now().ns, " ", next++)));
  }
  static uint64_t fnv1a_of(std::string_view text) {
    uint64_t value = 0;
    for (const char c : md5(text).substr(0, 8)) value = value << 8 | static_cast<unsigned char>(c);
    return value;
  }

  /// The tag of an object that was joined from parts, as S3 makes it, or is larger than is read for it: it is kept
  /// beside, with what the file looked like.
  std::string tag_path(const std::string& path) const {
    return cat(own_, "/tags/", to_hex(md5(path.substr(root_.size()))));
  }
  static std::string shape_of(const struct stat& status) {
    return cat(status.st_size, "-", status.st_mtim.tv_sec, "-", status.st_mtim.tv_nsec, "-", status.st_ino);
  }

  Result<std::string> etag_text(const std::string& path, const struct stat& status) const {
    std::string kept;
    if (const auto tag = disk_->open_read(tag_path(path)); tag.ok() && (*tag)->read_at(0, 256, kept).ok()) {
      const std::string shape = shape_of(status) + " ";
      if (kept.starts_with(shape)) return kept.substr(shape.size());
    }
    if (status.st_size > kHashed) return shape_of(status);
    const auto file = disk_->open_read(path);
    if (!file.ok()) return file.error();
    std::string bytes;
    MW_TRY((*file)->read_at(0, kHashed, bytes));
    return to_hex(md5(bytes));
  }
  /// None: there is no such file.
  Result<std::optional<std::string>> etag_of(const std::string& path) const {
    auto info = info_of("", path, true);
    if (!info.ok() && info.error().code == Error::Code::kNotFound) return std::optional<std::string>();
    if (!info.ok()) return info.error();
    return std::optional(std::move(info->etag));
  }

  /// Best effort: without it the tag is another one, and who compares it sends the file again.
  void keep_tag(const std::string& path, const std::vector<UploadedPart>& parts) const {
    std::string sums;
    for (const UploadedPart& part : parts) {
      for (size_t i = 0; i + 1 < part.etag.size(); i += 2) {
        const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
        sums += static_cast<char>(digit(part.etag[i]) * 16 + digit(part.etag[i + 1]));
      }
    }
    write_tag(path, cat(to_hex(md5(sums)), "-", parts.size()));
  }
  void write_tag(const std::string& path, const std::string& tag) const {
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0 || !disk_->make_folders(own_ + "/tags").ok()) return;
    const std::string fresh = cat(own_, "/put-", ticket());
    const std::string text = cat(shape_of(status), " ", tag);
    if (!write_file(fresh, text).ok() || ::rename(fresh.c_str(), tag_path(path).c_str()) != 0) ::unlink(fresh.c_str());
  }

  Result<ObjectInfo> info_of(const std::string& key, const std::string& path, bool etag) const {
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0) return error_of(errno, "cannot see", path);
    if (!S_ISREG(status.st_mode)) return Error{Error::Code::kNotFound, cat(path, " is no file"), ""};
    ObjectInfo info{key, status.st_size, "", {}};
    info.changed = {static_cast<int64_t>(status.st_mtim.tv_sec) * 1'000'000'000 + status.st_mtim.tv_nsec};
    if (etag) {
      auto text = etag_text(path, status);
      if (!text.ok()) return text.error();
      info.etag = std::move(*text);
    }
    return info;
  }

  /// Files are finished beside the run's folder, and renamed into it.
  Error across(const std::string& path) const {
    const std::string run = path.substr(0, path.find('/', root_.size() + 1));
    return {Error::Code::kInvalid,
            cat(run, " is a mounted file system of its own, and files are put together beside it"),
            cat("Name a folder within it, such as ", run, "/RUN.")};
  }

  /// Gives the finished file `fresh` the name `path`, when the condition holds. Where others look at the same moment,
  /// one wins: by link(), which makes or fails; and where a tag is compared, under a lock, which file servers keep, too
  /// (NFS 3 and later). Nothing else takes the lock, as whoever is frozen with it holds up all others.
  Result<PutOutcome> put_there(const std::string& fresh, const std::string& path, const PutCondition& condition) {
    MW_TRY(disk_->make_folders(folder_of(path)));
    if (condition.when != PutCondition::When::kMatches) {
      auto outcome = name_it(fresh, path, condition);
      if (outcome.ok() && outcome->stored) sync_folder(folder_of(path));
      return outcome;
    }
    const std::string lock_path = own_ + "/lock";
    const File lock(::open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
    if (lock.number < 0) return error_of(errno, "cannot open", lock_path);
    MW_TRY(take_lock(lock.number, lock_path));
    auto outcome = name_it(fresh, path, condition);
    ::flock(lock.number, LOCK_UN);  // a disk that is slow to write the folder holds up nobody else
    if (outcome.ok() && outcome->stored) sync_folder(folder_of(path));
    return outcome;
  }

  /// Its holder needs microseconds, unless it was stopped (SIGSTOP, a machine that is frozen) in the middle of them.
  static Result<void> take_lock(int lock, const std::string& path) {
    constexpr int kTries = 1000;
    constexpr auto kNap = std::chrono::milliseconds(20);
    for (int i = 0; ::flock(lock, LOCK_EX | LOCK_NB) != 0; ++i) {
      if (errno != EINTR && errno != EWOULDBLOCK) return error_of(errno, "cannot lock", path);
      if (i == kTries) {
        return Error{
            Error::Code::kInterrupted, cat(path, " has been locked for 20 s"),
            "A midwatch that writes there was stopped in the middle of it, or its machine froze: see who has it open."};
      }
      std::this_thread::sleep_for(kNap);
    }
    return {};
  }

  /// Under the lock.
  Result<PutOutcome> name_it(const std::string& fresh, const std::string& path, const PutCondition& condition) const {
    using When = PutCondition::When;
    if (condition.when == When::kAbsent) {
      if (::link(fresh.c_str(), path.c_str()) != 0) {
        if (errno == EEXIST) return PutOutcome{false, ""};
        if (errno == EXDEV) return across(path);
        return error_of(errno, "cannot make", path);
      }
    } else {
      if (condition.when == When::kMatches) {
        const auto there = etag_of(path);
        if (!there.ok()) return there.error();
        if (*there != condition.etag) return PutOutcome{false, ""};
      }
      if (::rename(fresh.c_str(), path.c_str()) != 0)
        return errno == EXDEV ? across(path) : error_of(errno, "cannot rename", fresh);
    }
    return PutOutcome{};
  }

  Result<void> collect(const std::string& below, const std::string& prefix, const std::string& from,
                       std::vector<std::string>& keys, int depth) const {
    const std::string folder = below.empty() ? root_ : cat(root_, "/", below.substr(0, below.size() - 1));
    const auto names = disk_->list(folder);
    if (!names.ok() && names.error().code == Error::Code::kNotFound) return {};
    if (!names.ok()) return names.error();
    for (const std::string& name : *names) {
      const std::string key = below + name;
      if (name == kOwn) continue;
      struct stat status {};
      const std::string path = cat(root_, "/", key);
      if (::lstat(path.c_str(), &status) != 0) {
        Error error = error_of(errno, "cannot see", path);
        if (error.code == Error::Code::kNotFound) continue;  // it went meanwhile
        return error;                                        // a file that is not seen is not gone
      }
      if (S_ISDIR(status.st_mode) && depth < kDepth) {
        MW_TRY(collect(key + "/", prefix, from, keys, depth + 1));
      } else if (S_ISREG(status.st_mode) && key.starts_with(prefix) && (from.empty() || key > from)) {
        keys.push_back(key);
      }
    }
    return {};
  }

  std::string key_of(const std::string& upload) const {
    if (!is_plain_path(upload) || contains(upload, "/")) return {};
    const auto file = disk_->open_read(folder_of_upload(upload) + "/key");
    std::string key;
    if (!file.ok() || !(*file)->read_at(0, 2048, key).ok()) return {};
    return key;
  }
  Result<void> check_upload(const std::string& key, const std::string& upload) const {
    if (key_of(upload) != key) return Error{Error::Code::kNotFound, "there is no such upload (any more)", ""};
    return {};
  }

  Result<void> read_part(const std::string& upload, int number, std::string& bytes) const {
    const auto file = disk_->open_read(cat(folder_of_upload(upload), "/part-", number));
    if (!file.ok()) return file.error();
    const auto info = (*file)->info();
    if (!info.ok()) return info.error();
    return (*file)->read_at(0, static_cast<size_t>(info->size), bytes);
  }

  /// Each part is read again and compared with what was acknowledged when it came.
  Result<void> join(const std::string& upload, const std::vector<UploadedPart>& parts, const std::string& whole) const {
    const File file(::open(whole.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644));
    if (file.number < 0) return error_of(errno, "cannot write", whole);
    std::string bytes;
    for (const UploadedPart& part : parts) {
      MW_TRY(read_part(upload, part.number, bytes));
      if (to_hex(md5(bytes)) != part.etag) {
        return Error{Error::Code::kInvalid, cat("part ", part.number, " is not what was written"), ""};
      }
      MW_TRY(write_all(file.number, bytes, whole, pace_));
    }
    if (::fsync(file.number) != 0) return error_of(errno, "cannot sync", whole);
    return {};
  }

  std::string root_, own_;
  Pace pace_;
  std::unique_ptr<Disk> disk_;
};

}  // namespace

std::unique_ptr<ObjectStore> make_folder_store(const std::string& folder, int64_t rate, std::function<bool()> stopped) {
  return std::make_unique<FolderStore>(absolute_path(folder), Pace{rate, std::move(stopped)});
}

}  // namespace mw
