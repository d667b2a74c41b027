// The first line of any view: is it OK, since when, why, what now.
#include <algorithm>
#include <array>
#include <set>

#include "base/text.h"
#include "core/incident_kind.h"
#include "core/plan_bar.h"
#include "core/resume_advice.h"
#include "ui/view/expected_end.h"
#include "ui/view/incident_chains.h"
#include "ui/view/log_words.h"
#include "ui/view/overview.h"
#include "ui/view/ranked.h"

namespace mw {
namespace {

constexpr size_t kStatusSummary = 160;  // bytes of a summary in a status line
constexpr size_t kWords = 160;          // bytes of a failure's own words
constexpr size_t kCompared = 24;        // of them that the summary must not have

const Incident* worst_open(const State& state) {
  const Incident* worst = nullptr;
  for (const Incident& incident : state.incidents) {
    if (!incident.open || incident.severity == Severity::kInfo || overtaken(state, incident)) continue;
    if (worst == nullptr || matters_more(state, incident, *worst)) worst = &incident;
  }
  return worst;
}

/// The step that a run without measurements of training was at by its own word.
int64_t announced(const State& state) {
  int64_t last = kNoStep;
  for (const AttemptState& attempt : state.attempts) last = std::max(last, attempt.last_step);
  return last;
}

/// What a file that holds evaluations alone shows of the training: when it was evaluated.
std::string evaluated_text(const State& state) {
  std::set<int64_t> steps;
  size_t most = 0;
  for (const Series& series : state.eval) {
    most = std::max<size_t>(most, series.count());
    for (const Point& point : series.points()) {
      if (point.step != kNoStep) steps.insert(point.step);
    }
  }
  if (steps.empty()) return most == 0 ? "" : cat("evaluated ", most, most == 1 ? " time" : " times");
  if (steps.size() == 1) return cat("evaluated at step ", *steps.begin());
  return cat("evaluated ", steps.size(), " times, steps ", *steps.begin(), " to ", *steps.rbegin());
}

/// How far a bar came whose title says that it is of training: "Training at 60 of 100"; empty when none was drawn.
std::string training_bar(const State& state) {
  static constexpr std::array<std::string_view, 7> kOther{"data", "token", "map", "load", "example", "split", "eval"};
  for (const auto& [title, bar] : state.progress) {
    const bool other = std::any_of(kOther.begin(), kOther.end(),
                                   [&title = title](std::string_view word) { return contains_folded(title, word); });
    if (!other && contains_folded(title, "train") && bar.total > 1)
      return cat(log_words(title), " at ", bar.done, " of ", bar.total);
  }
  return "";
}

/// "step 12 of 200", "steps 40 to 80", or that there is none.
std::string steps_text(const State& state) {
  State::Span steps = state.steps();
  const int64_t total = state.total_steps, bar = done_by_bar(state);
  if (steps.count == 0) {
    if (bar != kNoStep) return cat("step ", bar, " of ", total);
    const int64_t step = announced(state);
    if (step > 0) return cat("step ", step, total >= step ? cat(" of ", total) : "");
    std::string seen = evaluated_text(state);
    if (const int64_t saved = last_saved(state); saved > 0)
      seen += cat(seen.empty() ? "" : ", ", "a checkpoint of step ", saved, " was saved");
    if (seen.empty()) seen = training_bar(state);
    return seen.empty() ? "no training step seen" : cat(seen, "; no record of a training step");
  }
  if (steps.counted && bar == kNoStep && steps.count != total) {
    return cat(steps.count, steps.count == 1 ? " record" : " records",
               total > 0 ? cat(" of a plan of ", total, " steps") : "",
               steps.count == 1 ? "; no line says of which step it is" : "; no line says of which step they are");
  }
  steps.last = std::max(steps.last, bar);
  if (steps.first == 0 && total > 1 && steps.last + 1 == total) {  // counted from 0
    const bool cut = state.verdict == "crashed" || state.verdict == "interrupted" || state.verdict == "ended-early";
    return cut ? cat("steps 0 to ", steps.last) : cat("all ", total, " steps");
  }
  const int64_t last = state.attempts.empty() ? kNoStep : std::max(state.attempts.back().last_step, bar);
  if (state.attempts.size() > 1 && last != kNoStep && last < steps.last) {  // the run is where its last attempt is
    return cat("step ", last, total >= steps.last ? cat(" of ", total) : "", " after step ", steps.last,
               " of an earlier attempt");
  }
  if (total > 0 && total >= steps.last) return cat("step ", steps.last, " of ", total);
  return steps.first == steps.last ? cat("step ", steps.last) : cat("steps ", steps.first, " to ", steps.last);
}

/// "; the log ends with "Using AdamW optimizer"": of a run that shows nothing else it says where the start-up stopped.
std::string log_ends_with(const State& state) {
  constexpr size_t kQuoted = 80;
  if (state.verdict != "unknown" || state.attempts.empty() || !nothing_known(state)) return "";
  const uint32_t number = state.attempts.back().last.where.source;
  if (number >= state.sources.size()) return "";
  const SourceState& source = state.sources[number];
  if (source.kind != "text" && source.kind != "notebook") return "";
  const std::string words = log_words(source.last_text);
  return words.empty() ? "" : cat("; the log ends with \"", clip(words, kQuoted), "\"");
}

std::string_view good_word(const State& state, const std::string& verdict) {
  if (verdict == "running") return "RUNNING";
  if (verdict == "finished") return nothing_known(state) ? "ENDED" : "FINISHED";
  if (verdict == "unknown" && nothing_known(state)) return "NOTHING KNOWN";
  return verdict == "interrupted" ? "INTERRUPTED" : "NO TROUBLE SEEN";
}

/// Does the leading cause rest on these words?
bool speaks_for_cause(const Incident& incident, std::string_view text) {
  if (incident.causes.empty()) return false;
  const std::vector<std::string>& reasons = incident.causes.front().reasons_for;
  return std::any_of(reasons.begin(), reasons.end(),
                     [text](const std::string& reason) { return contains(reason, trim(text).substr(0, kCompared)); });
}

/// The failure's own words, where they say more than the summary: a size, an address, a setting, the exception. What
/// else was said at the time is not the failure's, unless its cause rests on that.
std::string own_words(const Incident& incident) {
  if (!ends_runs(incident.kind)) return "";  // a run that just stops has a last line, and it says nothing of that
  bool own = true;                           // what it was raised by, and then its own line
  for (const Evidence& evidence : incident.evidence) {
    if (!evidence.signal.empty()) continue;
    const bool there = evidence.where == incident.onset.where;
    const bool may = own || there || speaks_for_cause(incident, evidence.text);
    own = own && !there;
    if (!may) continue;
    const std::string text = log_words(evidence.text);
    const bool specific = text.find_first_of("0123456789'") != std::string::npos || contains_folded(text, "error: ") ||
                          contains(text, "Error) ") || contains(text, "(): ") || text.starts_with("Fatal ") ||
                          text.starts_with("*** ");
    const bool keepers = text.starts_with("=== midwatch: ");  // which says only that it ended
    if (!specific || keepers || points_on(text)) continue;
    if (incident.summary.find(text.substr(0, kCompared)) != std::string::npos) return "";
    const size_t colon = text.find(": ");  // of "torch.OutOfMemoryError: CUDA ..." the summary may quote the message
    const bool quoted = colon != std::string::npos && text.size() > colon + 2 &&
                        incident.summary.find(text.substr(colon + 2, kCompared)) != std::string::npos;
    return quoted ? "" : cat(" It says: ", sentences(text, kWords));
  }
  return "";
}

/// Does the text name this step, as "step 75"?
bool names_step(std::string_view text, int64_t step) {
  const std::string name = cat("step ", step);
  for (size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const size_t end = at + name.size();
    if (end == text.size() || text[end] < '0' || text[end] > '9') return true;
  }
  return false;
}

/// " since step 75 (2026-01-15T09:55:29Z)"; the step is left to the summary where that names it.
std::string since_text(const Incident& incident) {
  const int64_t step = incident.onset.step;
  const std::string at = when(incident.onset.at);
  const bool said = step == kNoStep || names_step(incident.summary, step);
  if (said) return at.empty() ? "" : cat(" since ", at);
  return cat(" since step ", step, at.empty() ? "" : cat(" (", at, ")"));
}

std::string ended(std::string text) {
  if (!text.ends_with('.') && !text.ends_with('?') && !text.ends_with("\u2026")) text += '.';
  return text;
}

/// Causes that name the shape of a curve, which the summary gives in figures.
constexpr std::array<std::string_view, 5> kShapes = {"slow-step-degradation", "grad-norm-spike", "reward-drop-gradual",
                                                     "performance-collapse-single-step", "reward-plateau"};

/// A cause that says no more than the summary: that an exception was raised, of which it gives the type and the
/// message, or what was measured.
bool restates(const Incident& incident, const RankedCause& cause, std::string_view what) {
  const bool shape = cause.id == incident.kind || std::find(kShapes.begin(), kShapes.end(), cause.id) != kShapes.end();
  return shape || what.starts_with("The program raised ") || what.starts_with("An exception that nothing handled");
}

std::string cause_sentence(const Incident& incident) {
  if (incident.causes.empty()) return "";
  const RankedCause& cause = incident.causes.front();
  const std::string what = cause_name(cause);
  const bool said = incident.summary.find(what) != std::string::npos || restates(incident, cause, what);
  const bool likely = likelihood(cause) == "likely";
  // How a run may have come to a silent end, the summary says already.
  if (cause.score < kWorthNaming || said || (!likely && incident.kind == "died-silently")) return "";
  return cat(likely ? " Likely cause: " : " Possible cause: ", ended(sentences(what, kStatusSummary)));
}

/// "zero-reward since 2026-01-15T09:55:29Z: Reward is exactly 0 since step 75 ..." in one short sentence.
std::string trouble_text(const State& state, const Incident& incident) {
  const bool earlier =
      incident.latest.attempt + 1U < state.attempts.size() && !contains(incident.summary, "the same in ");
  const std::string attempt = earlier ? cat(" in attempt ", incident.latest.attempt + 1) : "";
  const std::string head =
      incident.kind == "interrupted" ? "" : cat(incident.kind, attempt, since_text(incident), ": ");
  const std::string words = own_words(incident);
  return cat(head, ended(sentences(incident.summary, kStatusSummary)), words.empty() ? "" : ended(words),
             cause_sentence(incident));
}

std::string overcome_text(const State& state) {
  const auto overcome = std::count_if(state.incidents.begin(), state.incidents.end(), [&](const Incident& incident) {
    return incident.severity != Severity::kInfo && overtaken(state, incident);
  });
  return overcome == 0
             ? ""
             : cat("; ", overcome, overcome == 1 ? " incident" : " incidents", " of earlier attempts overcome");
}

/// "; over: #4 code-error": what a run that stands well went through in its last attempt.
std::string over_text(const State& state) {
  constexpr size_t kNamed = 2;
  std::string names;
  size_t count = 0;
  for (const Incident* incident : ranked_incidents(state)) {
    if (overtaken(state, *incident) || ++count > kNamed) continue;
    names += cat(names.empty() ? "" : ", ", "#", incident->id, " ", incident->kind);
  }
  return count == 0 ? "" : cat("; over: ", names, count > kNamed ? cat(" and ", count - kNamed, " more") : "");
}

void set_word(StatusLine& line, const State& state, const Incident* worst) {
  const std::string& verdict = state.verdict;
  const bool early = verdict == "ended-early";
  if (worst != nullptr && worst->kind == "interrupted") {  // by a person or a scheduler: whatever it left, no crash
    line.mood = StatusLine::Mood::kDoubt;
    line.word = "INTERRUPTED";
  } else if (early || verdict == "crashed" || verdict == "stalled" ||
             (worst != nullptr && worst->severity == Severity::kCritical)) {
    line.mood = StatusLine::Mood::kBad;
    line.word = early                  ? "ENDED EARLY"
                : verdict == "crashed" ? "CRASHED"
                : verdict == "stalled" ? "STALLED"
                                       : "CRITICAL";
  } else if (worst != nullptr) {
    line.mood = StatusLine::Mood::kDoubt;
    line.word = "WARNING";
  } else {
    const bool doubt =
        verdict == "unknown" || verdict == "interrupted" || (verdict == "finished" && nothing_known(state));
    line.mood = doubt ? StatusLine::Mood::kDoubt : StatusLine::Mood::kGood;
    line.word = good_word(state, verdict);
  }
}

/// As midwatch counts those that it starts; a counter within one of them may begin anew, in a stage of its own.
size_t newest_attempt(const State& state) {
  const auto& started = state.supervision.attempts;
  return started.empty() ? state.attempts.size() : static_cast<size_t>(std::max<int64_t>(0, started.back().number));
}

}  // namespace

bool nothing_known(const State& state) {
  // One evaluation is that of the model before the training.
  const bool evaluated =
      std::any_of(state.eval.begin(), state.eval.end(), [](const Series& s) { return s.count() > 1; });
  // Nor is a figure that stands there once: settings in a document of metrics.
  const bool measured =
      std::any_of(state.series.begin(), state.series.end(), [](const Series& s) { return s.count() > 1; });
  return state.steps().count == 0 && !measured && !evaluated;
}

StatusLine status_line(const State& state) {
  StatusLine line;
  const Incident* worst = worst_open(state);
  set_word(line, state, worst);
  const std::string& verdict = state.verdict;
  const bool said = verdict == "crashed" || verdict == "stalled" || verdict == "ended-early" || worst == nullptr ||
                    verdict == "unknown" || worst->kind == "interrupted";
  const std::string steps = steps_text(state);
  // "The files end at step 2 of 212": the summary says how far the run came.
  const bool in_summary = said && worst != nullptr && contains(worst->summary, steps);
  // What a program without a step has finished nobody knows: a preparation, an evaluation, a server's work.
  const bool stepless = verdict == "finished" && nothing_known(state);
  line.rest = cat(said ? "" : stepless ? "ended in order, " : verdict + ", ", in_summary ? "" : steps);
  const size_t attempt = newest_attempt(state);
  if (attempt > 1) line.rest += cat(line.rest.empty() ? "" : ", ", "attempt ", attempt);
  line.rest += overcome_text(state);
  if (worst == nullptr) line.rest += log_ends_with(state);
  if (worst != nullptr) {
    line.rest +=
        cat(line.rest.empty() ? "" : ". ", trouble_text(state, *worst), chain_words(IncidentChains(state), *worst));
  } else {
    if (const ExpectedEnd end = expected_end(state); end.known()) {
      line.rest += cat("; expected end ", expected_end_text(end));
    }
    line.rest += over_text(state);
  }
  if (const auto advice = resume_advice(state)) line.resume = to_sentence(*advice);
  return line;
}

}  // namespace mw
