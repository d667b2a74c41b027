#include "read/file_order.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/numbers.h"
#include "base/text.h"
#include "read/files/decoder.h"
#include "read/files/sniff.h"
#include "read/files/wandb.h"
#include "read/first_date.h"
#include "read/lines/log_line.h"
#include "read/part_order.h"

namespace mw {
namespace {

constexpr size_t kHead = 64U << 10, kTail = 64U << 10;  // bytes
constexpr size_t kMost = 200;                           // files; beyond them nobody is compared

/// When the file was begun and ended; unknown where nothing says so.
struct Written {
  Time first, last;
  bool lacks_zone = false;
  int64_t first_step = kNoStep, last_step = kNoStep;  ///< as a line names them, or the longest bar
  int64_t steps_of = 0;                               ///< that bar's, or more
  std::string run;                                    ///< of W&B, by its id
};

/// A step that a line names, and of how many.
struct Shown {
  int64_t step = kNoStep;
  int64_t of = INT64_MAX;  ///< where it is named in words, they mean a step and no shard that is loaded
};

/// "25%|##  | 50/200 [02:00<06:00, 2.4s/it]": 50 of 200, of what its last picture shows.
Shown step_in(std::string_view line) {
  const size_t bar = line.rfind("%|");
  if (bar == std::string_view::npos) return {step_named(line)};
  const size_t end = line.find('|', bar + 2), slash = line.find('/', std::min(line.size(), end));
  const size_t bracket = line.find('[', std::min(line.size(), slash));
  if (bracket == std::string_view::npos) return {};
  return {parse_int(trim(line.substr(end + 1, slash - end - 1))).value_or(kNoStep),
          parse_int(trim(line.substr(slash + 1, bracket - slash - 1))).value_or(0)};
}

void read_head_or_tail(std::string_view text, Time date, Written& written) {
  LineReader reader;
  reader.set_date_hint(date);
  reader.expect_labels(text);
  for (uint64_t number = 1; !text.empty(); ++number) {
    const size_t end = std::min(text.find('\n'), text.size() - 1);
    const std::string_view line = text.substr(0, end + 1);
    text.remove_prefix(end + 1);
    if (const Shown shown = step_in(line); shown.step > 0 && shown.of >= written.steps_of) {
      if (written.first_step == kNoStep || shown.of > written.steps_of) written.first_step = shown.step;
      written.last_step = shown.step;
      written.steps_of = shown.of;
    }
    const Time at = reader.read(line, number).at;
    if (!at.known()) continue;
    if (!written.first.known() || at < written.first) written.first = at;
    written.last = std::max(written.last, at);
  }
  written.lacks_zone = written.lacks_zone || reader.lacks_zone();
}

Written of_log(Disk& disk, const FoundFile& found, ReadFile& file, std::string_view head) {
  Written written;
  read_head_or_tail(head, found.older.empty() ? first_date(disk, found.path, found.info.changed) : found.info.changed,
                    written);
  const auto size = static_cast<uint64_t>(std::max<int64_t>(found.info.size, 0));
  std::string tail;
  if (size <= kHead || !file.read_at(size - std::min<uint64_t>(size, kTail), kTail, tail).ok()) return written;
  Written end;
  const size_t line = tail.find('\n');
  if (line != std::string::npos) read_head_or_tail(std::string_view(tail).substr(line + 1), written.last, end);
  written.last = std::max(written.last, end.last);
  written.lacks_zone = written.lacks_zone || end.lacks_zone;
  if (end.last_step != kNoStep) written.last_step = end.last_step;
  return written;
}

/// What a run file of W&B says of its start.
class Start final : public RecordSink {
 public:
  void row(const Row&) override {}
  void console(std::string_view, uint64_t, Time) override {}
  void property(std::string_view key, std::string_view value) override {
    if (key == "run/start_time" && !written.first.known()) written.first = parse_time(value).value_or(Time());
    if (key == "run/id" && written.run.empty()) written.run = value;
  }
  void ended(int64_t, Time) override {}
  void problem(std::string_view, std::string_view, uint64_t) override {}
  Written written;
};

Written written_of(Disk& disk, const FoundFile& found) {
  const auto file = disk.open_read(found.path);
  std::string head;
  if (!file.ok() || !(*file)->read_at(0, kHead, head).ok()) return {};
  const FileKind kind = sniff(head, found.path);
  if (kind == FileKind::kText) return of_log(disk, found, **file, head);
  if (kind != FileKind::kWandb) return {};
  Start start;
  WandbDecoder decoder;
  decoder.feed(head, start);
  return start.written;
}

/// "job.out" and "job.err", "stdout.log" and "stderr.log": of one process, whatever their clocks say.
bool are_streams_of_one(std::string_view a, std::string_view b) {
  const auto stem = [](std::string_view path) {
    std::string name(basename(path));
    if (const size_t dot = name.rfind('.'); dot != std::string::npos && dot > 0) name.resize(dot);
    for (size_t at = name.find("err"); at != std::string::npos; at = name.find("err")) name.replace(at, 3, "out");
    return name;
  };
  return folder_of(a) == folder_of(b) && stem(a) == stem(b);
}

/// Was `a` over when `b` began?
bool precedes(const Written& a, const Written& b) {
  if (!a.first.known() && !b.first.known())
    return a.last_step > 0 && a.first_step < b.first_step && a.last_step < b.last_step;  // some may be done again
  if (!a.first.known() || !b.first.known()) return false;
  if (!a.run.empty() || !b.run.empty()) return a.run == b.run && a.first < b.first;
  return a.last.known() && a.lacks_zone == b.lacks_zone && a.last < b.first;
}

}  // namespace

void put_in_order(Disk& disk, std::vector<FoundFile>& files) {
  if (files.size() < 2 || files.size() > kMost) return;
  std::vector<Written> written;
  written.reserve(files.size());
  for (const FoundFile& file : files) written.push_back(written_of(disk, file));
  std::vector<FoundFile> ordered;
  std::vector<bool> taken(files.size());
  while (ordered.size() < files.size()) {
    for (size_t i = 0; i < files.size(); ++i) {
      if (taken[i]) continue;
      bool later = false;
      for (size_t k = 0; k < files.size(); ++k)
        later = later || (!taken[k] && k != i && precedes(written[k], written[i]) &&
                          !are_streams_of_one(files[k].path, files[i].path));
      if (later) continue;
      taken[i] = true;
      ordered.push_back(std::move(files[i]));
      break;
    }
  }
  files = std::move(ordered);
}

}  // namespace mw
