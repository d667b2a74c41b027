#include "daemon/recorder.h"

#include <cstdlib>

#include "base/checksum.h"
#include "base/text.h"
#include "core/event_codec.h"

namespace mw {
namespace {

std::string parent_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

/// Names the run by what was given: the same paths are the same run.
std::string run_id(const std::vector<std::string>& paths) {
  std::string all;
  for (const std::string& path : paths) all += path + "\n";
  std::string name;
  for (const char c : clip(basename(paths.front()), 40)) {
    const bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
    name.push_back(plain ? c : '-');
  }
  const uint64_t hash = fnv1a(all);
  name.push_back('-');
  for (int shift = 28; shift >= 0; shift -= 4) name.push_back("0123456789abcdef"[(hash >> shift) & 15]);
  return name;
}

}  // namespace

bool is_from_source(const Event& event) {
  return !std::holds_alternative<event::Recognised>(event.body) && !std::holds_alternative<event::Ticked>(event.body) &&
         !std::holds_alternative<event::Closed>(event.body) &&
         !std::holds_alternative<event::IncidentOpened>(event.body) &&
         !std::holds_alternative<event::IncidentChanged>(event.body) &&
         !std::holds_alternative<event::IncidentClosed>(event.body) &&
         !std::holds_alternative<event::VerdictGiven>(event.body);
}

std::string home_of(const std::string& given, const std::string& path) {
  if (!given.empty()) return given;
  const char* home = std::getenv("MIDWATCH_HOME");
  if (home != nullptr && *home != '\0') return home;
  return path + "/.midwatch";
}

/// Folds records and notes which events came from which content of which source.
class Recorder::Fold final : public Journal::Reader {
 public:
  Fold(State& state, std::map<std::string, KnownSource>& sources) : state_(state), sources_(sources) {}
  void record(uint64_t, std::string_view json) override {
    ++records;
    Event event;
    if (decode_event(json, event) != Decoded::kEvent) return;
    note(event);
    fold(state_, event);
  }
  void damage(const std::string& what) override { damaged += damaged.empty() ? what : "; " + what; }
  uint64_t records = 0;
  std::string damaged;

 private:
  void note(const Event& event) {
    if (const auto* opened = std::get_if<event::SourceOpened>(&event.body)) {
      KnownSource& known = sources_[opened->path];
      known = {opened->source, opened->head_hash, opened->head_bytes, 0};
      by_number_[opened->source] = &known;
    }
    if (!is_from_source(event)) return;
    const auto known = by_number_.find(event.where.source);
    if (known != by_number_.end()) ++known->second->events;
  }

  State& state_;
  std::map<std::string, KnownSource>& sources_;
  std::map<uint32_t, KnownSource*> by_number_;
};

Result<std::unique_ptr<Recorder>> Recorder::open(Disk& disk, const std::string& home,
                                                 const std::vector<std::string>& paths) {
  const auto first = disk.info(paths.front());
  const bool folder_given = first.ok() && first->kind == FileInfo::Kind::kFolder;
  const std::string beside = folder_given ? paths.front() : parent_of(paths.front());
  const std::string folder = cat(home_of(home, beside), "/runs/", run_id(paths));
  MW_TRY(disk.make_folders(folder));
  std::unique_ptr<Recorder> recorder(new Recorder(disk, folder));
  auto lock = Lock::take(folder + "/lock");
  if (!lock.ok()) return lock.error();
  recorder->lock_ = std::move(*lock);
  return recorder;
}

Result<void> Recorder::replay_into(State& state) {
  Fold reader(state, sources_);
  auto journal = Journal::open(disk_, folder_ + "/journal", &reader);
  if (!journal.ok()) return journal.error();
  journal_ = std::move(*journal);
  records_ = reader.records;
  return {};
}

void Recorder::record(const Event& event) {
  line_.clear();
  encode_event(event, line_);
  ++records_;
  (void)journal_->append(line_);  // refused only when the disk has taken nothing for long; flush() tells
}

Result<void> Recorder::flush() { return journal_->flush(); }
Result<void> Recorder::sync() { return journal_->sync(); }

Result<State> read_recorded(Disk& disk, const std::string& home, const std::string& run) {
  const std::string runs = home_of(home, ".") + "/runs";
  std::string id = run;
  if (id.empty()) {
    const auto names = disk.list(runs);
    if (!names.ok() || names->empty()) {
      return Error{Error::Code::kNotFound, cat("no recorded run in ", runs),
                   "Give the files of a run, or watch one with: midwatch attach PATH"};
    }
    Time newest;
    for (const std::string& name : *names) {
      const auto info = disk.info(cat(runs, "/", name, "/journal"));
      if (!info.ok() || info->changed < newest) continue;
      newest = info->changed;
      id = name;
    }
  }
  State state;
  std::map<std::string, Recorder::KnownSource> sources;
  class Fold final : public Journal::Reader {
   public:
    explicit Fold(State& folded) : state(folded) {}
    void record(uint64_t, std::string_view json) override {
      Event event;
      if (decode_event(json, event) == Decoded::kEvent) fold(state, event);
    }
    void damage(const std::string&) override {}
    State& state;
  } reader(state);
  const auto read = Journal::read(disk, cat(runs, "/", id, "/journal"), reader);
  if (!read.ok()) return read.error();
  return state;
}

}  // namespace mw
