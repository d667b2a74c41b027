#include "read/recorder.h"

#include <cstdlib>

#include "base/checksum.h"
#include "base/text.h"
#include "core/event_codec.h"
#include "core/mixed_runs.h"
#include "platform/paths.h"

namespace mw {
namespace {

/// Names the run by what was given: the same files and folders are the same run, "train.log" of two folders is not.
std::string run_id(const std::vector<std::string>& paths) {
  std::string all;
  for (const std::string& path : paths) all += real_path(path) + "\n";
  const std::string first = real_path(paths.front());  // "." has a name, too
  std::string name;
  for (const char c : clip(basename(first), 40)) {
    const bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
    if (plain || !name.empty()) name.push_back(plain ? c : '-');  // a name that begins with '-' is an option
  }
  name.erase(0, name.find_first_not_of('-'));
  if (name.empty()) name = "run";
  const uint64_t hash = fnv1a(all);
  name.push_back('-');
  for (int shift = 28; shift >= 0; shift -= 4) name.push_back("0123456789abcdef"[(hash >> shift) & 15]);
  return name;
}

struct FromSource {
  const Where& where;
  bool operator()(const event::Recognised&) const { return where.line != 0; }  // else all files together say it
  bool operator()(const event::SourceHead&) const { return false; }
  bool operator()(const event::ReadAs&) const { return false; }
  bool operator()(const event::ClockLacks&) const { return false; }
  bool operator()(const event::Ticked&) const { return false; }
  bool operator()(const event::Closed&) const { return false; }
  bool operator()(const event::IncidentOpened&) const { return false; }
  bool operator()(const event::IncidentChanged&) const { return false; }
  bool operator()(const event::IncidentClosed&) const { return false; }
  bool operator()(const event::VerdictGiven&) const { return false; }
  bool operator()(const event::Note&) const { return false; }
  bool operator()(const event::Changed&) const { return false; }
  bool operator()(const event::Intended&) const { return false; }
  bool operator()(const event::Acted&) const { return false; }
  bool operator()(const event::WatchBegan&) const { return false; }
  bool operator()(const event::AttemptStarted&) const { return false; }
  bool operator()(const event::AttemptExited&) const { return false; }
  bool operator()(const event::Requested&) const { return false; }
  bool operator()(const event::Asked&) const { return false; }
  bool operator()(const event::Answered&) const { return false; }
  bool operator()(const event::Decided&) const { return false; }
  bool operator()(const event::Tripped&) const { return false; }
  bool operator()(const event::MembersSeen&) const { return false; }
  // The watch's own conclusion from files that lie beside each other.
  bool operator()(const event::AttemptBegan& of) const { return of.why != kAnotherLog; }
  // How the file was met, which differs from watch to watch; what its bytes say is the decoder's.
  bool operator()(const event::SourceProblem& of) const {
    return of.problem != "rotated" && of.problem != "truncated" && of.problem != "unreadable";
  }
  bool operator()(const event::SourceEnded&) const { return false; }
  template <typename Other>
  bool operator()(const Other&) const {
    return true;
  }
};

}  // namespace

bool is_from_source(const Event& event) { return std::visit(FromSource{event.where}, event.body); }

std::string users_home() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  if (const std::string state = variable("XDG_STATE_HOME"); state.starts_with('/')) return state + "/midwatch";
  if (const std::string user = variable("HOME"); user.starts_with('/')) return user + "/.local/state/midwatch";
  return "";
}

std::string home_of(const std::string& given) {
  if (!given.empty()) return given;
  if (const char* const home = std::getenv("MIDWATCH_HOME"); home != nullptr && *home != '\0') return home;
  const std::string own = users_home();
  return own.empty() ? std::string(kOldHome) : own;
}

namespace {

/// Folds records and notes which events came from which content of which source, and how it was read.
class Recorded final : public Journal::Reader {
 public:
  explicit Recorded(State& state, std::function<void(const State&, const Event&)> heard = {})
      : state_(state), heard_(std::move(heard)) {}
  void record(uint64_t, std::string_view json) override {
    ++records;
    Event event;
    if (decode_event(json, event) != Decoded::kEvent) return;
    note(event);
    fold(state_, event);
    if (heard_) heard_(state_, event);
  }
  void damage(const std::string&) override {}  // what a crash tore off is read again from the run's files

  uint64_t records = 0;
  std::map<uint32_t, Recorder::KnownSource> sources;
  std::string dialect;

 private:
  void note(const Event& event) {
    if (const auto* ticked = std::get_if<event::Ticked>(&event.body)) closing_ = ticked->closing;
    if (const auto* opened = std::get_if<event::SourceOpened>(&event.body)) {
      sources[opened->source] = {opened->source, opened->path, opened->head_hash, opened->head_bytes, 0, {}};
    }
    const auto known = sources.find(event.where.source);
    if (known == sources.end()) return;
    if (const auto* head = std::get_if<event::SourceHead>(&event.body)) {
      known->second.head_hash = head->hash;
      known->second.head_bytes = head->bytes;
    }
    if (const auto* read_as = std::get_if<event::ReadAs>(&event.body)) {
      known->second.dialects.push_back({event.where.line, read_as->dialect});
      if (!read_as->dialect.empty()) dialect = read_as->dialect;
    }
    if (!closing_ && is_from_source(event)) ++known->second.events;
  }

  State& state_;
  std::function<void(const State&, const Event&)> heard_;
  bool closing_ = false;  // provisional events follow: a watch that goes on emits them again when the rest has come
};

}  // namespace

Result<std::unique_ptr<Recorder>> Recorder::open(Disk& disk, Locks& locks, const std::string& home,
                                                 const std::string& run, const std::vector<std::string>& paths) {
  const std::string name = run.empty() ? run_id(paths) : run;
  std::string folder = cat(home_of(home), "/runs/", name);
  if (home.empty()) {  // a run that midwatch 0.1 began to record goes on where it is
    const auto first = disk.info(paths.front());
    const bool folder_given = first.ok() && first->kind == FileInfo::Kind::kFolder;
    const std::string beside = folder_given ? paths.front() : folder_of(paths.front());
    const std::string old = cat(beside, "/", kOldHome, "/runs/", name);
    if (disk.info(cat(old, "/journal")).ok()) folder = old;
  }
  MW_TRY(disk.make_folders(folder));
  std::unique_ptr<Recorder> recorder(new Recorder(disk, folder));
  auto lock = locks.take(folder + "/lock");
  if (!lock.ok()) return lock.error();
  recorder->lock_ = std::move(*lock);
  return recorder;
}

Result<void> Recorder::replay_into(State& state) {
  Recorded reader(state);
  auto journal = Journal::open(disk_, folder_ + "/journal", &reader);
  if (!journal.ok()) return journal.error();
  journal_ = std::move(*journal);
  records_ = reader.records;
  sources_ = std::move(reader.sources);
  dialect_ = std::move(reader.dialect);
  return {};
}

void Recorder::record(const Event& event) {
  line_.clear();
  encode_event(event, line_);
  ++records_;
  (void)journal_->append(line_);  // refused only when the disk has taken nothing for long; flush() reports that
}

Result<void> Recorder::flush() { return journal_->flush(); }
Result<void> Recorder::sync() { return journal_->sync(); }

Result<State> read_recorded(Disk& disk, const std::string& run_folder) { return read_recorded(disk, run_folder, {}); }

Result<State> read_recorded(Disk& disk, const std::string& run_folder,
                            const std::function<void(const State&, const Event&)>& heard) {
  State state;
  Recorded reader(state, heard);
  const auto read = Journal::read(disk, cat(run_folder, "/journal"), reader);
  if (!read.ok()) return read.error();
  return state;
}

}  // namespace mw
