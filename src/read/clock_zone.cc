#include "read/clock_zone.h"

#include <algorithm>

#include "base/text.h"
#include "read/lines/log_line.h"

namespace mw {
namespace {

constexpr size_t kLines = 200;              // of a piece, in which a clock is looked for
constexpr uint64_t kTailBytes = 64U << 10;  // of the file, in which its last clock is

struct LastClock {
  Time wall;          ///< as it shows; unknown when there is none
  bool ends = false;  ///< it stands in the last line
};

/// The last clock without a zone in `text`.
LastClock last_clock(std::string_view text, Time written, size_t lines) {
  LineReader reader;
  reader.set_date_hint(written);
  LastClock found;
  for (uint64_t number = 1; !text.empty() && lines-- > 0; ++number) {
    const size_t end = std::min(text.find('\n'), text.size() - 1);
    (void)reader.read(text.substr(0, end + 1), number);
    found.ends = reader.wall().known();
    if (found.ends) found.wall = reader.wall();
    text.remove_prefix(end + 1);
  }
  return found;
}

}  // namespace

std::optional<TimeZone> ClockZone::find(std::string_view bytes) {
  if (disk_ == nullptr || !last_clock(bytes, Time{1}, kLines).wall.known()) return std::nullopt;
  const auto file = disk_->open_read(path_);
  disk_ = nullptr;
  if (!file.ok()) return std::nullopt;
  const auto info = (*file)->info();
  std::string tail;
  if (!info.ok() || info->size < 0) return std::nullopt;
  const auto size = static_cast<uint64_t>(info->size);
  if (!(*file)->read_at(size - std::min(size, kTailBytes), kTailBytes, tail).ok()) return std::nullopt;
  const LastClock last = last_clock(tail, info->changed, SIZE_MAX);
  return zone_of_clock(last.wall, info->changed, TimeZone::local(), last.ends);
}

}  // namespace mw
