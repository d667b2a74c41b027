// Ended in mid-flight: the files stop while a plan is open, with no error and no end.
#include <algorithm>
#include <array>
#include <optional>

#include "base/numbers.h"
#include "base/text.h"
#include "core/detect/detector.h"
#include "core/detect/support/failure_chain.h"
#include "core/detect/support/unlogged_starts.h"
#include "core/exit_status.h"
#include "core/judge_memory.h"
#include "core/plan_bar.h"
#include "core/rate_plan.h"
#include "core/written_span.h"

namespace mw::detect {
namespace {

constexpr Knob kKnobs[] = {
    {"done_share", 0.9, "ratio", "A run that has done this much of its plan may have stopped by its own rules",
     "issue 2"},
    {"excerpt_lines", 40, "lines", "So few lines are a copied excerpt more often than a whole log: worth no alarm",
     "excerpts in bug reports"},
    {"excerpt_steps", 5, "steps", "and hardly a step is seen in it", "excerpts in bug reports"},
    {"rate_share", 0.7, "ratio",
     "Of the steps after which the learning rate would be zero: beyond it may lie a floor on which the schedule ends",
     "own"},
    {"minutes", 600, "s", "Machines seldom go so soon; whoever began a run and sees what was not meant stops it then",
     "own"},
};

constexpr std::string_view kCounterWentBack = "step counter went back";  // as attempts.cc says it
// As the interpreter says it: whoever sits at a notebook leaves one training and begins the next.
constexpr std::string_view kNextInNotebook = "Starting the notebook's ";

/// Does an attempt that began so say nothing of how the one before ended?
bool is_no_end(std::string_view why) { return why == kCounterWentBack || why.starts_with(kNextInNotebook); }

/// What a console showed.
bool is_log(const SourceState& source) { return source.kind == "text" || source.kind == "notebook"; }

/// Sources that a trainer writes as it runs and that end with it. Exports of metrics have no notion of an end; lines of
/// records that say beside their step how many there will be are no export.
bool is_live(const State& state, const SourceState& source) {
  return is_log(source) || source.kind == "wandb" || (source.kind == "jsonl" && state.total_steps > 1);
}

/// The log of an inference server alone has no plan to carry out.
bool serves_only(const State& state, const Knowledge& knowledge) { return knowledge.is_engine(state.framework); }

/// Has a trainer recorded anything? Of W&B's files the machine's figures are left out, which its service samples.
bool measured(const State& state) {
  return std::any_of(state.series.begin(), state.series.end(),
                     [](const Series& series) { return !series.raw.starts_with("system/"); });
}

/// What the run had open when its files stopped.
struct Open {
  std::string what;      ///< "" when nothing shows
  bool planned = false;  ///< a plan says that more was to come
};

/// A bar of an inference engine: it goes over one call's requests, and the next call draws it anew.
bool serves(std::string_view bar) {
  constexpr std::array<std::string_view, 6> kWords = {
      "processed prompts", "rendering prompts", "requests", "cuda graph", "shards", "capturing"};
  return std::any_of(kWords.begin(), kWords.end(), [bar](std::string_view word) { return contains_folded(bar, word); });
}

/// One of them is drawn once, while an engine starts: an engine's log that ends in it never saw the engine ready.
bool starts_engine(std::string_view bar) {
  constexpr std::array<std::string_view, 3> kWords = {"cuda graph", "shards", "capturing"};
  return std::any_of(kWords.begin(), kWords.end(), [bar](std::string_view word) { return contains_folded(bar, word); });
}

/// What the attempt's log said last.
std::string_view last_said(const State& state, const AttemptState& attempt) {
  const uint32_t number = attempt.last.where.source;
  return number < state.sources.size() ? std::string_view(state.sources[number].last_text) : std::string_view();
}

/// The bar that a line ends with, while it is not full: "GSM8K eval:  46%|####6     | 46/100 [02:29<03:47, 4.21s/q]".
std::optional<Open> open_bar(std::string_view line) {
  const size_t percent = line.rfind("%|");
  if (percent == std::string_view::npos) return std::nullopt;
  const size_t count = line.find("| ", percent + 2);
  if (count == std::string_view::npos) return std::nullopt;
  const std::string_view counted = line.substr(count + 2, line.substr(count + 2).find(' '));
  const size_t slash = counted.find('/');
  const auto done = parse_int(counted.substr(0, slash));
  const auto total = slash == std::string_view::npos ? std::nullopt : parse_int(counted.substr(slash + 1));
  if (!done || !total || *total <= 0 || *done >= *total) return std::nullopt;
  if (static_cast<double>(*done) >= kKnobs[0].value * static_cast<double>(*total)) return std::nullopt;
  std::string_view title = line.substr(0, percent);
  title = title.substr(0, title.find_last_not_of("0123456789. ") + 1);
  title = without_label(title.substr(title.find_last_of("\r]") + 1));  // behind bars that were drawn before
  while (title.ends_with(':')) title.remove_suffix(1);
  title = trim(title);
  return Open{cat(title.empty() ? "progress" : clip(title, 60), " at ", *done, " of ", *total), true};
}

/// W&B's service writes an exit record when Python ends in order, after Ctrl-C as well. Only a kill or a lost machine
/// leaves a record without one, with its last block torn; a copy of a running run looks the same, and nobody can tell
/// from the file.
bool lacks_exit_record(const State& state) {
  const auto last = static_cast<int32_t>(state.attempts.size()) - 1;
  return std::any_of(state.sources.begin(), state.sources.end(), [last](const SourceState& source) {
    return source.kind == "wandb" && source.ended && (source.attempt == last || (last == 0 && source.attempt < 0));
  });
}

/// Has a log without a clock a failure at its end? It may be the end of this very attempt: nothing says which of
/// the attempts of the dated sources it tells of.
bool undated_end(const State& state, const Knowledge& knowledge, JudgeMemory& memory) {
  const auto last = static_cast<int32_t>(state.attempts.size()) - 1;
  for (const FailureChain& chain : memory.chains(state, knowledge)) {
    const uint32_t number = chain.lead.moment.where.source;
    if (!chain.ended || number >= state.sources.size()) continue;
    const SourceState& source = state.sources[number];
    if (source.attempt == chain.attempt && source.attempt != last && !source.last_at.known()) return true;
  }
  return false;
}

constexpr uint64_t kStartUpLines = 200;  // of an attempt without a step: more than a person copies

/// Lines of the attempt in the source that tells of its beginning.
uint64_t lines_since(const State& state, const AttemptState& attempt) {
  const Where& began = attempt.began.where;
  if (began.source >= state.sources.size() || state.sources[began.source].lines <= 0) return 0;
  const auto lines = static_cast<uint64_t>(state.sources[began.source].lines);
  return lines > began.line ? lines - began.line : 0;
}

/// The learning rate is in the middle of its way to zero.
std::optional<Open> by_rate(const State& state, const AttemptState& attempt, int64_t last) {
  const Series* rate = state.find("lr");
  const auto number = static_cast<uint16_t>(&attempt - state.attempts.data());
  const auto planned = rate == nullptr ? std::nullopt : planned_by_rate(rate->points(), number);
  if (!planned || static_cast<double>(last) >= kKnobs[3].value * static_cast<double>(*planned)) return std::nullopt;
  return Open{cat("step ", last, " (its learning rate would reach zero at about step ", *planned, ")"), true};
}

Open unfinished(const State& state, const AttemptState& attempt, Done steps, const Knowledge& knowledge) {
  const int64_t last = steps.last;
  const int64_t total = attempt.total_steps > 0 ? attempt.total_steps : state.total_steps;
  if (total > 0 && last != kNoStep) {
    const bool done = static_cast<double>(last) >= kKnobs[0].value * static_cast<double>(total);
    if (last + 1 >= total) return {};
    return Open{cat("step ", last, " of ", total), !done};
  }
  if (serves_only(state, knowledge)) {
    const std::string_view said = last_said(state, attempt);
    return last == kNoStep && starts_engine(said) ? open_bar(said).value_or(Open{}) : Open{};
  }
  if (total > 0 && last == kNoStep) {  // the bar over all steps shows that the loop had begun
    // A bar whose title shows the loss is another one at each step.
    const auto drawn = [&state, total](bool moved) {
      return std::any_of(state.progress.begin(), state.progress.end(), [total, moved](const auto& bar) {
        return bar.second.total == total && (bar.second.done > 0) == moved;
      });
    };
    if (drawn(false) && !drawn(true)) return {cat("step 0 of ", total), true};
  }
  if (const auto rate = last != kNoStep ? by_rate(state, attempt, last) : std::nullopt) return *rate;
  if (last != kNoStep) {  // no plan is known: only a record that was broken off says that more was meant to come
    return Open{cat("step ", last), lacks_exit_record(state) && !said_farewell(state, attempt)};
  }
  // Without a step only a bar in the last line counts: those of loading and compiling stay open for ever.
  const std::string_view said = last_said(state, attempt);
  const bool bar = contains(said, "%|") && !serves(said);
  if (const auto drawn = bar ? open_bar(said) : std::nullopt) return *drawn;
  for (const auto& [what, progress] : state.progress) {
    if (!bar || serves(what)) continue;
    if (progress.total > 0 &&
        static_cast<double>(progress.done) < kKnobs[0].value * static_cast<double>(progress.total)) {
      return {cat(what.empty() ? std::string("progress") : what, " at ", progress.done, " of ", progress.total), true};
    }
  }
  if (!measured(state) && lacks_exit_record(state)) return {"the start-up, before any step", true};
  // A second start of which a long log shows nothing but a plan.
  if (total > 0 && state.attempts.size() > 1 && lines_since(state, attempt) >= kStartUpLines) {
    return {cat("the start-up, before the first of ", total, " steps"), true};
  }
  return {};
}

/// All that there is of the run is a few lines of text with hardly a step in them.
bool is_excerpt(const State& state, const AttemptState& attempt) {
  const bool stepped = attempt.first_step != kNoStep && attempt.last_step != kNoStep;
  int64_t steps = stepped ? attempt.last_step - attempt.first_step + 1 : 0;
  size_t records = 0;  // a trainer may say something of each hundredth step only
  for (const Series& series : state.series) records = std::max(records, series.count());
  if (records > 0) steps = std::min(steps, static_cast<int64_t>(records));
  steps = std::max(steps, static_cast<int64_t>(attempt.bar.size()));  // a bar draws all of its steps on one line
  if (state.attempts.size() > 1 || static_cast<double>(steps) >= kKnobs[2].value) return false;
  uint64_t lines = 0;
  for (const SourceState& source : state.sources) {
    if (!is_log(source) && source.kind != "jsonl") return false;
    lines += source.lines > 0 ? static_cast<uint64_t>(source.lines) : source.last_line;
  }
  return static_cast<double>(lines) < kKnobs[1].value;
}

/// Signs that the files are a copy of a run that was still going rather than all that it ever said.
std::string copied_while_running(const State& state, const AttemptState& attempt) {
  if (is_excerpt(state, attempt)) return "they are but a few lines";
  if (lacks_exit_record(state)) return {};
  const uint32_t number = attempt.last.where.source;
  if (number >= state.sources.size()) return {};
  const SourceState& source = state.sources[number];
  const std::string name(basename(source.path));
  if (name.starts_with("slurm-") && name.ends_with(".out")) return "Slurm writes the end of a job into its output file";
  const bool bar = contains(source.last_text, "%|");
  if (source.torn && !bar) return "the last line lacks its end";
  if (said_farewell(state, attempt)) return "its last line is that of a program that is done";
  return {};
}

bool judged_otherwise(const State& state, const Knowledge& knowledge, JudgeMemory& memory, size_t attempt) {
  for (const FailureChain& chain : memory.chains(state, knowledge)) {
    if (chain.attempt == attempt && chain.ended) return true;
  }
  return false;
}

/// Earlier attempts that were followed by another start, with no word of why.
void judge_earlier(const State& state, const Knowledge& knowledge, JudgeMemory& memory, std::vector<Finding>& out) {
  for (size_t i = 0; i + 1 < state.attempts.size(); ++i) {
    const AttemptState& attempt = state.attempts[i];
    const Done steps = done_in(state, i);
    const bool several = steps.last != kNoStep && static_cast<double>(steps.last - steps.first) >= kKnobs[2].value;
    if (attempt.ended || !several || is_no_end(state.attempts[i + 1].why)) continue;
    const Open open = unfinished(state, attempt, steps, knowledge);
    if (open.what.empty() || judged_otherwise(state, knowledge, memory, i)) continue;
    Finding finding;
    finding.kind = finding.detector = "died-silently";
    finding.severity = Severity::kInfo;
    finding.onset = attempt.last;
    finding.onset.step = steps.last;
    finding.detected = state.attempts[i + 1].began;
    finding.summary =
        cat("Attempt ", i + 1, " stops at ", open.what, " with no error and no end; then another one begins");
    finding.evidence.push_back({state.attempts[i + 1].began.where, state.attempts[i + 1].why, "", kNoStep, 0});
    finding.suggests.push_back({"user-cancelled", 0.45, "it was started again"});
    out.push_back(std::move(finding));
  }
}

int64_t planned(const State& state, const AttemptState& attempt) {
  return attempt.total_steps > 0 ? attempt.total_steps : state.total_steps;
}

/// Only a file's exit record says that it ended, in order, and of its plan not one step shows in any way. A command's
/// own status is believed: an evaluation plans steps that it does not do.
bool never_began(const State& state, const Knowledge& knowledge, size_t number) {
  const AttemptState& attempt = state.attempts[number];
  const bool only_exited =
      attempt.ended && attempt.ended->how == event::Ended::How::kComplete && attempt.ended->text.empty();
  if (!only_exited || planned(state, attempt) <= 1 || said_done(state, knowledge, number)) return false;
  const bool stepped = attempt.last_step != kNoStep || done_in(state, number).last != kNoStep;
  const bool drawn = std::any_of(state.progress.begin(), state.progress.end(), [&](const auto& bar) {
    return bar.second.total == planned(state, attempt) && bar.second.done > 0;
  });
  if (stepped || drawn || !state.checkpoints.empty()) return false;
  // An evaluation before the first step is none of a run that only evaluates where the bar of the training was drawn.
  const bool to_train = std::any_of(state.progress.begin(), state.progress.end(), [&](const auto& bar) {
    return bar.second.total == planned(state, attempt) && contains_folded(bar.first, "train");
  });
  return to_train || (!measured(state) && state.eval.empty());
}

/// Of W&B's record it is the status of the process that logs, which ends in order when a driver or a person takes it
/// down; of a shell's line it may be that of another part of the line.
void suggest_status(const State& state, const AttemptState& attempt, Finding& finding) {
  const uint32_t number = attempt.ended_at.where.source;
  const bool record = number < state.sources.size() && state.sources[number].kind == "wandb";
  finding.suggests.push_back({"exit-status-of-another", record ? 0.3 : 0.6, "exit status 0 short of the plan"});
  finding.suggests.push_back(
      {"user-cancelled", record ? 0.6 : 0.2,
       record ? "W&B's record is that of a process that was ended in order" : "no trace of an error"});
}

/// A command whose status is 0 is believed, unless its plan was far from done and it said no word of being so.
void judge_status(const State& state, const Knowledge& knowledge, JudgeMemory& memory, std::vector<Finding>& out) {
  for (size_t i = 0; i < state.attempts.size(); ++i) {
    auto open = fell_short(state, knowledge, i);
    if (!open && never_began(state, knowledge, i)) open = OpenPlan{0, planned(state, state.attempts[i])};
    if (!open || stop_was_requested(state, i) || goes_on_behind(state, i) ||
        judged_otherwise(state, knowledge, memory, i))
      continue;
    const AttemptState& attempt = state.attempts[i];
    Finding finding;
    finding.kind = finding.detector = "died-silently";
    finding.severity = Severity::kWarning;
    finding.onset = finding.detected = attempt.ended_at;
    finding.onset.step = open->step;
    finding.summary = cat("The command ended with exit status 0 ",
                          open->step > 0 ? cat("at step ", open->step, " of ", open->total)
                                         : cat("before the first of ", open->total, " steps"),
                          ", with no error and no word of being done");
    finding.evidence.push_back({attempt.ended_at.where, attempt.ended->text, "", kNoStep, 0});
    suggest_status(state, attempt, finding);
    out.push_back(std::move(finding));
  }
}

/// Its process is gone from the machine, and nobody saw how. A log that tells of no plan may be that of a program that
/// was done.
void judge_gone(const State& state, const Knowledge& knowledge, JudgeMemory& memory, std::vector<Finding>& out) {
  for (size_t i = 0; i < state.attempts.size(); ++i) {
    const AttemptState& attempt = state.attempts[i];
    if (!attempt.ended || !is_unseen(*attempt.ended) || judged_otherwise(state, knowledge, memory, i)) continue;
    const Open open = unfinished(state, attempt, done_in(state, i), knowledge);
    Finding finding;
    finding.kind = finding.detector = "died-silently";
    finding.severity = open.planned ? Severity::kCritical : Severity::kWarning;
    finding.onset = finding.detected = attempt.ended_at;
    finding.summary =
        cat("Its process is gone, and its log ends ", open.what.empty() ? "" : cat("at ", open.what, " "),
            "with no error and no end", open.planned ? "" : "; how much more was planned it does not say");
    finding.evidence.push_back({attempt.ended_at.where, attempt.ended->text, "", kNoStep, 0});
    finding.suggests.push_back({"exit-137-unexplained", 0.5, "its process is gone and left no message"});
    finding.suggests.push_back({"user-cancelled", 0.3, "no trace of an error"});
    out.push_back(std::move(finding));
  }
}

bool within_minutes(const AttemptState& attempt) {
  if (!attempt.began.at.known() || !attempt.last.at.known()) return false;
  return (attempt.last.at - attempt.began.at).seconds() < kKnobs[4].value;
}

/// `record`: its W&B file, whose program writes an exit record when it may, has none.
void suggest_end(Finding& finding, const AttemptState& attempt, bool record) {
  const bool at_once = record && within_minutes(attempt);
  finding.suggests.push_back({"user-cancelled",
                              at_once  ? 0.55
                              : record ? 0.3
                                       : 0.4,
                              at_once
                                  ? "it lasted only some minutes: such runs are mostly stopped by whoever began them"
                                  : "the text stops between two ordinary lines"});
  finding.suggests.push_back({"pod-terminated-silently", record ? 0.5 : 0.35,
                              record ? "the W&B file has no exit record" : "no trace of an orderly end"});
  finding.suggests.push_back({"ssh-session-lost", 0.2, "no trace of an orderly end"});
}

void judge(const State& state, const Knowledge& knowledge, JudgeMemory& memory, std::vector<Finding>& out) {
  judge_earlier(state, knowledge, memory, out);
  judge_status(state, knowledge, memory, out);
  judge_gone(state, knowledge, memory, out);
  if (!state.closed) return;
  for (Finding& finding : unlogged_starts(state)) out.push_back(std::move(finding));
  if (state.attempts.empty()) return;
  const AttemptState& attempt = state.attempts.back();
  if (attempt.ended || std::none_of(state.sources.begin(), state.sources.end(),
                                    [&](const SourceState& source) { return is_live(state, source); }))
    return;
  Done steps = done_in(state, state.attempts.size() - 1);
  steps.last = std::max(steps.last, done_by_bar(state));
  const int64_t last = steps.last;
  const Open unfinished_work = unfinished(state, attempt, steps, knowledge);
  const std::string& open = unfinished_work.what;
  if (!unfinished_work.planned && said_farewell(state, attempt)) return;
  if (said_done(state, knowledge, state.attempts.size() - 1)) return;  // whatever the plan was
  if (open.empty() || final_error(state, attempt)) return;
  if (judged_otherwise(state, knowledge, memory, state.attempts.size() - 1)) return;
  if (undated_end(state, knowledge, memory)) return;
  Finding finding;
  finding.kind = finding.detector = "died-silently";
  finding.severity = Severity::kWarning;
  Moment end = at_the_end(state, attempt, last);
  // The last clock may stand far before the last line: the bar over the steps went on.
  if (const Time drawn = bar_until(state); end.at.known() && drawn.known() && drawn > end.at) end.at = drawn;
  finding.onset = finding.detected = end;
  const bool record = lacks_exit_record(state);
  finding.summary = cat(
      "The files end at ", open, " with no error and no end; ",
      record ? "the W&B file has no exit record, so the run was killed or lost its machine, or it still ran when the "
               "files were copied"
             : "the run died silently, was stopped by hand, or the files were copied while it was going");
  const std::string copied = copied_while_running(state, attempt);
  if (!unfinished_work.planned) {
    finding.severity = Severity::kInfo;
    finding.summary = cat("The files end at ", open, " with no error and no end",
                          contains(open, " of ") ? "" : "; how much more was planned they do not say");
  } else if (!copied.empty()) {
    finding.severity = Severity::kInfo;
    finding.summary = cat("The files end at ", open,
                          " with no error and no end; most likely they were copied while the run was going: ", copied);
  }
  for (size_t i = 0; i < state.sources.size() && finding.evidence.empty(); ++i) {
    const SourceState& source = state.sources[i];
    if (!is_log(source) || source.last_text.empty()) continue;
    const uint64_t line = std::max(source.last_line, static_cast<uint64_t>(std::max<int64_t>(source.lines, 0)));
    finding.evidence.push_back({{static_cast<uint32_t>(i), line}, source.last_text, "", kNoStep, 0});
  }
  suggest_end(finding, attempt, record);
  out.push_back(std::move(finding));
}

}  // namespace

extern const Detector died_silently;
const Detector died_silently{
    "died-silently", "The files stop in mid-flight with no error and no end.", {"died-silently"}, kKnobs, judge};

}  // namespace mw::detect
