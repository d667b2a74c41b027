#include "read/part_order.h"

#include <algorithm>
#include <optional>

#include "base/checksum.h"
#include "base/numbers.h"
#include "base/text.h"
#include "core/event.h"
#include "read/lines/log_time.h"

namespace mw {
namespace {

constexpr size_t kHead = 64U << 10;  // bytes of a part that are searched
constexpr size_t kLines = 2000;      // likewise
constexpr std::string_view kFirstAttempt = "=== midwatch: attempt 1 began ";
constexpr Duration kNoCopy = Duration::seconds(60);  // a copy gives all of them its own time, in any order
constexpr size_t kOfBracket = 2;                     // what may stand before a clock: "[", "(["

/// What the first lines of a part say.
struct Head {
  bool begins_run = false;  ///< the keeper's first line
  Time at;
  int64_t step = kNoStep;  ///< the last one that is named
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c | 0x20) >= 'a' && (c | 0x20) <= 'z'; }

}  // namespace

int64_t step_named(std::string_view line) {
  constexpr std::string_view kStep = "step", kGlobal = "global_", kBetween = "\"': =#[";
  for (size_t at = 0; at + kStep.size() < line.size(); ++at) {
    if (!std::equal(kStep.begin(), kStep.end(), line.begin() + static_cast<std::ptrdiff_t>(at),
                    [](char wanted, char c) { return (c | 0x20) == wanted; }))
      continue;
    const std::string_view before = line.substr(0, at);
    const bool part_of_word = at > 0 && (is_letter(line[at - 1]) || line[at - 1] == '_');
    if (part_of_word && !before.ends_with(kGlobal)) continue;
    size_t begin = at + kStep.size();
    while (begin < line.size() && kBetween.find(line[begin]) != std::string_view::npos) ++begin;
    size_t end = begin;
    while (end < line.size() && is_digit(line[end]) && end - begin < 10) ++end;
    if (end == begin || begin == at + kStep.size()) continue;
    return parse_int(line.substr(begin, end - begin)).value_or(kNoStep);
  }
  return kNoStep;
}

namespace {

Time clock_of(std::string_view line) {
  for (size_t skipped = 0; skipped <= kOfBracket && skipped < line.size(); ++skipped) {
    if (skipped > 0 && line[skipped - 1] != '[' && line[skipped - 1] != '(') break;
    const auto stamp = read_stamp(line.substr(skipped));
    if (stamp && stamp->kind == Stamp::Kind::kFull) return stamp->at;
  }
  return {};
}

Head head_of(Disk& disk, const std::string& path) {
  Head head;
  std::string bytes;
  auto file = disk.open_read(path);
  if (!file.ok() || !(*file)->read_at(0, kHead, bytes).ok()) return head;
  head.begins_run = bytes.starts_with(kFirstAttempt);
  std::string_view left = bytes;
  for (size_t i = 0; i < kLines && !left.empty(); ++i) {
    const std::string_view line = left.substr(0, left.find('\n'));
    left.remove_prefix(std::min(left.size(), line.size() + 1));
    if (!head.at.known()) head.at = clock_of(line);
    if (const int64_t step = step_named(line); step != kNoStep) head.step = step;
  }
  return head;
}

/// By the times of their last change: 1 where each higher number is newer, -1 where it is older, else 0. The log itself
/// is the newest.
int by_changes(const std::vector<RotatedPart>& parts, Time changed) {
  int way = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (!parts[i].changed.known() || parts[i].changed > changed) return 0;
    if (i == 0) continue;
    const Time before = parts[i - 1].changed, after = parts[i].changed;
    const int here = before < after ? 1 : after < before ? -1 : 0;
    if (here == 0 || (way != 0 && here != way)) return 0;
    way = here;
  }
  return way;
}

/// `parts`: in the order of their numbers, two at least.
bool counts_up(Disk& disk, const std::vector<RotatedPart>& parts, Time changed) {
  const Head low = head_of(disk, parts.front().path), high = head_of(disk, parts.back().path);
  if (low.begins_run != high.begins_run) return low.begins_run;
  if (low.at.known() && high.at.known() && low.at != high.at) return low.at < high.at;
  const int way = by_changes(parts, changed);
  const Duration apart = parts.back().changed - parts.front().changed;
  if (way != 0 && std::max(apart.ns, -apart.ns) >= kNoCopy.ns) return way > 0;
  if (low.step != kNoStep && high.step != kNoStep && low.step != high.step) return low.step < high.step;
  return way > 0;
}

}  // namespace

std::pair<std::string_view, int64_t> rotated_part(std::string_view path) {
  std::string_view stem = path;
  for (const std::string_view packed : {".gz", ".zst"}) {
    if (stem.size() > packed.size() && stem.substr(stem.size() - packed.size()) == packed) {
      stem.remove_suffix(packed.size());
    }
  }
  const size_t dot = stem.rfind('.');
  if (dot == std::string_view::npos || dot == 0 || stem[dot - 1] == '/') return {path, 0};
  const auto number = parse_int(stem.substr(dot + 1));
  return number && *number > 0 && *number < 1000 ? std::pair{stem.substr(0, dot), *number}
                                                 : std::pair{path, int64_t{0}};
}

void sort_oldest_first(Disk& disk, std::vector<RotatedPart>& parts, Time changed) {
  std::stable_sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) { return a.number < b.number; });
  if (parts.size() > 1 && !counts_up(disk, parts, changed)) std::reverse(parts.begin(), parts.end());
}

std::vector<RotatedPart> rotated_beside(Disk& disk, const std::string& log) {
  std::vector<RotatedPart> parts;
  const std::string folder = folder_of(log);
  const auto names = disk.list(folder.empty() ? "." : folder);
  for (const std::string& name : names.ok() ? *names : std::vector<std::string>()) {
    const auto [stem, number] = rotated_part(name);
    if (number == 0 || stem != basename(log) || name.size() != cat(stem, ".", number).size()) continue;
    const auto info = disk.info(cat(log, ".", number));
    if (info.ok() && info->kind == FileInfo::Kind::kFile)
      parts.push_back({number, cat(log, ".", number), info->changed, info->device, info->inode});
  }
  return parts;
}

std::vector<std::string> parts_beside(Disk& disk, const std::string& log) {
  std::vector<RotatedPart> parts = rotated_beside(disk, log);
  const auto own = disk.info(log);
  sort_oldest_first(disk, parts, own.ok() ? own->changed : Time());
  std::vector<std::string> paths;
  for (RotatedPart& part : parts) paths.push_back(std::move(part.path));
  return paths;
}

Result<bool> begins_like(Disk& disk, const std::string& path, uint64_t head_hash, int64_t head_bytes) {
  if (head_bytes <= 0) return false;
  auto file = disk.open_read(path);
  if (!file.ok()) return file.error();
  std::string head;
  MW_TRY((*file)->read_at(0, static_cast<size_t>(head_bytes), head));
  return static_cast<int64_t>(head.size()) == head_bytes && fnv1a(head) == head_hash;
}

}  // namespace mw
