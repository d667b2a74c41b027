// Which failure ended an attempt: the lead among its symptoms.
#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "base/text.h"
#include "core/detect/support/failure_chain.h"
#include "core/detect/support/lead_rank.h"
#include "core/incident_kind.h"
#include "core/plan_bar.h"

namespace mw::detect {
namespace {

constexpr double kSilenceSeconds = 1800;  // as long as no start-up, save or evaluation says nothing
// Between a start that failed at once and one that somebody made after it; the ranks of one start fail sooner.
constexpr double kRestartSeconds = 60;
constexpr size_t kOthersKept = 24;
// What a failure of the same moment says of itself: the ranks of one crash and the links of one chain come this close.
constexpr uint64_t kNearLines = 300;
constexpr double kNearSeconds = 120;
constexpr uint64_t kWrappedLines = 8;  // from a wrapper to the traceback of what it wraps, others cutting in

/// Is this a symptom that ends the process which says it?
bool ends_for_sure(const Symptom& symptom) {
  return symptom.trace != nullptr || symptom.within != nullptr || symptom.signature->fatal;
}

/// Does a root that ends a process come at `begin` or later in the same attempt?
bool a_root_ends(const std::vector<Symptom>& symptoms, size_t begin) {
  for (size_t i = begin; i < symptoms.size() && symptoms[i].moment.attempt == symptoms[begin].moment.attempt; ++i) {
    if (is_root(symptoms[i]) && ends_a_process(symptoms[i]) && !symptoms[i].survived) return true;
  }
  return false;
}

/// When a symptom happened; of one without a clock, what the lines before it say.
Time clock_at(const State& state, const Symptom& symptom) {
  const uint32_t number = symptom.moment.where.source;
  if (symptom.moment.at.known() || number >= state.sources.size()) return symptom.moment.at;
  return state.sources[number].clock.before(symptom.moment.where.line);
}

/// The start that failed with `one` is not what failed with `other`: a program that lacks a module, a script or a
/// setting has not begun, and an error of another kind a good while later is that of a start which got further.
bool of_another_start(const State& state, const Symptom& one, const Symptom& other) {
  if (one.survived || one.teardown || other.survived || other.teardown) return false;
  const std::string kind = kind_of(one);
  if (!is_of_a_start(kind) || kind == kind_of(other)) return false;
  if (!is_root(one) || !is_root(other) || may_be_echo(other) || !ends_for_sure(one) || !ends_for_sure(other))
    return false;
  if (kind_of(other) == "interrupted" || one.moment.where.source != other.moment.where.source) return false;
  const Time at = clock_at(state, one), later = clock_at(state, other);
  if (at.known() && later.known()) return (later - at).seconds() > kRestartSeconds;
  return !at.known() && !later.known() && other.moment.where.line > one.last_line + kNearLines;
}

/// Each cell of a notebook that fails has a traceback, and a later one is run all the same: what it fails of is another
/// failure, where it is of another kind. A name that is not defined is what a failed cell was to define.
bool of_another_cell(const State& state, const Symptom& one, const Symptom& other) {
  const uint32_t number = one.moment.where.source;
  if (number != other.moment.where.source || number >= state.sources.size()) return false;
  if (state.sources[number].kind != "notebook" || one.survived || one.teardown || other.survived || other.teardown)
    return false;
  const bool raised = trace_of(one) != nullptr && trace_of(other) != nullptr && trace_of(one) != trace_of(other);
  const bool echo = may_be_echo(other) || cause_of(other) == "name-error";
  return raised && is_root(one) && is_root(other) && !echo && kind_of(one) != kind_of(other);
}

/// The end of the episode that begins at `begin`: the next attempt, or, in an attempt that never did a step, where what
/// follows is of another start in the same log, whose beginnings no dialect knows: after a long silence, or a start
/// that cannot have come so far.
size_t end_of_episode(const State& state, const std::vector<Symptom>& symptoms, size_t begin) {
  const uint16_t attempt = symptoms[begin].moment.attempt;
  const bool trained = attempt < state.attempts.size() && state.attempts[attempt].last_step != kNoStep;
  Time last = symptoms[begin].moment.at;
  size_t end = begin + 1;
  for (; end < symptoms.size() && symptoms[end].moment.attempt == attempt; ++end) {
    if (!trained && of_another_start(state, symptoms[end - 1], symptoms[end])) break;
    if (!trained && of_another_cell(state, symptoms[end - 1], symptoms[end])) break;
    const Time at = symptoms[end].moment.at;
    if (!at.known()) continue;
    const bool silence = last.known() && (at - last).seconds() > kSilenceSeconds;
    if (!trained && silence && a_root_ends(symptoms, end)) break;
    last = std::max(last, at);
  }
  return end;
}

/// Of two in one file: the later line shows a time long before that of the earlier one. Their writers' clocks are of
/// different zones.
bool has_other_clock(const Symptom& a, const Symptom& b) {
  if (!a.moment.at.known() || !b.moment.at.known()) return false;
  const double apart = (b.moment.at - a.moment.at).seconds();
  return b.moment.where.line > a.moment.where.line ? apart < -kNearSeconds : apart > kNearSeconds;
}

/// Did the two symptoms come at the same moment, as far as their places and times show?
bool near_to(const Symptom& lead, const Symptom& other) {
  if (lead.moment.where.source == other.moment.where.source) {
    const uint64_t line = other.moment.where.line;
    if (line > lead.last_line + kNearLines || line + kNearLines < lead.moment.where.line) return false;
    if (has_other_clock(lead, other)) return true;
  }
  if (!lead.moment.at.known() || !other.moment.at.known()) return true;
  const double apart = (other.moment.at - lead.moment.at).seconds();
  return apart <= kNearSeconds && apart >= -kNearSeconds;
}

/// What was said to have been lost shortly before a launcher's word that a task failed; null: nothing was. `killed`: a
/// process that was killed without a word counts, too.
const Symptom* lost_before(const Symptom& task, bool killed, const Symptom* first, const Symptom* last) {
  for (const Symptom* symptom = first; symptom != last; ++symptom) {
    if (symptom->survived || symptom->teardown || symptom->order >= task.order || !near_to(task, *symptom)) continue;
    const std::string kind = kind_of(*symptom);
    const bool says_what = kind != "crash" || (killed && cause_of(*symptom) == "exit-137-unexplained");
    if (ends_runs(kind) && says_what && ends_a_process(*symptom)) return symptom;
  }
  return nullptr;
}

/// The launcher's word that a task had failed of itself before its step was taken down with it, or what that task said
/// before. That word may come out behind slurmstepd's, which has no buffer: then what was lost before shows that the
/// task did not fail of the end of its step.
const Symptom* failed_before(const Symptom& lead, const Symptom* first, const Symptom* last) {
  constexpr uint64_t kBufferedLines = 60;
  if (lead.signature == nullptr || kind_of(lead) != "interrupted") return nullptr;
  for (const Symptom* symptom = first; symptom != last; ++symptom) {
    if (symptom->survived || symptom->teardown || symptom->signature == nullptr) continue;
    const bool before = symptom->order < lead.order;
    const bool buffered = lead.consequence && symptom->moment.where.source == lead.moment.where.source &&
                          symptom->moment.where.line <= lead.last_line + kBufferedLines;
    const bool signalled = contains(symptom->text, "Terminated") || contains(symptom->text, "Killed") ||
                           contains(symptom->text, "code 143") || contains(symptom->text, "code 130");
    if (symptom->signature->id != "slurm-task-failed" || signalled || !near_to(lead, *symptom)) continue;
    if (!before && !buffered) continue;
    const Symptom* const lost = lost_before(before ? *symptom : lead, !before, first, last);
    if (before || lost != nullptr) return lost != nullptr ? lost : symptom;
  }
  return nullptr;
}

/// A worker that had died before a collective operation timed out: the others waited for it.
const Symptom* died_before(const Symptom& lead, const Symptom* first, const Symptom* last) {
  if (kind_of(lead) != "collective-timeout") return nullptr;
  for (const Symptom* symptom = first; symptom != last; ++symptom) {
    if (symptom->survived || symptom->teardown || symptom->order >= lead.order) continue;
    if (kind_of(*symptom) == "worker-lost" && ends_a_process(*symptom)) return symptom;
  }
  return nullptr;
}

/// The exception of which a rank had died before the others gave up waiting for it, which is what leads, or of which
/// their native code then aborted. An exception that speaks of waiting, or of the ranks' own connections, is theirs.
const Symptom* raised_before(const Symptom& lead, const Symptom* first, const Symptom* last) {
  if (lead.signature == nullptr || lead.within != nullptr) return nullptr;
  if (!comes_late(lead) && kind_of(lead) != "crash") return nullptr;
  const Symptom* const late = comes_late(lead) ? &lead : std::find_if(first, last, [&lead](const Symptom& symptom) {
    return symptom.order <= lead.order && !symptom.survived && !symptom.teardown && comes_late(symptom);
  });
  if (late == last) return nullptr;
  static constexpr std::array<std::string_view, 6> kOfOthers = {"interrupted",        "preempted", "worker-lost",
                                                                "collective-timeout", "stall",     "engine-dead"};
  for (const Symptom* symptom = first; symptom != last; ++symptom) {
    if (symptom->survived || symptom->teardown || symptom->trace == nullptr) continue;
    if (symptom->moment.where.source != late->moment.where.source || symptom->order >= late->order) continue;
    const event::TraceSeen& trace = symptom->trace->trace;
    const bool of_ranks = contains(trace.frame, "torch/distributed") || contains(trace.exception, "Timeout") ||
                          contains(trace.exception, "Fatal Python error") ||
                          contains(trace.exception, "torch.distributed");
    const std::string kind = kind_of(*symptom);
    if (!of_ranks && std::find(kOfOthers.begin(), kOfOthers.end(), kind) == kOfOthers.end()) return symptom;
  }
  return nullptr;
}

/// Does `other` stand in the wrapper's own traceback, or in the one that follows its line at once?
bool wrapped_by(const Symptom& lead, const Symptom& other) {
  if (lead.within != nullptr && (other.within == lead.within || other.trace == lead.within)) return true;
  const uint64_t line = other.moment.where.line;
  return lead.moment.where.source == other.moment.where.source && line >= lead.moment.where.line &&
         line <= lead.last_line + kWrappedLines;
}

/// What a signature that only wraps whatever failed ("NCCL was called wrongly") was raised by, if it says of what.
const Symptom* wrapped(const Symptom& lead, const Symptom* first, const Symptom* last) {
  for (const Symptom* symptom = first; symptom != last; ++symptom) {
    if (symptom == &lead || symptom->survived || symptom->teardown || !is_root(*symptom)) continue;
    const std::string kind = kind_of(*symptom);
    const bool says_what = symptom->signature != nullptr ? !symptom->signature->wrapper : is_resource(kind);
    if (says_what && kind != "crash" && ends_a_process(*symptom) && wrapped_by(lead, *symptom)) return symptom;
  }
  if (kind_of(lead) != "crash" || lead.within != nullptr) return nullptr;
  // Where the wrapper says no more than that all failed, the exception says where.
  const Symptom* raised = std::find_if(first, last, [&lead](const Symptom& symptom) {
    return symptom.trace != nullptr && !symptom.survived && !symptom.teardown && is_root(symptom) &&
           wrapped_by(lead, symptom);
  });
  return raised == last ? nullptr : raised;
}

/// What is said in the lines right behind an exception that says nothing of itself: its message went on there.
const Symptom* continued(const Symptom& lead, const Symptom* first, const Symptom* last) {
  constexpr uint64_t kMessageLines = 6;
  if (!says_little(lead.type)) return nullptr;
  for (const Symptom* symptom = first; symptom != last; ++symptom) {
    if (symptom->survived || symptom->teardown || symptom->signature == nullptr || !is_root(*symptom)) continue;
    const uint64_t line = symptom->moment.where.line;
    const bool behind = symptom->moment.where.source == lead.moment.where.source && line > lead.last_line &&
                        line <= lead.last_line + kMessageLines;
    const bool says_what = !symptom->signature->wrapper && symptom->within == nullptr && !may_be_echo(*symptom);
    if (behind && says_what && ends_a_process(*symptom)) return symptom;
  }
  return nullptr;
}

/// What was said of the data right before code failed with an exception that no signature knows: a prompt that is too
/// long comes back without an answer, of which the code then takes the first token. What the run had lived through
/// before is not it.
const Symptom* said_of_data(const Symptom& lead, const Symptom* first, const Symptom* last) {
  constexpr uint64_t kRightBefore = 12;  // lines
  if (lead.trace == nullptr || kind_of(lead) != "code-error") return nullptr;
  const Symptom* found = nullptr;
  for (const Symptom* symptom = first; symptom != last; ++symptom) {
    if (symptom->signature == nullptr || symptom->signature->kind != "data-error" || symptom->teardown) continue;
    const bool near = symptom->moment.where.source == lead.moment.where.source &&
                      symptom->moment.where.line < lead.moment.where.line &&
                      symptom->moment.where.line + kRightBefore >= lead.moment.where.line;
    if (symptom->survived || !near) return nullptr;
    if (found == nullptr) found = symptom;
  }
  return found;
}

/// The path of a model that is not there, where the lead is the Hub's word that it has none of that name: the path was
/// sought there as well, and the first exception of the chain is the Hub's.
const Symptom* path_of(const Symptom& lead, const Symptom* first, const Symptom* last) {
  if (cause_of(lead) != "hf-repo-not-found") return nullptr;
  const Symptom* const found = std::find_if(first, last, [&lead](const Symptom& symptom) {
    return !symptom.survived && !symptom.teardown && cause_of(symptom) == "model-path-missing" &&
           near_to(lead, symptom);
  });
  return found == last ? nullptr : found;
}

/// A symptom of the same moment that says of what the process died, where the lead only says that it did. That it was
/// an engine that died is worth saying whatever it died of.
const Symptom* more_specific(const Symptom& lead, const Symptom* first, const Symptom* last) {
  if (lead.trace != nullptr) {
    if (const Symptom* more = continued(lead, first, last)) return more;
    if (const Symptom* data = said_of_data(lead, first, last)) return data;
  }
  if (const Symptom* path = path_of(lead, first, last)) return path;
  const std::string kind = kind_of(lead);
  if (lead.signature != nullptr && lead.signature->wrapper && kind != "engine-dead") {
    if (const Symptom* inner = wrapped(lead, first, last)) return inner;
  }
  if (kind != "crash" && kind != "checkpoint-failed") return nullptr;
  for (const Symptom* symptom = first; symptom != last; ++symptom) {
    if (symptom->survived || symptom->teardown || !is_root(*symptom) || !ends_a_process(*symptom)) continue;
    if (is_resource(kind_of(*symptom)) && near_to(lead, *symptom)) return symptom;
  }
  return nullptr;
}

/// The kernel's or the scheduler's word, in whatever file, that memory was why a worker vanished that said nothing
/// itself.
const Symptom* killed_for_memory(const Symptom& lead, const Symptom* first, const Symptom* last) {
  if (kind_of(lead) != "worker-lost" || is_root(lead)) return nullptr;
  for (const Symptom* symptom = first; symptom != last; ++symptom) {
    if (symptom->survived || symptom->teardown || !is_root(*symptom) || !ends_a_process(*symptom)) continue;
    if (kind_of(*symptom) == "host-out-of-memory" && near_to(lead, *symptom)) return symptom;
  }
  return nullptr;
}

/// Is it requests to an engine that fail, time and again, to the last line of a log that says no end? Then the run went
/// on when its files were copied, however little came of it.
bool still_fails(const State& state, const FailureChain& chain) {
  constexpr uint64_t kOften = 5, kBlankLines = 4;
  const Symptom& lead = chain.lead;
  const uint32_t number = lead.moment.where.source;
  if (!state.closed || chain.ended || lead.signature == nullptr || lead.signature->role != Role::kSymptom) return false;
  if (chain.kind != "engine-dead") return false;
  if (chain.attempt + 1U != state.attempts.size() || state.attempts.back().ended) return false;
  const SignatureState* seen = state.signature(lead.signature->id);
  if (seen == nullptr || seen->count < kOften || number >= state.sources.size()) return false;
  const SourceState& source = state.sources[number];
  return seen->last.where.source == number && source.ended &&
         static_cast<int64_t>(seen->last.where.line + kBlankLines) >= source.lines;
}

}  // namespace

std::vector<FailureChain> fatal_chains(const State& state, const std::vector<Symptom>& symptoms) {
  std::vector<FailureChain> chains;
  for (size_t begin = 0, end = 0; begin < symptoms.size(); begin = end) {
    end = end_of_episode(state, symptoms, begin);
    const Symptom* lead = nullptr;
    int best = 0;
    const bool barren = came_to_nothing(state, symptoms[begin].moment.attempt);
    for (size_t i = begin; i < end; ++i) {
      if (symptoms[i].survived || symptoms[i].teardown) continue;
      const int rank = lead_rank(symptoms[i], barren);
      const bool first = lead == nullptr || !may_be_echo(*lead) || !is_root(*lead);
      if (rank > best && (first || may_have_caused(symptoms[i], *lead))) {
        best = rank;
        lead = &symptoms[i];
      }
    }
    if (lead == nullptr) continue;
    FailureChain chain;
    chain.attempt = lead->moment.attempt;
    chain.lead = *lead;
    if (const Symptom* specific = more_specific(*lead, symptoms.data() + begin, symptoms.data() + end)) {
      chain.lead = *specific;
      chain.lead.moment = lead->moment;
      chain.lead.order = std::min(chain.lead.order, lead->order);
      lead = specific;
    }
    for (const auto before : {failed_before, died_before, raised_before}) {
      if (const Symptom* failed = before(*lead, &symptoms[begin], symptoms.data() + end)) {
        chain.lead = *failed;
        chain.ended = true;
        lead = failed;
      }
    }
    if (const Symptom* killed = killed_for_memory(*lead, symptoms.data() + begin, symptoms.data() + end)) {
      chain.lead = *killed;
      chain.lead.moment = lead->moment;
      lead = killed;
    }
    chain.kind = kind_of(chain.lead);
    chain.replaced = end < symptoms.size() && symptoms[end].moment.attempt == chain.attempt &&
                     (of_another_start(state, symptoms[end - 1], symptoms[end]) ||
                      (is_of_a_start(chain.kind) && of_another_cell(state, symptoms[end - 1], symptoms[end])));
    chain.ended = chain.ended || barren || ends_for_sure(*lead);
    for (size_t i = begin; i < end; ++i) {
      if (&symptoms[i] == lead || symptoms[i].survived || symptoms[i].teardown) continue;
      chain.ended = chain.ended || (is_root(symptoms[i]) && ends_for_sure(symptoms[i]));
      if (chain.others.size() < kOthersKept) chain.others.push_back(symptoms[i]);
    }
    if (!still_fails(state, chain)) chains.push_back(std::move(chain));
  }
  return chains;
}

namespace {

/// The exception that the lead stands for, where its own line does not say which: the traceback that it is matched in,
/// or the one that follows at once.
const TraceState* raised_by(const FailureChain& chain) {
  constexpr uint64_t kFollowsAtOnce = 3;  // lines
  const Symptom& lead = chain.lead;
  if (lead.signature == nullptr) return nullptr;
  const TraceState* raised = lead.within;
  for (size_t i = 0; raised == nullptr && i < chain.others.size(); ++i) {
    const Symptom& other = chain.others[i];
    const TraceState* trace = other.trace != nullptr ? other.trace : other.within;
    const bool same = trace != nullptr && other.moment.where.source == lead.moment.where.source &&
                      trace->trace.exception != "Fatal Python error";  // which says only that it ended
    const uint64_t line = other.moment.where.line;
    if (same && line >= lead.moment.where.line && line <= lead.last_line + kFollowsAtOnce) raised = trace;
  }
  if (raised == nullptr || raised->trace.exception.empty()) return nullptr;
  const std::string_view said = raised->trace.message.empty() ? std::string_view(raised->trace.exception)
                                                              : std::string_view(raised->trace.message);
  constexpr size_t kCompared = 60;
  return contains(lead.text, said.substr(0, std::min(kCompared, said.find('\n')))) ? nullptr : raised;
}

/// The cause that stands behind a wrapper which leads: of the signature that it wraps, or else of the exception that
/// it was raised by. "": neither says more than the wrapper.
std::string wrapped_cause(const FailureChain& chain, const TraceState* raised) {
  const Symptom& lead = chain.lead;
  if (lead.signature == nullptr || !lead.signature->wrapper) return "";
  for (const Symptom& other : chain.others) {
    if (other.signature == nullptr || other.signature->wrapper || !is_root(other)) continue;
    if (ends_a_process(other) && wrapped_by(lead, other)) return other.signature->id;
  }
  if (raised == nullptr) return "";
  const event::TraceSeen& trace = raised->trace;
  const ExceptionClass is = classify_exception(trace.exception, trace.message, trace.frame);
  return is.consequence || says_little(is) ? "" : std::string(is.cause);
}

}  // namespace

void describe(const State& state, const FailureChain& chain, Finding& finding) {
  constexpr size_t kEvidenceKept = 6;
  constexpr double kLeads = 0.8, kWrapped = 0.5;
  finding.kind = chain.kind;
  finding.onset = chain.lead.moment;
  if (chain.ended && chain.attempt + 1 == state.attempts.size()) {
    finding.onset.step = std::max(finding.onset.step, done_by_bar(state));
  }
  finding.detected = finding.onset;
  finding.detected.where.line = std::max(finding.detected.where.line, chain.lead.last_line);
  std::map<std::string, bool> said;
  const std::string own = cause_of(chain.lead);
  said[own] = true;
  const TraceState* raised = raised_by(chain);
  const std::string inner = wrapped_cause(chain, raised);
  const double weight_of_lead = !is_root(chain.lead) ? 0.55 : inner.empty() ? kLeads : kWrapped;
  finding.suggests.push_back({own, weight_of_lead, cat("seen first: ", clip(chain.lead.text, 160))});
  if (raised != nullptr) {
    const event::TraceSeen& trace = raised->trace;
    const std::string words = cat(trace.exception, ": ", trace.message);
    Where where = raised->moment.where;
    where.line = std::max(where.line, trace.last_line);
    finding.evidence.push_back({where, clip(words, kTextLimit), "", kNoStep, 0});
    const std::string cause(classify_exception(trace.exception, trace.message, trace.frame).cause);
    if (!std::exchange(said[cause], true)) {
      finding.suggests.push_back({cause, cause == inner ? kLeads : kWrapped, cat("raised: ", clip(words, 160))});
    }
  }
  finding.evidence.push_back({chain.lead.moment.where, clip(chain.lead.text, kTextLimit), "", kNoStep, 0});
  double weight = 0.45;
  for (const Symptom& symptom : chain.others) {
    const std::string cause = cause_of(symptom);
    if (std::exchange(said[cause], true)) continue;
    const bool before = symptom.order < chain.lead.order;
    const bool root = is_root(symptom);
    const double own_weight = cause == inner ? kLeads : root ? weight : 0.5 * weight;
    finding.suggests.push_back(
        {cause, own_weight, cat(before ? "seen before it: " : "seen with it: ", clip(symptom.text, 160))});
    if (root) weight *= 0.8;
    if (finding.evidence.size() < kEvidenceKept) {
      finding.evidence.push_back({symptom.moment.where, clip(symptom.text, kTextLimit), "", kNoStep, 0});
    }
  }
}

}  // namespace mw::detect
