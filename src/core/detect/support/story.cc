#include "core/detect/support/story.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/text.h"
#include "core/detect/support/progress.h"
#include "core/exit_status.h"

namespace mw::detect {
namespace {

// A failure that ends a run is followed by its echoes, rarely by more text or time than this.
constexpr uint64_t kAftermathLines = 4000;
constexpr int64_t kAftermathSeconds = 1800;
// A failure that makes a person or a supervisor stop the run at once lies at most this far before the stop.
constexpr double kEndingSeconds = 120;
constexpr uint64_t kEndingLines = 300;
// An exception seen and outlived this often, or over this long, is a habit; the ranks of one crash print theirs at
// once.
constexpr uint64_t kHabitTimes = 3;
constexpr uint64_t kFileHabitTimes = 8;  // the same of any exceptions out of one file
constexpr double kHabitSeconds = 120;

// An error that ends a log is followed by a logger's summary and the echoes of other ranks, rarely by more text. Where
// no plan says that more was to come, only what stands at the very end counts.
constexpr uint64_t kEndingLog = 100;
// Two pipes end in one file: the last step's line may come behind the error that followed it.
constexpr uint64_t kStragglingLines = 3;
constexpr uint64_t kHeaderLines = 2;  // from "Exception in thread ...:" to its traceback
const AttemptState* attempt_of(const State& state, uint16_t attempt) {
  return attempt < state.attempts.size() ? &state.attempts[attempt] : nullptr;
}

bool complete(const AttemptState& attempt) {
  return attempt.ended && (attempt.ended->how == event::Ended::How::kComplete ||
                           (attempt.ended->how == event::Ended::How::kExit && attempt.ended->code == 0));
}

/// Only a file's exit record says that the attempt was complete, and it did not get to a step: a driver that catches
/// what its workers die of exits in order.
bool only_exited(const AttemptState& attempt, int64_t last_step) {
  return complete(attempt) && attempt.ended->text.empty() && last_step <= 0;
}

/// Is the `moment` later than `than`, as far as their places and times tell?
bool later(const Moment& moment, const Moment& than) {
  if (moment.where.source == than.where.source && moment.where.line != 0 && than.where.line != 0) {
    return moment.where.line > than.where.line;
  }
  return moment.at.known() && than.at.known() && moment.at > than.at;
}

/// The last line of the mark's attempt in the mark's source.
uint64_t last_line_of(const State& state, const Mark& mark) {
  const uint32_t number = mark.moment.where.source;
  for (size_t i = mark.moment.attempt + 1U; i < state.attempts.size(); ++i) {
    if (state.attempts[i].began.where.source == number) return state.attempts[i].began.where.line;
  }
  if (number >= state.sources.size()) return mark.last_line;
  const SourceState& source = state.sources[number];
  return std::max(source.last_line, static_cast<uint64_t>(std::max<int64_t>(source.lines, 0)));
}

bool lived_on(const State& state, const Mark& mark) {
  const AttemptState* attempt = attempt_of(state, mark.moment.attempt);
  if (attempt == nullptr) return false;
  if (attempt->ended && !complete(*attempt)) return false;
  // Where no step was ever done, there is nothing that shows life after what ends a process.
  const bool root = mark.signature != nullptr && mark.signature->fatal && mark.signature->role == Role::kRoot;
  if (root && attempt->last_step == kNoStep) return false;
  if (attempt->last.at.known() && mark.moment.at.known()) {
    return attempt->last.at - mark.moment.at > Duration::seconds(static_cast<double>(kAftermathSeconds));
  }
  return last_line_of(state, mark) > mark.last_line + kAftermathLines;
}

bool plan_done(const State& state, const AttemptState& attempt, const Progress& progress, const Mark& mark) {
  const int64_t total = attempt.total_steps > 0 ? attempt.total_steps : state.total_steps;
  return total > 1 && progress.last_step(mark.moment.attempt) + 1 >= total;
}

/// What dies in a thread of its own, or as the interpreter ends, does not end the program.
class Helpers {
 public:
  Helpers(const State& state, const Knowledge& knowledge) {
    for (const SignatureState& seen : state.signatures) {
      const Signature* signature = knowledge.find(seen.id);
      if (signature == nullptr || signature->role != Role::kBenign || signature->kind != "crash") continue;
      for (const SignatureState::Match& match : seen.matches) headers_.push_back(match.moment.where);
    }
  }

  /// Does a line before the mark say that it is of a helper?
  bool died_in(const Mark& mark) const {
    return std::any_of(headers_.begin(), headers_.end(), [&mark](const Where& header) {
      const Where& at = mark.moment.where;
      return header.source == at.source && header.line < at.line && header.line + kHeaderLines >= at.line;
    });
  }

 private:
  std::vector<Where> headers_;
};

/// Attempts of which nothing but an exit status of 0 says that they ended well.
class StatusEnds {
 public:
  StatusEnds(const State& state, const Knowledge& knowledge, const Helpers& helpers)
      : state_(state), helpers_(helpers) {
    for (size_t i = 0; i < state.attempts.size(); ++i) {
      if (!ended_by_status(state.attempts[i]) || said_done(state, knowledge, i)) continue;
      const int64_t total = state.attempts[i].total_steps > 0 ? state.attempts[i].total_steps : state.total_steps;
      const bool open = open_plan(state, i).has_value();
      if (open || total <= 1 || last_done(state, i) < 1) ends_[static_cast<uint16_t>(i)] = open;
    }
  }

  /// Did the mark end its attempt, whatever the status says? An error that ended the log did; where the plan was open,
  /// so did what normally ends a process, and what is only the echo of a failure.
  bool belied_by(const Mark& mark, const Progress& progress) const {
    const auto end = ends_.find(mark.moment.attempt);
    if (end == ends_.end()) return false;
    const bool open = end->second, trace = mark.trace != nullptr || mark.within != nullptr;
    if (!trace && !(open && mark.signature->fatal)) return false;
    if ((!open && !is_root(mark)) || (trace && helpers_.died_in(mark))) return false;
    const Moment& over = state_.attempts[mark.moment.attempt].ended_at;
    const bool same = over.where.source == mark.moment.where.source;
    const bool clocked = over.at.known() && mark.moment.at.known();
    const bool near = same ? over.where.line <= mark.last_line + (open ? kEndingLines : kEndingLog)
                           : clocked && (over.at - mark.moment.at).seconds() <= kEndingSeconds;
    return near && !progress.after(mark.moment, mark.last_line + kStragglingLines) && !worked_after(mark);
  }

 private:
  /// A checkpoint or an evaluation came after it.
  bool worked_after(const Mark& mark) const {
    const auto behind = [&mark](const Where& where) {
      return where.source == mark.moment.where.source && where.line > mark.last_line;
    };
    const bool saved = std::any_of(state_.checkpoints.begin(), state_.checkpoints.end(), [&behind](const auto& one) {
      return one.second.complete && behind(one.first.where);
    });
    return saved || std::any_of(state_.eval.begin(), state_.eval.end(), [&behind](const Series& series) {
             return !series.empty() && behind(series.points().back().where);
           });
  }

  const State& state_;
  const Helpers& helpers_;
  std::map<uint16_t, bool> ends_;  ///< by attempt: was its plan open?
};

void place(const State& state, const Progress& progress, const StatusEnds& ends, Mark& mark) {
  if (ends.belied_by(mark, progress)) return;  // neither survived nor a matter of the teardown
  const AttemptState* attempt = attempt_of(state, mark.moment.attempt);
  const bool died = attempt != nullptr && only_exited(*attempt, progress.last_step(mark.moment.attempt)) &&
                    is_root(mark) && (mark.trace != nullptr || mark.within != nullptr || mark.signature->fatal);
  if (attempt != nullptr && complete(*attempt) && !died) {
    mark.teardown = later(mark.moment, attempt->ended_at);
    mark.survived = !mark.teardown;
  }
  const bool echo = attempt != nullptr && !mark.teardown && !is_root(mark);
  if (echo && plan_done(state, *attempt, progress, mark) && !progress.after(mark.moment, mark.last_line)) {
    mark.teardown = true;  // only echoes follow a plan that was carried out
  }
  if (!mark.teardown && !mark.survived) {
    mark.survived = progress.after(mark.moment, mark.last_line) || lived_on(state, mark);
  }
}

void add_signatures(const State& state, const Knowledge& knowledge, std::vector<Mark>& marks) {
  for (const SignatureState& seen : state.signatures) {
    const Signature* signature = knowledge.find(seen.id);
    if (signature == nullptr || signature->role == Role::kBenign || seen.sample) continue;
    for (const SignatureState::Match& match : seen.matches) {
      if (match.text.empty()) continue;  // only tells how many more there were
      Mark mark;
      mark.signature = signature;
      mark.moment = match.moment;
      mark.order = match.order;
      mark.last_line = match.moment.where.line;
      mark.count = seen.count;
      mark.text = match.text;
      marks.push_back(std::move(mark));
    }
  }
}

void add_traces(const State& state, std::vector<Mark>& marks) {
  const TraceState* chain = nullptr;  // first handled link of the chain that is being read
  for (const TraceState& seen : state.traces) {
    if (seen.trace.sample) continue;
    if (chain != nullptr && chain->moment.where.source != seen.moment.where.source) chain = nullptr;
    if (seen.trace.handled) {
      if (chain == nullptr) chain = &seen;
      continue;
    }
    Mark mark;
    mark.trace = &seen;
    mark.moment = seen.moment;
    mark.order = seen.order;
    mark.last_line = seen.trace.last_line;
    if (chain != nullptr) {
      // The chain began with its first link; an echo at its end says less than that link.
      const bool echo = classify_exception(seen.trace.exception, seen.trace.message, seen.trace.frame).consequence;
      if (echo) mark.trace = chain;
      mark.moment = chain->moment;
      mark.order = chain->order;
      chain = nullptr;
    }
    mark.text = cat(mark.trace->trace.exception, ": ", mark.trace->trace.message);
    marks.push_back(std::move(mark));
  }
}

/// A signature that was matched inside a traceback takes the traceback's beginning as its own; the traceback then says
/// nothing more, unless the signature is only a wrapper around it.
void join_traces(std::vector<Mark>& marks) {
  std::vector<bool> explained(marks.size(), false);
  for (Mark& mark : marks) {
    if (mark.signature == nullptr) continue;
    for (size_t i = 0; i < marks.size(); ++i) {
      const Mark& trace = marks[i];
      if (trace.trace == nullptr || trace.moment.where.source != mark.moment.where.source ||
          mark.moment.where.line < trace.moment.where.line || mark.moment.where.line > trace.last_line) {
        continue;
      }
      // A signature that only wraps whatever failed ("crash") leaves the word to the exception.
      const bool says_what = mark.signature->role == Role::kRoot || mark.signature->kind != "crash";
      if (says_what || !is_root(trace)) {
        explained[i] = true;
        mark.within = trace.trace;
      }
      if (mark.signature->role == Role::kRoot) {
        mark.moment = trace.moment;
        mark.order = std::min(mark.order, trace.order);
        mark.last_line = std::max(mark.last_line, trace.last_line);
      }
    }
  }
  size_t kept = 0;
  for (size_t i = 0; i < marks.size(); ++i) {
    if (explained[i]) continue;
    if (kept != i) marks[kept] = std::move(marks[i]);
    ++kept;
  }
  marks.resize(kept);
}

bool is_interruption(const Mark& mark) {
  if (!is_root(mark)) return false;
  const std::string kind = kind_of(mark);
  return kind == "interrupted" || kind == "preempted";
}

/// When a mark happened; of one without a clock, when what is said next to it did.
Time time_of(const std::vector<Mark>& marks, const Mark& mark) {
  if (mark.moment.at.known()) return mark.moment.at;
  Time before;
  for (const Mark& other : marks) {
    const uint64_t line = other.moment.where.line, own = mark.moment.where.line;
    const bool same =
        other.moment.where.source == mark.moment.where.source && other.moment.attempt == mark.moment.attempt;
    if (!same || !other.moment.at.known() || line + kEndingLines < own || line > mark.last_line + kEndingLines)
      continue;
    if (line > own) return other.moment.at;
    before = other.moment.at;
  }
  return before;
}

/// Did `mark` happen so shortly before `end` that it may have brought it about?
bool shortly_before(const std::vector<Mark>& marks, const Mark& mark, const Mark& end) {
  const Time at = time_of(marks, mark), over = time_of(marks, end);
  if (at.known() && over.known()) return (over - at).seconds() <= kEndingSeconds;
  return mark.moment.where.source == end.moment.where.source && end.moment.where.line <= mark.last_line + kEndingLines;
}

/// What went before a person or a scheduler ended the attempt did not end it, unless it came right before.
void outlive(std::vector<Mark>& marks) {
  for (const Mark& end : marks) {
    if (end.survived || end.teardown || !is_interruption(end)) continue;
    for (Mark& mark : marks) {
      if (mark.moment.attempt != end.moment.attempt || mark.order >= end.order) continue;
      if (!shortly_before(marks, mark, end)) mark.survived = true;
    }
  }
}

/// A helper's death did not end an attempt of which something else tells the end.
void outlive_helpers(const Helpers& helpers, std::vector<Mark>& marks) {
  std::set<uint16_t> told;  // attempts
  for (const Mark& mark : marks) {
    if (!mark.survived && !mark.teardown && is_root(mark) && !helpers.died_in(mark)) told.insert(mark.moment.attempt);
  }
  for (Mark& mark : marks) {
    const bool helper = told.count(mark.moment.attempt) != 0 && helpers.died_in(mark);
    if (helper && !mark.teardown) mark.survived = true;
  }
}

/// The traceback that a mark is or stands in; null: none.
const TraceState* trace_of(const Mark& mark) { return mark.trace != nullptr ? mark.trace : mark.within; }

/// Where an exception comes from: the file alone, or the file with the exception's type.
std::string origin(const Mark& mark, bool with_type) {
  const event::TraceSeen& trace = trace_of(mark)->trace;
  const std::string file = trace.frame.substr(0, trace.frame.rfind(".py:"));
  return with_type ? cat(trace.exception, "@", file) : file;
}

struct Habit {
  uint64_t survived = 0, times = 0;
  Time first, last;
};

using Habits = std::map<std::string, Habit>;

Habits habits_of(const std::vector<Mark>& marks, bool with_type) {
  Habits habits;
  for (const Mark& mark : marks) {
    if (trace_of(mark) == nullptr) continue;
    Habit& habit = habits[origin(mark, with_type)];
    if (mark.survived) ++habit.survived;
    if (habit.times++ == 0) habit.first = mark.moment.at;
    habit.last = mark.moment.at;
  }
  return habits;
}

/// An exception that the run has lived through time and again is caught and logged by the program: its last occurrence
/// ends nothing either, unless the attempt says that it failed.
void outlive_habits(const State& state, std::vector<Mark>& marks) {
  const Habits by_type = habits_of(marks, true), by_file = habits_of(marks, false);
  for (Mark& mark : marks) {
    if (trace_of(mark) == nullptr || mark.survived || mark.teardown) continue;
    const AttemptState* attempt = attempt_of(state, mark.moment.attempt);
    if (attempt != nullptr && attempt->ended && !complete(*attempt)) continue;
    const Habit& habit = by_type.at(origin(mark, true));
    const bool spread = habit.first.known() && (habit.last - habit.first).seconds() > kHabitSeconds;
    mark.survived = habit.survived >= kHabitTimes || by_file.at(origin(mark, false)).survived >= kFileHabitTimes ||
                    (habit.times > kHabitTimes && spread && state.attempts.size() == 1);
  }
}

/// Streams that are read side by side end their records in any order; within one source the line says what came first.
void order_by_line(std::vector<Mark>& marks) {
  std::map<uint32_t, std::vector<Mark*>> by_source;
  for (Mark& mark : marks) {
    if (mark.moment.where.line != 0) by_source[mark.moment.where.source].push_back(&mark);
  }
  for (auto& [source, own] : by_source) {
    std::vector<uint64_t> orders;
    orders.reserve(own.size());
    for (const Mark* mark : own) orders.push_back(mark->order);
    std::sort(orders.begin(), orders.end());
    std::stable_sort(own.begin(), own.end(),
                     [](const Mark* a, const Mark* b) { return a->moment.where.line < b->moment.where.line; });
    for (size_t i = 0; i < own.size(); ++i) own[i]->order = orders[i];
  }
}

}  // namespace

std::string kind_of(const Mark& mark) {
  if (mark.signature != nullptr) return mark.signature->kind;
  const event::TraceSeen& trace = mark.trace->trace;
  return std::string(classify_exception(trace.exception, trace.message, trace.frame).kind);
}

std::string cause_of(const Mark& mark) {
  if (mark.signature != nullptr) return mark.signature->id;
  const event::TraceSeen& trace = mark.trace->trace;
  return std::string(classify_exception(trace.exception, trace.message, trace.frame).cause);
}

bool is_root(const Mark& mark) {
  if (mark.signature != nullptr) return mark.signature->role == Role::kRoot;
  const event::TraceSeen& trace = mark.trace->trace;
  return !classify_exception(trace.exception, trace.message, trace.frame).consequence;
}

std::vector<Mark> marks_of(const State& state, const Knowledge& knowledge) {
  std::vector<Mark> marks;
  add_signatures(state, knowledge, marks);
  add_traces(state, marks);
  if (marks.empty()) return marks;
  join_traces(marks);
  const Progress progress(state);
  const Helpers helpers(state, knowledge);
  const StatusEnds ends(state, knowledge, helpers);
  for (Mark& mark : marks) place(state, progress, ends, mark);
  order_by_line(marks);
  std::stable_sort(marks.begin(), marks.end(), [](const Mark& a, const Mark& b) {
    if (a.moment.attempt != b.moment.attempt) return a.moment.attempt < b.moment.attempt;
    return a.order < b.order;
  });
  outlive(marks);
  outlive_helpers(helpers, marks);
  outlive_habits(state, marks);
  return marks;
}

Done done_in(const State& state, size_t attempt) {
  State::DoneSteps& known = state.done_steps;
  if (known.stamp != state.events) {
    known.stamp = state.events;
    known.measured = false;
    known.steps.assign(state.attempts.size(), {kNoStep, kNoStep});
    for (const Series& series : state.series) {
      known.measured = known.measured || !series.empty();
      for (const Series::Part& part : series.parts()) {
        if (part.least == kNoStep) continue;
        if (part.attempt >= known.steps.size()) known.steps.resize(part.attempt + 1U, {kNoStep, kNoStep});
        auto& [first, last] = known.steps[part.attempt];
        first = first == kNoStep ? part.least : std::min(first, part.least);
        last = std::max(last, part.most);
      }
    }
  }
  if (!known.measured && attempt < state.attempts.size()) {
    return {state.attempts[attempt].first_step, state.attempts[attempt].last_step};
  }
  if (attempt >= known.steps.size()) return {};
  return {known.steps[attempt].first, known.steps[attempt].second};
}

int64_t last_done(const State& state, size_t attempt) { return done_in(state, attempt).last; }

bool came_to_nothing(const State& state, size_t attempt) {
  if (attempt + 1 >= state.attempts.size()) return false;
  const AttemptState& it = state.attempts[attempt];
  return it.last_step == kNoStep && !complete(it);
}

}  // namespace mw::detect
