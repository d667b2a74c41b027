#include "core/advance.h"

#include <algorithm>

#include "core/exit_status.h"
#include "core/incident_json.h"
#include "core/incident_kind.h"
#include "core/is_a.h"
#include "core/same_incident.h"

namespace mw {
namespace {

/// Could this event change a judgement? Metric records count only when they begin a new step: a step's later records
/// are judged with the next one, or at the next tick.
bool may_matter(const Event& event, bool new_step) {
  struct Visitor {
    bool fresh;
    bool operator()(const event::Measured& measured) const { return fresh || measured.eval; }
    bool operator()(const event::StepBegan&) const { return fresh; }
    bool operator()(const event::Logged&) const { return false; }
    bool operator()(const event::ToolCalled&) const { return false; }
    bool operator()(const event::FormatJudged&) const { return false; }
    bool operator()(const event::Configured&) const { return false; }
    bool operator()(const event::PhaseBegan&) const { return false; }
    bool operator()(const event::PhaseEnded&) const { return false; }
    bool operator()(const event::Progressed&) const { return false; }
    bool operator()(const event::Counted&) const { return false; }
    bool operator()(const event::SourceOpened&) const { return false; }
    bool operator()(const event::Recognised&) const { return false; }
    bool operator()(const event::SourceHead&) const { return false; }
    bool operator()(const event::ReadAs&) const { return false; }
    bool operator()(const event::ClockLacks&) const { return false; }
    bool operator()(const event::Planned&) const { return false; }
    bool operator()(const event::WeightsSynced&) const { return false; }
    bool operator()(const event::ComponentSaw&) const { return true; }
    bool operator()(const event::SourceProblem&) const { return true; }
    bool operator()(const event::SourceEnded&) const { return true; }
    bool operator()(const event::AttemptBegan&) const { return true; }
    bool operator()(const event::Resumed&) const { return true; }
    bool operator()(const event::CheckpointSaved&) const { return true; }
    bool operator()(const event::CheckpointSeen&) const { return true; }
    bool operator()(const event::CheckpointRead&) const { return true; }
    bool operator()(const event::PointerSeen&) const { return true; }
    bool operator()(const event::SavesAs&) const { return false; }
    bool operator()(const event::Ended&) const { return true; }
    bool operator()(const event::Matched&) const { return true; }
    bool operator()(const event::TraceSeen&) const { return true; }
    bool operator()(const event::Ticked&) const { return true; }
    bool operator()(const event::Closed&) const { return true; }
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
  };
  return std::visit(Visitor{new_step}, event.body);
}

bool same_onset(const Incident& a, const Incident& b) {
  return a.kind == b.kind && a.onset.where == b.onset.where && a.onset.step == b.onset.step &&
         a.onset.attempt == b.onset.attempt;
}

/// Is all the same but figures: sentences, evidence, how much speaks for a cause?
bool same_but_figures(const Incident& a, const Incident& b) {
  const auto first = [](const Incident& incident) { return incident.causes.empty() ? "" : incident.causes.front().id; };
  return same_onset(a, b) && a.severity == b.severity && a.open == b.open && a.latest.attempt == b.latest.attempt &&
         a.reaction == b.reaction && a.followed_by == b.followed_by && first(a) == first(b);
}

/// A trainer of a hundred steps a second would fill the journal with sentences of which each replaces the last.
constexpr Duration kBetweenFigures = Duration::seconds(10);

class Decider {
 public:
  Decider(State& state, const Event& cause, JudgeMemory& memory, std::vector<Event>& decided)
      : state_(state), cause_(cause), memory_(memory), decided_(decided) {}

  void run(std::vector<Incident> now) {
    match(now);
    withdraw();
    for (size_t i = 0; i < now.size(); ++i) {
      if (is_new_[i]) {
        put(event::IncidentOpened{now[i].id, incident_json(now[i], state_)});
      } else {
        change(now[i]);
      }
    }
  }

  template <typename Body>
  void put(Body body) {
    Event event{cause_.at, cause_.where, std::move(body), cause_.received};
    fold(state_, event);
    decided_.push_back(std::move(event));
  }

 private:
  /// Gives each incident of `now` the number under which it is already known, or the next one.
  void match(std::vector<Incident>& now) {
    kept_.assign(state_.incidents.size(), false);
    is_new_.assign(now.size(), true);
    std::vector<std::pair<uint32_t, uint32_t>> renumbered;
    std::vector<uint32_t> number(now.size(), 0);
    auto pair_up = [&](bool exactly) {
      for (size_t i = 0; i < now.size(); ++i) {
        for (size_t k = 0; k < state_.incidents.size() && is_new_[i]; ++k) {
          const Incident& known = state_.incidents[k];
          const bool same = exactly ? same_onset(known, now[i])
                                    : known.kind == now[i].kind && known.onset.attempt == now[i].onset.attempt;
          if (kept_[k] || !same) continue;
          kept_[k] = true;
          is_new_[i] = false;
          number[i] = known.id;
        }
      }
    };
    pair_up(true);
    pair_up(false);
    uint32_t next = state_.last_incident;
    for (size_t i = 0; i < now.size(); ++i) {
      if (is_new_[i]) number[i] = ++next;
      renumbered.emplace_back(now[i].id, number[i]);
    }
    for (size_t i = 0; i < now.size(); ++i) {
      now[i].id = number[i];
      for (uint32_t& id : now[i].followed_by) {
        const auto found = std::find_if(renumbered.begin(), renumbered.end(), [id](auto& r) { return r.first == id; });
        if (found != renumbered.end()) id = found->second;
      }
    }
  }

  void withdraw() {
    std::vector<uint32_t> gone, over;
    for (size_t k = 0; k < kept_.size(); ++k) {
      const Incident& known = state_.incidents[k];
      if (kept_[k]) continue;
      if (!led_to_break(known.id)) {
        gone.push_back(known.id);
      } else if (known.open) {
        over.push_back(known.id);
      }
    }
    for (const uint32_t id : gone) {
      memory_.written.erase(id);
      put(event::IncidentClosed{id, std::string(kWithdrawn)});
    }
    for (const uint32_t id : over) put(event::IncidentClosed{id, "the attempt that it was in is over"});
  }

  /// The circuit breaker ended an attempt for it: what was done has its reason, whatever a later attempt makes of the
  /// figures.
  bool led_to_break(uint32_t id) const {
    return std::any_of(state_.actions.begin(), state_.actions.end(), [id](const ActionState& action) {
      return action.intent.action == "break" && action.intent.incident == id;
    });
  }

  void change(const Incident& now) {
    const auto known = std::find_if(state_.incidents.begin(), state_.incidents.end(),
                                    [&](const Incident& incident) { return incident.id == now.id; });
    if (known == state_.incidents.end()) return;
    const auto written = memory_.written.find(now.id);
    if (written != memory_.written.end() && same(written->second.found, now) && same(written->second.held, *known)) {
      return;
    }
    if (waits(*known, now)) return;
    const bool was_open = known->open;
    std::string before = incident_json(*known, state_), after = incident_json(now, state_);
    if (before == after) {
      memory_.written[now.id] = {now, *known};
      return;
    }
    put(event::IncidentChanged{now.id, std::move(after)});
    if (was_open && !now.open) put(event::IncidentClosed{now.id, "resolved by itself"});
  }

  /// Only its figures are new, and the last ones were recorded just now: the next judgement after a while records them.
  bool waits(const Incident& known, const Incident& now) const {
    const Time at = cause_.received.known() ? cause_.received : cause_.at;
    if (state_.closed || !at.known() || !known.written.known()) return false;
    const Duration since = at - known.written;
    return since >= Duration() && since < kBetweenFigures && same_but_figures(known, now);
  }

  State& state_;
  const Event& cause_;
  JudgeMemory& memory_;
  std::vector<Event>& decided_;
  std::vector<bool> kept_, is_new_;
};

/// Is there an incident of the last attempt that is an end of it, above information?
bool stands_ended(const State& state, const std::vector<Incident>& incidents) {
  return std::any_of(incidents.begin(), incidents.end(), [&state](const Incident& incident) {
    const bool ends = ends_runs(incident.kind) || incident.kind == "interrupted" || incident.kind == "preempted";
    return ends && incident.open && incident.severity != Severity::kInfo &&
           incident.latest.attempt + 1U == state.attempts.size() && !state.by_host(incident.onset.where);
  });
}

void decide(State& state, const Event& cause, const Knowledge& knowledge, JudgeMemory& memory,
            std::vector<Event>& decided) {
  std::vector<Incident> incidents = judge(state, knowledge, memory);
  std::string verdict = verdict_of(state, incidents);
  if (verdict == "unknown" && finished_by_its_word(state, knowledge)) verdict = "finished";
  const bool cut = verdict == "interrupted" || verdict == "crashed";
  if (cut && !stands_ended(state, incidents) && ended_after_its_word(state, knowledge)) verdict = "finished";
  Decider decider(state, cause, memory, decided);
  decider.run(std::move(incidents));
  if (verdict != state.verdict) decider.put(event::VerdictGiven{std::move(verdict)});
}

int64_t current_step(const State& state) { return state.attempts.empty() ? kNoStep : state.attempts.back().last_step; }

}  // namespace

bool advance(State& state, const Event& event, const Knowledge& knowledge, Judge when, std::vector<Event>& decided) {
  JudgeMemory none;
  return advance(state, event, knowledge, none, when, decided);
}

bool advance(State& state, const Event& event, const Knowledge& knowledge, JudgeMemory& memory, Judge when,
             std::vector<Event>& decided) {
  const int64_t before = current_step(state);
  fold(state, event);
  const bool matters = may_matter(event, current_step(state) != before);
  if (!is_a<event::Closed>(event) && (when == Judge::kAtClose || !matters)) return matters;
  decide(state, event, knowledge, memory, decided);
  return false;
}

void review(State& state, const Knowledge& knowledge, JudgeMemory& memory, std::vector<Event>& decided, Time at,
            Where where, Time received) {
  if (state.attempts.empty()) return;
  decide(state, {at.known() ? at : state.last_at, where, event::Ticked{}, received}, knowledge, memory, decided);
}

}  // namespace mw
