#include "read/first_date.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "read/lines/log_line.h"

namespace mw {
namespace {

constexpr int64_t kDay = 86400LL * 1'000'000'000;
constexpr Duration kZone = Duration::seconds(14 * 3600.0);      // as far east as zones go
constexpr size_t kHead = 64U << 10, kPiece = 8U << 10;          // bytes
constexpr uint64_t kPieces = 64;                                // a month of a steady log, at two a day
constexpr Time kOneDay{11323 * kDay}, kOtherDay{12253 * kDay};  // 2001-01-01, 2003-07-20

/// The first and the last moment that the clocks of a log show, piece by piece in the order of its lines, where what
/// has no date is of the day `hint`.
class Clocks {
 public:
  Clocks(std::string_view head, Time hint) : hint_(hint) {
    reader_.expect_labels(head);
    reader_.set_date_hint(hint);
    read(head);
  }

  void read(std::string_view text) {
    while (!text.empty()) {
      const size_t end = std::min(text.find('\n'), text.size() - 1);
      (void)reader_.read(text.substr(0, end + 1), ++number_);
      text.remove_prefix(end + 1);
      if (!reader_.wall().known()) continue;
      if (!first.known()) first = reader_.wall();
      last = reader_.wall();
      dated = dated || last < hint_ + Duration{-kDay} || last > hint_ + Duration{400 * kDay};
    }
  }

  Time first, last;
  bool dated = false;  ///< a line has a date of its own

 private:
  LineReader reader_;
  uint64_t number_ = 0;
  Time hint_;
};

/// Does the first clock take the day that it is given?
bool takes_day(const Clocks& clocks, Time day) {
  return clocks.first.known() && clocks.first.ns / kDay == day.ns / kDay;
}

/// Goes on behind the head. False where a line has a date of its own, or the file cannot be read.
bool read_rest(ReadFile& file, uint64_t head, uint64_t size, Clocks& clocks) {
  const uint64_t rest = size - std::min<uint64_t>(size, head);
  const uint64_t apart = std::max<uint64_t>(kPiece, rest / kPieces);
  for (uint64_t left = rest; left > 0 && !clocks.dated;) {  // counted from the end, so that the last one is the file's
    left = left > apart ? (left - 1) / apart * apart : 0;
    const uint64_t end = size - left;
    std::string piece;
    if (!file.read_at(end - std::min<uint64_t>(end, kPiece), kPiece, piece).ok()) return false;
    const size_t line = piece.find('\n');
    if (line != std::string::npos) clocks.read(std::string_view(piece).substr(line + 1));
  }
  return !clocks.dated;
}

}  // namespace

Time first_date(Disk& disk, const std::string& path, Time changed) {
  const auto file = disk.open_read(path);
  if (!changed.known() || !file.ok()) return changed;
  const auto info = (*file)->info();
  std::string head;
  if (!info.ok() || info->size <= 0 || !(*file)->read_at(0, kHead, head).ok()) return changed;
  Clocks clocks(head, kOneDay);
  if (!takes_day(clocks, kOneDay) || !takes_day(Clocks(head, kOtherDay), kOtherDay)) return changed;
  if (!read_rest(**file, head.size(), static_cast<uint64_t>(info->size), clocks)) return changed;
  Time last{changed.ns / kDay * kDay + clocks.last.ns % kDay};
  if (last > changed + kZone) last = last + Duration{-kDay};  // written just before midnight, and to the disk behind it
  return {last.ns - (clocks.last.ns - clocks.first.ns)};
}

}  // namespace mw
