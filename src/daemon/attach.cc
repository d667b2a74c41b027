#include "daemon/attach.h"

#include <algorithm>

#include "base/text.h"

namespace mw {
namespace {

constexpr Duration kLookAgain = Duration::seconds(2);     // between looks for new files where nothing was told
constexpr Duration kTick = Duration::seconds(10);         // without news, after which time itself is news
constexpr Duration kLull = Duration::seconds(0.05);       // without a line, after which a traceback may be all there is
constexpr Duration kPreviewEvery = Duration::seconds(1);  // at most, as ranks often fail one after the other
constexpr Duration kLeastWait = Duration::seconds(0.01);

/// Whose trainer it is, once known, is not recognised anew; that only an engine spoke so far decides nothing.
std::string trainer_of(const Language& language, const std::string& dialect) {
  const auto known = language.book().find(dialect);
  const bool trainer = known && language.book().dialects()[*known].family == Dialect::Family::kTrainer;
  return trainer ? dialect : std::string();
}

}  // namespace

Result<std::unique_ptr<AttachLoop>> AttachLoop::open(const Doors& doors, const Language& language,
                                                     const AttachRequest& request) {
  auto recorder = Recorder::open(doors.disk, doors.locks, request.home, request.run, request.paths);
  if (!recorder.ok()) return recorder.error();
  std::unique_ptr<AttachLoop> loop(new AttachLoop(doors, language, request, std::move(*recorder)));
  MW_TRY(loop->recorder_->replay_into(loop->reader_.state()));
  const bool resumed = loop->recorder_->resumed();
  if (request.keeper_nonce) loop->reader_.trust_keeper(*request.keeper_nonce);
  MW_TRY(loop->reader_.open(
      request.paths, request.framework.empty() ? trainer_of(language, loop->recorder_->dialect()) : request.framework));
  if (resumed) {
    loop->reader_.tick(doors.clock.now());
    loop->reader_.judge_again();
  }
  loop->look_around();
  return loop;
}

AttachLoop::AttachLoop(const Doors& doors, const Language& language, const AttachRequest& request,
                       std::unique_ptr<Recorder> recorder)
    : doors_(doors),
      request_(request),
      recorder_(std::move(recorder)),
      reader_(doors.disk, language, Judge::kAlways, recorder_.get(), request_.decided),
      began_(doors.clock.steady()),
      last_news_(began_),
      last_look_(began_),
      last_tick_(began_) {}

bool AttachLoop::turn() {
  // While the journal cannot be written nothing more is read: what is in the files is not lost there.
  const bool held_up = !kept_;
  const size_t read = held_up ? 0 : reader_.turn();
  if (read > 0) {
    last_news_ = doors_.clock.steady();
    unsaid_ = true;
  }
  keep();
  if (kept_ && (read > 0 || held_up)) return true;  // there may be more
  Duration longest = Duration::seconds(request_.poll_s);
  for (Companion* companion : companions_) {
    const auto patience = companion->turn(reader_.state(), read == 0 && kept_, *this);
    if (!patience) {
      finish();
      return false;
    }
    longest = std::min(longest, *patience);
  }
  if (const Duration idle = Duration::seconds(request_.exit_after_idle_s); idle.ns > 0) {
    const Duration left{idle.ns - since(last_news_).ns};
    if (left.ns <= 0) {
      finish();
      return false;
    }
    longest = std::min(longest, std::max(kLeastWait, left));
  }
  if (const auto left = preview(); left) longest = std::min(longest, *left);
  wait(longest);
  return !stopped_;
}

/// A traceback after which nothing is written is told, too. Returns after how long to ask again.
std::optional<Duration> AttachLoop::preview() {
  if (!unsaid_ || !kept_) return std::nullopt;
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
    acted({id, false, cat("not done: the intent could not be recorded: ", durable.error().what), 0});
    return durable.error();
  }
  return id;
}

void AttachLoop::acted(event::Acted outcome) { put({{}, {}, std::move(outcome)}); }

Result<void> AttachLoop::told(event::Told words, Time at) {
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

void AttachLoop::put(Event event) {
  if (!event.at.known()) event.at = doors_.clock.now();
  reader_.put(std::move(event));
}

void AttachLoop::wait(Duration longest) {
  const Watch::Woke woke = doors_.watch.wait(longest);
  if (woke == Watch::Woke::kStop) {
    stopped_ = true;
    for (Companion* companion : companions_) stopped_ = !companion->told_to_stop() && stopped_;
    return;
  }
  if (woke == Watch::Woke::kNames || since(last_look_) > kLookAgain) {
    reader_.look_again();
    look_around();
  }
  if (since(last_news_) > kTick && since(last_tick_) > kTick) {
    last_tick_ = doors_.clock.steady();
    reader_.tick(doors_.clock.now());
  }
}

void AttachLoop::look_around() {
  last_look_ = doors_.clock.steady();
  for (const std::string& path : reader_.watched()) doors_.watch.add(path);
}

void AttachLoop::keep() {
  auto kept = recorder_->flush();
  if (!kept.ok() && kept.error().code == Error::Code::kFull && make_room_ && make_room_()) kept = recorder_->flush();
  kept_ = kept.ok();
  if (!kept_ && trouble_.empty()) trouble_ = kept.error().what;
}

/// Nothing new for as long as was asked: the run counts as ended, as in a replay of its files.
void AttachLoop::finish() {
  cut_short_ = !kept_;
  reader_.close(doors_.clock.now());
  keep();
  stopped_ = true;
}

std::unique_ptr<Replayed> AttachLoop::take() {
  for (Companion* companion : companions_) companion->over(reader_.state(), *this);
  const auto durable = recorder_->sync();
  auto told = std::make_unique<Replayed>();
  told->input = reader_.figures();
  told->input.seconds = since(began_).seconds();
  told->notes = std::move(reader_.notes());
  if (!durable.ok()) told->notes.push_back(cat("the journal could not be written: ", durable.error().what));
  if (!trouble_.empty()) told->notes.push_back(cat("the journal was held up: ", trouble_));
  told->partial = reader_.partial() || !durable.ok() || cut_short_;
  told->state = std::move(reader_.state());
  return told;
}

Result<std::unique_ptr<Replayed>> attach_run(const Doors& doors, const Language& language,
                                             const AttachRequest& request) {
  auto loop = AttachLoop::open(doors, language, request);
  if (!loop.ok()) return loop.error();
  while ((*loop)->turn()) {
  }
  return (*loop)->take();
}

}  // namespace mw
