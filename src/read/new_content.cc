#include "read/new_content.h"

#include <algorithm>

#include "base/checksum.h"
#include "base/json.h"
#include "base/numbers.h"
#include "base/text.h"
#include "read/discover.h"
#include "read/files/sniff.h"

namespace mw {
namespace {

constexpr int64_t kHeadBytes = 4096;             // by which content is known again
constexpr size_t kCountBytes = size_t{1} << 20;  // of one read while lines are counted

bool stands_by_line(FileKind kind) {
  return kind == FileKind::kText || kind == FileKind::kJsonLines || kind == FileKind::kUtf16;
}

/// As a string: a number of JSON may lose digits.
std::string text_of(uint64_t value) { return cat(static_cast<int64_t>(value)); }

/// Line ends in the first `bytes`.
int64_t lines_of(ReadFile& file, int64_t bytes) {
  int64_t lines = 0;
  std::string piece;
  for (int64_t at = 0; at < bytes; at += static_cast<int64_t>(piece.size())) {
    const size_t most = std::min<size_t>(kCountBytes, static_cast<size_t>(bytes - at));
    if (!file.read_at(static_cast<uint64_t>(at), most, piece).ok() || piece.empty()) break;
    lines += std::count(piece.begin(), piece.end(), '\n');
  }
  return lines;
}

}  // namespace

/// Its old content is skipped while it is there.
class NewContent::File final : public ReadFile {
 public:
  File(NewContent& owner, std::unique_ptr<ReadFile> file, std::string path)
      : owner_(owner), file_(std::move(file)), path_(std::move(path)) {}

  Result<FileInfo> info() override {
    auto whole = file_->info();
    if (whole.ok()) *whole = owner_.seen(*whole, *file_, path_);
    return whole;
  }
  Result<void> read_at(uint64_t offset, size_t size, std::string& out) override {
    const auto whole = file_->info();
    if (!whole.ok()) return whole.error();
    const FileInfo seen = owner_.seen(*whole, *file_, path_);
    if (seen.size == 0) {
      out.clear();
      return {};
    }
    return file_->read_at(offset + static_cast<uint64_t>(whole->size - seen.size), size, out);
  }

 private:
  NewContent& owner_;
  std::unique_ptr<ReadFile> file_;
  std::string path_;
};

void NewContent::leave_out(const std::vector<std::string>& paths) {
  if (paths.empty()) return;
  const auto found = discover(disk_, paths, worth_reading);
  if (!found.ok()) return;  // nothing is there yet
  for (const FoundFile& file : found->files) {
    leave_out(file.path, file.info.size);
    for (const std::string& older : file.older) {
      if (const auto part = disk_.info(older); part.ok()) leave_out(older, part->size);
    }
  }
  for (const FoundFile& file : found->superseded) leave_out(file.path, file.info.size);
}

void NewContent::leave_out(const std::string& path, int64_t bytes) {
  const auto info = disk_.info(path);
  auto file = disk_.open_read(path);
  std::string head;
  const size_t most = static_cast<size_t>(std::clamp<int64_t>(bytes, 0, kHeadBytes));
  if (most == 0 || !info.ok() || !file.ok() || !(*file)->read_at(0, most, head).ok()) return;
  old_[{info->device, info->inode}] = {bytes, fnv1a(head), static_cast<int64_t>(head.size()), false, -1};
}

bool NewContent::leaves_out(const std::string& path) const {
  const auto info = disk_.info(path);
  return info.ok() && old_.count({info->device, info->inode}) != 0;
}

bool NewContent::still_there(const Old& old, ReadFile& file) const {
  std::string head;
  return file.read_at(0, static_cast<size_t>(old.head_bytes), head).ok() && fnv1a(head) == old.head;
}

/// What is to be seen of a file of which `whole` is there.
FileInfo NewContent::seen(const FileInfo& whole, ReadFile& file, const std::string& path) {
  const auto found = old_.find({whole.device, whole.inode});
  if (found == old_.end() || whole.kind != FileInfo::Kind::kFile) return whole;
  Old& old = found->second;
  const bool there = whole.size >= old.bytes && (old.by_line || still_there(old, file));
  if (there && whole.size > old.bytes && !old.by_line) {
    std::string head;
    (void)file.read_at(0, kSniffBytes, head).ok();
    old.by_line = stands_by_line(sniff(head, path));
    old.lines = old.by_line ? lines_of(file, old.bytes) : -1;
  }
  if (!there || (whole.size > old.bytes && !old.by_line)) {
    old_.erase(found);
    return whole;
  }
  FileInfo rest = whole;
  rest.size = whole.size - old.bytes;
  rest.lines_before = std::max<int64_t>(old.lines, 0);
  return rest;
}

Result<std::unique_ptr<ReadFile>> NewContent::open_read(const std::string& path) {
  auto file = disk_.open_read(path);
  if (!file.ok() || old_.empty()) return file;
  return std::unique_ptr<ReadFile>(std::make_unique<File>(*this, std::move(*file), path));
}

Result<FileInfo> NewContent::info(const std::string& path) {
  auto whole = disk_.info(path);
  if (!whole.ok() || old_.count({whole->device, whole->inode}) == 0) return whole;
  auto file = disk_.open_read(path);
  if (!file.ok()) return file.error();
  const auto opened = (*file)->info();  // the name may be another's by now
  if (!opened.ok()) return opened.error();
  return seen(*opened, **file, path);
}

std::string NewContent::text() const {
  std::string out;
  {
    JsonWriter json(out);
    json.begin_object().key("version").integer(1).key("files").begin_array();
    for (const auto& [identity, old] : old_) {
      json.begin_object().key("device").string(text_of(identity.first)).key("inode").string(text_of(identity.second));
      json.key("bytes").integer(old.bytes).key("head").string(text_of(old.head));
      json.key("head_bytes").integer(old.head_bytes).end_object();
    }
    json.end_array().end_object();
  }
  return out + "\n";
}

void NewContent::restore(std::string_view text) {
  const auto json = Json::parse(text);
  const Json* files = json.ok() ? json->find("files") : nullptr;
  if (files == nullptr || !files->is_array()) return;
  for (const Json& one : files->items()) {
    const auto device = parse_int(one.string_or("device", ""));
    const auto inode = parse_int(one.string_or("inode", ""));
    const auto head = parse_int(one.string_or("head", ""));
    const int64_t bytes = one.integer_or("bytes", 0), head_bytes = one.integer_or("head_bytes", 0);
    const bool sound = device && inode && head && bytes > 0 && head_bytes > 0 && head_bytes <= kHeadBytes;
    if (!sound) continue;
    old_[{static_cast<uint64_t>(*device), static_cast<uint64_t>(*inode)}] = {bytes, static_cast<uint64_t>(*head),
                                                                             head_bytes, false, -1};
  }
}

}  // namespace mw
