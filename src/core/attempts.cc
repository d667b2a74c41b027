#include "core/attempts.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "core/agreeing_figures.h"
#include "core/attempt_share.h"
#include "core/mixed_runs.h"
#include "core/next_log.h"
#include "core/outermost_frame.h"
#include "core/shell_word.h"
#include "core/whose_end.h"

namespace mw {
namespace {

constexpr Duration kLate = Duration::seconds(5);             // more than processes that write one file differ by
constexpr int64_t kScriptSteps = 10;                         // before the training
constexpr Duration kClockSetBack = Duration::seconds(3000);  // clocks are set back by an hour

int64_t step_of(const Event& event) {
  if (const auto* measured = std::get_if<event::Measured>(&event.body))
    return measured->eval ? kNoStep : measured->step;
  if (const auto* began = std::get_if<event::StepBegan>(&event.body)) return began->step;
  return kNoStep;
}

size_t add_attempt(State& state, SourceState& source, const Event& event, std::string_view why) {
  if (state.attempts.size() < State::kAttemptLimit) {
    AttemptState attempt;
    attempt.why = clip(why, kTextLimit);
    attempt.began = {kNoStep, event.at, event.where, static_cast<uint16_t>(state.attempts.size())};
    attempt.last = attempt.began;
    attempt.last.by_clock = true;  // the weakest of words: any other sign of life counts more
    attempt.busy = attempt.last;
    const bool planned_before = !state.attempts.empty() && plans_another(state.attempts.back());
    attempt.total_steps =
        planned_before && state.attempts.back().total_steps != state.total_steps ? state.total_steps : 0;
    state.attempts.push_back(std::move(attempt));
  }
  source.attempt = static_cast<int32_t>(state.attempts.size() - 1);
  source.shown = false;
  source.step = kNoStep;
  source.gave_up = 0;
  return state.attempts.size() - 1;
}

void move_to(SourceState& source, size_t attempt) {
  if (source.attempt == static_cast<int32_t>(attempt)) return;
  source.attempt = static_cast<int32_t>(attempt);
  source.shown = false;
  source.step = kNoStep;
  source.gave_up = 0;
}

/// The attempt that was under way at `at`: the last one that began before (or about then).
size_t attempt_at(const State& state, Time at) {
  size_t found = 0;
  for (size_t i = 0; i < state.attempts.size(); ++i) {
    const Time began = state.attempts[i].began.at;
    if (began.known() && began.ns - kSameBeginning.ns <= at.ns) found = i;
  }
  return found;
}

bool has_figures(const State& state, size_t attempt) {
  return std::any_of(state.series.begin(), state.series.end(), [attempt](const Series& series) {
    return !series.points().empty() && series.points().back().attempt >= attempt;
  });
}

/// Did an exception that no part of the program caught come with the last step that the source spoke of?
bool failed_there(const State& state, const SourceState& source, uint32_t number) {
  return std::any_of(state.traces.begin(), state.traces.end(), [&](const TraceState& seen) {
    return !seen.trace.sample && !seen.trace.handled && seen.moment.where.source == number &&
           seen.moment.step == source.step && seen.moment.attempt == source.attempt && is_from_module(state, seen);
  });
}

bool counter_went_back(const State& state, const SourceState& source, uint32_t file, int64_t step) {
  if (step == kNoStep || source.step == kNoStep || step >= source.step) return false;
  const size_t number = static_cast<size_t>(source.attempt);
  const int64_t saved = state.attempts[number].last_checkpoint;
  const bool from_save = saved != kNoStep && step == saved + 1 && failed_there(state, source, file);
  if (!from_save && source.step - step <= kStepSlack) return false;
  // "Step 3/4: preparing the data": steps without figures, and so few of them, are those of a script.
  if (source.step <= kScriptSteps && !has_figures(state, number)) return false;
  if (step <= 1) return true;
  const AttemptState& attempt = state.attempts[number];
  if (number + 1 < state.attempts.size()) {  // another source has reported the attempt after this one
    const AttemptState& next = state.attempts[number + 1];
    if (next.first_step != kNoStep && next.first_step <= step) return true;
    if (next.resumed_at != kNoStep && next.resumed_at <= step) return true;
  }
  if (attempt.last_checkpoint != kNoStep && step <= attempt.last_checkpoint + 1) return true;
  return source.step - step > kStepRewind || failed_there(state, source, file);
}

/// A record of the past, by its own clock: W&B writes what it has of a console's lines behind and before the figures.
bool is_late(const SourceState& source, const Event& event) {
  if (!event.at.known() || !source.last_at.known()) return false;
  const int64_t behind = source.last_at.ns - event.at.ns;  // a clock that was set back, or a date in the text, is more
  return behind > kLate.ns && behind < kClockSetBack.ns;
}

constexpr std::string_view kResumed = "the trainer resumed";
constexpr std::string_view kWentBack = "step counter went back";
constexpr std::string_view kNextLog = "another log goes on where the one before it ended";
constexpr std::string_view kLaterLog = "another log begins later, at an earlier step";
constexpr std::string_view kAfterLauncher = "steps after its launcher had given up";
constexpr uint64_t kStragglingLines = 3;  // of two pipes that end in one file

/// Another source's word on the beginning of an attempt that is known already. What the trainer says of itself counts
/// more than a counter, then the first source; so the order of reading does not matter.
void begin_again(AttemptState& attempt, const Event& event, std::string_view why) {
  const bool known_by_counter = attempt.why == kWentBack, by_counter = why == kWentBack;
  if (by_counter && !known_by_counter) return;
  if (by_counter == known_by_counter && event.where.source >= attempt.began.where.source) return;
  attempt.why = clip(why, kTextLimit);
  attempt.began.at = event.at;
  attempt.began.where = event.where;
}

/// The attempt after the source's own: one that another source has already reported, or a new one.
void go_on(State& state, SourceState& source, const Event& event, std::string_view why) {
  const size_t next = static_cast<size_t>(source.attempt) + 1;
  if (next < state.attempts.size()) {
    move_to(source, next);
    begin_again(state.attempts[next], event, why);
  } else {
    add_attempt(state, source, event, why);
  }
}

/// Is it read while midwatch itself keeps the command? Then it is of the attempt that runs: what the one before wrote,
/// to whatever file, was read before the keeper's line on its end (RunReader::turn()).
bool is_kept(const State& state, const Event& event) {
  return event.received.known() && !state.attempts.empty() && state.attempts.back().why == kKeeperBegan;
}

void first_words(State& state, SourceState& source, const Event& event) {
  if (state.attempts.empty()) {
    add_attempt(state, source, event, "");
  } else if (is_kept(state, event)) {
    move_to(source, state.attempts.size() - 1);
    source.joins = false;
  } else if (event.at.known()) {
    move_to(source, attempt_at(state, event.at));
  } else {
    move_to(source, state.attempts.size() - 1);
  }
}

/// Every source that has spoken goes on in the newest attempt.
void carry_along(State& state) {
  for (SourceState& source : state.sources) {
    if (source.attempt < 0) continue;
    move_to(source, state.attempts.size() - 1);
    source.joins = false;
  }
}

/// Does no other file show starts? Where a file has no clock, nothing says which of its lines are of which start that
/// another file shows.
bool is_alone(const State& state, const SourceState& source, const Event& event) {
  return !is_kept(state, event) &&
         std::none_of(state.sources.begin(), state.sources.end(), [&](const SourceState& other) {
           return &other != &source && other.kind == "text" && !(event.at.known() && other.last_at.known());
         });
}

/// Is it the start of another program whose first lines are those of the log?
bool begins_anew(const State& state, const SourceState& source, const Event& event) {
  return source.shown && is_alone(state, source, event);
}

void began(State& state, SourceState& source, const Event& event, const std::string& why) {
  if (why == kSameFirstLines && !begins_anew(state, source, event)) return;
  AttemptState& attempt = state.attempts[static_cast<size_t>(source.attempt)];
  if (why == kBannerAgain) {
    if (is_alone(state, source, event) && attempt.last_step == kNoStep) go_on(state, source, event, why);
    return;
  }
  if (!attempt.shown) {  // banners of many ranks, or the first words of the run
    if (attempt.why.empty()) attempt.why = clip(why, kTextLimit);
    return;
  }
  if (source.shown) {
    const size_t next = static_cast<size_t>(source.attempt) + 1;
    const bool reported = next < state.attempts.size();
    const Time other = reported ? state.attempts[next].began.at : Time{};
    if (reported && other.known() && event.at.known() && event.at.ns < other.ns - kSameBeginning.ns) return;
    go_on(state, source, event, why);
    if (is_kept(state, event)) {
      carry_along(state);
    } else if (!reported) {
      share_with_newest(state, event.where.source, event.at);
    }
    return;
  }
  if (why == kAnotherLog) {
    source.joins = false;
    add_attempt(state, source, event, why);
    return;
  }
  // A source that has reported nothing yet: another view of an attempt we know, or the log of a new one.
  if (!event.at.known() || !attempt.began.at.known()) return;  // its first measurement will show it
  const bool about_then = std::abs(event.at.ns - attempt.began.at.ns) <= kSameBeginning.ns;
  if (about_then) return begin_again(state.attempts[static_cast<size_t>(source.attempt)], event, why);
  if (event.at > attempt.last.at && static_cast<size_t>(source.attempt) + 1 == state.attempts.size()) {
    add_attempt(state, source, event, why);
  }
}

/// Does a trainer that says no word of its start say that it goes on from a step that it had done?
bool resumes_anew(const SourceState& source, const Event& event) {
  const auto* const resumed = std::get_if<event::Resumed>(&event.body);
  return resumed != nullptr && source.shown && resumed->step != kNoStep && source.step != kNoStep &&
         resumed->step <= source.step;
}

/// The first word of a log of its own is that the trainer goes on from a step which all attempts so far are past: a
/// scheduler gives each attempt another file. A further view of an attempt that is known says so, too.
void resume_in_own_log(State& state, SourceState& source, const Event& event) {
  const auto* const resumed = std::get_if<event::Resumed>(&event.body);
  if (resumed == nullptr || resumed->step == kNoStep || resumed->step <= 0 || source.shown || !source.joins) return;
  if (is_kept(state, event)) return;
  const auto is_it = [&](const AttemptState& attempt) {
    return attempt.first_step == resumed->step + 1 || attempt.first_step == resumed->step ||
           (attempt.resumed && attempt.resumed_at == resumed->step);
  };
  const auto known = std::find_if(state.attempts.begin(), state.attempts.end(), is_it);
  if (known != state.attempts.end()) return move_to(source, static_cast<size_t>(known - state.attempts.begin()));
  const AttemptState& newest = state.attempts.back();
  if (newest.first_step == kNoStep || newest.first_step > resumed->step || newest.last_step < resumed->step) return;
  if (event.at.known() && newest.last.at.known() && event.at <= newest.last.at) return;
  add_attempt(state, source, event, kResumed);
}

/// The newest attempt was none: its counter was another one in the same source, or its log a view.
void take_back(State& state) {
  const auto gone = static_cast<uint16_t>(state.attempts.size() - 1);
  const auto kept = static_cast<uint16_t>(gone - 1);
  const AttemptState last = std::move(state.attempts.back());
  state.attempts.pop_back();
  AttemptState& attempt = state.attempts.back();
  attempt.last = last.last;
  attempt.last.attempt = kept;
  attempt.busy = last.busy;
  attempt.busy.attempt = kept;
  attempt.last_checkpoint = std::max(attempt.last_checkpoint, last.last_checkpoint);
  if (last.ended) {
    attempt.ended = last.ended;
    attempt.ended_at = last.ended_at;
    attempt.ended_heard = last.ended_heard;
    attempt.ended_at.attempt = kept;
  }
  for (SourceState& other : state.sources) other.attempt = std::min<int32_t>(other.attempt, kept);
  for (Series& series : state.series) series.move_attempt(gone, kept);
  for (Series& series : state.eval) series.move_attempt(gone, kept);
  for (Series& series : state.host) series.move_attempt(gone, kept);
  for_each_moment(state, [&](Moment& moment) { moment.attempt = std::min(moment.attempt, kept); });
}

/// Does `step` go on where the counter was before it went back, as if there had been no other attempt?
bool goes_on_as_before(const State& state, const SourceState& source, const Event& event, int64_t step) {
  const size_t number = static_cast<size_t>(source.attempt);
  if (number == 0 || number + 1 != state.attempts.size() || source.step == kNoStep) return false;
  const AttemptState& attempt = state.attempts[number];
  const AttemptState& before = state.attempts[number - 1];
  return attempt.why == kWentBack && attempt.began.where.source == event.where.source && before.last_step != kNoStep &&
         step > source.step + kStepJump && step >= before.last_step && step <= before.last_step + kStepJump;
}

/// A log of its own whose clock begins when all that is known was over, at a step in the middle of it: the trainer
/// resumed and did not say so.
bool begins_later(const State& state, const SourceState& source, const Event& event, const event::Measured& measured) {
  const AttemptState& newest = state.attempts.back();
  if (is_kept(state, event) || static_cast<size_t>(source.attempt) + 1 != state.attempts.size()) return false;
  if (!event.at.known() || !newest.last.at.known() || newest.first_step == kNoStep) return false;
  return event.at - newest.last.at > kSameBeginning && measured.step > newest.first_step + kStepSlack &&
         measured.step <= newest.last_step && differs_from_all(state, event.where.source, measured);
}

/// A source without clock that begins in the middle of the chain: same numbers as another source, or a restart.
void join(State& state, SourceState& source, const Event& event, int64_t step) {
  source.joins = false;
  if (const auto* measured = std::get_if<event::Measured>(&event.body)) {
    const int32_t agreed = attempt_that_agrees(state, event.where.source, *measured);
    if (agreed >= 0) {
      const AttemptState& own = state.attempts[static_cast<size_t>(source.attempt)];
      const bool newest = static_cast<size_t>(source.attempt) + 1 == state.attempts.size();
      if (agreed < source.attempt && newest && own.why == kResumed && own.first_step == kNoStep) take_back(state);
      move_to(source, static_cast<size_t>(agreed));
      return;
    }
    if (begins_later(state, source, event, *measured)) return (void)add_attempt(state, source, event, kLaterLog);
  }
  const AttemptState& own = state.attempts[static_cast<size_t>(source.attempt)];
  const bool of_its_own = own.why == kResumed && own.began.where.source == event.where.source;
  if (event.at.known() || of_its_own) return;
  for (size_t i = state.attempts.size(); i-- > 0;) {
    const AttemptState& attempt = state.attempts[i];
    if (attempt.first_step != kNoStep && attempt.first_step <= step && step <= attempt.last_step + 1) {
      move_to(source, i);
      return;
    }
  }
}

/// A process of the trainer's was made again and said what the log began with: its steps go on as before.
bool was_no_start(const State& state, const SourceState& source, const Event& event, int64_t step) {
  const size_t number = static_cast<size_t>(source.attempt);
  if (number == 0 || number + 1 != state.attempts.size() || source.step != kNoStep) return false;
  const AttemptState &attempt = state.attempts[number], &before = state.attempts[number - 1];
  const bool by_lines = attempt.why == kSameFirstLines || attempt.why == kBannerAgain;
  return by_lines && attempt.began.where.source == event.where.source && !attempt.resumed &&
         before.last_step != kNoStep && step > before.last_step && step <= before.last_step + kStepJump;
}

/// The first step of a log: is it that of another attempt, which has a log of its own? What other files that were read
/// before have of its steps goes to it.
void begin_by_own_log(State& state, SourceState& source, const Event& event, int64_t step, int64_t resumed) {
  const size_t number = static_cast<size_t>(source.attempt);
  if (is_kept(state, event)) return;
  AttemptState& own = state.attempts[number];
  if (number + 1 < state.attempts.size()) {  // a sink without a clock has shown the next one
    AttemptState& next = state.attempts[number + 1];
    if (next.first_step != step || next.began.at.known()) return;
    if (!boundary_before(state, {event.where.source, number, step, event.at, resumed != kNoStep})) return;
    next.began.at = event.at;
    return move_to(source, number + 1);
  }
  const bool begun = number > 0 && own.first_step == kNoStep && own.began.where.source == event.where.source;
  if (begun && !own.began.at.known()) own.began.at = event.at;
  const auto boundary =
      boundary_before(state, {event.where.source, number - (begun ? 1 : 0), step, event.at, resumed != kNoStep, begun});
  if (!boundary) return;
  if (!begun) {
    if (resumed != kNoStep && own.resumed_at == resumed) {
      own.resumed = false;
      own.resumed_at = kNoStep;
    }
    add_attempt(state, source, event, kNextLog);
    state.attempts.back().resumed_at = resumed;
    state.attempts.back().resumed = resumed != kNoStep;
  }
  share_steps_with_newest(state, *boundary);
}

/// The first step after the line with which an attempt began in the middle of a log: from there on other files are of
/// it, too, those without a clock by their steps.
void share_beginning(State& state, const SourceState& source, const Event& event, int64_t step) {
  const size_t number = static_cast<size_t>(source.attempt);
  AttemptState& own = state.attempts[number];
  const bool first = own.first_step == kNoStep && own.began.where.source == event.where.source;
  if (number == 0 || number + 1 != state.attempts.size() || !first || is_kept(state, event)) return;
  Time between = own.began.at;
  if (!between.known() && event.at.known() && source.last_at.known()) {
    if (event.at < source.last_at) return;
    own.began.at = event.at;
    between = {source.last_at.ns + (event.at.ns - source.last_at.ns) / 2};
  }
  if (source.last_step != kNoStep)
    share_steps_with_newest(state, {event.where.source, event.where.source, source.last_step, step, between});
}

void follow_steps(State& state, SourceState& source, const Event& event) {
  const int64_t step = step_of(event);
  if (step == kNoStep) return;
  if (was_no_start(state, source, event, step)) take_back(state);
  if (source.joins) {
    const int64_t resumed = resumed_before(state, source, step);
    join(state, source, event, step);
    begin_by_own_log(state, source, event, step, resumed);
  } else {
    share_beginning(state, source, event, step);
  }
  if (goes_on_as_before(state, source, event, step)) {
    take_back(state);
    source.two_counters = true;
  }
  const bool back = source.step != kNoStep && step < source.step;
  const bool straggles = !back && event.where.line <= source.gave_up + kStragglingLines;
  if (source.gave_up != 0 && source.shown && !straggles) return go_on(state, source, event, kAfterLauncher);
  if (source.step == kNoStep || step >= source.step || source.two_counters) return;
  if (const auto* measured = std::get_if<event::Measured>(&event.body)) {  // another source may know better
    const int32_t agreed = attempt_that_agrees(state, event.where.source, *measured);
    if (agreed > source.attempt) return move_to(source, static_cast<size_t>(agreed));
  }
  if (is_late(source, event)) return;
  if (!counter_went_back(state, source, event.where.source, step)) return;
  const LogBoundary boundary{event.where.source, event.where.source, source.step, step, event.at};
  const size_t known = state.attempts.size();
  go_on(state, source, event, kWentBack);
  // Of a document that is written anew with each save, its steps from there on are those that were done again.
  if (state.attempts.size() > known && step > 1) share_steps_with_newest(state, boundary, true);
}

/// The first step of the attempt `next`, which its own attempt did not do: two files name it by clocks that differ a
/// little, or one has no clock.
bool steps_into(const State& state, const SourceState& source, const Event& event, size_t next) {
  const int64_t step = step_of(event);
  const AttemptState &before = state.attempts[next - 1], &after = state.attempts[next];
  if (step == kNoStep || source.step == kNoStep || after.first_step == kNoStep) return false;
  if (step < after.first_step || step <= before.last_step) return false;
  return !event.at.known() || (after.began.at.known() && after.began.at - event.at <= kSameBeginning);
}

void follow_clock(State& state, SourceState& source, const Event& event) {
  for (size_t next = static_cast<size_t>(source.attempt) + 1; next < state.attempts.size(); ++next) {
    const Time began = state.attempts[next].began.at;
    const bool later = event.at.known() && began.known() && event.at >= began;
    if (!later && !steps_into(state, source, event, next)) return;
    move_to(source, next);
  }
}

/// Does `now` come after `last`?
bool is_later(const Moment& now, const Moment& last) {
  if (now.by_clock != last.by_clock) return last.by_clock;
  if (now.at != last.at) return now.at > last.at;
  if (!now.at.known() && now.step != last.step) return now.step > last.step;
  return now.where.source <= last.where.source;
}

}  // namespace

bool plans_another(const AttemptState& attempt) {
  return attempt.ended && attempt.ended->how == event::Ended::How::kComplete && attempt.total_steps > 0 &&
         attempt.last_step + 1 >= attempt.total_steps;
}

uint16_t attempt_of(State& state, SourceState& source, const Event& event) {
  if (source.attempt < 0) {
    first_words(state, source, event);
  } else {
    follow_clock(state, source, event);
  }
  const AttemptState& own = state.attempts[static_cast<size_t>(source.attempt)];
  if (ends_command(own, event)) move_to(source, state.attempts.size() - 1);
  if (const auto* begun = std::get_if<event::AttemptBegan>(&event.body)) began(state, source, event, begun->why);
  if (resumes_anew(source, event)) began(state, source, event, std::string(kResumed));
  resume_in_own_log(state, source, event);
  follow_steps(state, source, event);
  return static_cast<uint16_t>(source.attempt);
}

void add_anchor(State& state, Time at, int64_t step) {
  if (!at.known() || step == kNoStep) return;
  auto& anchors = state.anchors;
  if (!anchors.empty() && anchors.back().second == step) return;
  const std::pair<Time, int64_t> anchor(at, step);
  if (anchors.empty() || anchors.back().first <= at) {
    anchors.push_back(anchor);
  } else {
    const auto place = std::upper_bound(anchors.begin(), anchors.end(), anchor);
    if (place != anchors.begin() && std::prev(place)->second == step) return;
    anchors.insert(place, anchor);
  }
  if (anchors.size() > State::kAnchorLimit) {
    size_t kept = 0;
    for (size_t i = 0; i < anchors.size(); i += 2) anchors[kept++] = anchors[i];
    anchors.resize(kept);
  }
}

void come_further(AttemptState& attempt, int64_t step, const Event& event) {
  attempt.last_step = step;
  attempt.quiet = {};
  if (!attempt.ended || attempt.ended->how != event::Ended::How::kFailed || attempt.ended->code != 0) return;
  const std::string_view word = trim(attempt.ended->text);
  if (!shell_says_killed(word) && word != "Killed" && word != "Terminated") return;
  const Moment& end = attempt.ended_at;
  const bool behind = event.where.source == end.where.source ? event.where.line > end.where.line + kStragglingLines
                                                             : event.received.known();
  if (!behind || end.step == kNoStep || attempt.last_step <= end.step + kStepSlack) return;
  attempt.ended.reset();
  attempt.ended_at = {};
  attempt.ended_heard = {};
}

void show_life(AttemptState& attempt, const Moment& moment, bool idle) {
  if (is_later(moment, attempt.last)) attempt.last = moment;
  if (idle || !is_later(moment, attempt.busy)) return;
  AttemptState::Quiet& quiet = attempt.quiet;
  if (moment.at.known() && attempt.busy.at.known() && moment.at - attempt.busy.at > quiet.until - quiet.since)
    quiet = {attempt.busy.at, moment.at, attempt.busy.where, moment.where};
  attempt.busy = moment;
}

}  // namespace mw
