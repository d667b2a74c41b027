#include "core/detect/support/failure_chain.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "base/text.h"
#include "core/detect/support/closing.h"
#include "core/detect/support/helper_threads.h"
#include "core/detect/support/in_flight.h"
#include "core/detect/support/join_traces.h"
#include "core/detect/support/named_rank.h"
#include "core/detect/support/outlive_start.h"
#include "core/detect/support/progress.h"
#include "core/detect/support/recurrent_errors.h"
#include "core/detect/support/server_restarts.h"
#include "core/detect/support/step_cleanup.h"
#include "core/exit_status.h"
#include "core/incident_kind.h"
#include "core/trace_frame.h"

namespace mw::detect {
namespace {

// A failure that ends a run is followed by its echoes, rarely by more text or time than this.
constexpr uint64_t kAftermathLines = 4000;
constexpr int64_t kAftermathSeconds = 1800;
// A failure that makes a person or a supervisor stop the run at once lies at most this far before the stop.
constexpr double kEndingSeconds = 120;
constexpr uint64_t kEndingLines = 300;

// An error that ends a log is followed by a logger's summary and the echoes of other ranks, rarely by more text. Where
// no plan says that more was to come, only what stands at the very end counts.
constexpr uint64_t kEndingLog = 100;
// Two pipes end in one file: the last step's line may come behind the error that followed it.
constexpr uint64_t kStragglingLines = 3;

/// Only a file's exit record says that the attempt was complete, and it did not get to a step: a driver that catches
/// what its workers die of exits in order.
bool only_exited(const AttemptState& attempt, int64_t last_step) {
  return complete(attempt) && attempt.ended->text.empty() && last_step <= 0;
}

/// Is the `moment` later than `than`, as far as their places and times show?
bool later(const Moment& moment, const Moment& than) {
  if (moment.where.source == than.where.source && moment.where.line != 0 && than.where.line != 0) {
    return moment.where.line > than.where.line;
  }
  return moment.at.known() && than.at.known() && moment.at > than.at;
}

/// When a symptom happened at the latest: of one without a clock, when what is said behind it did, or before it.
Time latest_of(const State& state, const Symptom& symptom) {
  const uint32_t number = symptom.moment.where.source;
  if (symptom.moment.at.known() || number >= state.sources.size()) return symptom.moment.at;
  const SourceState& source = state.sources[number];
  const bool last = symptom.moment.attempt + 1U == state.attempts.size();
  if (last && source.end_at.known() && ends_its_log(state, symptom)) return source.end_at;
  const LineClock& clock = source.clock;
  const Time after = clock.after(symptom.last_line);
  return after.known() ? after : clock.before(symptom.moment.where.line);
}

bool lived_on(const State& state, const Symptom& symptom) {
  const AttemptState* attempt = attempt_of(state, symptom.moment.attempt);
  if (attempt == nullptr) return false;
  if (attempt->ended && !complete(*attempt)) return false;
  // Where no step was ever done, there is nothing that shows life after what ends a process.
  // A shell that does not find a program goes on with its script: what it lacked ends it at once, or not at all.
  const bool shells = symptom.signature != nullptr && symptom.within == nullptr &&
                      symptom.signature->role == Role::kSymptom && symptom.signature->kind == "dependency-broken";
  if (shells && last_line_of(state, symptom) > symptom.last_line + kEndingLog) return true;
  const bool root = symptom.signature != nullptr && symptom.signature->fatal && symptom.signature->role == Role::kRoot;
  if (root && attempt->last_step == kNoStep) return false;
  // Within one file the order of the lines counts: who writes into it may have clocks of other zones.
  const Where& busy = attempt->busy.where;
  const bool before = busy.source == symptom.moment.where.source && busy.line != 0 && busy.line <= symptom.last_line &&
                      busy.source < state.sources.size() && state.sources[busy.source].kind == "text";
  if (const Time at = latest_of(state, symptom); attempt->busy.at.known() && at.known() && !before) {
    return attempt->busy.at - at > Duration::seconds(static_cast<double>(kAftermathSeconds));
  }
  return last_line_of(state, symptom) > symptom.last_line + kAftermathLines;
}

bool plan_done(const State& state, const AttemptState& attempt, const Progress& progress, const Symptom& symptom) {
  const int64_t total = attempt.total_steps > 0 ? attempt.total_steps : state.total_steps;
  return total > 1 && progress.last_step(symptom.moment.attempt) + 1 >= total;
}

/// Attempts of which nothing but an exit status of 0 says that they ended well.
class StatusEnds {
 public:
  StatusEnds(const State& state, const Knowledge& knowledge, const HelperThreads& helpers)
      : state_(state), helpers_(helpers) {
    for (size_t i = 0; i < state.attempts.size(); ++i) {
      if (!ended_by_status(state.attempts[i]) || said_done(state, knowledge, i)) continue;
      const int64_t total = state.attempts[i].total_steps > 0 ? state.attempts[i].total_steps : state.total_steps;
      const bool open = open_plan(state, i).has_value();
      if (open || total <= 1 || last_done(state, i) < 1) ends_[static_cast<uint16_t>(i)] = open;
    }
  }

  /// Did the symptom end its attempt, whatever the status says? An error that ended the log did; where the plan was
  /// open, so did what normally ends a process, and what is only the echo of a failure.
  bool belied_by(const Symptom& symptom, const Progress& progress) const {
    const auto end = ends_.find(symptom.moment.attempt);
    if (end == ends_.end()) return false;
    const bool open = end->second, trace = symptom.trace != nullptr || symptom.within != nullptr;
    if (!trace && !(open && symptom.signature->fatal)) return false;
    if ((!open && !is_root(symptom)) || (trace && helpers_.died_in(symptom))) return false;
    const Moment& over = state_.attempts[symptom.moment.attempt].ended_at;
    const bool same = over.where.source == symptom.moment.where.source;
    const bool clocked = over.at.known() && symptom.moment.at.known();
    const bool near = same ? over.where.line <= symptom.last_line + (open ? kEndingLines : kEndingLog)
                           : clocked && (over.at - symptom.moment.at).seconds() <= kEndingSeconds;
    return near && !progress.after(symptom.moment, symptom.last_line + kStragglingLines) && !worked_after(symptom);
  }

 private:
  /// A checkpoint or an evaluation came after it.
  bool worked_after(const Symptom& symptom) const {
    const auto behind = [&symptom](const Where& where) {
      return where.source == symptom.moment.where.source && where.line > symptom.last_line;
    };
    const bool saved = std::any_of(state_.checkpoints.begin(), state_.checkpoints.end(), [&behind](const auto& one) {
      return one.second.complete && behind(one.first.where);
    });
    return saved || std::any_of(state_.eval.begin(), state_.eval.end(), [&behind](const Series& series) {
             return !series.empty() && behind(series.points().back().where);
           });
  }

  const State& state_;
  const HelperThreads& helpers_;
  std::map<uint16_t, bool> ends_;  ///< by attempt: was its plan open?
};

/// The attempt's record says that it failed, and a log without a clock ends with an exception that nobody caught: that
/// another file has a later step on record, which the log has not, shows nothing.
bool explains_status(const State& state, const Symptom& symptom) {
  constexpr uint64_t kBlankLines = 4;
  const AttemptState* attempt = attempt_of(state, symptom.moment.attempt);
  const uint32_t number = symptom.moment.where.source;
  if (attempt == nullptr || !attempt->ended || number >= state.sources.size() || symptom.moment.at.known())
    return false;
  const event::Ended& end = *attempt->ended;
  const bool failed = end.how == event::Ended::How::kFailed || (end.how == event::Ended::How::kExit && end.code > 0);
  const SourceState& source = state.sources[number];
  const bool raised = symptom.trace != nullptr || symptom.within != nullptr;
  const bool elsewhere = attempt->ended_at.where.source != number;
  return failed && elsewhere && raised && is_root(symptom) && source.kind == "text" && source.ended &&
         static_cast<int64_t>(symptom.last_line + kBlankLines) >= source.lines;
}

void place(const State& state, const Progress& progress, const StatusEnds& ends, const Closing& closing,
           Symptom& symptom) {
  if (closing.breaks_save(symptom)) return;  // neither survived nor a matter of the teardown
  symptom.teardown = closing.shut_down(symptom) || closing.failed_afterwards(symptom);
  if (symptom.teardown || ends.belied_by(symptom, progress)) return;
  const AttemptState* attempt = attempt_of(state, symptom.moment.attempt);
  const bool died = attempt != nullptr && only_exited(*attempt, progress.last_step(symptom.moment.attempt)) &&
                    is_root(symptom) &&
                    (symptom.trace != nullptr || symptom.within != nullptr || symptom.signature->fatal);
  if (attempt != nullptr && complete(*attempt) && !died) {
    symptom.teardown = later(symptom.moment, attempt->ended_at);
    symptom.survived = !symptom.teardown;
  }
  const bool echo = attempt != nullptr && !symptom.teardown && !is_root(symptom);
  if (echo && plan_done(state, *attempt, progress, symptom) && !progress.after(symptom.moment, symptom.last_line)) {
    symptom.teardown = true;  // only echoes follow a plan that was carried out
  }
  if (!symptom.teardown && !symptom.survived) {
    symptom.survived = progress.after(symptom.moment, symptom.last_line) && !explains_status(state, symptom) &&
                       progress.after(symptom.moment, symptom.last_line, steps_in_flight(state, symptom));
    symptom.idle = !symptom.survived && attempt != nullptr && attempt->last_step != kNoStep;
    symptom.survived = symptom.survived || lived_on(state, symptom);
  }
}

void add_signatures(const State& state, const Knowledge& knowledge, std::vector<Symptom>& symptoms) {
  for (const SignatureState& seen : state.signatures) {
    const Signature* signature = knowledge.find(seen.id);
    if (signature == nullptr || signature->role == Role::kBenign || seen.sample) continue;
    for (const SignatureState::Match& match : seen.matches) {
      if (match.text.empty()) continue;  // only says how many more there were
      Symptom symptom;
      symptom.signature = signature;
      symptom.moment = match.moment;
      symptom.order = match.order;
      symptom.last_line = match.moment.where.line;
      symptom.count = seen.count;
      symptom.text = match.text;
      symptoms.push_back(std::move(symptom));
    }
  }
}

/// How asyncio asks whether a loop runs: handled at once, and printed before whatever failed afterwards.
bool only_probed(const TraceState& link) { return link.trace.message.starts_with("no running event loop"); }

ExceptionClass class_of(const TraceState& seen) {
  return classify_exception(seen.trace.exception, seen.trace.message, seen.trace.frame);
}

/// What prints an exception failed at that itself: it says nothing of the run.
bool is_of_printing(const TraceState& link) {
  static constexpr std::array<std::string_view, 4> kPrinters = {"/IPython/core/", "/stack_data/", "/rich/traceback",
                                                                "/better_exceptions/"};
  const std::string_view frame = raising_frame(link.trace.frame);
  return std::any_of(kPrinters.begin(), kPrinters.end(),
                     [frame](std::string_view one) { return contains(frame, one); });
}

/// Of a chain of exceptions the last one has the program's own words. An echo says less than the link that it echoes,
/// and so does a type that says nothing, where the first link is of the machine: a full disk, a memory, a key.
bool first_link_leads(const ExceptionClass& first, const ExceptionClass& last) {
  if (last.consequence) return true;
  const bool outside = is_resource(first.kind) || first.kind == "credentials" || first.kind == "network" ||
                       first.kind == "checkpoint-incomplete";
  const bool refusal = last.kind == "config-error";
  return says_little(last) && !refusal && outside && !first.consequence;
}

void add_traces(const State& state, std::vector<Symptom>& symptoms) {
  const TraceState* chain = nullptr;  // first handled link of the chain that is being read
  for (const TraceState& seen : state.traces) {
    if (seen.trace.sample) continue;
    if (chain != nullptr && chain->moment.where.source != seen.moment.where.source) chain = nullptr;
    if (seen.trace.handled) {
      if (chain == nullptr || only_probed(*chain)) chain = &seen;
      continue;
    }
    Symptom symptom;
    symptom.trace = &seen;
    symptom.moment = seen.moment;
    symptom.order = seen.order;
    symptom.last_line = seen.trace.last_line;
    if (chain != nullptr) {
      // The chain began with its first link.
      if (is_of_printing(seen) || first_link_leads(class_of(*chain), class_of(seen))) symptom.trace = chain;
      symptom.moment = chain->moment;
      symptom.order = chain->order;
      chain = nullptr;
    }
    symptom.type = class_of(*symptom.trace);
    symptom.text = cat(symptom.trace->trace.exception, ": ", symptom.trace->trace.message);
    symptoms.push_back(std::move(symptom));
  }
}

bool is_interruption(const Symptom& symptom) {
  if (!is_root(symptom)) return false;
  const std::string kind = kind_of(symptom);
  return kind == "interrupted" || kind == "preempted";
}

/// When a symptom happened; of one without a clock, when what is said next to it did.
Time time_of(const std::vector<Symptom>& symptoms, const Symptom& symptom) {
  if (symptom.moment.at.known()) return symptom.moment.at;
  Time before;
  for (const Symptom& other : symptoms) {
    const uint64_t line = other.moment.where.line, own = symptom.moment.where.line;
    const bool same =
        other.moment.where.source == symptom.moment.where.source && other.moment.attempt == symptom.moment.attempt;
    if (!same || !other.moment.at.known() || line + kEndingLines < own || line > symptom.last_line + kEndingLines)
      continue;
    if (line > own) return other.moment.at;
    before = other.moment.at;
  }
  return before;
}

/// Did `symptom` happen so shortly before `end` that it may have brought it about?
bool shortly_before(const std::vector<Symptom>& symptoms, const Symptom& symptom, const Symptom& end) {
  const Time at = time_of(symptoms, symptom), over = time_of(symptoms, end);
  if (at.known() && over.known()) return (over - at).seconds() <= kEndingSeconds;
  return symptom.moment.where.source == end.moment.where.source &&
         end.moment.where.line <= symptom.last_line + kEndingLines;
}

/// What went before a person or a scheduler ended the attempt did not end it, unless it came right before.
void outlive(std::vector<Symptom>& symptoms) {
  for (const Symptom& end : symptoms) {
    if (end.survived || end.teardown || !is_interruption(end)) continue;
    for (Symptom& symptom : symptoms) {
      if (symptom.moment.attempt != end.moment.attempt || symptom.order >= end.order) continue;
      if (!shortly_before(symptoms, symptom, end)) symptom.survived = true;
    }
  }
}

/// A helper's death did not end an attempt whose end has another root.
void outlive_helpers(const HelperThreads& helpers, std::vector<Symptom>& symptoms) {
  std::set<uint16_t> explained;  // attempts
  for (const Symptom& symptom : symptoms) {
    if (!symptom.survived && !symptom.teardown && is_root(symptom) && !helpers.died_in(symptom))
      explained.insert(symptom.moment.attempt);
  }
  for (Symptom& symptom : symptoms) {
    const bool helper = explained.count(symptom.moment.attempt) != 0 && helpers.died_in(symptom);
    if ((helper || helpers.only_shown(symptom)) && !symptom.teardown) symptom.survived = true;
  }
}

/// Streams that are read side by side end their records in any order; within one source the line says what came first.
void order_by_line(std::vector<Symptom>& symptoms) {
  std::map<uint32_t, std::vector<Symptom*>> by_source;
  for (Symptom& symptom : symptoms) {
    if (symptom.moment.where.line != 0) by_source[symptom.moment.where.source].push_back(&symptom);
  }
  for (auto& [source, own] : by_source) {
    std::vector<uint64_t> orders;
    orders.reserve(own.size());
    for (const Symptom* symptom : own) orders.push_back(symptom->order);
    std::sort(orders.begin(), orders.end());
    std::stable_sort(own.begin(), own.end(),
                     [](const Symptom* a, const Symptom* b) { return a->moment.where.line < b->moment.where.line; });
    for (size_t i = 0; i < own.size(); ++i) own[i]->order = orders[i];
  }
}

/// An exit status that is a signal's says of what its process died, where it is the signal of a segmentation fault.
bool names_segfault(const Symptom& symptom) {
  static constexpr std::array<std::string_view, 4> kWords = {"SIGSEGV", "Signal 11 ", "code: -11)", "code 139"};
  if (symptom.signature->id != "signal-exit-status") return false;
  return std::any_of(kWords.begin(), kWords.end(),
                     [&symptom](std::string_view word) { return contains(symptom.text, word); });
}

}  // namespace

std::string kind_of(const Symptom& symptom) {
  if (symptom.signature != nullptr) return symptom.signature->kind;
  return std::string(symptom.type.kind);
}

std::string cause_of(const Symptom& symptom) {
  if (symptom.consequence) return "slurm-cancelled";
  if (symptom.signature != nullptr) {
    return names_segfault(symptom) ? std::string("segfault-generic") : symptom.signature->id;
  }
  return std::string(symptom.type.cause);
}

bool is_root(const Symptom& symptom) {
  if (symptom.consequence) return false;
  if (symptom.signature != nullptr) return symptom.signature->role == Role::kRoot;
  return !symptom.type.consequence;
}

const AttemptState* attempt_of(const State& state, uint16_t attempt) {
  return attempt < state.attempts.size() ? &state.attempts[attempt] : nullptr;
}

bool complete(const AttemptState& attempt) {
  return attempt.ended && (attempt.ended->how == event::Ended::How::kComplete ||
                           (attempt.ended->how == event::Ended::How::kExit && attempt.ended->code == 0));
}

std::vector<Symptom> symptoms_of(const State& state, const Knowledge& knowledge) {
  std::vector<Symptom> symptoms;
  add_signatures(state, knowledge, symptoms);
  add_traces(state, symptoms);
  if (symptoms.empty()) return symptoms;
  join_traces(symptoms);
  const Progress progress(state);
  const HelperThreads helpers(state, knowledge);
  const StatusEnds ends(state, knowledge, helpers);
  const Closing closing(state, knowledge, progress);
  for (Symptom& symptom : symptoms) place(state, progress, ends, closing, symptom);
  order_by_line(symptoms);
  std::stable_sort(symptoms.begin(), symptoms.end(), [](const Symptom& a, const Symptom& b) {
    if (a.moment.attempt != b.moment.attempt) return a.moment.attempt < b.moment.attempt;
    return a.order < b.order;
  });
  follow_failures(symptoms);
  outlive(symptoms);
  outlive_helpers(helpers, symptoms);
  outlive_start(state, progress, symptoms);
  outlive_server_restarts(state, knowledge, symptoms);
  outlive_recurrent_errors(state, symptoms);
  mark_named_ranks(symptoms);
  return symptoms;
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
