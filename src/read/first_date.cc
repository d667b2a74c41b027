#include "read/first_date.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

#include "read/lines/log_line.h"

namespace mw {
namespace {

constexpr int64_t kDay = 86400LL * 1'000'000'000;
constexpr Duration kZone = Duration::seconds(14 * 3600.0);      // as far east as zones go
constexpr size_t kHead = 64U << 10, kPiece = 8U << 10;          // bytes
constexpr uint64_t kPieces = 64;                                // a month of a steady log, at two a day
constexpr Time kOneDay{11323 * kDay}, kOtherDay{12253 * kDay};  // 2001-01-01, 2003-07-20

/// The first and the last moment that the clocks of some text show, in the order of its lines.
struct Shown {
  Time first, last;
  bool dated = false;  ///< a line has a date of its own

  void read(LineReader& reader, std::string_view text, uint64_t& number, Time hint) {
    while (!text.empty()) {
      const size_t end = std::min(text.find('\n'), text.size() - 1);
      (void)reader.read(text.substr(0, end + 1), ++number);
      text.remove_prefix(end + 1);
      if (!reader.wall().known()) continue;
      if (!first.known()) first = reader.wall();
      last = reader.wall();
      dated = dated || last < hint + Duration{-kDay} || last > hint + Duration{400 * kDay};
    }
  }
};

/// Does the first clock take the day that it is given?
bool takes_day(std::string_view head, Time day) {
  LineReader reader;
  reader.expect_labels(head);
  reader.set_date_hint(day);
  Shown shown;
  uint64_t number = 0;
  shown.read(reader, head, number, day);
  return shown.first.known() && shown.first.ns / kDay == day.ns / kDay;
}

/// How much time lies between the first and the last clock of the file, and the last one's time of day.
std::optional<Shown> clocks_of(ReadFile& file, std::string_view head, uint64_t size) {
  LineReader reader;
  reader.expect_labels(head);
  reader.set_date_hint(kOneDay);
  Shown shown;
  uint64_t number = 0;
  shown.read(reader, head, number, kOneDay);
  const uint64_t rest = size - std::min<uint64_t>(size, head.size());
  const uint64_t apart = std::max<uint64_t>(kPiece, rest / kPieces);
  for (uint64_t left = rest; left > 0 && !shown.dated;) {  // counted from the end, so that the last one is the file's
    left = left > apart ? (left - 1) / apart * apart : 0;
    const uint64_t end = size - left;
    std::string piece;
    if (!file.read_at(end - std::min<uint64_t>(end, kPiece), kPiece, piece).ok()) return std::nullopt;
    const size_t line = piece.find('\n');
    if (line != std::string::npos) shown.read(reader, std::string_view(piece).substr(line + 1), number, kOneDay);
  }
  return shown.dated || !shown.first.known() ? std::nullopt : std::optional(shown);
}

}  // namespace

Time first_date(Disk& disk, const std::string& path, Time changed) {
  const auto file = disk.open_read(path);
  if (!changed.known() || !file.ok()) return changed;
  const auto info = (*file)->info();
  std::string head;
  if (!info.ok() || info->size <= 0 || !(*file)->read_at(0, kHead, head).ok()) return changed;
  if (!takes_day(head, kOneDay) || !takes_day(head, kOtherDay)) return changed;
  const auto clocks = clocks_of(**file, head, static_cast<uint64_t>(info->size));
  if (!clocks) return changed;
  Time last{changed.ns / kDay * kDay + clocks->last.ns % kDay};
  if (last > changed + kZone) last = last + Duration{-kDay};  // written just before midnight, and to the disk behind it
  return {last.ns - (clocks->last.ns - clocks->first.ns)};
}

}  // namespace mw
