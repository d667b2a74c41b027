#include "journal/sealer.h"

#include "journal/segment.h"

namespace mw {

void Sealer::step() {
  if (waiting_.empty()) return;
  if (work().ok()) return;
  from_.reset();
  to_.reset();
  (void)disk_.remove(path(segment::unfinished_name(waiting_.front()))).ok();
  waiting_.pop_front();
}

Result<void> Sealer::work() {
  if (from_ == nullptr) return begin();
  MW_TRY(from_->read_at(offset_, segment::kBlockBytes, block_));
  offset_ += block_.size();
  out_.clear();
  MW_TRY(block_.empty() ? zstd_->finish(out_) : zstd_->feed(block_, out_));
  if (!out_.empty()) MW_TRY(to_->append(out_));
  return block_.empty() ? finish() : Result<void>();
}

Result<void> Sealer::begin() {
  const uint64_t segment = waiting_.front();
  auto from = disk_.open_read(path(segment::plain_name(segment)));
  if (!from.ok()) return from.error();
  auto to = disk_.open_append(path(segment::unfinished_name(segment)));
  if (!to.ok()) return to.error();
  MW_TRY((*to)->truncate(0));
  from_ = std::move(*from);
  to_ = std::move(*to);
  zstd_ = std::make_unique<ZstdWriter>();
  offset_ = 0;
  return {};
}

Result<void> Sealer::finish() {
  const uint64_t segment = waiting_.front();
  MW_TRY(to_->sync());
  to_.reset();
  MW_TRY(disk_.rename(path(segment::unfinished_name(segment)), path(segment::sealed_name(segment))));
  MW_TRY(disk_.remove(path(segment::plain_name(segment))));
  from_.reset();
  waiting_.pop_front();
  return {};
}

}  // namespace mw
