// Findings → incidents: every detector judges the state; findings of one chain become one incident.
#include <algorithm>
#include <iterator>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "base/text.h"
#include "core/advance.h"
#include "core/detect/detector.h"
#include "core/detect/support/failure_chain.h"
#include "core/diagnose/diagnose.h"
#include "core/error_face.h"
#include "core/incident_kind.h"
#include "core/incident_links.h"
#include "core/judge_memory.h"

namespace mw {
namespace {

constexpr size_t kEvidenceKept = 12;

/// An incident in the making.
struct Draft {
  Incident incident;
  std::vector<Finding::Suggestion> suggests;
  std::string detector;
  ErrorFace error;
  std::string end;            ///< the exception that ended the run over it, where figures say what it is
  std::set<size_t> attempts;  ///< in which it was
  Moment back;                ///< where a figure showed that it was over; of one that is open, nothing
  bool other_steps = false;   ///< what it says of a step holds for one of these attempts, and not for another
};

auto key(const Moment& moment) {
  return std::make_tuple(moment.attempt, moment.step, moment.at.ns, moment.where.source, moment.where.line);
}

bool earlier(const Draft& a, const Draft& b) {
  const auto left = key(a.incident.onset), right = key(b.incident.onset);
  if (left != right) return left < right;
  if (a.incident.severity != b.incident.severity) return a.incident.severity > b.incident.severity;
  return a.incident.kind < b.incident.kind;
}

/// The run's own exception about what it learns ended the run: which one, in the second half of a sentence.
std::string end_over(const State& state, const Finding& finding) {
  constexpr size_t kMessage = 160;
  const IncidentKind* const kind = find_incident_kind(finding.kind);
  const bool words = finding.detector == "crash-trace" || finding.detector == "failure-signature";
  const bool ended = words && finding.severity == Severity::kCritical && !finding.resolved;
  if (!ended || kind == nullptr || kind->family != IncidentKind::Family::kLearning) return "";
  const TraceState* raised = trace_around(state, finding.onset.where);
  for (size_t i = 0; i < finding.evidence.size() && raised == nullptr; ++i)
    raised = trace_around(state, finding.evidence[i].where);
  if (raised == nullptr || raised->trace.exception.empty()) return "";
  const std::string message = clip(trim(raised->trace.message), kMessage);
  return cat("; then ", detect::bare_exception(raised->trace.exception), " ended the run", message.empty() ? "" : ": ",
             message);
}

Draft draft_of(const State& state, Finding&& finding) {
  Draft draft;
  draft.end = end_over(state, finding);
  draft.detector = std::move(finding.detector);
  draft.suggests = std::move(finding.suggests);
  Incident& incident = draft.incident;
  incident.kind = std::move(finding.kind);
  incident.severity = finding.severity;
  incident.onset = incident.latest = finding.onset;
  draft.attempts.insert(finding.onset.attempt);
  incident.detected = finding.detected;
  incident.open = !finding.resolved;
  draft.back = finding.resolved_at;
  incident.summary = std::move(finding.summary);
  incident.evidence = std::move(finding.evidence);
  draft.error = error_at(state, incident.kind, incident.onset.where);
  return draft;
}

std::string_view leading(const Draft& draft) {
  const Finding::Suggestion* best = nullptr;
  for (const Finding::Suggestion& suggestion : draft.suggests) {
    if (best == nullptr || suggestion.weight > best->weight) best = &suggestion;
  }
  return best == nullptr ? std::string_view() : std::string_view(best->cause);
}

/// Do two drafts report the same chain? One detector's own episodes stay apart, except where the same failure came back
/// in a later attempt; two detectors that see the same kind in the same attempt see the same thing.
bool same_chain(const Draft& a, const Draft& b) {
  if (a.incident.kind != b.incident.kind) return false;
  const bool loop = a.detector == "crash-loop" || b.detector == "crash-loop";
  const bool same_attempt = a.incident.onset.attempt == b.incident.onset.attempt;
  if (loop || (same_attempt && a.detector == b.detector)) return false;
  if (same_attempt) return true;
  const bool came_back = a.incident.severity == b.incident.severity && !leading(a).empty() && leading(a) == leading(b);
  return came_back && !differ(a.error, b.error);
}

/// Do the figures themselves show what a line of the log only spoke of: their steps and counts say more than its words?
/// The line may be any of those in which they went on: the last one is read as what ended the run.
bool figures_show(const Draft& words, const Draft& figures) {
  const IncidentKind* kind = find_incident_kind(words.incident.kind);
  const Moment &said = words.incident.onset, &shown = figures.incident.onset;
  return kind != nullptr && kind->family == IncidentKind::Family::kLearning && words.detector == "failure-signature" &&
         figures.detector != "failure-signature" && said.attempt == shown.attempt &&
         said.where.source == shown.where.source && said.where.line >= shown.where.line &&
         figures.incident.severity >= words.incident.severity;
}

/// Adds `later` to `draft`, which began no later.
void merge(Draft& draft, Draft&& later) {
  Incident& into = draft.incident;
  const bool anew = into.onset.attempt != later.incident.onset.attempt;
  draft.other_steps = draft.other_steps || later.other_steps ||
                      (anew && into.summary != later.incident.summary && contains(into.summary, "step "));
  draft.attempts.merge(later.attempts);
  if (later.incident.latest.attempt > into.latest.attempt) into.latest = later.incident.latest;
  if (draft.end.empty()) draft.end = std::move(later.end);
  const bool shows = figures_show(draft, later);
  if (later.incident.severity > into.severity || shows) {
    into.severity = later.incident.severity;
    into.summary = std::move(later.incident.summary);
    into.onset = later.incident.onset;  // the lighter one was a hint of it, not yet it
    into.detected = later.incident.detected;
  }
  if (shows) draft.detector = later.detector;  // the lines of one detector, first and last, are all of its chain
  if (key(later.incident.detected) < key(into.detected)) into.detected = later.incident.detected;
  into.open = into.open || later.incident.open;
  if (key(later.back) > key(draft.back)) draft.back = later.back;
  for (Evidence& evidence : later.incident.evidence) {
    if (into.evidence.size() < kEvidenceKept) into.evidence.push_back(std::move(evidence));
  }
  for (Finding::Suggestion& suggestion : later.suggests) {
    const auto known = std::find_if(draft.suggests.begin(), draft.suggests.end(),
                                    [&](const auto& mine) { return mine.cause == suggestion.cause; });
    if (known == draft.suggests.end()) {
      draft.suggests.push_back(std::move(suggestion));
    } else {
      known->weight = std::max(known->weight, suggestion.weight);
    }
  }
}

/// The last line of what goes on to the end is read as what ended the run, apart from the lines before it: where the
/// figures show both, they are one chain, which began where the figures did.
void join_last_lines(std::vector<Draft>& kept) {
  for (size_t i = 0; i < kept.size(); ++i) {
    for (size_t k = kept.size(); k-- > 0;) {
      if (k == i || kept[k].incident.kind != kept[i].incident.kind || !figures_show(kept[k], kept[i])) continue;
      const Moment detected = kept[i].incident.detected;
      merge(kept[i], std::move(kept[k]));
      kept[i].incident.detected = detected;
      kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(k));
      if (k < i) --i;
    }
  }
}

/// "; the like in 4 attempts, last in attempt 4 at step 80".
std::string in_attempts(const Draft& draft) {
  const Moment& last = draft.incident.latest;
  std::string words = cat(draft.other_steps ? "; the like in " : "; the same in ", draft.attempts.size(), " attempts");
  if (draft.other_steps && last.step != kNoStep && last.attempt != draft.incident.onset.attempt)
    words += cat(", last in attempt ", last.attempt + 1, " at step ", last.step);
  return words;
}

std::vector<Draft> grouped(const State& state, std::vector<Finding>&& findings) {
  std::vector<Draft> all;
  all.reserve(findings.size());
  for (Finding& finding : findings) all.push_back(draft_of(state, std::move(finding)));
  std::stable_sort(all.begin(), all.end(), earlier);
  std::vector<Draft> kept;
  for (Draft& draft : all) {
    // What is seen in the same attempt comes first: of an earlier one it may be another failure of the same kind.
    auto same = std::find_if(kept.begin(), kept.end(), [&](const Draft& known) {
      return known.incident.onset.attempt == draft.incident.onset.attempt && same_chain(known, draft);
    });
    if (same == kept.end()) {
      same = std::find_if(kept.begin(), kept.end(), [&](const Draft& known) { return same_chain(known, draft); });
    }
    if (same == kept.end()) {
      kept.push_back(std::move(draft));
    } else {
      merge(*same, std::move(draft));
    }
  }
  join_last_lines(kept);
  std::stable_sort(kept.begin(), kept.end(), earlier);  // a merged one begins where its gravest finding does
  for (Draft& draft : kept) {
    const bool figures = draft.detector != "crash-trace" && draft.detector != "failure-signature";
    if (figures && draft.attempts.size() == 1) draft.incident.summary += draft.end;
    if (draft.attempts.size() > 1) draft.incident.summary += in_attempts(draft);
  }
  return kept;
}

/// An exception of a later attempt that is another one than that of an earlier attempt came of something else.
bool raised_anew(const Draft& before, const Draft& later) {
  const bool known = !before.error.exception.empty() && !later.error.exception.empty();
  return known && before.incident.onset.attempt != later.incident.onset.attempt && differ(before.error, later.error);
}

constexpr int64_t kAftermath = 3;  // steps after a failure in which what it causes shows
constexpr size_t kOften = 5;       // failed requests that are no hiccup

/// Does the effect begin with the cause, by the run's own steps?
bool follows_at_once(const Incident& cause, const Incident& effect) {
  if (cause.onset.attempt != effect.onset.attempt || !may_lead_to(cause.kind, effect.kind)) return false;
  if (cause.onset.step == kNoStep || effect.onset.step == kNoStep) return false;
  return effect.onset.step >= cause.onset.step && effect.onset.step <= cause.onset.step + kAftermath;
}

/// A dead engine that a trainer goes on without is not survived when the data turns bad with it: then it is as grave as
/// what follows, and what else shows in its wake is its consequence rather than a chain of its own.
void weigh_aftermath(std::vector<Draft>& drafts) {
  for (Draft& cause : drafts) {
    if (cause.incident.kind != "engine-dead") continue;
    for (const Draft& effect : drafts) {
      if (effect.incident.severity > cause.incident.severity && follows_at_once(cause.incident, effect.incident)) {
        cause.incident.severity = effect.incident.severity;
        cause.incident.summary += cat("; ", effect.incident.kind, " since step ", effect.incident.onset.step);
      }
    }
    if (cause.incident.severity != Severity::kCritical) continue;
    for (Draft& effect : drafts) {
      if (effect.incident.severity == Severity::kWarning && follows_at_once(cause.incident, effect.incident)) {
        effect.incident.severity = Severity::kInfo;
      }
    }
  }
}

/// An outage that is seen time and again from about where the rewards become zero, or for the first time right before
/// they do so for good, is not survived by steps that learn from those zeros, unless a dead engine explains both.
void weigh_outages(const State& state, const Knowledge& knowledge, std::vector<Draft>& drafts) {
  for (Draft& cause : drafts) {
    Incident& outage = cause.incident;
    if (outage.severity != Severity::kInfo || !is_outage(knowledge, outage)) continue;
    for (const Draft& effect : drafts) {
      const Incident& zero = effect.incident;
      if (zero.kind != "zero-reward" || zero.severity == Severity::kInfo || earlier(effect, cause) ||
          !may_have_led_to(state, knowledge, outage, zero)) {
        continue;
      }
      const bool at_once = zero.severity == Severity::kCritical && first_failed_before(state, outage, zero);
      if (!at_once && seen_with(state, outage, zero) < kOften) continue;
      const bool engine = std::any_of(drafts.begin(), drafts.end(), [&](const Draft& other) {
        return other.incident.kind == "engine-dead" && other.incident.severity > Severity::kInfo &&
               follows_at_once(other.incident, zero);
      });
      if (engine) continue;
      outage.severity = Severity::kWarning;
      outage.summary += cat("; zero-reward since step ", zero.onset.step);
      break;
    }
  }
}

/// Answers that end in the very step in which the reward becomes zero for good show what took it, and are no chain of
/// their own.
void weigh_empty_answers(std::vector<Draft>& drafts) {
  for (const Draft& zero : drafts) {
    if (zero.incident.kind != "zero-reward" || zero.incident.severity != Severity::kCritical) continue;
    for (Draft& length : drafts) {
      const Moment &a = zero.incident.onset, &b = length.incident.onset;
      if (length.incident.kind != "length-collapse" || a.attempt != b.attempt || a.step != b.step) continue;
      if (a.step != kNoStep) length.incident.severity = Severity::kInfo;
    }
  }
}

/// The figures of learning were as usual again before the other one began, and have been since. What a log spoke of
/// and the run outlived may well have brought about what followed.
bool was_over(const Draft& cause, const Draft& effect) {
  const IncidentKind* const kind = find_incident_kind(cause.incident.kind);
  if (kind == nullptr || kind->family != IncidentKind::Family::kLearning) return false;
  const Moment &back = cause.back, &began = effect.incident.onset;
  return !cause.incident.open && back.step != kNoStep && began.step > back.step && back.attempt == began.attempt;
}

/// Records that carry no steps are counted by the detectors; that count is no step of the run.
void forget_counts(const State& state, std::vector<Draft>& drafts) {
  const bool stepped =
      state.steps().count > 0 || std::any_of(state.attempts.begin(), state.attempts.end(),
                                             [](const AttemptState& one) { return one.last_step > 0; });
  if (stepped) return;
  for (Draft& draft : drafts) {
    for (Moment* moment : {&draft.incident.onset, &draft.incident.latest, &draft.incident.detected}) {
      if (moment->step > 0) moment->step = kNoStep;
    }
  }
}

}  // namespace

std::vector<Incident> judge(const State& state, const Knowledge& knowledge) {
  JudgeMemory none;
  return judge(state, knowledge, none);
}

std::vector<Incident> judge(const State& state, const Knowledge& knowledge, JudgeMemory& memory) {
  memory.begin();
  std::vector<Finding> findings;
  for (const Detector* detector : all_detectors()) detector->judge(state, knowledge, memory, findings);
  std::vector<Draft> drafts = grouped(state, std::move(findings));
  for (Draft& draft : drafts) draft.incident.causes.push_back({std::string(leading(draft)), "", 0, {}, {}, "", ""});
  weigh_aftermath(drafts);
  weigh_outages(state, knowledge, drafts);
  weigh_empty_answers(drafts);
  forget_counts(state, drafts);
  std::vector<Incident> incidents;
  incidents.reserve(drafts.size());
  for (const Draft& draft : drafts) {
    incidents.push_back(draft.incident);
    incidents.back().id = static_cast<uint32_t>(incidents.size());
  }
  for (size_t i = 0; i < incidents.size(); ++i) {
    incidents[i].causes = diagnose::rank_causes(incidents[i], drafts[i].suggests, incidents, state, knowledge);
    incidents[i].reaction = diagnose::reaction_for(incidents[i], drafts[i].attempts.size(), state, knowledge);
    for (size_t k = i + 1; k < incidents.size(); ++k) {
      if (was_over(drafts[i], drafts[k]) || raised_anew(drafts[i], drafts[k])) continue;
      if (may_have_led_to(state, knowledge, incidents[i], incidents[k]))
        incidents[i].followed_by.push_back(incidents[k].id);
    }
  }
  return incidents;
}

}  // namespace mw
