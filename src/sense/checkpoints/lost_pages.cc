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

/// Bytes of whole numbers that are zero, from one end on, of a page at the most.
uint64_t zeros_from(std::string_view bytes, size_t number) {
  bytes = bytes.substr(0, kPageBytes);
  return std::min(bytes.find_first_not_of('\0'), bytes.size()) / number * number;
}
uint64_t zeros_back(std::string_view bytes, size_t number) {
  if (bytes.size() > kPageBytes) bytes.remove_prefix(bytes.size() - kPageBytes);
  const size_t last = bytes.find_last_not_of('\0');
  return (last == std::string_view::npos ? bytes.size() : bytes.size() - last - 1) / number * number;
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
  if (!others.empty() && others.front().from == end) others.front().from -= trail;
  if (!runs.empty() && runs.back().to == end) runs.back().to += next.lead;
  if (!runs.empty() && runs.back().end == end) {
    if (!others.empty() && others.front().begin == end) {
      runs.back().end = others.front().end;
      runs.back().to = others.front().to;
      runs.back().after = others.front().after;
      others.erase(others.begin());
    } else {
      runs.back().after = !next.first_zero;
    }
  } else if (!others.empty() && others.front().begin == end) {
    others.front().before = !last_zero;
  }
  if (lead == end - at) lead = std::min(lead + next.lead, kPageBytes);
  trail = next.trail == next.end - next.at ? std::min(trail + next.trail, kPageBytes) : next.trail;
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
  out.lead = zeros_from(bytes, number);
  out.trail = zeros_back(bytes, number);
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
    const uint64_t zeros = zeros_back(bytes.substr(0, page - at), number);
    out.runs.push_back({page, page + kPageBytes, page >= at + number && !zero_at(page - number), false, page - zeros});
  }
  for (ZeroPages::Run& run : out.runs) {
    run.after = run.end + number <= out.end && !zero_at(run.end);
    run.to = run.end + zeros_from(bytes.substr(run.end - at), number);
  }
  return out;
}

/// From its last whole page of zeros on.
bool LostPages::ends_with_zeros(const Tensor& tensor) {
  return tensor.at + tensor.bytes - tensor.pages.runs.back().end < kPageBytes && tensor.pages.tail_zero;
}

void LostPages::add(Tensor tensor) {
  const auto begins_with_zeros = [&tensor] {
    if (tensor.zero) return true;
    const ZeroPages& pages = tensor.pages;
    return pages.first_zero && !pages.runs.empty() && pages.runs.front().begin == boundary(tensor.at) &&
           !pages.runs.front().before;
  };
  const bool touches = last_ && last_->at + last_->bytes == tensor.at;
  const bool after_zeros = touches && (last_->zero || (!last_->pages.runs.empty() && ends_with_zeros(*last_)));
  if (last_) judge(touches && begins_with_zeros(), false);
  after_zeros_ = after_zeros;
  last_ = std::move(tensor);
}

std::vector<LostPages::Lost> LostPages::finish(uint64_t file_bytes) {
  if (last_) judge(last_->at + last_->bytes == file_bytes, true);
  last_.reset();
  return std::move(lost_);
}

void LostPages::judge(bool goes_on, bool ends_file) {
  const Tensor& tensor = *last_;
  if (tensor.pages.many || tensor.zero || tensor.row == 0) return;
  const uint64_t end = tensor.at + tensor.bytes;
  const auto within_row = [&](uint64_t place) { return (place - tensor.at) % tensor.row != 0; };
  for (const ZeroPages::Run& run : tensor.pages.runs) {
    const bool between = run.before && run.after && (within_row(run.begin) || within_row(run.end));
    const bool to_end =
        run.before && goes_on && end - run.end < kPageBytes && tensor.pages.tail_zero && within_row(run.begin);
    if (!between && !to_end) judge_odd(tensor, run, goes_on && !ends_file);
    if (between || to_end) lost_.push_back({tensor.name, run.begin, run.end - run.begin});
  }
}

/// What zero_tail() judges, up to the file's end, is not its concern.
void LostPages::judge_odd(const Tensor& tensor, const ZeroPages::Run& run, bool goes_on) {
  constexpr uint64_t kRows = 2, kColumns = 256;  // of zeros; bytes of a row that breaks off
  const uint64_t end = tensor.at + tensor.bytes, row = tensor.row;
  const bool to_end = end - run.end < kPageBytes && tensor.pages.tail_zero;
  const bool from_before = run.from <= tensor.at;  // zeros that began in the tensor before
  if ((from_before && !after_zeros_) || run.to - run.from < kRows * row || (to_end && !goes_on)) return;
  const bool known = !from_before && run.from == run.begin && run.to == run.end;  // it was judged
  const uint64_t first = (run.from - tensor.at) % row, last = (run.to - tensor.at) % row;
  Lost lost{tensor.name, run.from, run.to - run.from};
  if (!from_before && first != 0 && row - first >= kColumns && run.from - tensor.at >= row)
    lost.check.emplace_back(run.from - row, std::min(row - first, kPageBytes));
  if (!to_end && last >= kColumns && end - run.to >= row && run.to < end)
    lost.check.emplace_back(run.to - last + row, std::min(last, kPageBytes));
  if (!known && !lost.check.empty()) lost_.push_back(std::move(lost));
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
    out.pages.runs.push_back({begin, stop, from > range.at && has_number(file, from - size, size),
                              to < end && has_number(file, to, size), begin, stop});
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
  std::vector<LostPages::Lost> lost = pages.finish(bytes);
  std::erase_if(lost, [](const LostPages::Lost& one) { return !one.check.empty(); });
  return lost;
}

std::vector<LostPages::Lost> checked(ReadFile& file, std::vector<LostPages::Lost> lost) {
  const auto is_zero_there = [&file](const auto& place) {
    std::string bytes;
    return !file.read_at(place.first, place.second, bytes).ok() || is_zero(bytes);
  };
  std::erase_if(lost, [&](const LostPages::Lost& one) {
    return !one.check.empty() && std::all_of(one.check.begin(), one.check.end(), is_zero_there);
  });
  return lost;
}

std::string sentence_of(const std::vector<LostPages::Lost>& lost) {
  uint64_t bytes = 0;
  bool odd = false;  // at places where no page begins
  for (const LostPages::Lost& one : lost) {
    bytes += one.bytes;
    odd = odd || !one.check.empty();
  }
  return cat(format_bytes(static_cast<double>(bytes)), " of zeros", odd ? "" : " in whole pages",
             ", the first from byte ", lost.front().at, " on, in the middle of the numbers of ",
             clip(sanitize_utf8(lost.front().name), 200), ": they never reached the disk, or a disk lost them");
}

}  // namespace mw
