#include "read/wandb_zone.h"

#include <cmath>
#include <string>
#include <string_view>

#include "base/text.h"
#include "read/files/decoder.h"
#include "read/files/wandb.h"
#include "read/lines/log_line.h"

namespace mw {
namespace {

constexpr size_t kHead = size_t{64} << 10;  // bytes in which the record of the run stands
constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kStep = 900 * kSecond;  // zones lie whole quarters of an hour apart
constexpr int64_t kApart = 60 * kSecond;  // of the folder's name and the record, at most
constexpr int64_t kMost = 14LL * 3600 * kSecond;
constexpr size_t kConsole = size_t{1} << 20;  // bytes in which lines of the console are sought
constexpr int kLines = 3, kMostLines = 64;    // that agree, at least; and how many are looked at

/// How far a clock is east of UTC when it shows a moment so much later than UTC does; nullopt: that is no zone.
std::optional<int64_t> east_of(int64_t off) {
  const int64_t near = kStep * std::llround(static_cast<double>(off) / static_cast<double>(kStep));
  return std::llabs(off - near) > kApart || std::llabs(near) > kMost ? std::nullopt : std::optional(near);
}

/// The start in the name of the folder that holds `path`, as that machine's clock showed it; unknown: no such name.
Time named_start(std::string_view path) {
  const std::string folder(basename(folder_of(path)));
  constexpr std::string_view kOnline = "run-", kOffline = "offline-run-";
  std::string_view rest = folder;
  if (!rest.starts_with(kOnline) && !rest.starts_with(kOffline)) return {};
  rest.remove_prefix(rest.starts_with(kOnline) ? kOnline.size() : kOffline.size());
  constexpr size_t kStamp = 15;  // "20260219_170811"
  if (rest.size() < kStamp || rest[8] != '_') return {};
  const auto part = [&rest](size_t at, size_t size) { return rest.substr(at, size); };
  return parse_time(cat(part(0, 4), "-", part(4, 2), "-", part(6, 2), "T", part(9, 2), ":", part(11, 2), ":",
                        part(13, 2), "Z"))
      .value_or(Time());
}

/// What the run file says of its start.
class Start final : public RecordSink {
 public:
  void row(const Row&) override {}
  void console(std::string_view, uint64_t, Time) override {}
  void property(std::string_view key, std::string_view value) override {
    if (key == "run/start_time" && !at.known()) at = parse_time(value).value_or(Time());
  }
  void ended(int64_t, Time) override {}
  void problem(std::string_view, std::string_view, uint64_t) override {}
  Time at;
};

Time recorded_start(Disk& disk, const std::string& path) {
  const auto file = disk.open_read(path);
  std::string head;
  if (!file.ok() || !(*file)->read_at(0, kHead, head).ok()) return {};
  Start start;
  WandbDecoder decoder;
  decoder.feed(head, start);
  return start.at;
}

/// Lines of the console that have a clock of their own, against the time at which they were taken.
class Clocks final : public RecordSink {
 public:
  void row(const Row&) override {}
  void console(std::string_view line, uint64_t, Time at) override {
    if (!at.known() || differ || seen >= kMostLines) return;
    LineReader reader;
    const Time shown = reader.read(line, 1).at;
    if (!shown.known() || !reader.lacks_zone() || reader.lacks_date()) return;
    ++seen;
    const auto zone = east_of(shown.ns - at.ns);
    if (!zone) return;  // printed much later than it says
    differ = east && *east != *zone;
    east = zone;
    ++agree;
  }
  void property(std::string_view, std::string_view) override {}
  void ended(int64_t, Time) override {}
  void problem(std::string_view, std::string_view, uint64_t) override {}

  std::optional<int64_t> zone() const { return !differ && agree >= kLines && 2 * agree > seen ? east : std::nullopt; }

 private:
  std::optional<int64_t> east;
  bool differ = false;
  int seen = 0, agree = 0;
};

std::optional<int64_t> zone_of_console(Disk& disk, const std::string& path) {
  const auto file = disk.open_read(path);
  std::string head;
  if (!file.ok() || !(*file)->read_at(0, kConsole, head).ok()) return std::nullopt;
  Clocks clocks;
  WandbDecoder decoder;
  decoder.feed(head, clocks);
  return clocks.zone();
}

}  // namespace

std::optional<TimeZone> zone_by_wandb(Disk& disk, const std::vector<FoundFile>& files) {
  std::optional<int64_t> east;
  for (const FoundFile& file : files) {
    if (!file.path.ends_with(".wandb")) continue;
    const Time named = named_start(file.path);
    const Time recorded = named.known() ? recorded_start(disk, file.path) : Time();
    std::optional<int64_t> near;
    if (recorded.known()) {
      near = east_of(named.ns - recorded.ns);
      if (!near) return std::nullopt;
    } else if (files.size() > 1) {  // a log beside it, whose clock is in question
      near = zone_of_console(disk, file.path);
    }
    if (near && east && *east != *near) return std::nullopt;
    if (near) east = near;
  }
  return east ? std::optional(TimeZone::fixed({*east})) : std::nullopt;
}

}  // namespace mw
