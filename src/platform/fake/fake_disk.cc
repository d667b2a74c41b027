#include "platform/fake/fake_disk.h"

#include <algorithm>

#include "base/text.h"

namespace mw {
namespace {

Error fault(std::string_view what) { return {Error::Code::kIo, cat(what, ": Input/output error"), ""}; }
Error missing(const std::string& path) { return {Error::Code::kNotFound, cat("cannot find ", path), "check the path"}; }
Error off() { return {Error::Code::kInterrupted, "the machine is off", ""}; }

}  // namespace

class FakeReadFile final : public ReadFile {
 public:
  FakeReadFile(FakeDisk& disk, FakeDisk::File& file) : disk_(disk), file_(file) {}

  Result<void> read_at(uint64_t offset, size_t size, std::string& out) override {
    out.clear();
    if (disk_.dead()) return off();
    if (disk_.call()) return fault("read");
    if (offset < file_.now.size()) out = file_.now.substr(offset, size);
    return {};
  }
  Result<FileInfo> info() override {
    if (disk_.dead()) return off();
    return FileInfo{FileInfo::Kind::kFile, static_cast<int64_t>(file_.now.size()), 1, file_.number, file_.changed};
  }

 private:
  FakeDisk& disk_;
  FakeDisk::File& file_;
};

class FakeAppendFile final : public AppendFile {
 public:
  FakeAppendFile(FakeDisk& disk, FakeDisk::File& file) : disk_(disk), file_(file) {}

  Result<void> append(std::string_view bytes) override {
    if (disk_.dead()) return off();
    if (disk_.call()) return fault("append");
    const bool last = disk_.changes_left_ == 1;
    disk_.change();
    file_.changed = disk_.time_;
    if (last) {  // the machine dies within this call
      file_.now.append(bytes.substr(0, disk_.prng_.below(bytes.size() + 1)));
      return off();
    }
    if (disk_.fails(disk_.faults_.append)) {
      file_.now.append(bytes.substr(0, disk_.prng_.below(bytes.size() + 1)));
      return fault("append");
    }
    const uint64_t used = disk_.used();
    const uint64_t room = disk_.faults_.capacity > used ? disk_.faults_.capacity - used : 0;
    file_.now.append(bytes.substr(0, room));
    if (room < bytes.size()) return Error{Error::Code::kFull, "append: No space left on device", "free some space"};
    return {};
  }
  Result<void> sync() override {
    if (disk_.dead()) return off();
    if (disk_.call()) return fault("sync");
    disk_.change();
    const uint64_t from = std::min<uint64_t>(file_.clean, file_.now.size());
    file_.clean = file_.now.size();
    if (disk_.dead()) return off();
    if (disk_.fails(disk_.faults_.sync)) return fault("sync");
    // Only dirty pages are written; what a failed sync called clean stays what it was on the medium: lost.
    file_.durable.resize(std::min<uint64_t>(file_.durable.size(), file_.now.size()));
    if (file_.durable.size() < from) file_.durable.append(from - file_.durable.size(), '\0');
    file_.durable.resize(from);
    file_.durable.append(file_.now, from);
    return {};
  }
  Result<void> truncate(uint64_t size) override {
    if (disk_.dead()) return off();
    if (disk_.call() || disk_.fails(disk_.faults_.other)) return fault("truncate");
    disk_.change();
    if (disk_.dead()) return off();
    file_.now.resize(size);
    file_.clean = std::min(file_.clean, size);
    return {};
  }

 private:
  FakeDisk& disk_;
  FakeDisk::File& file_;
};

FakeDisk::FakeDisk(uint64_t seed) : prng_(seed ^ 0x5deece66dULL) {
  add_folder("/");
  add_folder(".");
}
FakeDisk::~FakeDisk() = default;

bool FakeDisk::call() {
  if (before_call) before_call();
  const uint64_t now = calls_++;
  return now == fails_at_ || (sticky_ && now > fails_at_);
}

/// No file has such a number.
void FakeDisk::add_folder(const std::string& path) {
  folders_[path] = {(uint64_t{1} << 62) + ++folders_made_, time_};
  touch_folder(folder_of(path));
}

void FakeDisk::touch_folder(const std::string& path) {
  const auto found = folders_.find(path);
  if (found != folders_.end()) found->second.changed = time_;
}

bool FakeDisk::change() {
  if (dead()) return false;
  ++changes_;
  if (changes_left_ != UINT64_MAX) --changes_left_;
  return true;
}

FakeDisk::File* FakeDisk::find(const std::string& path) const {
  const auto found = names_.find(path);
  return found == names_.end() ? nullptr : found->second;
}

FakeDisk::File* FakeDisk::create(const std::string& path) {
  files_.push_back(std::make_unique<File>());
  files_.back()->number = files_.size();
  touch_folder(folder_of(path));
  return names_[path] = files_.back().get();
}

bool FakeDisk::folder_exists(const std::string& path) const { return folders_.count(path) != 0; }

uint64_t FakeDisk::used() const {
  uint64_t sum = 0;
  for (const auto& [path, file] : names_) sum += file->now.size();
  return sum;
}

void FakeDisk::process_died() {
  changes_left_ = UINT64_MAX;
  process_ended();
}

void FakeDisk::process_ended() {
  // A process whose sync failed knows what was lost. That it dies before it has written the bytes again, and power is
  // lost later, is one fault more than this disk simulates (docs/formats/journal.md).
  for (const auto& file : files_) file->clean = std::min<uint64_t>(file->clean, file->durable.size());
}

void FakeDisk::power_lost() {
  changes_left_ = UINT64_MAX;
  for (const auto& file : files_) {
    const bool grown =
        file->now.size() >= file->durable.size() && file->now.compare(0, file->durable.size(), file->durable) == 0;
    if (grown) {
      const size_t kept = file->durable.size() + prng_.below(file->now.size() - file->durable.size() + 1);
      const size_t written =
          prng_.chance(0.3) ? file->durable.size() + prng_.below(kept - file->durable.size() + 1) : kept;
      file->now.resize(written);
      file->now.append(kept - written, '\0');  // the length reached the medium, the bytes did not
    } else if (prng_.chance(0.5)) {
      file->now = file->durable;
    }
    file->durable = file->now;
    file->clean = file->now.size();
  }
}

std::string FakeDisk::content(const std::string& path) const {
  const File* file = find(path);
  return file == nullptr ? std::string() : file->now;
}

void FakeDisk::put(const std::string& path, std::string content) {
  File* file = find(path);
  if (file == nullptr) file = create(path);
  file->now = file->durable = std::move(content);
  file->clean = file->now.size();
  file->changed = time_;
  for (std::string folder = folder_of(path); !folder_exists(folder); folder = folder_of(folder)) add_folder(folder);
}

void FakeDisk::unlink(const std::string& path) {
  if (names_.erase(path) != 0) touch_folder(folder_of(path));
}

void FakeDisk::unlink_folder(const std::string& path) {
  const auto inside = [&path](const auto& one) { return one.first == path || one.first.starts_with(path + "/"); };
  std::erase_if(names_, inside);
  std::erase_if(folders_, inside);
  touch_folder(folder_of(path));
}

void FakeDisk::write(const std::string& path, std::string_view bytes) {
  const File* file = find(path);
  std::string content = file == nullptr ? std::string() : file->now;
  content.append(bytes);
  put(path, std::move(content));
}

void FakeDisk::move(const std::string& from, const std::string& to) {
  File* file = find(from);
  if (file == nullptr) return;
  names_.erase(from);
  names_[to] = file;
}

std::vector<std::string> FakeDisk::paths() const {
  std::vector<std::string> out;
  for (const auto& [path, file] : names_) out.push_back(path);
  return out;
}

Result<std::unique_ptr<ReadFile>> FakeDisk::open_read(const std::string& path) {
  if (dead()) return off();
  if (call() || fails(faults_.other) || looks_away(path)) return fault("open");
  if (folder_exists(path)) return Error{Error::Code::kInvalid, cat(path, " is a folder"), ""};
  File* file = find(path);
  if (file == nullptr) return missing(path);
  return std::unique_ptr<ReadFile>(std::make_unique<FakeReadFile>(*this, *file));
}

Result<std::unique_ptr<AppendFile>> FakeDisk::open_append(const std::string& path) {
  if (dead()) return off();
  if (call() || fails(faults_.other)) return fault("open");
  if (folder_exists(path)) return Error{Error::Code::kInvalid, cat(path, " is a folder"), ""};
  File* file = find(path);
  if (file == nullptr) {
    if (!folder_exists(folder_of(path))) return missing(path);
    change();
    if (dead()) return off();
    file = create(path);
  }
  return std::unique_ptr<AppendFile>(std::make_unique<FakeAppendFile>(*this, *file));
}

Result<FileInfo> FakeDisk::info(const std::string& path) {
  if (dead()) return off();
  if (call() || looks_away(path)) return fault("info");
  if (const auto folder = folders_.find(path); folder != folders_.end()) {
    return FileInfo{FileInfo::Kind::kFolder, 0, 1, folder->second.number,
                    dates_folders_ ? folder->second.changed : Time()};
  }
  const File* file = find(path);
  if (file == nullptr) return missing(path);
  return FileInfo{FileInfo::Kind::kFile, static_cast<int64_t>(file->now.size()), 1, file->number, file->changed};
}

Result<std::vector<std::string>> FakeDisk::list(const std::string& folder) {
  if (dead()) return off();
  if (call() || fails(faults_.other)) return fault("list");
  if (!folder_exists(folder)) return missing(folder);
  std::vector<std::string> out;
  for (const auto& [path, file] : names_) {
    if (folder_of(path) == folder) out.emplace_back(basename(path));
  }
  for (const auto& [path, there] : folders_) {
    if (path != folder && path != "/" && path != "." && folder_of(path) == folder) out.emplace_back(basename(path));
  }
  std::sort(out.begin(), out.end());
  return out;
}

Result<void> FakeDisk::make_folders(const std::string& path) {
  if (dead()) return off();
  if (call()) return fault("mkdir");
  for (std::string folder = path; !folder_exists(folder); folder = folder_of(folder)) {
    if (find(folder) != nullptr) return Error{Error::Code::kInvalid, cat(folder, " is a file"), ""};
    add_folder(folder);
  }
  return {};
}

Result<void> FakeDisk::rename(const std::string& from, const std::string& to) {
  if (dead()) return off();
  if (call() || fails(faults_.other)) return fault("rename");
  if (folder_exists(from)) return rename_folder(from, to);
  File* file = find(from);
  if (file == nullptr) return missing(from);
  change();
  if (dead()) return off();
  if (before_change) before_change("rename", from, to);
  names_.erase(from);
  names_[to] = file;
  touch_folder(folder_of(from));
  touch_folder(folder_of(to));
  return {};
}

Result<void> FakeDisk::rename_folder(const std::string& from, const std::string& to) {
  if (folder_exists(to) || find(to) != nullptr) return Error{Error::Code::kIo, cat(to, " is there already"), ""};
  change();
  if (dead()) return off();
  if (before_change) before_change("rename", from, to);
  const auto inside = [&from](const std::string& path) { return path == from || path.starts_with(from + "/"); };
  std::vector<std::string> files, folders;
  for (const auto& [path, file] : names_) {
    if (inside(path)) files.push_back(path);
  }
  for (const auto& [path, there] : folders_) {
    if (inside(path)) folders.push_back(path);
  }
  for (const std::string& path : files) move(path, to + path.substr(from.size()));
  for (const std::string& path : folders) {
    const Folder folder = folders_.at(path);
    folders_.erase(path);
    folders_[to + path.substr(from.size())] = folder;
  }
  touch_folder(folder_of(from));
  touch_folder(folder_of(to));
  return {};
}

Result<void> FakeDisk::remove(const std::string& path) {
  if (dead()) return off();
  if (call() || fails(faults_.other)) return fault("remove");
  if (find(path) == nullptr) return missing(path);
  change();
  if (dead()) return off();
  if (before_change) before_change("remove", path, "");
  unlink(path);
  return {};
}

Result<void> FakeDisk::remove_below(const std::string& path, Removed& removed) {
  if (find(path) != nullptr) {
    MW_TRY(remove(path));
    ++removed.entries;
    return {};
  }
  if (!folder_exists(path)) return missing(path);
  const auto names = list(path);
  if (!names.ok()) return names.error();
  for (const std::string& name : *names) {
    auto gone = remove_below(cat(path, "/", name), removed);
    if (!gone.ok() && gone.error().code != Error::Code::kNotFound) return gone;
  }
  MW_TRY(remove_empty(path));
  ++removed.entries;
  return {};
}

Result<Removed> FakeDisk::remove_tree(const std::string& root, const std::string& below, const Identity* only) {
  const std::string path = cat(root, "/", below);
  const auto now = info(path);
  if (!now.ok()) return now.error();
  if (only != nullptr && only->inode != 0 && (now->inode != only->inode || now->device != only->device))
    return Error{Error::Code::kInvalid, cat(path, " is not what it was when it was looked at"), ""};
  Removed removed;
  MW_TRY(remove_below(path, removed));
  return removed;
}

Result<void> FakeDisk::remove_empty(const std::string& path) {
  if (dead()) return off();
  if (call() || fails(faults_.other)) return fault("rmdir");
  if (!folder_exists(path)) return missing(path);
  const auto inside = [&path](const auto& one) { return one.first.starts_with(path + "/"); };
  if (std::any_of(names_.begin(), names_.end(), inside) || std::any_of(folders_.begin(), folders_.end(), inside))
    return Error{Error::Code::kIo, cat(path, ": Directory not empty"), ""};
  change();
  if (dead()) return off();
  if (before_change) before_change("remove", path, "");
  folders_.erase(path);
  touch_folder(folder_of(path));
  return {};
}

}  // namespace mw
