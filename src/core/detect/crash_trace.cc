// A traceback that ended an attempt and that no signature knows, or an exit status without any word.
#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "core/detect/detector.h"
#include "core/detect/support/closing.h"
#include "core/detect/support/failure_chain.h"
#include "core/detect/support/settled.h"
#include "core/detect/support/side_cell.h"
#include "core/exit_status.h"
#include "core/incident_kind.h"
#include "core/judge_memory.h"
#include "core/supervise/time_limit.h"
#include "core/trace_frame.h"

namespace mw::detect {
namespace {

constexpr int64_t kSigkill = 9;
constexpr int64_t kSignalBase = 128;  // a shell reports death by signal n as 128 + n (POSIX)

/// "/opt/x/site-packages/acme/io.py:12 in load" as "io.py:12 in load": a person looks for the words first, and the
/// whole path stands in the evidence.
std::string place_of(std::string_view frame) {
  const auto shortened = [](std::string_view one) {
    const size_t slash = one.substr(0, one.find(" in ")).rfind('/');
    return slash == std::string_view::npos ? one : one.substr(slash + 1);
  };
  const std::string_view own = own_frame(frame);
  if (own.size() == frame.size()) return std::string(shortened(own));
  return cat(shortened(own), kRaisedIn, shortened(raising_frame(frame)));
}

std::string words_of(const event::TraceSeen& trace, bool sure) {
  constexpr size_t kMessage = 200;
  const std::string name =
      trace.exception.empty() ? std::string("An exception") : std::string(bare_exception(trace.exception));
  const std::string place = trace.frame.empty() ? std::string() : cat(" (", place_of(trace.frame), ")");
  const std::string message = clip(trim(trace.message), kMessage);
  const bool cut = trace.exception.empty() && trace.frame.empty();
  return cat(name, sure ? " ended the run" : "", cut ? "; the text ends before it is named" : "",
             message.empty() ? "" : ": ", message, place);
}

/// Of a traceback that was cut before it names its exception, what was said of it beside it is the kind: a lost worker,
/// a dead engine. "crash" where nothing was.
std::string kind_beside(const FailureChain& chain) {
  const auto known = std::find_if(chain.others.begin(), chain.others.end(), [](const Symptom& other) {
    return other.signature != nullptr && !other.teardown && ends_runs(other.signature->kind);
  });
  return known == chain.others.end() ? chain.kind : known->signature->kind;
}

void judge_trace(const State& state, const FailureChain& chain, std::vector<Finding>& out) {
  const bool sure = settled(state, chain), beside = is_beside(state, chain);
  const event::TraceSeen& trace = chain.lead.trace->trace;
  Finding finding;
  describe(state, chain, finding);
  finding.detector = "crash-trace";
  if (trace.exception.empty() && finding.kind == "crash") finding.kind = kind_beside(chain);
  finding.severity = sure ? settled_severity(chain) : provisional_severity(chain);
  finding.severity = side_severity(state, chain, finding.severity);
  finding.summary = cat(words_of(trace, sure && !chain.replaced && !beside), !sure            ? kNotSettled
                                                                             : chain.replaced ? kReplaced
                                                                             : beside         ? kBeside
                                                                                              : "");
  if (!trace.frame.empty())
    finding.evidence.push_back({chain.lead.moment.where, cat("in ", trace.frame), "", kNoStep, 0});
  out.push_back(std::move(finding));
}

struct ExitMeaning {
  std::string_view kind, cause;
};

ExitMeaning meaning_of(int64_t code) {
  const int64_t signal = code < 0 ? -code : code > kSignalBase && code < kSignalBase + 65 ? code - kSignalBase : 0;
  switch (signal) {
    case kSigkill:
      return {"crash", "exit-137-unexplained"};
    case 6:  // SIGABRT
      return {"crash", "cpp-terminate"};
    case 7:  // SIGBUS
      return {"shm-exhausted", "dataloader-bus-error"};
    case 11:  // SIGSEGV
      return {"crash", "segfault-generic"};
    case 1:  // SIGHUP
      return {"crash", "sighup-terminal-closed"};
    case 10:  // SIGUSR1
    case 12:  // SIGUSR2
      return {"crash", "warning-signal-unhandled"};
    case 24:  // SIGXCPU
      return {"resource-limit", "cpu-time-limit"};
    case 25:  // SIGXFSZ
      return {"resource-limit", "file-size-limit"};
    default:
      return {"crash", "exit-status"};
  }
}

/// "signal 24 (SIGXCPU, its limit of CPU time)".
std::string signal_called(int64_t signal) {
  using Name = std::pair<int64_t, std::string_view>;
  constexpr std::array kNames = {Name{1, "SIGHUP, its terminal is gone"},
                                 Name{4, "SIGILL"},
                                 Name{6, "SIGABRT"},
                                 Name{7, "SIGBUS"},
                                 Name{8, "SIGFPE"},
                                 Name{9, "SIGKILL"},
                                 Name{10, "SIGUSR1, which it does not handle"},
                                 Name{11, "SIGSEGV"},
                                 Name{12, "SIGUSR2, which it does not handle"},
                                 Name{13, "SIGPIPE, nobody reads its output"},
                                 Name{15, "SIGTERM"},
                                 Name{24, "SIGXCPU, its limit of CPU time"},
                                 Name{25, "SIGXFSZ, its limit of a file's size"}};
  const auto* const known =
      std::find_if(kNames.begin(), kNames.end(), [signal](const Name& one) { return one.first == signal; });
  return cat("signal ", signal, known == kNames.end() ? std::string() : cat(" (", known->second, ")"));
}

/// The attempt failed by its own or its launcher's word, and nothing else says why.
void judge_exit(const AttemptState& attempt, bool plan_done, const Symptom* after, std::vector<Finding>& out) {
  const event::Ended& ended = *attempt.ended;
  const bool timed_out =
      ended.how == event::Ended::How::kExit && ended.code == kTimedOut && !plan_done && attempt.last_step != kNoStep;
  const ExitMeaning meaning = timed_out ? ExitMeaning{"interrupted", "slurm-time-limit"} : meaning_of(ended.code);
  Finding finding;
  finding.kind = std::string(meaning.kind);
  finding.detector = "crash-trace";
  finding.severity = plan_done ? Severity::kInfo : timed_out ? Severity::kWarning : Severity::kCritical;
  finding.onset = attempt.ended_at;
  finding.detected = attempt.ended_at;
  finding.summary =
      after != nullptr  ? cat("The program failed after its training was complete: ", clip(after->text, 200))
      : timed_out       ? cat("A time limit ended the run: status ", kTimedOut, " is that of timeout(1)")
      : ended.code == 0 ? std::string("The run failed by its launcher's word, with no error of its own")
      : ended.code < 0  ? cat("The run was ended by ", signal_called(-ended.code), ", with no error of its own")
                        : cat("The run ended with status ", ended.code, " and no error of its own");
  if (!ended.text.empty()) finding.evidence.push_back({attempt.ended_at.where, ended.text, "", kNoStep, 0});
  if (after != nullptr) {
    finding.evidence.push_back({after->moment.where, clip(after->text, kTextLimit), "", kNoStep, 0});
    finding.suggests.push_back({cause_of(*after), 0.75, cat("seen right before: ", clip(after->text, 160))});
  }
  finding.suggests.push_back(
      {std::string(meaning.cause), 0.6,
       ended.code < 0 ? cat("it was ended by ", signal_called(-ended.code)) : cat("exit status ", ended.code)});
  out.push_back(std::move(finding));
}

/// The last exception of an attempt whose training was complete: what the program did afterwards failed of it, if its
/// status says that something did.
const Symptom* failed_afterwards(const State& state, const std::vector<Symptom>& symptoms, size_t attempt) {
  const Symptom* last = nullptr;
  // Nothing says which attempt a log without a clock tells of: its end may be that of the last one.
  const auto undated = [&](const Symptom& symptom) {
    const uint32_t source = symptom.moment.where.source;
    return attempt + 1 == state.attempts.size() && source < state.sources.size() &&
           !state.sources[source].last_at.known();
  };
  for (const Symptom& symptom : symptoms) {
    const bool grave = symptom.signature == nullptr || symptom.within != nullptr || symptom.signature->fatal ||
                       symptom.signature->severity == Severity::kCritical;
    const bool own = symptom.moment.attempt == attempt || undated(symptom);
    // What mostly follows from something else is the only one here: nothing else went wrong before.
    const bool leads = is_root(symptom) || (symptom.signature == nullptr && (last == nullptr || !is_root(*last)));
    if (own && symptom.teardown && grave && leads) last = &symptom;
  }
  return last;
}

/// A cell of a notebook failed with what no signature knows, and figures of a training came after it: it was mended.
void judge_mended(const State& state, const std::vector<Symptom>& symptoms, std::vector<Finding>& out) {
  for (const Symptom& symptom : symptoms) {
    if (!symptom.survived || symptom.trace == nullptr || !ended_cell(state, symptom)) continue;
    if (symptom.type.consequence || symptom.type.kind == "interrupted") continue;
    Finding finding;
    finding.kind = std::string(symptom.type.kind);
    finding.detector = "crash-trace";
    finding.severity = Severity::kInfo;
    finding.onset = finding.detected = symptom.moment;
    finding.resolved = true;
    finding.resolved_at = symptom.moment;
    finding.summary =
        cat(words_of(symptom.trace->trace, false), "; a cell failed with it, and the training came after");
    finding.evidence.push_back({symptom.moment.where, clip(symptom.text, kTextLimit), "", kNoStep, 0});
    finding.suggests.push_back({std::string(symptom.type.cause), 0.7, cat("seen: ", clip(symptom.text, 160))});
    out.push_back(std::move(finding));
    return;  // the first of them: more of the same notebook say no more
  }
}

Finding afterwards(const State& state, const Symptom& last) {
  const event::TraceSeen& trace = last.trace->trace;
  Finding finding;
  finding.kind = std::string(last.type.kind);
  finding.detector = "crash-trace";
  finding.severity = Severity::kWarning;
  finding.onset = last.moment;
  finding.detected = last.moment;
  finding.summary = cat(words_of(trace, false), ", it ended the ", ended_cell(state, last) ? "cell" : "program",
                        " after the training was complete");
  if (!trace.frame.empty()) finding.evidence.push_back({last.moment.where, cat("in ", trace.frame), "", kNoStep, 0});
  finding.suggests.push_back({std::string(last.type.cause), 0.7, cat("seen: ", clip(last.text, 160))});
  return finding;
}

/// What the program had still to do after its training raised what no signature knows, and the log, or a cell of a
/// notebook, ends with it.
void judge_afterwards(const State& state, const Knowledge& knowledge, const std::vector<Symptom>& symptoms,
                      std::vector<Finding>& out) {
  constexpr uint64_t kBlankLines = 4;
  constexpr std::array<std::string_view, 4> kKinds = {"code-error", "config-error", "data-error", "dependency-broken"};
  constexpr size_t kCells = 5;  // each that failed has something missing
  std::vector<const Symptom*> failed;
  for (const Symptom& symptom : symptoms) {
    const uint32_t number = symptom.moment.where.source;
    if (symptom.signature != nullptr || !symptom.teardown || symptom.type.consequence) continue;
    if (number >= state.sources.size() || !state.sources[number].ended) continue;
    const bool of_cell = ended_cell(state, symptom);
    const bool at_end = static_cast<int64_t>(symptom.last_line + kBlankLines) >= state.sources[number].lines;
    if (!at_end && !of_cell) continue;
    const bool of_kind = std::find(kKinds.begin(), kKinds.end(), symptom.type.kind) != kKinds.end();
    if (!of_kind && !Closing(state, knowledge).failed_afterwards(symptom)) continue;
    if (!of_cell || failed.size() >= kCells) failed.clear();  // of a program only the last one ended it
    failed.push_back(&symptom);
  }
  for (const Symptom* const one : failed) out.push_back(afterwards(state, *one));
}

bool failed(const AttemptState& attempt) {
  if (!attempt.ended) return false;
  const event::Ended& ended = *attempt.ended;
  if (is_unseen(ended)) return false;  // died-silently says that
  return ended.how == event::Ended::How::kFailed || (ended.how == event::Ended::How::kExit && ended.code != 0);
}

void judge(const State& state, const Knowledge& knowledge, JudgeMemory& memory, std::vector<Finding>& out) {
  const std::vector<FailureChain>& chains = memory.chains(state, knowledge);
  for (const FailureChain& chain : chains) {
    if (chain.lead.trace != nullptr && chain.kind != "interrupted") judge_trace(state, chain, out);
  }
  if (!state.attempts.empty() && !failed(state.attempts.back())) {
    judge_afterwards(state, knowledge, memory.symptoms(state, knowledge), out);
  }
  judge_mended(state, memory.symptoms(state, knowledge), out);
  for (size_t i = 0; i < state.attempts.size(); ++i) {
    bool reported = false;
    for (const FailureChain& chain : chains) reported = reported || chain.attempt == i;
    if (reported || !failed(state.attempts[i])) continue;
    const int64_t total = state.attempts[i].total_steps > 0 ? state.attempts[i].total_steps : state.total_steps;
    const bool done = total > 1 && last_done(state, i) + 1 >= total;
    judge_exit(state.attempts[i], done && !Closing(state, knowledge).saving_at(state.attempts[i].ended_at),
               failed_afterwards(state, memory.symptoms(state, knowledge), i), out);
  }
}

}  // namespace

extern const Detector crash_trace;
const Detector crash_trace{"crash-trace",
                           "An exception that no signature knows, or an exit status alone, ended an attempt.",
                           {"crash",
                            "code-error",
                            "config-error",
                            "data-error",
                            "dependency-broken",
                            "network",
                            "credentials",
                            "gpu-out-of-memory",
                            "host-out-of-memory",
                            "gpu-fault",
                            "disk-full",
                            "resource-limit",
                            "worker-lost",
                            "engine-dead",
                            "collective-timeout",
                            "environment-fault",
                            "shm-exhausted",
                            "checkpoint-failed",
                            "checkpoint-incomplete",
                            "non-finite",
                            "interrupted"},
                           {},
                           judge};

}  // namespace mw::detect
