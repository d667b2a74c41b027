#include "sense/processes/file_writers.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "base/text.h"
#include "core/exit_status.h"

namespace mw {
namespace {

constexpr size_t kWriters = 64;  // remembered

/// Programs that fetch or follow what another machine or another process writes.
constexpr std::array<std::string_view, 27> kFetch = {
    "kubectl", "oc",     "stern", "docker",     "podman", "nerdctl", "crictl",    "ssh",    "scp",
    "rsync",   "rclone", "tail",  "curl",       "wget",   "aws",     "gcloud",    "gsutil", "az",
    "sky",     "vastai", "modal", "journalctl", "ray",    "dstack",  "runpodctl", "prime",  "databricks"};

bool fetches(std::string_view name) { return std::find(kFetch.begin(), kFetch.end(), name) != kFetch.end(); }

bool is_pipe(const OpenFile& file) { return file.target.starts_with("pipe:"); }

}  // namespace

void FileWriters::search(const State& state) {
  std::set<std::string> paths;
  for (const SourceState& source : state.sources) paths.insert(scope_.real(source.path));
  struct Found {
    Writer writer;
    std::string input;  // the pipe that it reads
  };
  std::vector<Found> found;
  std::set<std::string> fetched;  // pipes that a program writes which only fetches
  for (const ProcessInfo& process : scope_.all()) {
    if (process.id.pid == scope_.self || process.state == 'Z') continue;
    const auto files = scope_.files(process.id.pid);
    if (!files.ok()) continue;  // another user's, or it has ended
    const std::string* input = nullptr;
    const OpenFile* open = nullptr;
    for (const OpenFile& file : *files) {
      if (is_pipe(file) && file.number == 0) input = &file.target;
      if (is_pipe(file) && file.writes && fetches(process.name)) fetched.insert(file.target);
      if (file.writes && file.regular && paths.count(file.target) > 0) open = &file;
    }
    if (open == nullptr || fetches(process.name) || found.size() >= kWriters) continue;
    found.push_back({{process, open->target, clock_.steady()}, input == nullptr ? "" : *input});
  }
  std::vector<Writer> own;
  for (Found& one : found) {
    if (fetched.count(one.input) == 0) own.push_back(std::move(one.writer));
  }
  keep_tops(std::move(own));
}

/// Those that no other writer started, nor had started when they were first seen.
void FileWriters::keep_tops(std::vector<Writer> found) {
  const auto is_child = [&](const Writer& writer) {
    const bool was = std::find(children_.begin(), children_.end(), writer.process.id) != children_.end();
    return was || std::any_of(found.begin(), found.end(),
                              [&writer](const Writer& other) { return other.process.id.pid == writer.process.parent; });
  };
  std::vector<ProcessId> children;
  std::vector<Writer> tops;
  for (Writer& writer : found) {
    const auto known = std::find_if(writers_.begin(), writers_.end(),
                                    [&](const Writer& one) { return one.process.id == writer.process.id; });
    if (known != writers_.end()) writer.since = known->since;
    if (is_child(writer)) {
      children.push_back(writer.process.id);
    } else {
      tops.push_back(writer);
    }
  }
  writers_ = std::move(tops);
  children_ = std::move(children);
}

bool FileWriters::lives() const {
  return std::any_of(writers_.begin(), writers_.end(), [this](const Writer& writer) {
    const auto now = scope_.info(writer.process.id.pid);
    return now.ok() && now->id == writer.process.id && now->state != 'Z';
  });
}

void FileWriters::report(const State& state, EventWriter& writer) {
  const Writer& first = writers_.front();
  UnseenEnd end = unseen_end(state, scope_.knowledge,
                             cat("process ", first.process.id.pid, " (", first.process.name, ")",
                                 writers_.size() > 1 ? cat(" and ", writers_.size() - 1, " more") : "",
                                 ", which wrote ", basename(first.path), ","));
  writers_.clear();
  gone_ = {};
  pause_ = kSoon;
  if (state.attempts.empty() || end.log_says) return;
  scope_.say(end.ended.text);
  writer.ended("host:process", std::move(end.ended));
  writer.judge();
}

std::optional<Duration> FileWriters::turn(const State& state, bool quiet, EventWriter& writer) {
  const Duration now = clock_.steady();
  const auto since = [now](Duration then) { return Duration{now.ns - then.ns}; };
  if (state.sources.empty() || (checked_.ns > 0 && since(checked_).ns < kCheck.ns)) return kCheck;
  checked_ = now;
  const bool nobody = writers_.empty();
  if (!nobody && gone_.ns == 0 && !lives()) {
    std::erase_if(writers_, [now](const Writer& writer) { return now.ns - writer.since.ns < kLived.ns; });
    if (!writers_.empty()) gone_ = now;
  }
  if (gone_.ns > 0) {
    // Whoever goes on writing takes their place.
    const std::vector<Writer> before = writers_;
    search(state);
    searched_ = now;
    if (!writers_.empty()) {
      gone_ = {};
    } else {
      writers_ = before;
      const bool silent = children_.empty() || writer.silence().ns >= kOrphans.ns;
      if (quiet && silent && since(gone_).ns >= kLate.ns) report(state, writer);
    }
    return kCheck;
  }
  const bool silent = writer.silence().ns >= kSearch.ns;
  if (std::exchange(silent_, silent) && !silent) pause_ = kSoon;  // somebody goes on
  const Duration every = !nobody ? kSearch : silent ? kRarely : pause_;
  if (searched_.ns == 0 || since(searched_).ns >= every.ns) {
    search(state);
    searched_ = now;
    pause_ = writers_.empty() ? Duration{std::min(2 * pause_.ns, kRarely.ns)} : kSoon;
  }
  return kCheck;
}

}  // namespace mw
