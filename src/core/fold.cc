#include <algorithm>
#include <cmath>
#include <optional>

#include "base/text.h"
#include "core/attempts.h"
#include "core/bounded.h"
#include "core/checkpoint_trust.h"
#include "core/components.h"
#include "core/counters.h"
#include "core/exit_status.h"
#include "core/fold_actions.h"
#include "core/fold_figures.h"
#include "core/host_figures.h"
#include "core/idle_line.h"
#include "core/incident_json.h"
#include "core/is_a.h"
#include "core/long_phase.h"
#include "core/plan_bar.h"
#include "core/provisional_events.h"
#include "core/shell_word.h"
#include "core/signal.h"
#include "core/state.h"
#include "core/step_at_line.h"
#include "core/supervise/supervision.h"
#include "core/tool_calls.h"
#include "core/whose_end.h"

namespace mw {
namespace {

template <typename Map>
typename Map::mapped_type* named(Map& map, const std::string& name) {
  const auto found = map.find(name);
  if (found != map.end()) return &found->second;
  if (map.size() >= State::kNameLimit) return nullptr;
  return &map[clip(name, 200)];
}

SourceState& source_of(State& state, uint32_t number) {
  const size_t index = std::min<size_t>(number, State::kSourceLimit - 1);
  if (state.sources.size() <= index) state.sources.resize(index + 1);
  return state.sources[index];
}

class Folder {
 public:
  Folder(State& state, const Event& event) : state_(state), event_(event) {}

  void run() {
    ++state_.events;
    state_.order = state_.events;
    // What a person says of the run, perhaps days after its end, is no part of its time.
    const bool by_person = is_a<event::Note>(event_) || is_a<event::Requested>(event_);
    if (event_.at.known() && !by_person && !is_a<event::SourceEnded>(event_)) {
      if (!state_.first_at.known() || event_.at < state_.first_at) state_.first_at = std::max(event_.at, started());
      if (event_.at > state_.last_at && !beyond_today()) state_.last_at = event_.at;
    }
    if (event_.where.line != 0 && !is_judged(event_))
      source_of(state_, event_.where.source).said(event_.where.line, event_.at);
    std::visit(*this, event_.body);
  }

  /// When the first attempt of a run that midwatch itself started began: nothing of the run is older, whatever clock a
  /// line of it quotes or forgets the zone of.
  Time started() const {
    const auto& attempts = state_.supervision.attempts;
    return attempts.empty() || attempts.front().number != 1 ? Time() : attempts.front().started_at;
  }

  // ---- sources
  void operator()(const event::SourceOpened& opened) {
    SourceState& source = source_of(state_, opened.source);
    source.path = clip(opened.path, kTextLimit);
    source.kind = clip(opened.kind, 64);
    source.bytes = opened.bytes;
    source.ended = false;
    forget_provisional(state_, opened.source);
  }
  void operator()(const event::SourceProblem& problem) {
    SourceState& source = source_of(state_, event_.where.source);
    const std::string text =
        clip(problem.detail.empty() ? problem.problem : problem.problem + ": " + problem.detail, 300);
    const auto same = std::find(source.problems.begin(), source.problems.end(), text);
    if (same == source.problems.end() && source.problems.size() < SourceState::kProblemLimit) {
      source.problems.push_back(text);
    }
  }
  void operator()(const event::SourceEnded& ended) {
    SourceState& source = source_of(state_, event_.where.source);
    source.ended = true;
    source.bytes = ended.bytes;
    source.lines = ended.lines;
    source.torn = ended.torn;
    source.end_at = event_.at;
    source.last_text = clip(ended.last_text, kTextLimit);
    settle();
  }

  // ---- the run of itself
  void operator()(const event::Recognised& recognised) {
    if (event_.where.line > 0 && !state_.framework.empty()) {  // a line states a version, not the run's framework
      if (recognised.framework == state_.framework) state_.version = clip(recognised.version, 64);
      return;
    }
    // More evidence may make it another framework, or nobody's, with less confidence than before.
    if (recognised.framework != state_.framework || !recognised.version.empty()) {
      state_.version = clip(recognised.version, 64);
    }
    state_.framework = clip(recognised.framework, 64);
    state_.framework_confidence = recognised.confidence;
  }
  void operator()(const event::SavesAs& names) {
    state_.saves_as = clip(names.framework, 64);
    state_.saves_in = names.folder.size() <= kTextLimit ? names.folder : "";  // a path that is cut names another folder
  }
  void operator()(const event::SourceHead&) {}
  void operator()(const event::ReadAs&) {}
  void operator()(const event::ClockLacks& lacks) { source_of(state_, event_.where.source).clock_lacks = lacks; }
  void operator()(const event::Configured& configured) {
    if (std::string* value = named(state_.config, configured.key)) *value = clip(configured.value, kTextLimit);
    const auto steps = configured.key == "total_steps" ? parse_int(configured.value) : std::nullopt;
    if (steps && *steps > 0) plan(*steps);  // -1 says that the epochs decide
    if (configured.key == "save_folder" && !state_.attempts.empty())
      state_.attempts.back().save_folder = clip(configured.value, kTextLimit);
  }
  void operator()(const event::AttemptBegan&) { live(); }
  void operator()(const event::Resumed& resumed) {
    AttemptState& attempt = live().attempt;
    attempt.resumed_at = resumed.step;
    attempt.resumed = true;
  }
  void operator()(const event::Planned& planned) { plan(planned.total_steps); }
  void operator()(const event::StepBegan& began) {
    Place place = live();
    at_step(place, began.step);
    add_anchor(state_, event_.at, began.step);
  }
  void operator()(const event::PhaseBegan& began) {
    Place place = live();
    begin_phase(state_, began.phase, place.moment, heard());
  }
  void operator()(const event::PhaseEnded& ended) {
    const Moment moment = live(ended.step).moment;
    end_phase(state_, ended.phase, heard());
    PhaseState* phase = named(state_.phases, ended.phase);
    if (phase == nullptr || !std::isfinite(ended.seconds)) return;
    add_phase_end(*phase, {moment.step, ended.seconds, event_.at, event_.where, moment.attempt});
  }
  void operator()(const event::Progressed& progressed) {
    const Place place = live();
    add_bar_mark(state_, place.attempt, progressed, event_.where);
    add_counter(state_, clip(progressed.what, 200), progressed.done, progressed.total, heard(), place.moment.attempt);
    if (event::Progressed* known = named(state_.progress, progressed.what)) {
      *known = progressed;
      known->what = clip(progressed.what, 200);
    }
  }
  void operator()(const event::Counted& counted) {
    add_counter(state_, clip(counted.what, 200), counted.done, counted.total, heard(), live().moment.attempt);
  }
  void operator()(const event::Measured& measured) {
    if (state_.by_host(event_.where)) return add_host_figures(state_, event_, measured, attempt_by_clock());
    Place place = live(measured.eval ? kNoStep : measured.step, is_idle(measured));
    if (!measured.eval && measured.step != kNoStep) {
      at_step(place, measured.step);
      place.source.steps.add(measured.step);
      place.source.names_steps = place.source.names_steps || !measured.counted;
      SourceState& source = place.source;
      if (source.first_step == kNoStep || measured.step < source.first_step) source.first_step = measured.step;
      if (source.last_step == kNoStep || measured.step > source.last_step) source.last_step = measured.step;
      add_anchor(state_, event_.at, measured.step);
    }
    const int64_t step = measured.step != kNoStep ? measured.step : place.moment.step;
    add_figures(state_, event_, measured, step, place.moment.attempt);
  }
  void operator()(const event::CheckpointSaved& saved) {
    Place place = live(saved.step);
    if (saved.complete && saved.step != kNoStep)
      place.attempt.last_checkpoint = std::max(place.attempt.last_checkpoint, saved.step);
    add_checkpoint(state_, place.moment, saved);
    begin_save(state_, saved.complete, place.moment, heard());
  }
  void operator()(const event::CheckpointSeen& seen) {
    add_checkpoint_scan(state_, event_, seen, is_deleted_by_log(seen) ? live().moment.attempt : attempt_by_clock());
  }
  void operator()(const event::CheckpointRead& read) { add_checkpoint_read(state_, event_, read, attempt_by_clock()); }
  void operator()(const event::PointerSeen& seen) { add_pointer(state_, event_, seen, attempt_by_clock()); }
  void operator()(const event::WeightsSynced&) {
    const Place place = live();
    ++state_.weight_syncs;
    state_.last_sync = place.moment;
  }
  void operator()(const event::Ended& ended) {
    const Place place = live();
    shown(place);
    using How = event::Ended::How;
    const auto& before = place.attempt.ended;
    const bool better = !before.has_value() || ended.code != 0 || ended.how != How::kExit;
    // An end of unknown cause does not refute the run's own statement that it is complete.
    const bool complete = before.has_value() && before->how == How::kComplete;
    if (!better || (is_unseen(ended) && complete) || is_of_a_helper(state_, event_, ended)) return;
    if (before && ended.how == How::kComplete && status_stands(place.attempt, event_)) return;
    if (complete && ended.how == How::kInterrupted && plans_another(place.attempt)) return;  // all its steps were done
    // Who was stopped before the first step does none any more: what comes is of another start.
    const bool stopped = ended.how == How::kInterrupted && place.attempt.last_step == kNoStep;
    if (stopped || shell_lost_trainer(ended.text) || launcher_lost_workers(ended.text))
      source_of(state_, event_.where.source).gave_up = event_.where.line;
    place.attempt.ended = ended;
    place.attempt.ended->text = clip(ended.text, kTextLimit);
    place.attempt.ended_at = place.moment;
    place.attempt.ended_heard = event_.received;
  }

  // ---- trouble and samples
  void operator()(const event::Matched& matched) {
    Place place = live();
    // What only says how many more there were stands where the last one did, and comes when the log ends.
    if (matched.text.empty()) place.moment.step = step_at_line(state_, event_.where, place.moment.step);
    auto known = std::find_if(state_.signatures.begin(), state_.signatures.end(),
                              [&](const SignatureState& s) { return s.id == matched.signature; });
    if (known == state_.signatures.end()) {
      if (state_.signatures.size() >= State::kSignatureLimit) return;
      SignatureState fresh;
      fresh.id = clip(matched.signature, 200);
      fresh.first = place.moment;
      fresh.text = clip(matched.text, kTextLimit);
      fresh.sample = true;
      state_.signatures.push_back(std::move(fresh));
      known = std::prev(state_.signatures.end());
    }
    if (known->sample && !matched.sample) {  // the first one that counts leads
      known->sample = false;
      known->first = place.moment;
      known->text = clip(matched.text, kTextLimit);
      known->matches.clear();
    }
    if (const auto before = take_provisional(state_, event_.where, matched.signature)) {
      known->count -= std::min(known->count, before->count);
      std::erase_if(known->matches, [this](const auto& match) { return match.moment.where == event_.where; });
    }
    if (state_.saying_last_words) add_provisional(state_, {event_.where, matched.signature, matched.count});
    known->last = place.moment;
    known->count += matched.count;
    if (known->sample == matched.sample) {
      make_room(known->matches, SignatureState::kMatchesKept);
      known->matches.push_back({place.moment, clip(matched.text, kTextLimit), state_.order});
    }
  }
  void operator()(const event::TraceSeen& trace) {
    Place place = live();
    place.moment.step = step_at_line(state_, event_.where, place.moment.step);
    if (!trace.sample) shown(place);
    if (!trace.sample && trace.exception.ends_with(".ChildFailedError"))  // torchrun's, when no restart is left
      place.source.gave_up = std::max(trace.last_line, event_.where.line);
    if (take_provisional(state_, event_.where, "")) {
      std::erase_if(state_.traces, [this](const auto& known) { return known.moment.where == event_.where; });
    }
    if (state_.saying_last_words) add_provisional(state_, {event_.where, "", 1});
    make_room(state_.traces, State::kTraceLimit);
    state_.traces.push_back({place.moment, state_.order, trace});
    event::TraceSeen& kept = state_.traces.back().trace;
    kept.exception = clip(trace.exception, 200);
    kept.message = clip(trace.message, kTextLimit);
    kept.frame = clip(trace.frame, 500);
  }
  void operator()(const event::Logged& logged) {
    const Place place = live();
    const uint64_t key = (static_cast<uint64_t>(event_.where.source) << 32) | logged.pattern;
    const auto [index, fresh] = state_.template_index.try_emplace(key, static_cast<uint32_t>(state_.templates.size()));
    if (fresh) {
      if (state_.templates.size() >= State::kTemplateLimit) {
        state_.template_index.erase(index);
        return;
      }
      state_.templates.push_back({logged.level, clip(logged.text, kTextLimit), 0, place.moment, place.moment});
    }
    TemplateState& known = state_.templates[index->second];
    known.count = std::max(known.count, logged.count);
    known.last = place.moment;
    known.level = std::max(known.level, logged.level);
    if (!fresh) known.text = clip(logged.text, kTextLimit);
  }
  void operator()(const event::FormatJudged& judged) {
    live();
    if (event::FormatJudged* known = named(state_.formats, judged.rule)) {
      known->rule = clip(judged.rule, 200);
      known->passed += judged.passed;
      known->failed += judged.failed;
    }
  }
  void operator()(const event::ToolCalled& called) {
    live();
    ToolState* tool = named(state_.tools, called.function);
    if (tool == nullptr) return;
    count_call(*tool, called);
    if (!called.error.empty()) {
      if (uint64_t* count = named(tool->errors, called.error)) ++*count;
    }
  }

  void operator()(const event::ComponentSaw& saw) { add_component(state_, saw, live().moment); }

  // ---- the watch itself
  void operator()(const event::Ticked& ticked) {
    state_.saying_last_words = ticked.closing;
    if (event_.at.known()) add_tick(ticked.speaks);
    settle();
  }
  void operator()(const event::Closed& closed) {
    state_.saying_last_words = false;
    settle();
    state_.closed = closed.final;
  }

  // ---- decided
  void operator()(const event::IncidentOpened& opened) { put_incident(opened.id, opened.json); }
  void operator()(const event::IncidentChanged& changed) { put_incident(changed.id, changed.json); }
  void operator()(const event::IncidentClosed& closed) {
    for (size_t i = 0; i < state_.incidents.size(); ++i) {
      if (state_.incidents[i].id != closed.id) continue;
      state_.incidents[i].open = false;
      if (closed.why == kWithdrawn) state_.incidents.erase(state_.incidents.begin() + static_cast<ptrdiff_t>(i));
      return;
    }
  }
  void operator()(const event::VerdictGiven& given) { state_.verdict = clip(given.verdict, 64); }

  // ---- people, actions, supervision
  void operator()(const event::Note& note) { fold_action(state_, event_, note); }
  void operator()(const event::Changed& changed) { fold_action(state_, event_, changed); }
  void operator()(const event::Intended& intended) { fold_action(state_, event_, intended); }
  void operator()(const event::Acted& acted) { fold_action(state_, event_, acted); }
  /// What is left: the events of supervision.
  template <typename Body>
  void operator()(const Body& body) {
    fold_supervision(state_.supervision, event_, body);
  }

 private:
  struct Place {
    SourceState& source;
    AttemptState& attempt;
    Moment moment;
  };

  /// The event is a sign of life: finds its attempt and moment.
  Place live(int64_t step = kNoStep, bool idle = false) {
    SourceState& source = source_of(state_, event_.where.source);
    if (source.kind == kHostKind) return of_host(source);
    const uint16_t number = by_line(attempt_of(state_, source, event_));
    AttemptState& attempt = state_.attempts[number];
    if (step == kNoStep) step = source.step;
    const bool by_clock = step == kNoStep && event_.at.known();
    if (by_clock) step = state_.step_at(event_.at);
    const Moment moment{step, event_.at, event_.where, number, by_clock};
    if (event_.at.known()) {
      if (!source.first_at.known()) source.first_at = event_.at;
      source.last_at = std::max(source.last_at, event_.at);
    }
    show_life(attempt, moment, idle);
    return {source, attempt, moment};
  }

  /// What the machine shows is recorded as it happens and is no sign of life of the run: it belongs to the attempt that
  /// was under way by then, at the step that was last reported.
  Place of_host(SourceState& source) {
    if (state_.attempts.empty()) attempt_of(state_, source, event_);
    const uint16_t number = attempt_by_clock();
    AttemptState& attempt = state_.attempts[number];
    int64_t step = state_.step_at(event_.at);
    const bool by_clock = step != kNoStep;
    if (!by_clock) step = attempt.last_step;
    source.last_at = std::max(source.last_at, event_.at);
    return {source, attempt, {step, event_.at, event_.where, number, by_clock}};
  }

  uint16_t attempt_by_clock() const {
    size_t number = state_.attempts.empty() ? 0 : state_.attempts.size() - 1;
    while (number > 0 && state_.attempts[number].began.at.known() && event_.at < state_.attempts[number].began.at)
      --number;
    return static_cast<uint16_t>(number);
  }

  /// A traceback is emitted when it has ended, which may be after the next attempt began: its line says whose it is.
  uint16_t by_line(uint16_t number) const {
    const auto before = [this](const Moment& began) {
      return began.where.source == event_.where.source && event_.where.line != 0 &&
             event_.where.line < began.where.line;
    };
    while (number > 0 && before(state_.attempts[number].began)) --number;
    return number;
  }

  /// Steps and attempts that were read off the clock, once more: in the meantime the source that reports them may have
  /// caught up.
  void settle() {
    const auto moment = [this](Moment& m) {
      if (!m.by_clock) return;
      m.step = state_.step_at(m.at);
      for (size_t next = m.attempt + 1U; next < state_.attempts.size(); ++next) {
        const Time began = state_.attempts[next].began.at;
        if (!began.known() || m.at < began) break;
        m.attempt = static_cast<uint16_t>(next);
      }
    };
    for_each_moment(state_, moment);
    for (AttemptState& attempt : state_.attempts) {
      for (Moment* known : {&attempt.last, &attempt.busy, &attempt.ended_at})
        if (known->by_clock) known->step = state_.step_at(known->at);
    }
  }

  /// A printed sample may hold a clock of its own. What is being written now is not dated days ahead of the machine,
  /// whatever zone its clock is in.
  bool beyond_today() const {
    constexpr Duration kFurthestZones = Duration::seconds(26.0 * 3600);  // from UTC-12 to UTC+14
    return !state_.ticks.empty() && event_.at - state_.ticks.back().at > kFurthestZones && !is_a<event::Ticked>(event_);
  }

  void add_tick(bool speaks) {
    auto& ticks = state_.ticks;
    const int64_t step = state_.attempts.empty() ? kNoStep : state_.attempts.back().last_step;
    ticks.push_back({state_.order, event_.at, step, speaks});
    if (ticks.size() <= State::kTickLimit) return;
    size_t kept = 0;
    for (size_t i = 1; i < ticks.size(); i += 2) {
      ticks[kept] = ticks[i];
      ticks[kept++].speaks |= ticks[i - 1].speaks;
    }
    if (ticks.size() % 2 == 1) ticks[kept++] = ticks.back();  // the last one says what time it is
    ticks.resize(kept);
  }

  void shown(const Place& place) { place.source.shown = place.attempt.shown = true; }

  void at_step(const Place& place, int64_t step) {
    if (step == kNoStep) return;
    shown(place);
    place.source.step = step;
    trained_on(state_, place.moment.attempt, step, heard());
    if (place.attempt.first_step == kNoStep || step < place.attempt.first_step) place.attempt.first_step = step;
    if (place.attempt.last_step == kNoStep || step > place.attempt.last_step) {
      come_further(place.attempt, step, event_);
    }
    correct_plan(place.attempt);
  }

  /// Known also of a line without a time, where a watch reads it.
  Time heard() const { return event_.received.known() ? event_.received : event_.at; }

  void plan(int64_t steps) {
    const Place place = live();
    state_.total_steps = steps;
    if (plans_another(place.attempt)) return;  // the attempt that begins with it takes it (add_attempt())
    place.attempt.total_steps = steps;
    place.attempt.plan_from_checkpoint = false;
    correct_plan(place.attempt);
  }

  /// Steps beyond the plan show what it meant: so many from the checkpoint on, or something else, and then it is none.
  void correct_plan(AttemptState& attempt) {
    const int64_t planned = attempt.total_steps;
    if (planned <= 0 || attempt.last_step <= planned + 1) return;  // some count their last step beyond it
    const bool from_there = !attempt.plan_from_checkpoint && attempt.resumed_at > 0 &&
                            attempt.last_step <= attempt.resumed_at + planned + 1;
    attempt.total_steps = from_there ? attempt.resumed_at + planned : 0;
    attempt.plan_from_checkpoint = from_there;
    if (state_.total_steps == planned) state_.total_steps = attempt.total_steps;
  }

  void put_incident(uint32_t id, std::string_view json) {
    std::optional<Incident> incident = incident_from_json(json, state_);
    if (!incident.has_value()) return;
    incident->id = id;
    incident->written = event_.received.known() ? event_.received : event_.at;
    state_.last_incident = std::max(state_.last_incident, id);
    for (Incident& known : state_.incidents) {
      if (known.id != id) continue;
      known = std::move(*incident);
      return;
    }
    if (state_.incidents.size() < State::kIncidentLimit) state_.incidents.push_back(std::move(*incident));
  }

  State& state_;
  const Event& event_;
};

}  // namespace

void fold(State& state, const Event& event) {
  const Time at = is_judged(event) ? event.at : straight_time(state, event);
  if (at == event.at) return Folder(state, event).run();
  Event straight = event;
  straight.at = at;
  Folder(state, straight).run();
}

}  // namespace mw
