#include "read/run_reader.h"

#include <algorithm>
#include <array>

#include "base/checksum.h"
#include "base/text.h"
#include "core/idle_line.h"
#include "core/mixed_runs.h"
#include "core/not_seen.h"
#include "read/file_order.h"
#include "read/folder_runs.h"
#include "read/part_order.h"
#include "read/wandb_zone.h"
#include "read/why_unread.h"

namespace mw {
namespace {

constexpr size_t kTurnBytes = size_t{8} << 20;  // bytes of one file before the others have their turn

/// A database by its name, though its content begins like none.
bool is_store_name(std::string_view path) {
  return path.ends_with(".db") || path.ends_with(".sqlite") || path.ends_with(".sqlite3");
}

/// Of files that were given as one run and are of several.
std::vector<std::string> note_on_runs(const std::vector<std::vector<std::string>>& runs) {
  if (runs.size() < 2) return {};
  return {
      cat(runs[0].front(), " and ", runs[1].front(), runs.size() > 2 ? " (and others)" : "",
          " have different numbers for the same steps: they are of different runs. What is said here is put together "
          "from all of them; give them one by one, or put them side by side with midwatch compare.")};
}

}  // namespace

RunReader::RunReader(Disk& disk, const KnowledgeBase& knowledge, Judge when, Recorder* recorder,
                     std::function<void(const State&, const Event&)> decided, Clock* clock)
    : disk_(disk),
      knowledge_(knowledge),
      when_(when),
      recorder_(recorder),
      on_decision_(std::move(decided)),
      clock_(clock),
      shared_(knowledge),
      door_(&knowledge.known()) {
  shared_.live = clock != nullptr;
  shared_.read_once = recorder == nullptr && clock == nullptr;
}

Result<void> RunReader::set_zone(const std::string& name) {
  if (name.empty()) return {};
  const auto zone = TimeZone::parse(name);
  if (!zone) {
    return Error{Error::Code::kInvalid, cat("'", name, "' is no time zone"),
                 "Write UTC, local (this machine's), or hours east of UTC: +08:00"};
  }
  shared_.zone = *zone;
  return {};
}

Result<void> RunReader::open(const std::vector<std::string>& paths, const std::string& framework) {
  paths_ = paths;
  if (!framework.empty() && !shared_.recogniser.force(framework)) {
    return no_such_dialect(framework);
  }
  auto found = discover(disk_, paths, worth_reading, shared_.read_once);
  if (!found.ok()) return found.error();
  notes_ = std::move(found->notes);
  partial_ = !notes_.empty();
  notebooks_ = std::move(found->notebooks);
  pass_over(found->superseded);
  // A live log's own last clock says better; what is recorded was read in the zone that was known then.
  if (shared_.read_once && !shared_.zone) shared_.zone = zone_by_wandb(disk_, found->files);
  leave_out_older_runs(found->files);
  if (shared_.read_once) put_in_order(disk_, found->files);
  for (const FoundFile& file : found->files) MW_TRY(add_source(file));
  const bool something =
      std::any_of(sources_.begin(), sources_.end(), [](const auto& s) { return s->looked_like() != FileKind::kEmpty; });
  if (sources_.empty() && denied_) return *denied_;
  if (sources_.empty() || (!something && recorder_ == nullptr)) {
    const std::string why = why_unread(disk_, paths.front());
    return Error{Error::Code::kUnsupported,
                 cat("nothing that midwatch can read in ", paths.front(), why.empty() ? "" : ": ", why),
                 "It reads text logs, JSON lines and documents, CSV, .wandb, tensorboard, trackio and MLflow files."};
  }
  say_framework();
  return {};
}

/// They are not read later either, when the newer one that holds their content has gone.
void RunReader::pass_over(const std::vector<FoundFile>& files) {
  for (const FoundFile& file : files) known_files_.insert({file.info.device, file.info.inode});
}

Result<void> RunReader::add_source(const FoundFile& file) {
  const uint32_t number = number_of(file.path);
  FoundFile with_parts = file;
  if (file.named && file.older.empty()) with_parts.older = parts_in_journal(file);
  auto source = std::make_unique<SourceReader>(disk_, with_parts, number, shared_, *this);
  const Result<void> looked = source->look();
  if (!is_readable(source->looked_like()) || (source->looked_like() == FileKind::kEmpty && recorder_ == nullptr)) {
    if (file.named) {
      const std::string why = why_unread(disk_, file.path);
      notes_.push_back(
          !why.empty()  ? cat(file.path, " is not read: ", why)
          : looked.ok() ? cat(file.path, ": ", kind_name(source->looked_like()), "; nothing in it that midwatch reads")
                        : looked.error().what);
      if (!looked.ok() && looked.error().code == Error::Code::kDenied) denied_ = looked.error();
      partial_ = partial_ || source->looked_like() == FileKind::kEmpty || is_store_name(file.path);
    }
    return {};
  }
  if (const std::string why = source->looked_like() == FileKind::kText ? why_unnamed(disk_, file.path) : std::string();
      !why.empty())
    notes_.push_back(cat(file.path, ": ", why));
  if (recorder_ != nullptr) {
    MW_TRY(source->open_parts());
    MW_TRY(reattach(*source));
  }
  known_paths_.insert(file.path);
  for (const std::string& older : with_parts.older) known_paths_.insert(older);
  known_files_.insert({file.info.device, file.info.inode});
  total_bytes_ += file.info.size;
  next_number_ = std::max(next_number_, number + 1);
  if (recorder_ != nullptr) behind_[number] = source->unread();
  const bool latest = file.info.changed >= written_last_;  // an older run's log is not the one that is watched
  written_last_ = std::max(written_last_, file.info.changed);
  if (latest && clock_ != nullptr && !shared_.keeper_nonce && skip_.empty()) beside_.insert(number);
  sources_.push_back(std::move(source));
  return {};
}

/// A file keeps the number that the journal knows it by.
uint32_t RunReader::number_of(const std::string& path) {
  if (recorder_ == nullptr) return next_number_;
  for (const auto& [number, known] : recorder_->sources()) {
    next_number_ = std::max(next_number_, number + 1);
    if (known.path == path) return number;
  }
  return next_number_;
}

/// What the journal holds of this content is read again and not put again.
Result<void> RunReader::reattach(SourceReader& source) {
  const auto known = recorder_->sources().find(source.number());
  bool same = known != recorder_->sources().end() && known->second.events > 0;
  if (same) {
    const auto begins = source.begins_like(known->second.head_hash, known->second.head_bytes);
    if (!begins.ok()) return begins.error();
    same = *begins;
  }
  if (same) skip_[source.number()] = known->second.events;
  source.emit_dialects(same ? known->second.dialects : std::vector<Interpreter::Switch>());
  return {};
}

void RunReader::observe(const std::string& source, Event event) {
  auto known = observers_.find(source);
  if (known == observers_.end()) {
    const uint32_t number = number_of(source);
    known = observers_.emplace(source, number).first;
    next_number_ = std::max(next_number_, number + 1);
    if (number >= state_.sources.size() || state_.sources[number].kind != kHostKind) {
      put({event.at, {number, 0}, event::SourceOpened{number, source, std::string(kHostKind), 0, 0, 0}});
    }
  }
  const uint64_t line = known->second < state_.sources.size() ? state_.sources[known->second].last_line : 0;
  event.where = {known->second, line + 1};
  put(std::move(event));
}

void RunReader::read_also(const std::vector<std::string>& paths) {
  paths_.insert(paths_.end(), paths.begin(), paths.end());
  look_again();
}

bool RunReader::look_again() {
  auto found = discover(disk_, paths_, worth_reading);
  if (!found.ok()) return false;
  pass_over(found->superseded);
  bool fresh = false;
  for (const FoundFile& file : found->files) {
    if (known_paths_.count(file.path) > 0 || known_files_.count({file.info.device, file.info.inode}) > 0) continue;
    // A part of a log that is followed, between its rotation and the new file.
    if (const auto [stem, number] = rotated_part(file.path); number > 0 && known_paths_.count(std::string(stem)) > 0)
      continue;
    const auto left_out = left_out_.find(file.path);
    if (left_out != left_out_.end() && left_out->second == file.info.changed) continue;
    left_out_.erase(file.path);  // it is being written, too
    const size_t before = sources_.size();
    if (!add_source(file).ok()) continue;  // it cannot be read now: the next round may succeed
    fresh = fresh || sources_.size() > before;
  }
  return fresh;
}

void RunReader::say_framework() {
  // While files are read again, what is recognised is less than was known.
  if (!skip_.empty() || shared_.recogniser.version() == said_version_) return;
  said_version_ = shared_.recogniser.version();
  const Recogniser::Answer answer = shared_.recogniser.answer();
  if (answer.framework == said_framework_) return;
  said_framework_ = answer.framework;
  if (state_.framework == answer.framework && state_.framework_confidence > 0) return;  // as recorded
  Event event;
  event.body = event::Recognised{answer.framework, answer.version, answer.confidence};
  put(std::move(event));
}

bool RunReader::skipped(const Event& event) {
  const auto* problem = std::get_if<event::SourceProblem>(&event.body);
  if (problem != nullptr && problem->problem == "truncated") skip_.erase(event.where.source);
  const auto left = skip_.find(event.where.source);
  if (left == skip_.end() || !is_from_source(event)) return false;
  if (--left->second > 0) return true;
  skip_.erase(left);
  for (const auto& source : sources_) {
    if (source->number() == event.where.source) source->resume_recognition();
  }
  return true;
}

/// A watch that reads a file again finds again what its clocks do not name.
bool RunReader::known_already(const Event& event) const {
  const auto* const lacks = std::get_if<event::ClockLacks>(&event.body);
  if (lacks == nullptr || event.where.source >= state_.sources.size()) return false;
  const event::ClockLacks& known = state_.sources[event.where.source].clock_lacks;
  return known.zone == lacks->zone && known.date == lacks->date;
}

/// A run that midwatch itself started began with its first attempt, and nothing of it is later than now. A clock that
/// says otherwise stands in what a line quotes: a sample, another program's log. Clocks without a zone may be off by
/// any zone, others by what two machines differ.
bool RunReader::has_quoted_clock(const Event& event) const {
  constexpr Duration kZones = Duration::seconds(14.0 * 3600), kMachines = Duration::seconds(600);
  const auto& attempts = state_.supervision.attempts;
  if (event.where.line == 0 || !event.at.known() || !event.received.known() || attempts.empty()) return false;
  const SupervisedAttempt& first = attempts.front();
  if (first.number != 1 || !first.started_at.known()) return false;
  const uint32_t source = event.where.source;
  const bool zone = source >= state_.sources.size() || !state_.sources[source].clock_lacks.zone;
  const Duration slack = zone ? kMachines : kZones;
  return first.started_at - event.at > slack || event.at - event.received > slack;
}

void RunReader::put(Event&& event) {
  if (recorder_ != nullptr && !skip_.empty() && skipped(event)) return;
  if (known_already(event)) return;
  if (!axes_.empty()) count_along(axes_, state_, event);
  if (!beside_.empty()) begin_another(event);
  if (is_keepers_end(event)) end_other_files(std::get<event::Ended>(event.body));
  if (clock_ != nullptr) event.received = clock_->now();
  if (has_quoted_clock(event)) event.at = {};
  door_.pass(event);
  if (recorder_ != nullptr) recorder_->record(event);
  if (const auto* problem = std::get_if<event::SourceProblem>(&event.body)) note_problem(event.where.source, *problem);
  const bool later = together_ || unjudged_ || !may_judge();
  const Duration began = later ? Duration{} : steady();
  const bool matters =
      advance(state_, event, knowledge_.knowledge(), memory_, later ? Judge::kAtClose : when_, decided_);
  if (heard_by_) heard_by_(state_, event);
  if (matters && later) unjudged_ = {event.at, event.where, event.received};
  if (!later) judged_since(began);  // most events call for none, and cost next to nothing
  publish_decisions();
  if (!together_) judge_when_due();
}

/// Damage makes the result partial. A missing end does not: the file may still be written, and what came is all there.
void RunReader::note_problem(uint32_t source, const event::SourceProblem& problem) {
  constexpr std::array<std::string_view, 4> kDamage = {"damaged", "bad-checksum", "not-a-record", "unreadable"};
  const bool damage = std::find(kDamage.begin(), kDamage.end(), problem.problem) != kDamage.end();
  const bool tail = problem.problem == "torn-tail" && recorder_ == nullptr;
  if (!damage && !tail) return;
  partial_ = partial_ || damage;
  const bool in_all = problem.problem == "damaged";
  Unread& known = unread_[source];
  if (!known.what.empty() && !(damage && known.tail) && !(in_all && !known.in_all)) return;
  known = {clip(cat(problem.problem == "not-a-record" ? "garbled: " : "", problem.detail), 300), in_all, tail};
}

void RunReader::report_problems() {
  for (const auto& [number, unread] : unread_) {
    const std::string path = number < state_.sources.size() ? state_.sources[number].path : "";
    notes_.push_back(unread.tail ? cat(path, ": its end is missing, or is still being written: ", unread.what)
                                 : cat(path, ": part of it could not be read: ", unread.what));
  }
  unread_.clear();
}

bool RunReader::says_nothing() const {
  const bool known = !state_.framework.empty() && state_.framework != "custom";
  if (known || !state_.attempts.empty() || !state_.series.empty() || !state_.eval.empty() || !state_.config.empty() ||
      !state_.templates.empty() || !state_.signatures.empty() || !state_.progress.empty()) {
    return false;
  }
  return std::all_of(state_.sources.begin(), state_.sources.end(), [](const SourceState& source) {
    const bool any = source.kind == "text" || source.kind == "json" || source.kind == "jsonl";  // no tracker's own
    return any && !source.end_at.known() && !source.first_at.known();
  });
}

void RunReader::judged_since(Duration began) {
  if (clock_ == nullptr) return;
  const Duration now = clock_->steady();
  next_judgement_ = {now.ns + kRestPerJudgement * (now.ns - began.ns)};
}

Duration RunReader::judgement_in() const { return {std::max<int64_t>(0, next_judgement_.ns - steady().ns)}; }

/// What comes at once is judged at once: someone who catches up with a long log would judge it thousands of times.
template <typename Do>
void RunReader::judge_once(Do&& read) {
  together_ = true;
  read();
  together_ = false;
  judge_when_due();
}

void RunReader::judge_when_due() {
  if (!unjudged_ || !may_judge()) return;
  const auto [at, where, received] = *unjudged_;
  unjudged_.reset();
  if (when_ != Judge::kAlways) return;
  const Duration began = steady();
  review(state_, knowledge_.knowledge(), memory_, decided_, at, where, received);
  judged_since(began);
  publish_decisions();
}

void RunReader::publish_decisions() {
  if (decided_.empty()) return;
  if (recorder_ != nullptr) {
    for (const Event& decision : decided_) recorder_->record(decision);
    if (const auto kept = recorder_->flush(); !kept.ok() && notes_.empty()) notes_.push_back(kept.error().what);
  }
  if (on_decision_) {
    for (const Event& decision : decided_) on_decision_(state_, decision);
  }
  decided_.clear();
}

/// Reads one file, up to its end, its share, or the time.
size_t RunReader::turn_of(SourceReader& source, size_t most, Duration until) {
  size_t read = 0;
  bool at_end = false;
  judge_once([&] {
    while (!at_end && read < most && (read == 0 || steady() < until)) {
      const size_t piece = std::min(kPieceBytes, most - read);
      const auto got = source.poll(piece);
      at_end = !got.ok() || *got < piece;
      if (got.ok()) read += *got;
    }
    if (read > 0) say_framework();
  });
  const auto behind = behind_.find(source.number());
  if (behind != behind_.end() && (read == 0 || source.bytes() >= behind->second)) behind_.erase(behind);
  return read;
}

size_t RunReader::turn() {
  const Duration until{steady().ns + kTurnTime.ns};
  // The keeper writes that an attempt has ended after all that the attempt itself wrote, to whatever file: of its file,
  // which is the first, what stands there now is read behind the others.
  const bool kept = shared_.keeper_nonce && sources_.size() > 1;
  const int64_t kept_bytes = kept ? sources_.front()->unread() : 0;
  size_t read = 0;
  for (size_t i = 0; i < sources_.size(); ++i) {
    const size_t place = (next_source_ + i + (kept ? 1 : 0)) % sources_.size();
    const size_t most = kept && place == 0 ? static_cast<size_t>(std::max<int64_t>(kept_bytes, 1)) : kTurnBytes;
    read += turn_of(*sources_[place], std::min(most, kTurnBytes), until);
    if (read > 0 && clock_ != nullptr && steady() >= until) {
      next_source_ = place + (kept ? 0 : 1);  // the one behind it follows on the next turn
      return read;
    }
  }
  next_source_ = 0;
  return read;
}

void RunReader::catch_up() {
  for (const auto& source : sources_) behind_[source->number()] = source->bytes() + source->unread();
}

void RunReader::read_all(const std::function<void(int64_t, int64_t)>& progress) {
  int64_t before = 0;
  for (const auto& source : sources_) {
    for (;;) {
      const auto got = source->poll(kTurnBytes);
      if (!got.ok()) {
        notes_.push_back(cat(source->path(), ": ", got.error().what));
        partial_ = true;
        if (source->skip_part()) continue;
        break;
      }
      say_framework();
      if (*got == 0) break;
      if (progress) progress(before + source->bytes(), total_bytes_);
    }
    source->finish();
    before += source->bytes();
  }
}

void RunReader::judge_again() {
  unjudged_.reset();
  review(state_, knowledge_.knowledge(), memory_, decided_);
  publish_decisions();
}

void RunReader::tick(Time now) {
  Event event;
  event.at = now;
  event.body = event::Ticked{false, logs_speak()};
  put(std::move(event));
}

/// Since it was last asked, of files that it was asked of before.
bool RunReader::logs_speak() {
  bool speak = false;
  for (const auto& source : sources_) {
    const auto [heard, fresh] = heard_.try_emplace(source->number(), source->lines());
    if (fresh || heard->second == source->lines()) continue;
    heard->second = source->lines();
    speak = speak || !is_idle_line(source->last_text(), knowledge_.knowledge());
  }
  return speak;
}

bool RunReader::holds_trace() const {
  return std::any_of(sources_.begin(), sources_.end(), [](const auto& source) { return source->holds_trace(); });
}

void RunReader::preview(Time now) {
  struct Kept final : EventSink {
    void put(Event&& event) override { events.push_back(std::move(event)); }
    std::vector<Event> events;
  } kept;
  for (const auto& source : sources_) {
    if (skip_.count(source->number()) == 0) source->preview(kept);  // else it is still being read again
  }
  if (kept.events.empty()) return;
  judge_once([&] {
    put({now, {}, event::Ticked{true}});
    for (Event& event : kept.events) put(std::move(event));
    tick(now);
  });
}

void RunReader::close(Time now) {
  if (recorder_ != nullptr) {
    Event closing;
    closing.at = now;
    closing.body = event::Ticked{true};
    put(std::move(closing));
  }
  for (const auto& source : sources_) source->finish();
  say_framework();
  Event event;
  event.body = event::Closed{};
  put(std::move(event));
  report_problems();
  std::vector<std::string> mixed = mixed_runs(state_);
  if (mixed.empty()) mixed = note_on_runs(runs_in_files(state_));
  for (std::string& note : mixed) notes_.push_back(std::move(note));
  for (std::string& note : not_seen(state_)) notes_.push_back(std::move(note));
}

std::vector<std::string> RunReader::watched() const {
  std::vector<std::string> paths = paths_;
  for (const auto& source : sources_) {
    paths.push_back(source->path());
    const size_t slash = source->path().rfind('/');
    paths.push_back(slash == std::string::npos ? "." : source->path().substr(0, slash));
  }
  return paths;
}

InputFigures RunReader::figures() const {
  InputFigures figures;
  for (const auto& source : sources_) {
    if (!source->readable()) continue;
    ++figures.files;
    figures.bytes += source->bytes();
    figures.lines += source->lines();
  }
  return figures;
}

}  // namespace mw
