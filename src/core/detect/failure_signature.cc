// A known failure's face in the run's text: what ended an attempt, and what the run lived through.
#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "base/text.h"
#include "core/detect/detector.h"
#include "core/detect/support/collective_ranks.h"
#include "core/detect/support/failure_chain.h"
#include "core/detect/support/settled.h"
#include "core/detect/support/side_cell.h"
#include "core/incident_kind.h"
#include "core/judge_memory.h"

namespace mw::detect {
namespace {

constexpr uint64_t kSameChainLines = 60;  // a traceback of an engine with its frames and what is said around it

constexpr Knob kKnobs[] = {
    {"survived_least", 3, "matches", "One hiccup that the run lived through is not worth a person's time",
     "failure catalogue, matching rule 1"},
    {"stands_least", 5, "matches", "So often to the end of the log an engine that says it waits is stuck",
     "vLLM says so once a minute"},
    {"poison_many", 100, "matches", "So many lost samples are a fault before the first step, too", "own"},
    {"burst_least", 10, "matches", "One by one, with no step after the first: the run is stuck in it",
     "servers that answer every request with an error"},
    {"dropped_least", 10, "records", "Fewer than steps, or so few, are those of a resumed run until it has caught up",
     "W&B drops what is logged for a step that it has passed"},
};

bool is_interruption(const std::string& kind) { return kind == "interrupted" || kind == "preempted"; }

/// A symptom as the first part of a longer sentence: without its full stop.
std::string_view clause(std::string_view symptom) {
  return !symptom.empty() && symptom.back() == '.' ? symptom.substr(0, symptom.size() - 1) : symptom;
}

/// The exception that ended a run whose figures had gone wrong, in a line's words; "": it is not of figures, or ended
/// otherwise.
std::string ended_with(const FailureChain& chain) {
  if (chain.lead.signature->layer != "learning-dynamics") return "";
  for (const Symptom& other : chain.others) {
    const TraceState* const raised = other.trace != nullptr ? other.trace : other.within;
    if (raised == nullptr || raised == chain.lead.within || raised->trace.exception.empty() || !is_root(other))
      continue;
    if (other.order < chain.lead.order) continue;
    const std::string_view message = raised->trace.message;
    return cat(bare_exception(raised->trace.exception), message.empty() ? "" : ": ",
               clip(message.substr(0, message.find('\n')), 160));
  }
  return "";
}

/// What came of it. "Nothing" holds for its own attempt: a later one may have trained.
std::string what_followed(const State& state, const FailureChain& chain) {
  if (chain.replaced) return std::string(kReplaced);
  if (is_beside(state, chain)) return std::string(kBeside);
  const bool trained_later =
      std::any_of(state.attempts.begin() + std::min<std::ptrdiff_t>(chain.attempt + 1, std::ssize(state.attempts)),
                  state.attempts.end(), [](const AttemptState& later) { return later.first_step != kNoStep; });
  if (trained_later || (chain.ended && chain.attempt + 1U < state.attempts.size()))
    return cat("; it ended attempt ", chain.attempt + 1);
  if (const std::string end = ended_with(chain); !end.empty()) return cat("; the run ended with ", end);
  return chain.ended ? "; nothing was done after it" : "; no step was done after it";
}

void judge_fatal(const State& state, const FailureChain& chain, std::vector<Finding>& out) {
  const bool sure = settled(state, chain);
  Finding finding;
  describe(state, chain, finding);
  finding.detector = "failure-signature";
  finding.severity = sure ? settled_severity(chain) : provisional_severity(chain);
  finding.severity = side_severity(state, chain, finding.severity);
  if (!sure && lasts(state, chain)) finding.severity = std::max(finding.severity, Severity::kWarning);
  const std::string step = finding.onset.step == kNoStep ? std::string() : cat(", at step ", finding.onset.step);
  finding.summary =
      cat(clause(chain.lead.signature->symptom), step, sure ? what_followed(state, chain) : std::string(kNotSettled));
  std::string missing;
  if (chain.kind == "collective-timeout") missing = missing_ranks(state, chain.attempt);
  if (!missing.empty()) finding.summary += cat("; ", missing);
  const bool gone = chain.kind == "worker-lost" && chain.lead.signature->role == Role::kCascade;
  if (sure && gone) finding.summary += "; the log does not say what ended the other process";
  out.push_back(std::move(finding));
}

struct Survived {
  const Symptom* first = nullptr;
  const Symptom* last = nullptr;
  uint64_t count = 0;
  uint64_t open = 0;  // of the kept matches, those that nothing came after; once it goes on, as in goes_on(), all idle
  const Symptom* idle = nullptr;  // the first in the last attempt after which no step came; how many there are
  uint64_t idle_count = 0;
  bool trained = false;  // the run had done a step by then
};

/// One occurrence has already lost something that the run was to keep.
bool loses_something(const Signature& signature) {
  if (signature.role != Role::kRoot || signature.severity == Severity::kInfo) return false;
  const bool save = signature.kind == "checkpoint-failed" || signature.kind == "disk-full";
  return (save && signature.severity == Severity::kCritical) || signature.kind == "logging-gap";
}

/// A save that failed is made good by one that is whole. Nothing else says so: a run that goes on may fail at each.
bool saved_since(const State& state, const Moment& failed) {
  return std::any_of(state.checkpoints.begin(), state.checkpoints.end(), [&](const auto& saved) {
    const Moment& at = saved.first;
    if (!saved.second.complete || at.attempt < failed.attempt) return false;
    if (at.attempt > failed.attempt || (at.step != kNoStep && at.step > failed.step)) return true;
    return at.where.source == failed.where.source && at.where.line > failed.where.line;
  });
}

/// A program's own word of an error, rather than a shell's or a tool's.
bool names_an_error(std::string_view text) {
  return contains(text, "Errno") || contains(text, "Error:") || contains(text, "ERROR") ||
         contains(text, "StorageFull");
}

/// Is it said since the last step as far as the log goes? A run that only lives on with it for a long time has not
/// survived it. Repetitions are known at doubling counts only, so that the last known one may lie half-way.
bool goes_on(const State& state, const Survived& seen) {
  constexpr uint64_t kDoubled = 2;
  const uint32_t number = seen.last->moment.where.source;
  if (static_cast<double>(seen.idle_count) < kKnobs[3].value || number >= state.sources.size()) return false;
  const uint64_t first = seen.idle->moment.where.line, last = seen.last->moment.where.line;
  if (seen.idle->moment.where.source != number || last <= first) return false;
  const AttemptState& attempt = state.attempts.back();
  const int64_t total = attempt.total_steps > 0 ? attempt.total_steps : state.total_steps;
  if (attempt.ended || (total > 0 && attempt.last_step + 1 >= total)) return false;
  const SourceState& source = state.sources[number];
  const uint64_t end = std::max(source.last_line, static_cast<uint64_t>(std::max<int64_t>(source.lines, 0)));
  return end <= last + kSameChainLines || end - first <= kDoubled * (last - first) + kSameChainLines;
}

/// A start that fails the same way again and again within what looks like one attempt.
bool loops(const Survived& seen) {
  return !seen.trained && seen.first->signature->kind == "crash" && static_cast<double>(seen.open) >= kKnobs[3].value;
}

/// The last line of a program that was started with wrong arguments: Python's argparse ends it there.
bool refuses_arguments(const Symptom& symptom) {
  return symptom.signature->kind == "config-error" && symptom.signature->fatal && contains(symptom.text, ": error: ");
}

/// A fault of the program after its training: a traceback that nothing catches and nothing follows, or a further start
/// that was refused. What the program was to do then (save, export, evaluate) is missing. So is what a
/// notebook's cell was to do, whatever ran after it.
bool ends_program(const State& state, const Symptom& symptom) {
  constexpr uint64_t kBlankLines = 4;
  const uint32_t number = symptom.moment.where.source;
  constexpr std::array<std::string_view, 6> kKinds = {"code-error",        "config-error",      "data-error",
                                                      "dependency-broken", "checkpoint-failed", "credentials"};
  const bool may = std::find(kKinds.begin(), kKinds.end(), symptom.signature->kind) != kKinds.end();
  if (!symptom.teardown || !may || (symptom.within == nullptr && !refuses_arguments(symptom))) return false;
  if (symptom.within != nullptr && ended_cell(state, symptom)) return true;
  const uint64_t last = symptom.within != nullptr ? symptom.within->trace.last_line : symptom.last_line;
  return number < state.sources.size() && state.sources[number].ended &&
         static_cast<int64_t>(last + kBlankLines) >= state.sources[number].lines;
}

/// Said at the very end of the log, and no step came after it.
bool stands_at_end(const State& state, const Survived& seen) {
  constexpr uint64_t kBlankLines = 4;
  const uint32_t number = seen.last->moment.where.source;
  if (seen.open == 0 || number >= state.sources.size()) return false;
  const SourceState& source = state.sources[number];
  return source.ended && static_cast<int64_t>(seen.last->last_line + kBlankLines) >= source.lines;
}

/// An engine was lost, or it is said so often that one is waited for that whoever says so still waits.
bool lacks_engine(const State& state, const Survived& seen) {
  if (seen.first->signature->kind != "engine-dead" || !stands_at_end(state, seen)) return false;
  return seen.first->signature->role == Role::kRoot || static_cast<double>(seen.open) >= kKnobs[1].value;
}

/// As many of the trainer's records were dropped as it did steps: the sink has kept none of them.
bool loses_every_step(const State& state, const Survived& seen) {
  if (seen.first->signature->kind != "logging-gap" || seen.first->signature->transient != "degraded") return false;
  return static_cast<double>(seen.count) >=
         std::max(kKnobs[4].value, static_cast<double>(std::max<int64_t>(1, state.steps().count)));
}

/// Where it was said last: of many that is known when the log ends, and before that to half of their number only.
const Moment& said_last(const State& state, const Survived& seen) {
  const SignatureState* const known = state.signature(seen.first->signature->id);
  const bool rest = known != nullptr && !known->matches.empty() && known->matches.back().text.empty();
  return rest ? known->matches.back().moment : seen.last->moment;
}

/// Again and again over several steps, up to the last one that was done: the run went on with it, and not without it.
/// While the log grows, what has come at every step since it began is not over before as many steps lack it.
bool up_to_the_end(const State& state, const Survived& seen) {
  constexpr uint64_t kKnownSingly = 32;  // as many are emitted one by one
  const Moment &first = seen.first->moment, &last = said_last(state, seen);
  if (static_cast<double>(seen.count) < kKnobs[0].value || last.attempt + 1U != state.attempts.size()) return false;
  const int64_t done = state.attempts.back().last_step;
  const uint32_t number = last.where.source;
  const bool grows = number < state.sources.size() && !state.sources[number].ended && seen.count >= kKnownSingly;
  const int64_t reach = grows && first.attempt == last.attempt ? std::max<int64_t>(1, last.step - first.step) : 1;
  return done > 0 && last.step + reach >= done && (first.attempt < last.attempt || first.step < last.step);
}

/// A trainer's own words about what it learns, said by a line rather than by a figure.
bool is_of_learning(const Signature& signature) {
  const IncidentKind* kind = find_incident_kind(signature.kind);
  return kind != nullptr && kind->family == IncidentKind::Family::kLearning && signature.layer == "framework" &&
         signature.severity >= Severity::kWarning;
}

/// A trainer that watches its own progress says that there is none.
bool says_stalled(const Signature& signature) {
  return signature.kind == "stall" && signature.layer == "framework" && signature.role == Role::kRoot &&
         signature.metric_rule.empty();
}

/// What mostly passes by itself did so within a step or two: each rank may say it at the same update. Where no line
/// tells the step, as of a run that shows a bar alone, more than all ranks would say shows that it did not.
bool passed_by(const Survived& seen) {
  constexpr int64_t kSteps = 2;
  constexpr uint64_t kRanks = 256;
  const Moment &first = seen.first->moment, &last = seen.last->moment;
  if (first.step == kNoStep && last.step == kNoStep && seen.count > kRanks) return false;
  return seen.first->signature->transient.starts_with("likely") && first.attempt == last.attempt &&
         last.step - first.step < kSteps;
}

/// How much a person should care about something that did not end the run.
Severity survived_severity(const State& state, const Survived& seen) {
  const Signature& signature = *seen.first->signature;
  if (ends_program(state, *seen.last)) return Severity::kWarning;
  if (seen.first->teardown || signature.role == Role::kConfirmation) return Severity::kInfo;
  if (loses_every_step(state, seen)) return Severity::kWarning;
  if (signature.severity == Severity::kInfo || !signature.metric_rule.empty()) return Severity::kInfo;
  const bool often = static_cast<double>(seen.count) >= kKnobs[0].value;
  if (often && is_of_learning(signature)) return passed_by(seen) ? Severity::kInfo : Severity::kWarning;
  const bool burst = static_cast<double>(seen.open) >= kKnobs[3].value;
  if (says_stalled(signature) && seen.trained && seen.open > 0)
    return burst && stands_at_end(state, seen) ? Severity::kCritical : Severity::kWarning;
  if (burst && seen.trained) return Severity::kWarning;
  if (loops(seen)) return Severity::kCritical;
  if (lacks_engine(state, seen)) return Severity::kWarning;
  if (signature.role == Role::kSymptom) {
    // The log was cut there, and what came of the run it does not show.
    const bool cut = signature.kind == "died-silently" && signature.severity == Severity::kWarning;
    if (cut && stands_at_end(state, seen)) return Severity::kWarning;
    return often && signature.transient == "poison" ? Severity::kWarning : Severity::kInfo;
  }
  // Steps were done after it: it is the output of a tool or of a helper that was replaced.
  if (signature.kind == "crash" && seen.open == 0) return Severity::kInfo;
  if (signature.kind == "code-error" && seen.open == 0 && seen.count == 1) return Severity::kInfo;  // of a model's code
  // One of many workers was ended for memory and made again.
  const bool made_again = signature.kind == "host-out-of-memory" && signature.transient.starts_with("likely");
  if (made_again && seen.open == 0 && !often) return Severity::kInfo;
  // A full disk is a state, not an event: nothing shows that it is over while no step is done, and steps do not free
  // it.
  if (signature.kind == "disk-pressure" && (seen.open > 0 || often)) return Severity::kWarning;
  // What is refused whenever it is asked for, and nothing was lost: the run can do without it, however often it asks.
  const bool refused = signature.kind == "credentials" && signature.transient == "deterministic";
  if (refused && seen.open == 0) return Severity::kInfo;
  const bool of_the_start = signature.kind == "dependency-broken" || signature.kind == "config-error";
  if (of_the_start && seen.open == 0 && !often)
    return Severity::kInfo;  // what the run trains without it can do without
  if (signature.kind == "disk-full" && seen.open == 0 && !names_an_error(seen.first->text)) return Severity::kInfo;
  if (signature.layer == "learning-dynamics") return Severity::kInfo;  // the figures decide, not one line of them
  const bool many = signature.layer == "reward" && static_cast<double>(seen.count) >= kKnobs[2].value;
  if (!seen.trained && !signature.fatal && !many) return Severity::kInfo;
  const bool lasting = signature.transient == "poison" || signature.transient == "degraded";
  if (signature.fatal || lasting || often || loses_something(signature)) return Severity::kWarning;
  return Severity::kInfo;
}

/// Several signatures of one moment are one chain: the first that names a memory, or else the first, is a warning, the
/// others information.
void quieten_echoes(std::vector<Finding>& findings, size_t begin) {
  const auto memory = [](const Finding& f) { return f.kind == "gpu-out-of-memory" || f.kind == "host-out-of-memory"; };
  for (size_t i = begin; i < findings.size(); ++i) {
    for (size_t k = begin; k < findings.size() && findings[i].severity == Severity::kWarning; ++k) {
      const Finding& other = findings[k];
      if (k == i || other.severity != Severity::kWarning || other.onset.where.source != findings[i].onset.where.source)
        continue;
      const uint64_t a = findings[i].onset.where.line, b = other.onset.where.line;
      if ((a > b ? a - b : b - a) > kSameChainLines) continue;
      const bool other_leads = memory(other) != memory(findings[i]) ? memory(other) : b < a || (a == b && k < i);
      if (other_leads) findings[i].severity = Severity::kInfo;
    }
  }
}

/// A stop that ended its attempt was not survived, whatever a sink wrote after it: the detector of stops reports it.
bool ended_it(const State& state, const Symptom& symptom) {
  if (!is_interruption(symptom.signature->kind) || symptom.moment.attempt >= state.attempts.size()) return false;
  const std::optional<event::Ended>& end = state.attempts[symptom.moment.attempt].ended;
  return end && end->how == event::Ended::How::kInterrupted;
}

void judge_survived(const State& state, const std::vector<Symptom>& symptoms, const std::vector<FailureChain>& chains,
                    std::vector<Finding>& out) {
  std::map<std::string, Survived> by_id;
  for (const Symptom& symptom : symptoms) {
    if (symptom.signature == nullptr || symptom.signature->role == Role::kCascade) continue;
    bool reported = false;
    for (const FailureChain& chain : chains) reported = reported || chain.attempt == symptom.moment.attempt;
    if (reported && !symptom.survived) continue;
    if (ended_it(state, symptom)) continue;
    Survived& seen = by_id[symptom.signature->id];
    if (seen.first == nullptr) seen.first = &symptom;
    seen.last = &symptom;
    seen.count = symptom.count;
    if (!symptom.survived && !symptom.teardown) ++seen.open;
    if (symptom.idle && !symptom.teardown && symptom.moment.attempt + 1U == state.attempts.size()) {
      if (seen.idle_count++ == 0) seen.idle = &symptom;
    }
    seen.trained = seen.trained || symptom.moment.step > 0;
  }
  const size_t begin = out.size();
  for (auto& [id, seen] : by_id) {
    if (goes_on(state, seen)) seen.open = std::max(seen.open, seen.idle_count);
    Finding finding;
    finding.kind = seen.first->signature->kind;
    finding.detector = "failure-signature";
    finding.severity = survived_severity(state, seen);
    finding.onset = seen.first->moment;
    finding.detected = seen.first->moment;
    const bool stuck = static_cast<double>(seen.open) >= kKnobs[3].value && !is_of_learning(*seen.first->signature);
    const bool unsaved = finding.severity > Severity::kInfo && finding.kind == "checkpoint-failed" &&
                         loses_something(*seen.first->signature) && !saved_since(state, seen.last->moment);
    const bool nothing_after = !seen.first->survived && !seen.first->teardown;
    // Nothing shows that it is over. How the run itself stands, the detectors of its end and of its progress say.
    const bool of_its_end = finding.kind == "stall" || finding.kind == "died-silently" || is_interruption(finding.kind);
    const bool stands = nothing_after && !of_its_end && finding.severity > Severity::kInfo;
    const bool lasts = finding.severity > Severity::kInfo && finding.kind != "logging-gap" && !seen.last->teardown &&
                       !of_its_end && !stands && up_to_the_end(state, seen);
    const bool stalled = says_stalled(*seen.first->signature) && seen.trained && seen.open > 0;
    finding.resolved = !stuck && !unsaved && !stands && !lasts && !stalled && !ends_program(state, *seen.last);
    if (finding.resolved) finding.resolved_at = seen.last->moment;
    finding.summary =
        cat(clause(seen.first->signature->symptom), "; seen ", seen.count, seen.count == 1 ? " time" : " times",
            refuses_arguments(*seen.last) && ends_program(state, *seen.last)
                ? ", after the training was complete: what was started then did not run"
            : ends_program(state, *seen.last) ? ", it ended the program after the training was complete"
            : seen.first->teardown            ? ", after the run was complete"
            : stuck                           ? ", no step was done after it"
            : unsaved                         ? ", the run went on, and no save after it is known to be whole"
            : nothing_after || stalled        ? ", and no step is seen after it"
            : lasts                           ? ", up to the last step"
            : loses_every_step(state, seen)   ? ", at least once for each step: the sink lacks all of them"
                                              : ", the run went on");
    finding.evidence.push_back({seen.first->moment.where, seen.first->text, "", kNoStep, 0});
    if (loops(seen)) finding.suggests.push_back({"autoretry-crash-loop", 0.85, cat("the same ", seen.count, " times")});
    finding.suggests.push_back({id, 0.8, cat("seen: ", clip(seen.first->text, 160))});
    out.push_back(std::move(finding));
  }
  quieten_echoes(out, begin);
}

void judge(const State& state, const Knowledge& knowledge, JudgeMemory& memory, std::vector<Finding>& out) {
  const std::vector<Symptom>& symptoms = memory.symptoms(state, knowledge);
  const std::vector<FailureChain>& chains = memory.chains(state, knowledge);
  for (const FailureChain& chain : chains) {
    if (chain.lead.signature != nullptr && !is_interruption(chain.kind)) judge_fatal(state, chain, out);
  }
  judge_survived(state, symptoms, chains, out);
}

}  // namespace

extern const Detector failure_signature;
const Detector failure_signature{
    "failure-signature",
    "The text shows a failure of the catalogue: the earliest root that nothing survived leads, one that another "
    "process's death brings about as well only where there is no other; the rest follows.",
    {"crash",
     "engine-dead",
     "worker-lost",
     "collective-timeout",
     "gpu-out-of-memory",
     "host-out-of-memory",
     "gpu-fault",
     "shm-exhausted",
     "disk-full",
     "disk-pressure",
     "resource-limit",
     "network",
     "credentials",
     "dependency-broken",
     "config-error",
     "data-error",
     "code-error",
     "environment-fault",
     "checkpoint-failed",
     "checkpoint-incomplete",
     "stall"},
    kKnobs,
    judge};

}  // namespace mw::detect
