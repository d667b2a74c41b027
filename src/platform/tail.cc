#include "platform/tail.h"

#include <algorithm>

namespace mw {

void Tail::begin_anew(std::string why) {
  file_.reset();
  former_offset_ = offset_;
  former_identity_ = identity_;
  offset_ = 0;
  former_head_ = std::move(head_);
  head_.clear();
  why_ = std::move(why);
}

Result<Tail::News> Tail::open_first() {
  auto opened = disk_.open_read(path_);
  if (!opened.ok()) {
    if (opened.error().code == Error::Code::kNotFound) return News::kGone;
    return opened.error();
  }
  auto info = (*opened)->info();
  if (!info.ok()) return info.error();
  file_ = std::move(*opened);
  identity_ = *info;
  return News::kBytes;
}

bool Tail::head_is_the_same() {
  if (head_.empty()) return true;
  std::string now;
  return file_->read_at(0, head_.size(), now).ok() && now == head_;
}

/// The name belongs to a copy of the open file, as rsync makes one in each round: what was read stands in it, too.
/// Reading goes on in the copy then.
bool Tail::moves_to_copy() {
  constexpr uint64_t kCompared = 4096;  // bytes before the place that was read to, and no line stands there twice
  if (offset_ == 0) return false;
  auto copy = disk_.open_read(path_);
  if (!copy.ok()) return false;
  const auto info = (*copy)->info();
  if (!info.ok() || static_cast<uint64_t>(std::max<int64_t>(info->size, 0)) < offset_) return false;
  std::string ours, theirs;
  const auto same = [&](uint64_t at, uint64_t size) {
    return file_->read_at(at, size, ours).ok() && (*copy)->read_at(at, size, theirs).ok() && ours.size() == size &&
           ours == theirs;
  };
  const uint64_t compared = std::min(offset_, kCompared);
  if (!same(0, std::min<uint64_t>(offset_, kHeadBytes)) || !same(offset_ - compared, compared)) return false;
  file_ = std::move(*copy);
  identity_ = *info;
  return true;
}

/// Called when the open file has no more bytes: does the name still belong to it?
Result<Tail::News> Tail::look_for_new_content() {
  const auto named = disk_.info(path_);
  if (!named.ok()) {
    if (named.error().code != Error::Code::kNotFound) return named.error();
    return News::kGone;
  }
  if (named->device != identity_.device || named->inode != identity_.inode) {
    if (moves_to_copy()) return News::kNothing;
    begin_anew("rotated");
    return News::kBeganAnew;
  }
  return News::kNothing;
}

Result<Tail::News> Tail::read(size_t most, std::string& out) {
  out.clear();
  if (file_ == nullptr) {
    auto opened = open_first();
    if (!opened.ok() || *opened != News::kBytes) return opened;
  }
  const auto info = file_->info();
  if (!info.ok()) return info.error();
  const auto size = static_cast<uint64_t>(std::max<int64_t>(info->size, 0));
  if (size < offset_ || (size > offset_ && !head_is_the_same())) {
    begin_anew("truncated");
    return News::kBeganAnew;
  }
  if (size == offset_) {
    // Truncated and written again to the same length: only the first bytes can show it.
    if (offset_ > 0 && info->changed != identity_.changed && !head_is_the_same()) {
      begin_anew("truncated");
      return News::kBeganAnew;
    }
    identity_.changed = info->changed;
    return look_for_new_content();
  }
  most = static_cast<size_t>(std::min<uint64_t>(most, size - offset_));  // a buffer for more would be filled in vain
  if (const auto got = file_->read_at(offset_, most, out); !got.ok()) return got.error();
  if (out.empty()) return News::kNothing;
  if (head_.size() < kHeadBytes && offset_ == head_.size()) {
    head_.append(out, 0, kHeadBytes - head_.size());
  }
  offset_ += out.size();
  return News::kBytes;
}

}  // namespace mw
