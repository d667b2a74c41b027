#include "app/attach.h"

#include <algorithm>
#include <utility>

#include "base/checksum.h"
#include "base/text.h"
#include "platform/durable.h"

namespace mw {
namespace {

constexpr Duration kRescan = Duration::seconds(2);        // between scans for new files where inotify reports nothing
constexpr Duration kTick = Duration::seconds(10);         // after which time itself is news
constexpr Duration kLull = Duration::seconds(0.05);       // without a line, after which a traceback may be all there is
constexpr Duration kPreviewEvery = Duration::seconds(1);  // at most, as ranks often fail one after the other
constexpr Duration kLeastWait = Duration::seconds(0.01);
/// While news come without end, after which the tasks have their turn: with RunReader::kTurnTime and one judgement
/// it bounds how long a signal waits.
constexpr Duration kTasksEvery = Duration::millis(100);
constexpr Duration kGap = Duration::seconds(5);  // beyond the planned wait: the process was stopped meanwhile
/// Of the journal, waiting in memory for a disk that takes nothing; then nothing more is read. Half of what the journal
/// itself allows: what tasks record comes on top.
constexpr size_t kWaitsInMemory = Journal::kBufferLimit / 2;
/// A journal that is refused for less needs no word: space was released, or a server was slow.
constexpr Duration kTroubleSaid = Duration::seconds(2);
/// On the disk of the record, so that the reserves of the journal and of the command's output fit, too.
constexpr double kEnoughBytes = 32e6;
/// For so long tasks may wait for the last of the run's lines, which a journal that takes nothing holds up.
constexpr Duration kHeldUp = Duration::seconds(20), kHeldUpAtStop = Duration::seconds(2);

/// A trainer that is known is not recognised anew; where only an engine wrote so far, nothing is decided.
std::string trainer_of(const KnowledgeBase& knowledge, const std::string& dialect) {
  const auto known = knowledge.book().find(dialect);
  const bool trainer = known && knowledge.book().dialects()[*known].family == Dialect::Family::kTrainer;
  return trainer ? dialect : std::string();
}

/// Of the file of settings; "": there is none.
std::string settings_digest(Disk& disk, const AttachRequest& request) {
  const auto text = request.config.empty() ? Result<std::string>(std::string()) : read_small(disk, request.config);
  return text.ok() && !text->empty() ? hex_of(fnv1a(*text)) : "";
}

}  // namespace

Result<std::unique_ptr<AttachLoop>> AttachLoop::open(const Doors& doors, const KnowledgeBase& knowledge,
                                                     const AttachRequest& request, Disk* files) {
  auto recorder = Recorder::open(doors.disk, doors.locks, request.home, request.run, request.paths);
  if (!recorder.ok()) return recorder.error();
  std::unique_ptr<AttachLoop> loop(
      new AttachLoop(doors, knowledge, request, std::move(*recorder), files == nullptr ? doors.disk : *files));
  MW_TRY(loop->recorder_->replay_into(loop->reader_.state()));
  const bool resumed = loop->recorder_->resumed();
  loop->put({{}, {}, event::WatchBegan{MIDWATCH_VERSION, knowledge.digest(), settings_digest(doors.disk, request)}});
  if (request.keeper_nonce) loop->reader_.trust_keeper(*request.keeper_nonce);
  MW_TRY(loop->reader_.set_zone(request.timezone));
  MW_TRY(loop->reader_.open(request.paths, request.framework.empty() ? trainer_of(knowledge, loop->recorder_->dialect())
                                                                     : request.framework));
  loop->say_left_out();
  if (resumed) {
    loop->reader_.tick(doors.clock.now());
    loop->reader_.judge_again();
  }
  loop->watch_folders();
  return loop;
}

AttachLoop::AttachLoop(const Doors& doors, const KnowledgeBase& knowledge, const AttachRequest& request,
                       std::unique_ptr<Recorder> recorder, Disk& files)
    : doors_(doors),
      request_(request),
      recorder_(std::move(recorder)),
      reader_(files, knowledge, Judge::kAlways, recorder_.get(), request_.decided, &doors_.clock),
      began_(doors.clock.steady()),
      last_news_(began_),
      last_scan_(began_),
      last_tick_(began_) {}

/// Once: a later midwatch on the same record leaves out the same.
void AttachLoop::say_left_out() {
  const std::vector<std::string> paths = reader_.left_out();
  if (paths.empty()) return;
  const std::string others =
      paths.size() > 1 ? cat(" and ", paths.size() - 1, paths.size() > 2 ? " others are" : " other are") : " is";
  const std::string text = cat(paths.front(), others, " not read: of an earlier run, and not written any more");
  const auto& notes = reader_.state().notes;
  if (std::any_of(notes.begin(), notes.end(), [&](const auto& note) { return note.second.text == text; })) return;
  put({{}, {}, event::Note{"midwatch", text}});
  if (request_.say) request_.say(text);
}

bool AttachLoop::turn() {
  notice_a_gap();
  // Where the journal cannot be written for long, nothing more is read: what is in the files is not lost there.
  held_up_ = !kept_ && recorder_->waiting() > kWaitsInMemory;
  const size_t read = held_up_ ? 0 : reader_.turn();
  if (read > 0) {
    last_news_ = doors_.clock.steady();
    unsaid_ = true;
  }
  reader_.judge_when_due();
  keep();
  const bool more = read > 0 || (held_up_ && kept_);  // than was read now
  if (more && !std::exchange(busy_, more)) busy_since_ = doors_.clock.steady();
  busy_ = more;
  if (more && doors_.watch.stop_came()) stop_requested();
  if (more && !tasks_are_due()) return !stopped_;
  const bool unread = held_up_ && !kept_ && since(refused_since_) < (stops_ > 0 ? kHeldUpAtStop : kHeldUp);
  // After a second request to stop it does not wait for what is left to read.
  const auto patience = tasks(stops_ > 1 || (!more && !unread && !reader_.owes_judgement()));
  if (!patience) {
    finish();
    return false;
  }
  busy_since_ = doors_.clock.steady();
  if (more) return !stopped_;
  Duration longest = *patience;
  if (const Duration idle = Duration::seconds(request_.exit_after_idle_s); idle.ns > 0) {
    const Duration left{idle.ns - since(last_news_).ns};
    if (left.ns <= 0) {
      finish();
      return false;
    }
    longest = std::min(longest, std::max(kLeastWait, left));
  }
  if (const auto left = preview(); left) longest = std::min(longest, *left);
  if (reader_.owes_judgement()) longest = std::min(longest, std::max(kLeastWait, reader_.judgement_in()));
  wait(longest);
  return !stopped_;
}

/// They act on what is known now. While old lines are caught up with that is what was long ago, and they wait; unless
/// it is to end.
bool AttachLoop::tasks_are_due() const {
  return (stops_ > 0 || reader_.caught_up()) && since(busy_since_) >= kTasksEvery;
}

/// A turn for each. Returns how long the loop may wait; unset when the watch is over.
std::optional<Duration> AttachLoop::tasks(bool quiet) {
  Duration longest = Duration::seconds(request_.poll_s);
  for (Task* task : tasks_) {
    const auto patience = task->turn(reader_.state(), quiet, *this);
    if (!patience) return std::nullopt;
    longest = std::min(longest, *patience);
  }
  return longest;
}

/// Each task hears of it; where none ends the watch, the loop does.
void AttachLoop::stop_requested() {
  ++stops_;
  stopped_ = true;
  for (Task* task : tasks_) stopped_ = !task->stop_requested() && stopped_;
}

/// A process that was stopped for a while (SIGSTOP, a suspended machine) first reads what was written meanwhile.
void AttachLoop::notice_a_gap() {
  const Duration now = doors_.clock.steady();
  if (back_by_.ns != 0 && now.ns > back_by_.ns + kGap.ns) reader_.catch_up();
  back_by_ = now;
}

/// A traceback after which nothing is written is emitted, too. Returns after how long to ask again.
std::optional<Duration> AttachLoop::preview() {
  if (!unsaid_) return std::nullopt;
  const Duration due{std::max(last_news_.ns + kLull.ns, last_preview_.ns + kPreviewEvery.ns)};
  const Duration now = doors_.clock.steady();
  if (!reader_.holds_trace()) return std::nullopt;
  if (now.ns < due.ns) return std::max(kLeastWait, Duration{due.ns - now.ns});
  reader_.preview(doors_.clock.now());
  keep();
  unsaid_ = false;
  last_preview_ = now;
  return std::nullopt;
}

Result<uint32_t> AttachLoop::intend(event::Intended intent) {
  const uint32_t id = reader_.state().last_action + 1;
  intent.id = id;
  put({{}, {}, std::move(intent)});
  if (auto durable = recorder_->sync(); !durable.ok()) {
    acted({id, false, cat("not done: the intent could not be recorded: ", durable.error().what), 0, false});
    return durable.error();
  }
  return id;
}

void AttachLoop::acted(event::Acted outcome) { put({{}, {}, std::move(outcome)}); }

Result<void> AttachLoop::record(SupervisionEvent event, Time at) {
  std::visit([&](auto& body) { put({at, {}, std::move(body)}); }, event);
  return recorder_->sync();
}

Result<void> AttachLoop::note(event::Note words, Time at) {
  put({at, {}, std::move(words)});
  return recorder_->sync();
}

void AttachLoop::observed(const std::string& source, event::Measured&& figures) {
  reader_.observe(source, {doors_.clock.now(), {}, std::move(figures)});
}
void AttachLoop::observed(const std::string& source, event::Matched&& match) {
  reader_.observe(source, {doors_.clock.now(), {}, std::move(match)});
}

void AttachLoop::observed(const std::string& source, event::SourceProblem&& problem) {
  reader_.observe(source, {doors_.clock.now(), {}, std::move(problem)});
}

void AttachLoop::observed(const std::string& source, event::ComponentSaw&& saw) {
  reader_.observe(source, {doors_.clock.now(), {}, std::move(saw)});
}

void AttachLoop::ended(const std::string& source, event::Ended&& end) {
  reader_.observe(source, {doors_.clock.now(), {}, std::move(end)});
}

void AttachLoop::observed(const std::string& source, event::CheckpointSeen&& seen) {
  reader_.observe(source, {doors_.clock.now(), {}, std::move(seen)});
}

void AttachLoop::observed(const std::string& source, event::CheckpointRead&& read) {
  reader_.observe(source, {doors_.clock.now(), {}, std::move(read)});
}

void AttachLoop::observed(const std::string& source, event::PointerSeen&& seen) {
  reader_.observe(source, {doors_.clock.now(), {}, std::move(seen)});
}

void AttachLoop::observed(const std::string& source, event::SavesAs&& names) {
  reader_.observe(source, {doors_.clock.now(), {}, std::move(names)});
}

void AttachLoop::read_also(const std::vector<std::string>& paths) {
  reader_.read_also(paths);
  watch_folders();
}

void AttachLoop::put(Event event) {
  if (!event.at.known()) event.at = doors_.clock.now();
  reader_.put(std::move(event));
}

void AttachLoop::wait(Duration longest) {
  back_by_ = {doors_.clock.steady().ns + longest.ns};
  const Watch::Woke woke = doors_.watch.wait(longest);
  if (woke == Watch::Woke::kStop) return stop_requested();
  if (woke == Watch::Woke::kNames || since(last_scan_) > kRescan) {
    reader_.look_again();
    watch_folders();
  }
  if (since(last_tick_) > kTick) {
    last_tick_ = doors_.clock.steady();
    reader_.tick(doors_.clock.now());
  }
}

void AttachLoop::watch_folders() {
  last_scan_ = doors_.clock.steady();
  for (const std::string& path : reader_.watched()) doors_.watch.add(path);
}

void AttachLoop::keep() {
  auto kept = recorder_->flush();
  if (!kept.ok() && kept.error().code == Error::Code::kFull && make_room_ && make_room_()) kept = recorder_->flush();
  if (kept_ && !kept.ok()) {
    refused_since_ = doors_.clock.steady();
    held_up_from_ = doors_.clock.now();
  }
  report_trouble(kept);
  kept_ = kept.ok();
  if (!kept_ && trouble_.empty()) trouble_ = kept.error().what;
}

/// Once for each time that the journal takes nothing: what to do about it, and what is lost otherwise.
void AttachLoop::report_trouble(const Result<void>& kept) {
  if (kept.ok() && trouble_said_) {
    trouble_said_ = false;
    const std::string text =
        cat("the record of the run could not be written from ", format_utc(held_up_from_), " for ",
            format_duration(since(refused_since_)), "; what waited in memory is written now, and nothing is missing");
    put({{}, {}, event::Note{"midwatch", text}});
    if (say_) say_(text);
  }
  if (kept.ok() || trouble_said_ || since(refused_since_) < kTroubleSaid) return;
  trouble_said_ = true;
  if (!say_) return;
  const bool full = kept.error().code == Error::Code::kFull;
  say_(
      cat(full ? "THE DISK OF THE RUN'S RECORD IS FULL: " : "THE RUN'S RECORD CANNOT BE WRITTEN: ", kept.error().what,
          ". The run goes on, and midwatch watches it; its record waits in memory. ",
          full ? cat("Free ", format_bytes(kEnoughBytes), " on the disk of ", folder(), " (df -h ", folder(), ")")
               : cat("Make ", folder(), " writable"),
          ". Until then midwatch restarts, ends and deletes nothing, as it records that first; the command's output is "
          "lost beyond 16 MB, and what waits in memory is lost if this midwatch is killed"));
}

/// Nothing new for as long as was asked: the run counts as ended, as in a replay of its files.
void AttachLoop::finish() {
  cut_short_ = held_up_ && !kept_;
  reader_.close(doors_.clock.now());
  keep();
  stopped_ = true;
}

std::unique_ptr<Replayed> AttachLoop::take() {
  doors_.watch.ending();
  if (reader_.owes_judgement()) reader_.judge_again();
  for (Task* task : tasks_) task->over(reader_.state(), *this);
  const auto durable = recorder_->sync();
  auto result = std::make_unique<Replayed>();
  result->input = reader_.figures();
  result->input.seconds = since(began_).seconds();
  result->notes = std::move(reader_.notes());
  if (!durable.ok())
    result->notes.push_back(cat("the journal could not be written, its last ",
                                format_bytes(static_cast<double>(recorder_->waiting())),
                                " are lost: ", durable.error().what));
  if (!trouble_.empty()) result->notes.push_back(cat("the journal was held up: ", trouble_));
  result->partial = reader_.partial() || !durable.ok() || cut_short_;
  result->state = std::move(reader_.state());
  return result;
}

Result<std::unique_ptr<Replayed>> attach_run(const Doors& doors, const KnowledgeBase& knowledge,
                                             const AttachRequest& request) {
  auto loop = AttachLoop::open(doors, knowledge, request);
  if (!loop.ok()) return loop.error();
  while ((*loop)->turn()) {
  }
  return (*loop)->take();
}

}  // namespace mw
