#include "sense/processes/written_logs.h"

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace mw {
namespace {

constexpr size_t kProcessesLimit = 500;                // that are looked at
constexpr Duration kIdlePoll = Duration::millis(500);  // while no attempt runs
/// Looks of an attempt, and how long each waits for the next; from then on kLater.
constexpr std::pair<int, Duration> kPace[] = {
    {8, Duration::millis(250)}, {18, Duration::seconds(1)}, {28, Duration::seconds(5)}};
constexpr Duration kLater = Duration::seconds(30);

bool has(std::string_view name, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) { return contains(name, word); });
}

/// A log, or metrics, by the name alone: not what a program may also write of its answers and data.
bool surely_metrics(std::string_view path) {
  const std::string_view name = basename(path);
  if (contains(name, "tfevents") || name.ends_with(".wandb")) return true;
  if (name.starts_with("debug")) return false;  // of W&B's own
  if (name.ends_with(".log") || name.ends_with(".out") || name.ends_with(".err")) return true;
  return name.ends_with(".jsonl") && has(name, {"metric", "log", "train", "stat"});
}

bool is_console_log(std::string_view path) {
  const std::string_view name = basename(path);
  if (name.starts_with("tmp")) return false;  // of a program that is run and forgotten, as sandboxes do
  return looks_like_log(path) || contains(name, "log") || name.ends_with("out");
}

}  // namespace

bool looks_like_log(std::string_view path) {
  for (const std::string_view end : {".log", ".out", ".err", ".txt", ".jsonl", ".csv", ".wandb", ".json"}) {
    if (path.ends_with(end)) return true;
  }
  return contains(basename(path), "tfevents");
}

bool is_no_run_file(std::string_view path) {
  constexpr std::string_view kProcesses = "/proc/", kRoot = "/root/";
  if (path.starts_with(kProcesses)) {  // a container's file, as it is called there
    const size_t end = path.find_first_not_of("0123456789", kProcesses.size());
    if (end != std::string_view::npos && path.substr(end).starts_with(kRoot))
      path.remove_prefix(end + kRoot.size() - 1);
  }
  return path.starts_with("/proc/") || path.starts_with("/sys/") || path.starts_with("/dev/") ||
         contains(path, "/.midwatch/");
}

bool WrittenLogs::blind(const State& state, const EventWriter& writer) const {
  if (!state.attempts.empty() && state.attempts.back().last_step != kNoStep) return false;
  // The keeper's line is the first, at the beginning.
  const bool mute = since_began() >= kMute && writer.silence().ns + kMute.ns / 2 >= since_began().ns;
  return since_began() >= kBlind || mute;
}

bool WrittenLogs::wanted(const Writer& one, bool blind) const {
  const OpenFile& file = one.file;
  if (!file.regular || !file.writes || is_no_run_file(file.target)) return false;
  if (file.target.starts_with(scope_.folder + "/")) return false;
  const bool console = file.number == 1 || file.number == 2;
  // What tee writes, midwatch reads as output.
  return (console && is_console_log(file.target)) ||
         (blind && one.process.name != "tee" && surely_metrics(file.target));
}

/// False where there are too many.
bool WrittenLogs::take(const State& state, const Writer& one) {
  if (taken_.size() >= kMost) return false;
  const OpenFile& file = one.file;
  taken_.insert(file.target);
  const bool read = std::any_of(state.sources.begin(), state.sources.end(),
                                [&file](const SourceState& source) { return source.path == file.target; });
  if (read) return true;  // by the midwatch before this one
  const bool older = file.appends && (!file.born.known() || file.born < scope_.began());
  if (older && !content_.leaves_out(file.target)) content_.leave_out(file.target, file.size);
  scope_.say(
      cat("reading ", file.target, ", too, which process ", one.process.id.pid, " (", one.process.name, ") writes"));
  return true;
}

void WrittenLogs::look(const State& state, EventWriter& writer) {
  const bool without_step = blind(state, writer);
  std::set<std::string> now;
  std::vector<std::string> fresh;
  size_t looked = 0;
  for (const ProcessInfo& process : scope_.members()) {
    if (++looked > kProcessesLimit) break;
    const auto files = scope_.files(process.id.pid);
    for (const OpenFile& file : files.ok() ? *files : std::vector<OpenFile>()) {
      if (!wanted({process, file}, without_step) || taken_.count(file.target) != 0) continue;
      now.insert(file.target);
      if (seen_.count(file.target) != 0 && take(state, {process, file})) fresh.push_back(file.target);
    }
  }
  seen_ = std::move(now);
  if (fresh.empty()) return;
  scope_.keep();
  writer.read_also(fresh);
}

/// Of a run about which nothing can be said.
void WrittenLogs::hint(const State& state, const EventWriter& writer) {
  const bool silent = since_began() >= kSilent && writer.silence() >= kSilent;
  if (hinted_ || !taken_.empty() || !silent || !blind(state, writer)) return;
  hinted_ = true;
  scope_.say(cat("nothing was written to the output for ", format_duration(kSilent),
                 ", and no process of the run has a log open: if it keeps its log or metrics in a file, name that with "
                 "--watch"));
}

std::optional<Duration> WrittenLogs::turn(const State& state, bool /*quiet*/, EventWriter& writer) {
  const int attempt = scope_.attempt();
  const Duration now = clock_.steady();
  if (attempt != std::exchange(attempt_, attempt)) {
    began_ = due_ = now;
    looks_ = 0;
    seen_.clear();
  }
  if (attempt == 0) return kIdlePoll;
  if (now < due_) return Duration{due_.ns - now.ns};
  look(state, writer);
  hint(state, writer);
  const auto* const pace =
      std::find_if(std::begin(kPace), std::end(kPace), [this](const auto& p) { return looks_ < p.first; });
  ++looks_;
  const Duration wait = pace == std::end(kPace) ? kLater : pace->second;
  due_ = Duration{now.ns + wait.ns};
  return wait;
}

}  // namespace mw
