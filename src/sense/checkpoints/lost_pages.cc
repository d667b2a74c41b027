#include "sense/checkpoints/lost_pages.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/numbers.h"
#include "base/text.h"
#include "platform/file_holes.h"
#include "sense/checkpoints/tensor_scan.h"

namespace mw {
namespace {

/// Weights have something in their first bytes, so that hardly any page is looked at as a whole.
bool is_zero(std::string_view bytes) {
  uint64_t head = 0;
  std::memcpy(&head, bytes.data(), std::min(bytes.size(), sizeof head));
  if (head != 0) return false;
  return bytes.size() < 2 || std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0;
}

/// The first boundary at or behind `at`.
uint64_t boundary(uint64_t at) { return (at + kPageBytes - 1) / kPageBytes * kPageBytes; }

}  // namespace

void ZeroPages::join(const ZeroPages& next) {
  if (next.at == next.end) return;
  if (at == end) {
    *this = next;
    return;
  }
  std::vector<Run> others = next.runs;
  if (!runs.empty() && runs.back().end == end) {
    if (!others.empty() && others.front().begin == end) {
      runs.back().end = others.front().end;
      runs.back().after = others.front().after;
      others.erase(others.begin());
    } else {
      runs.back().after = !next.first_zero;
    }
  } else if (!others.empty() && others.front().begin == end) {
    others.front().before = !last_zero;
  }
  const bool has_boundary = next.end / kPageBytes * kPageBytes >= next.at;
  tail_zero = next.tail_zero && (has_boundary || tail_zero);
  last_zero = next.last_zero;
  end = next.end;
  pages += next.pages;
  many = many || next.many || runs.size() + others.size() > kRuns;
  if (many) return;
  runs.insert(runs.end(), others.begin(), others.end());
}

ZeroPages zero_pages(uint64_t at, std::string_view bytes, size_t number) {
  ZeroPages out;
  out.at = at;
  out.end = at + bytes.size();
  if (bytes.size() < number) return out;
  const auto zero_at = [&](uint64_t place) { return is_zero(bytes.substr(place - at, number)); };
  out.first_zero = zero_at(at);
  out.last_zero = zero_at(out.end - number);
  const uint64_t from = std::max(at, out.end / kPageBytes * kPageBytes);
  out.tail_zero = from == out.end || is_zero(bytes.substr(from - at));
  for (uint64_t page = boundary(at); page + kPageBytes <= out.end; page += kPageBytes) {
    if (!is_zero(bytes.substr(page - at, kPageBytes))) continue;
    ++out.pages;
    if (out.many) continue;
    if (!out.runs.empty() && out.runs.back().end == page) {
      out.runs.back().end += kPageBytes;
      continue;
    }
    if (out.runs.size() == ZeroPages::kRuns) {
      out.many = true;
      continue;
    }
    out.runs.push_back({page, page + kPageBytes, page >= at + number && !zero_at(page - number), false});
  }
  for (ZeroPages::Run& run : out.runs) run.after = run.end + number <= out.end && !zero_at(run.end);
  return out;
}

void LostPages::add(Tensor tensor) {
  const auto begins_with_zeros = [&tensor] {
    if (tensor.zero) return true;
    const ZeroPages& pages = tensor.pages;
    return pages.first_zero && !pages.runs.empty() && pages.runs.front().begin == boundary(tensor.at) &&
           !pages.runs.front().before;
  };
  if (last_) judge(last_->at + last_->bytes == tensor.at && begins_with_zeros());
  last_ = std::move(tensor);
}

std::vector<LostPages::Lost> LostPages::finish(uint64_t file_bytes) {
  if (last_) judge(last_->at + last_->bytes == file_bytes);
  last_.reset();
  return std::move(lost_);
}

void LostPages::judge(bool goes_on) {
  const Tensor& tensor = *last_;
  if (tensor.pages.many || tensor.zero || tensor.row == 0) return;
  const uint64_t end = tensor.at + tensor.bytes;
  const auto within_row = [&](uint64_t place) { return (place - tensor.at) % tensor.row != 0; };
  for (const ZeroPages::Run& run : tensor.pages.runs) {
    if (!run.before) continue;
    const bool between = run.after && (within_row(run.begin) || within_row(run.end));
    const bool to_end = goes_on && end - run.end < kPageBytes && tensor.pages.tail_zero && within_row(run.begin);
    if (between || to_end) lost_.push_back({tensor.name, run.begin, run.end - run.begin});
  }
}

namespace {

constexpr size_t kHoles = 4096;  // of one file

/// Whether the number at `place` is there and not 0.
bool has_number(ReadFile& file, uint64_t place, size_t size) {
  std::string bytes;
  return file.read_at(place, size, bytes).ok() && bytes.size() == size && !is_zero(bytes);
}

/// What the holes show of a tensor: they are zeros, and nothing is known of what lies between them but its edges.
LostPages::Tensor in_holes(ReadFile& file, const ByteRange& range, const std::vector<FileHole>& holes) {
  const uint64_t end = range.at + range.bytes;
  const size_t size = size_of(range.dtype);
  LostPages::Tensor out{range.name, range.at, range.bytes, range.row, false, {}};
  out.pages.at = range.at;
  out.pages.end = end;
  out.pages.first_zero = out.pages.tail_zero = false;
  auto hole = std::upper_bound(holes.begin(), holes.end(), range.at,
                               [](uint64_t at, const FileHole& one) { return at < one.end; });
  for (; hole != holes.end() && hole->begin < end; ++hole) {
    const uint64_t from = std::max(hole->begin, range.at), to = std::min(hole->end, end);
    out.zero = out.zero || (from == range.at && to == end);
    out.pages.first_zero = out.pages.first_zero || from == range.at;
    out.pages.tail_zero = out.pages.tail_zero || to == end;
    const uint64_t begin = boundary(from), stop = to / kPageBytes * kPageBytes;
    if (begin >= stop) continue;
    out.pages.runs.push_back(
        {begin, stop, from > range.at && has_number(file, from - size, size), to < end && has_number(file, to, size)});
  }
  return out;
}

}  // namespace

std::vector<LostPages::Lost> lost_in_holes(ReadFile& file, uint64_t bytes, const std::vector<ByteRange>& ranges) {
  auto* const sparse = dynamic_cast<SparseFile*>(&file);
  const std::vector<FileHole> holes = sparse == nullptr ? std::vector<FileHole>() : sparse->holes(0, bytes, kHoles);
  LostPages pages;
  for (const ByteRange& range : holes.empty() ? std::vector<ByteRange>() : ranges) {
    const bool numbers = has_point(range.dtype) && range.bytes > 0 && range.at % size_of(range.dtype) == 0;
    if (numbers && range.at <= bytes && range.bytes <= bytes - range.at) pages.add(in_holes(file, range, holes));
  }
  return pages.finish(bytes);
}

std::string sentence_of(const std::vector<LostPages::Lost>& lost) {
  uint64_t bytes = 0;
  for (const LostPages::Lost& one : lost) bytes += one.bytes;
  return cat(format_bytes(static_cast<double>(bytes)), " of zeros in whole pages, the first from byte ",
             lost.front().at, " on, in the middle of the numbers of ", clip(sanitize_utf8(lost.front().name), 200),
             ": they never reached the disk, or a disk lost them");
}

}  // namespace mw
