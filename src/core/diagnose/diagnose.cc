#include "core/diagnose/diagnose.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/text.h"
#include "core/checkpoint_trust.h"
#include "core/incident_kind.h"

namespace mw::diagnose {
namespace {

constexpr double kPrior = 0.05;     // of a cause that a finding named and no row of knowledge/causes knows
constexpr double kSeenNear = 0.35;  // a signature that speaks for a cause was seen in the same attempt
constexpr double kSeenAgainst = 0.4;
constexpr size_t kBareShown = 3;  // causes that only their kind speaks for fill the list up to this many
constexpr double kKnown = 0.5;    // what the run's own words name this surely leaves no place for them
constexpr size_t kReasonsShown = 5;

struct Candidate {
  double against = 1;  // product of what the arguments against leave
  double missing = 1;  // product of what each piece of evidence leaves open
  bool named = false;  // something speaks for it beside its prior
  size_t rank = 0;     // first named first, for ties
  std::vector<std::string> reasons_for, reasons_against;
};

void add_reason(std::vector<std::string>& reasons, const std::string& reason) {
  if (reason.empty() || reasons.size() >= kReasonsShown) return;
  if (std::find(reasons.begin(), reasons.end(), reason) == reasons.end()) reasons.push_back(reason);
}

bool has(const std::vector<std::string>& all, std::string_view one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

class Ranking {
 public:
  explicit Ranking(const Knowledge& knowledge) : knowledge_(knowledge) {}

  /// A cause that can explain this kind of incident, before anything was seen.
  void consider(const std::string& cause) { of(cause); }
  void support(const std::string& cause, double weight, const std::string& reason) {
    Candidate& candidate = of(cause);
    candidate.named = true;
    candidate.missing *= 1 - std::clamp(weight, 0.0, 0.99);
    add_reason(candidate.reasons_for, reason);
  }
  void oppose(const std::string& cause, double weight, const std::string& reason) {
    const auto known = candidates_.find(cause);
    if (known == candidates_.end()) return;  // nobody named it: nothing to argue against
    known->second.against *= 1 - std::clamp(weight, 0.0, 1.0);
    add_reason(known->second.reasons_against, reason);
  }
  bool knows(const std::string& cause) const { return candidates_.count(cause) != 0; }
  /// `learning`: the incident is of figures, which name no cause themselves.
  std::vector<RankedCause> ranked(bool learning) const {
    std::vector<std::pair<size_t, RankedCause>> causes, bare;
    for (const auto& [id, candidate] : candidates_) {
      RankedCause cause;
      cause.id = id;
      cause.score = (1 - candidate.missing) * candidate.against;
      cause.reasons_for = candidate.reasons_for;
      cause.reasons_against = candidate.reasons_against;
      advise(cause);
      (candidate.named ? causes : bare).emplace_back(candidate.rank, std::move(cause));
    }
    const auto better = [](const auto& a, const auto& b) {
      return a.second.score != b.second.score ? a.second.score > b.second.score : a.first < b.first;
    };
    std::sort(bare.begin(), bare.end(), better);
    std::sort(causes.begin(), causes.end(), better);
    const bool said = !causes.empty();  // what something speaks for stays first, however likely another is by itself
    // Beside what the run's own words name, the rest of the catalogue is no finding.
    const bool known = !learning && said && causes.front().second.score >= kKnown;
    for (auto& cause : bare) {
      if (!known && causes.size() < kBareShown && cause.second.score > 0) causes.push_back(std::move(cause));
    }
    std::sort(causes.begin() + (said ? 1 : 0), causes.end(), better);
    std::vector<RankedCause> best;
    for (size_t i = 0; i < causes.size() && i < kCausesShown; ++i) best.push_back(std::move(causes[i].second));
    return best;
  }

 private:
  Candidate& of(const std::string& cause) {
    const auto [place, fresh] = candidates_.try_emplace(cause);
    if (fresh) {
      place->second.rank = candidates_.size();
      const Cause* row = knowledge_.find_cause(cause);
      place->second.missing = 1 - (row != nullptr && row->prior > 0 ? row->prior : kPrior);
    }
    return place->second;
  }
  /// What it is, how to check and how to mend: the cause's own words, else those of the signature of the same name.
  void advise(RankedCause& cause) const {
    if (const Cause* row = knowledge_.find_cause(cause.id)) {
      cause.title = row->title;
      cause.check = row->check;
      cause.fix = row->fix;
    }
    const Signature* signature = knowledge_.find(cause.id);
    if (signature == nullptr) return;
    if (cause.title.empty()) cause.title = signature->symptom;
    if (cause.check.empty()) {
      for (const std::string& look : signature->check) cause.check += cause.check.empty() ? look : "; " + look;
    }
    if (cause.fix.empty()) cause.fix = signature->fix;
  }

  const Knowledge& knowledge_;
  std::map<std::string, Candidate> candidates_;
};

bool seen_in(const SignatureState& seen, uint16_t attempt) {
  return std::any_of(seen.matches.begin(), seen.matches.end(),
                     [&](const SignatureState::Match& match) { return match.moment.attempt == attempt; });
}

bool has_checkpoint_before(const State& state, const Moment& onset) {
  return left_whole(state, onset.attempt + 1U, onset.step);
}

}  // namespace

std::vector<RankedCause> rank_causes(const Incident& incident, const std::vector<Suggestion>& suggestions,
                                     const std::vector<Incident>& all, const State& state, const Knowledge& knowledge) {
  Ranking ranking(knowledge);
  for (const Suggestion& suggestion : suggestions)
    ranking.support(suggestion.cause, suggestion.weight, suggestion.reason);
  for (const Cause& row : knowledge.causes) {
    const bool asked = has(row.kinds, incident.kind);
    if (!asked && !ranking.knows(row.id)) continue;
    if (asked) ranking.consider(row.id);
    for (const SignatureState& seen : state.signatures) {
      if (seen.sample || seen.id == row.id || !seen_in(seen, incident.onset.attempt)) continue;
      if (has(row.for_signatures, seen.id)) ranking.support(row.id, kSeenNear, cat(seen.id, " was seen"));
      if (has(row.against_signatures, seen.id)) ranking.oppose(row.id, kSeenAgainst, cat(seen.id, " was seen"));
    }
  }
  for (const Argument& argument : weigh_lookalikes(incident, suggestions, all, state, knowledge)) {
    if (argument.weight >= 0) {
      ranking.support(argument.cause, argument.weight, argument.reason);
    } else {
      ranking.oppose(argument.cause, -argument.weight, argument.reason);
    }
  }
  const IncidentKind* const kind = find_incident_kind(incident.kind);
  return ranking.ranked(kind != nullptr && kind->family == IncidentKind::Family::kLearning);
}

namespace {

/// A rule that does not trip the breaker never makes midwatch act. A checkpoint that was saved at the onset holds it.
std::string reaction_to(const UserRule* rule, const Incident& incident, const State& state) {
  if (rule == nullptr || !rule->breaker) return "ignore";
  Moment before = incident.onset;
  if (before.step != kNoStep) --before.step;
  const size_t attempt = incident.onset.attempt;
  const int64_t resumed = attempt < state.attempts.size() ? state.attempts[attempt].resumed_at : kNoStep;
  const bool from_before = resumed != kNoStep && (before.step == kNoStep || resumed <= before.step);
  return from_before || has_checkpoint_before(state, before) ? "rollback-before-onset" : "stop-and-notify";
}

}  // namespace

std::string reaction_for(const Incident& incident, uint64_t times, const State& state, const Knowledge& knowledge) {
  if (incident.severity == Severity::kInfo) return "ignore";
  if (incident.kind == kUserRule) {
    return reaction_to(incident.causes.empty() ? nullptr : knowledge.find_rule(incident.causes.front().id), incident,
                       state);
  }
  std::string reaction(usual_reaction(incident.kind));
  if (!incident.causes.empty()) {
    const Signature* signature = knowledge.find(incident.causes.front().id);
    const Cause* row = knowledge.find_cause(incident.causes.front().id);
    if (signature != nullptr && !signature->reaction.empty()) reaction = signature->reaction;
    if (row != nullptr && !row->reaction.empty()) reaction = row->reaction;
  }
  const bool again =
      reaction == "retry" || reaction == "restart-component" || reaction == "restart-run-from-checkpoint";
  if (again && times > 1) return "stop-and-notify";  // the same failure twice is deterministic (matching rule 7)
  const bool needs = reaction == "restart-run-from-checkpoint" || reaction == "rollback-before-onset";
  if (needs && !has_checkpoint_before(state, incident.onset)) return "stop-and-notify";
  return reaction;
}

}  // namespace mw::diagnose
