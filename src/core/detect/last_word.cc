// The last line of a log is an error, a question to a person, a wait for other ranks or a bar whose last items never
// came, and nothing else says how the attempt ended.
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

#include "base/numbers.h"
#include "base/text.h"
#include "core/detect/detector.h"
#include "core/detect/support/closing.h"
#include "core/detect/support/exception_words.h"
#include "core/detect/support/failure_chain.h"
#include "core/incident_kind.h"
#include "core/judge_memory.h"

namespace mw::detect {
namespace {

constexpr Knob kItems{"items", 20, "items", "Of so many the average is that of an item", "own"};
constexpr Knob kWaited{"waited", 300, "s", "A bar that lasted less may have been copied while it went on", "own"};
constexpr Knob kLastShare{"last_share", 0.9, "ratio",
                          "Of a bar's items; in its middle a save or an evaluation keeps one waiting as long", "own"};
constexpr Knob kSlowed{"slowed", 10, "x", "Times the average, as the bar's own rate of late, which it smooths", "own"};
constexpr Knob kKnobs[] = {kItems, kWaited, kLastShare, kSlowed};

bool explained(const State& state, const Knowledge& knowledge, JudgeMemory& memory, size_t attempt) {
  for (const FailureChain& chain : memory.chains(state, knowledge)) {
    if (chain.attempt == attempt) return true;
  }
  return false;
}

/// What a signature says of the last line; null: none knows it.
const Signature* known_at(const std::vector<Symptom>& symptoms, const Where& last) {
  for (const Symptom& symptom : symptoms) {
    const Where& at = symptom.moment.where;
    const bool same = at.source == last.source && at.line == last.line;
    const bool root = symptom.signature != nullptr && symptom.signature->role == Role::kRoot;
    if (same && root && ends_runs(symptom.signature->kind)) return symptom.signature;
  }
  return nullptr;
}

/// By a signature, the exception's type, or the words of the line.
ExceptionClass class_of(const FinalError& error, const Signature* known) {
  if (known != nullptr) return {known->kind, known->id, false};
  if (!error.exception.empty()) return classify_exception(error.exception, error.message, "");
  ExceptionClass is{"crash", "unhandled-exception", false};
  if (const auto words = class_by_words("", error.message); words && !words->cause.empty()) is = *words;
  return is;
}

/// A question to a person at a terminal: a debugger's prompt, a login, leave to run code.
bool asks_person(std::string_view line) {
  constexpr size_t kBytes = 200;
  static constexpr std::array<std::string_view, 4> kBegins = {"(Pdb)", "(Pdb++)", "ipdb>", "Username for '"};
  static constexpr std::array<std::string_view, 8> kEnds = {
      "[y/N]",     "[Y/n]",         "(y/n)", "(yes/no)?", "(yes/no/[fingerprint])?", "Enter your choice:",
      "Password:", "and hit enter:"};
  line = trim(without_label(line));
  if (line.size() > kBytes) return false;
  return std::any_of(kBegins.begin(), kBegins.end(),
                     [line](std::string_view word) { return line.starts_with(word); }) ||
         std::any_of(kEnds.begin(), kEnds.end(), [line](std::string_view word) { return line.ends_with(word); });
}

/// The last line of the attempt's log, of an attempt that nothing says to be over; "": there is none.
std::string_view last_line(const State& state, const AttemptState& attempt) {
  const uint32_t number = attempt.last.where.source;
  if (attempt.ended || number >= state.sources.size() || state.sources[number].kind != "text") return {};
  return state.sources[number].last_text;
}

Finding waits_for(const State& state, size_t attempt, std::string_view line, std::string summary) {
  Finding finding;
  finding.kind = "stall";
  finding.detector = "last-word";
  finding.severity = Severity::kWarning;
  finding.onset = finding.detected = at_the_end(state, state.attempts[attempt], last_done(state, attempt));
  finding.summary = std::move(summary);
  finding.evidence.push_back({finding.onset.where, std::string(line), "", kNoStep, 0});
  return finding;
}

/// The log ends with a question that nobody has answered.
bool judge_question(const State& state, size_t attempt, std::vector<Finding>& out) {
  const std::string_view line = last_line(state, state.attempts[attempt]);
  if (!asks_person(line)) return false;
  const std::string question = clip(trim(line), 120);
  Finding finding =
      waits_for(state, attempt, line,
                cat("The last line is a question to a person, and the run waits for the answer: ", question));
  finding.suggests.push_back({"waits-for-input", 0.8, cat("the last line: ", question)});
  out.push_back(std::move(finding));
  return true;
}

/// The number behind "world_size=".
std::optional<int64_t> number_of(std::string_view line, std::string_view name) {
  const size_t at = line.find(name);
  if (at == std::string_view::npos) return std::nullopt;
  line.remove_prefix(at + name.size());
  return parse_int(line.substr(0, line.find_first_not_of("0123456789")));
}

/// The log ends while a rank waits for others to come (torch.distributed, _store_based_barrier, says so every 10 s).
bool judge_barrier(const State& state, size_t attempt, std::vector<Finding>& out) {
  const std::string_view line = last_line(state, state.attempts[attempt]);
  if (!contains(line, "Waiting in store based barrier")) return false;
  const auto ranks = number_of(line, "world_size="), here = number_of(line, "worker_count=");
  if (!ranks || !here || *here >= *ranks) return false;
  const std::string come = cat(*here, " of ", *ranks);
  Finding finding = waits_for(state, attempt, line, cat("The last line waits for other ranks: ", come, " have come"));
  finding.suggests.push_back({"ranks-have-not-come", 0.6, cat(come, " ranks have come")});
  out.push_back(std::move(finding));
  return true;
}

/// "1:02:33" in seconds.
std::optional<double> seconds_of(std::string_view clock) {
  double seconds = 0;
  while (!clock.empty()) {
    const std::string_view part = clock.substr(0, clock.find(':'));
    const auto number = parse_int(part);
    if (!number) return std::nullopt;
    seconds = seconds * 60 + static_cast<double>(*number);
    clock.remove_prefix(std::min(part.size() + 1, clock.size()));
  }
  return seconds;
}

/// A bar that a line ends with, as tqdm draws it: "99%|#########9| 99/100 [08:18<01:24, 84.78s/it]".
struct LastBar {
  int64_t done = 0, total = 0;
  double elapsed = 0;  // s
  double rate = 0;     // s per item, of late
};

std::optional<LastBar> last_bar(std::string_view line) {
  line = trim(line);
  const size_t open = line.rfind('['), over = line.rfind("%|");
  if (!line.ends_with(']') || open == std::string_view::npos || over == std::string_view::npos) return std::nullopt;
  const std::string_view times = line.substr(open + 1), head = trim(line.substr(0, open));
  const size_t until = times.find('<'), comma = times.find(", "), unit = times.find("s/");
  if (open < over || until == std::string_view::npos || comma == std::string_view::npos) return std::nullopt;
  if (unit == std::string_view::npos || unit < comma) return std::nullopt;
  const std::string_view counted = head.substr(head.rfind(' ') + 1);
  const size_t slash = counted.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto done = parse_int(counted.substr(0, slash)), total = parse_int(counted.substr(slash + 1));
  const auto elapsed = seconds_of(times.substr(0, until));
  const auto rate = parse_double(trim(times.substr(comma + 2, unit - comma - 2)));
  if (!done || !total || !elapsed || !rate || *done < 1 || *done >= *total) return std::nullopt;
  return LastBar{*done, *total, *elapsed, *rate};
}

/// The log ends with a bar that lacks its last items, and the one before them had kept it waiting for minutes. Of a
/// training a record would say where it stands; a save or an evaluation may stand in the middle of a bar.
bool judge_straggler(const State& state, size_t attempt, std::vector<Finding>& out) {
  if (last_done(state, attempt) != kNoStep || state.total_steps > 1) return false;
  const std::string_view line = last_line(state, state.attempts[attempt]);
  const auto bar = last_bar(line);
  if (!bar || bar->done < static_cast<int64_t>(kItems.value) || bar->elapsed < kWaited.value) return false;
  const double usual = bar->elapsed / static_cast<double>(bar->done);
  const bool last_ones = static_cast<double>(bar->done) >= kLastShare.value * static_cast<double>(bar->total);
  if (!last_ones || bar->rate < kSlowed.value * usual) return false;
  Finding finding = waits_for(state, attempt, line,
                              cat("The log ends with a bar at ", bar->done, " of ", bar->total,
                                  ", whose last items took minutes where one took ", format_short(usual, 2),
                                  " s on average; the rest never came"));
  finding.suggests.push_back(
      {"hang-no-progress-generic", 0.6, cat("the bar stands at ", bar->done, " of ", bar->total)});
  out.push_back(std::move(finding));
  return true;
}

void judge(const State& state, const Knowledge& knowledge, JudgeMemory& memory, std::vector<Finding>& out) {
  if (!state.closed || state.attempts.empty()) return;
  const size_t number = state.attempts.size() - 1;
  const AttemptState& attempt = state.attempts[number];
  if (judge_question(state, number, out) || judge_barrier(state, number, out)) return;
  const auto error = final_error(state, attempt);
  if (!error && !explained(state, knowledge, memory, number)) judge_straggler(state, number, out);
  if (!error || explained(state, knowledge, memory, number)) return;
  const int64_t total = attempt.total_steps > 0 ? attempt.total_steps : state.total_steps;
  const int64_t last = last_done(state, number);
  const Moment end = at_the_end(state, attempt, last);
  if (total > 1 && last + 1 >= total && !Closing(state, knowledge).saving_at(end)) return;
  Finding finding;
  finding.detector = "last-word";
  // Without a plan it may be an error that the program goes on from, in a copy of a log that was still being written.
  finding.severity = total > 0 || last == kNoStep ? Severity::kCritical : Severity::kWarning;
  finding.onset = finding.detected = end;
  const SourceState& source = state.sources[attempt.last.where.source];
  const ExceptionClass is = class_of(*error, known_at(memory.symptoms(state, knowledge), finding.onset.where));
  finding.kind = std::string(is.kind);
  finding.summary = cat("The last line is an error, and nothing comes after it: ", clip(source.last_text, 200));
  finding.evidence.push_back({finding.onset.where, source.last_text, "", kNoStep, 0});
  finding.suggests.push_back({std::string(is.cause), 0.7, cat("the last line: ", clip(source.last_text, 160))});
  out.push_back(std::move(finding));
}

}  // namespace

extern const Detector last_word;
const Detector last_word{"last-word",
                         "The last line of a log is an error, a question to a person, a wait for other ranks or a bar "
                         "whose last items never came, and nothing else says how the attempt ended.",
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
                          "checkpoint-failed",
                          "checkpoint-incomplete",
                          "non-finite",
                          "shm-exhausted",
                          "interrupted",
                          "stall"},
                         kKnobs,
                         judge};

}  // namespace mw::detect
