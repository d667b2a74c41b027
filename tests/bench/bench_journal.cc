// The journal, in processor time: 1 M typical events appended (JSON and checksum included), beside plain buffered
// fwrite of the same lines; and a journal of 1 M events opened and folded. Goals: 1 M events/s, 1 s. Below half of a
// goal fails.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <string>
#include <vector>

#include "base/prng.h"
#include "base/text.h"
#include "core/event_codec.h"
#include "core/state.h"
#include "journal/journal.h"
#include "platform/real/posix_disk.h"

namespace {

/// Processor time of this thread: other programs on the machine do not count.
struct Clock {
  using time_point = std::chrono::nanoseconds;
  static time_point now() {
    timespec time{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
  }
};

constexpr int kEvents = 1'000'000;
constexpr int kTurn = 200;  // events between two flushes

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

/// What a day of an agentic run brings, in its proportions: mostly tool calls and phases, every tenth a metric record.
std::vector<mw::Event> typical_events() {
  mw::Prng prng(1);
  std::vector<mw::Event> events;
  events.reserve(kEvents);
  for (int i = 0; i < kEvents; ++i) {
    mw::Event event;
    event.at = {1'771'492'091'000'000'000 + static_cast<int64_t>(i) * 50'000'000};
    event.where = {0, static_cast<uint64_t>(i) + 1};
    const int64_t step = i / 100;
    const int what = i % 10;
    if (what == 0) {
      mw::event::Measured record{step, false, {}};
      for (const char* name : {"reward.mean", "entropy", "kl", "grad_norm", "loss", "response_length.mean"}) {
        record.readings.push_back({name, mw::cat("trainer/", name), prng.unit() * 3});
      }
      event.body = std::move(record);
    } else if (what <= 5) {
      event.body = mw::event::ToolCalled{"run_python", prng.unit() * 10, mw::event::ToolCalled::Outcome::kOk, ""};
    } else if (what <= 7) {
      event.body = mw::event::PhaseEnded{what == 6 ? "rollout" : "train", prng.unit() * 100, step};
    } else if (what == 8) {
      event.body = mw::event::Progressed{"rollouts", i % 256, 256};
    } else {
      event.body = mw::event::Logged{mw::event::Logged::Level::kWarning, static_cast<uint32_t>(i % 40),
                                     "request <*> took <*> s, longer than the limit of <*> s", 2};
    }
    events.push_back(std::move(event));
  }
  return events;
}

class Fold final : public mw::Journal::Reader {
 public:
  void record(uint64_t, std::string_view json) override {
    if (mw::decode_event(json, event_) == mw::Decoded::kEvent) mw::fold(state, event_);
  }
  void damage(const std::string& what) override { std::printf("damage: %s\n", what.c_str()); }
  mw::State state;

 private:
  mw::Event event_;
};

double append_all(mw::Disk& disk, const std::string& folder, const std::vector<mw::Event>& events) {
  const auto begin = Clock::now();
  auto journal = mw::Journal::open(disk, folder, nullptr);
  if (!journal.ok()) return 0;
  std::string line;
  for (size_t i = 0; i < events.size(); ++i) {
    line.clear();
    mw::encode_event(events[i], line);
    (*journal)->append(line);
    if (i % kTurn == 0 && !(*journal)->flush().ok()) return 0;
  }
  if (!(*journal)->flush().ok()) return 0;
  return seconds_since(begin);
}

double fwrite_all(const std::string& path, const std::string& bytes) {
  const auto begin = Clock::now();
  std::FILE* file = std::fopen(path.c_str(), "w");
  if (file == nullptr) return 0;
  for (size_t at = 0; at < bytes.size();) {
    const size_t end = bytes.find('\n', at) + 1;
    std::fwrite(bytes.data() + at, 1, end - at, file);
    at = end;
  }
  std::fclose(file);
  return seconds_since(begin);
}

/// The journal's bytes as they lie on the disk, sealed segments left out.
std::string plain_bytes(mw::Disk& disk, const std::string& folder) {
  std::string all, piece;
  const auto names = disk.list(folder);
  if (!names.ok()) return all;
  for (const std::string& name : *names) {
    auto file = disk.open_read(folder + "/" + name);
    if (!name.ends_with(".journal") || !file.ok()) continue;
    const auto info = (*file)->info();
    if (info.ok() && (*file)->read_at(0, static_cast<size_t>(info->size), piece).ok()) all += piece;
  }
  return all;
}

}  // namespace

int main() {
  std::string root = (std::filesystem::temp_directory_path() / "midwatch-bench-XXXXXX").string();
  if (::mkdtemp(root.data()) == nullptr) return 2;
  const auto disk = mw::make_posix_disk();
  const std::vector<mw::Event> events = typical_events();
  const double append = append_all(*disk, root + "/journal", events);
  const std::string bytes = plain_bytes(*disk, root + "/journal");
  const double peer = fwrite_all(root + "/peer", bytes);
  double open = 0;
  Fold fold;
  {
    const auto begin = Clock::now();
    const auto journal = mw::Journal::open(*disk, root + "/journal", &fold);
    const auto span = fold.state.steps();
    open = seconds_since(begin);
    if (!journal.ok() || span.count != kEvents / 100) std::puts("the journal was not read whole");
  }
  std::filesystem::remove_all(root);
  std::printf("journal append: %.2f M events/s (%.0f MB/s, %.0f bytes per event)\n", kEvents / append / 1e6,
              static_cast<double>(bytes.size()) / append / 1e6, static_cast<double>(bytes.size()) / kEvents);
  std::printf("peer, fwrite of the same lines: %.2f M lines/s; ratio %.2f\n", kEvents / peer / 1e6, peer / append);
  std::printf("journal open and fold of %d events: %.2f s\n", kEvents, open);
  return append > 0 && kEvents / append >= 0.5e6 && open <= 2.0 && fold.state.events == kEvents ? 0 : 1;
}
