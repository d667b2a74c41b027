// Ended by a person, a scheduler or the provider.
#include <algorithm>

#include "base/text.h"
#include "core/detect/detector.h"
#include "core/detect/support/closing.h"
#include "core/detect/support/failure_chain.h"
#include "core/exit_status.h"
#include "core/judge_memory.h"
#include "core/plan_bar.h"

namespace mw::detect {
namespace {

bool stops(std::string_view kind) { return kind == "interrupted" || kind == "preempted"; }

/// What stopped the run, in words: the line that says so, but of the keeper's line only how the command ended.
std::string stopped_by(std::string_view line) {
  line = trim(line);
  if (line.starts_with("^C")) return "Ctrl-C";        // as the terminal shows the key, the traceback's head behind it
  while (line.ends_with(':')) line.remove_suffix(1);  // an exception without a message
  constexpr std::string_view kEnded = "ended by signal ";
  const size_t at = line.rfind(kEnded);
  if (at == std::string_view::npos || !line.ends_with(" ===")) return clip(line, 200);
  const std::string_view number = line.substr(at + kEnded.size(), line.size() - at - kEnded.size() - 4);
  return number == "15" ? "SIGTERM" : number == "2" ? "SIGINT" : cat("signal ", number);
}

/// The line that says why: a scheduler's reason, which is graver, rather than its word that it ends the job.
const Symptom& reason_of(const FailureChain& chain) {
  const Symptom* reason = &chain.lead;
  for (const Symptom& other : chain.others) {
    if (!is_root(other) || !stops(kind_of(other)) || other.signature == nullptr) continue;
    if (reason->signature != nullptr && other.signature->severity > reason->signature->severity) reason = &other;
  }
  return *reason;
}

/// What the knowledge says of the line with which an attempt was stopped; nullptr: nothing.
const Signature* known_stop(const State& state, const Knowledge& knowledge, const Where& line) {
  const Signature* found = nullptr;
  for (const SignatureState& seen : state.signatures) {
    const Signature* one = knowledge.find(seen.id);
    if (one == nullptr || one->role != Role::kRoot || !stops(one->kind)) continue;
    const bool there =
        std::any_of(seen.matches.begin(), seen.matches.end(), [&line](const SignatureState::Match& match) {
          return match.moment.where.source == line.source && match.moment.where.line == line.line;
        });
    if (there && (found == nullptr || one->severity > found->severity)) found = one;
  }
  return found;
}

/// midwatch itself ended the attempt, for cause or as a person requested; what the command says of the signal is no
/// word of anybody else.
bool by_midwatch(const State& state, size_t attempt) {
  if (stop_was_requested(state, attempt) || broken_off(state, attempt)) return true;
  const auto& ended = state.attempts[attempt].ended;
  return ended && ended->how == event::Ended::How::kStopped;
}

/// What had already failed was then stopped by somebody: worth knowing, no more.
bool tell_aftermath(const FailureChain& chain, Finding& finding) {
  for (const Symptom& symptom : chain.others) {
    if (!is_root(symptom) || !stops(kind_of(symptom))) continue;
    finding.kind = kind_of(symptom);
    finding.severity = Severity::kInfo;
    finding.onset = symptom.moment;
    finding.detected = symptom.moment;
    finding.summary = cat("After that the run was stopped from outside: ", stopped_by(symptom.text));
    finding.evidence.push_back({symptom.moment.where, clip(symptom.text, kTextLimit), "", kNoStep, 0});
    finding.suggests.push_back({cause_of(symptom), 0.7, cat("seen: ", clip(symptom.text, 160))});
    return true;
  }
  return false;
}

/// What only the end of the attempt says. Where the training was complete, nothing was lost by it.
void stopped_attempt(const State& state, const Knowledge& knowledge, const AttemptState& attempt, Finding& finding) {
  const std::string& text = attempt.ended->text;
  const bool complete = Closing(state, knowledge).complete_at(attempt.ended_at);
  const Signature* known = known_stop(state, knowledge, attempt.ended_at.where);
  finding.kind = known != nullptr ? known->kind : "interrupted";
  finding.onset = finding.detected = attempt.ended_at;
  finding.summary = complete ? "After the training was complete the run was stopped from outside"
                             : "The run was stopped from outside";
  if (!text.empty()) finding.evidence.push_back({attempt.ended_at.where, text, "", kNoStep, 0});
  if (known != nullptr) {
    finding.summary = known->layer == "framework" ? cat("The trainer ended by a rule of its own: ", stopped_by(text))
                                                  : cat(finding.summary, ": ", stopped_by(text));
    finding.suggests.push_back({known->id, 0.7, cat("seen: ", clip(text, 160))});
  } else {
    finding.suggests.push_back({"user-cancelled", 0.6, "an end record that says interrupted"});
  }
  if (!complete) return;
  finding.severity = Severity::kInfo;
  finding.resolved = true;
  finding.resolved_at = finding.onset;
}

/// What a chain of failures has to do with a stop; false: nothing.
bool stopped_chain(const State& state, const FailureChain& chain, Finding& finding) {
  if (!stops(chain.kind)) return tell_aftermath(chain, finding);
  describe(state, chain, finding);
  const Symptom& reason = reason_of(chain);
  const bool by_itself = chain.kind == "interrupted" && reason.signature != nullptr &&
                         reason.signature->layer == "framework" && is_root(reason);
  finding.summary = cat(by_itself ? "The trainer ended by a rule of its own: " : "The run was stopped from outside: ",
                        stopped_by(reason.text));
  return true;
}

/// The output of a notebook's training stops before its plan, and its kernel ran other cells after it. Why, nothing
/// says.
bool stopped_cell(const State& state, const Knowledge& knowledge, Finding& finding) {
  constexpr std::string_view kRanOn = "notebook-ran-on";
  const SignatureState* const seen = state.signature(kRanOn);
  if (seen == nullptr || seen->sample || seen->matches.empty() || !contains(seen->text, " ran after ")) return false;
  const Moment& said = seen->matches.back().moment;
  const size_t last = state.attempts.size() - 1;
  const auto open = said.attempt == last ? open_plan(state, last) : std::nullopt;
  const bool done = std::any_of(state.signatures.begin(), state.signatures.end(), [&](const SignatureState& other) {
    const Signature* const one = other.sample || other.id == kRanOn ? nullptr : knowledge.find(other.id);
    return one != nullptr && one->role == Role::kBenign && one->kind == "died-silently" && other.last.attempt == last;
  });
  if (!open || done) return false;
  finding.kind = "interrupted";
  finding.severity = Severity::kInfo;
  finding.onset = finding.detected = said;
  finding.onset.step = std::max(open->step, done_by_bar(state));
  finding.resolved = true;
  finding.resolved_at = said;
  finding.summary =
      cat("The output of the training's cell ends at step ", finding.onset.step, " of ", open->total,
          ", and its kernel ran other cells after it: the training was stopped, ended by a rule of its own, "
          "or went on without its output being kept");
  finding.evidence.push_back({said.where, seen->text, "", kNoStep, 0});
  finding.suggests.push_back({"user-cancelled", 0.4, "cells were run after it"});
  return true;
}

void judge(const State& state, const Knowledge& knowledge, JudgeMemory& memory, std::vector<Finding>& out) {
  const std::vector<FailureChain>& chains = memory.chains(state, knowledge);
  for (size_t i = 0; i < state.attempts.size(); ++i) {
    if (by_midwatch(state, i)) continue;
    const AttemptState& attempt = state.attempts[i];
    Finding finding;
    finding.detector = "interrupted";
    finding.severity = Severity::kWarning;
    bool failed = false;
    for (const FailureChain& chain : chains) {
      if (chain.attempt != i) continue;
      failed = true;
      Finding one = finding;
      if (stopped_chain(state, chain, one)) out.push_back(std::move(one));
    }
    if (failed || !attempt.ended || attempt.ended->how != event::Ended::How::kInterrupted) continue;
    stopped_attempt(state, knowledge, attempt, finding);
    out.push_back(std::move(finding));
  }
  Finding cell;
  cell.detector = "interrupted";
  const bool known = state.attempts.empty() || state.attempts.back().ended ||
                     std::any_of(chains.begin(), chains.end(), [&state](const FailureChain& chain) {
                       return chain.attempt + 1U == state.attempts.size();
                     });
  if (state.closed && !known && stopped_cell(state, knowledge, cell)) out.push_back(std::move(cell));
}

}  // namespace

extern const Detector interrupted;
const Detector interrupted{
    "interrupted", "A person, a scheduler or the provider ended an attempt.", {"interrupted", "preempted"}, {}, judge};

}  // namespace mw::detect
