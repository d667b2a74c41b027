#include "read/wandb_zone.h"

#include <cmath>
#include <string>
#include <string_view>

#include "base/text.h"
#include "read/files/decoder.h"
#include "read/files/wandb.h"

namespace mw {
namespace {

constexpr size_t kHead = size_t{64} << 10;  // bytes in which the record of the run stands
constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kStep = 900 * kSecond;  // zones lie whole quarters of an hour apart
constexpr int64_t kApart = 60 * kSecond;  // of the folder's name and the record, at most
constexpr int64_t kMost = 14LL * 3600 * kSecond;

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

}  // namespace

std::optional<TimeZone> zone_by_wandb(Disk& disk, const std::vector<FoundFile>& files) {
  std::optional<int64_t> east;
  for (const FoundFile& file : files) {
    const Time named = file.path.ends_with(".wandb") ? named_start(file.path) : Time();
    const Time recorded = named.known() ? recorded_start(disk, file.path) : Time();
    if (!recorded.known()) continue;
    const int64_t off = named.ns - recorded.ns;
    const int64_t near = kStep * std::llround(static_cast<double>(off) / static_cast<double>(kStep));
    if (std::llabs(off - near) > kApart || std::llabs(near) > kMost || (east && *east != near)) return std::nullopt;
    east = near;
  }
  return east ? std::optional(TimeZone::fixed({*east})) : std::nullopt;
}

}  // namespace mw
