#include "ui/report/markdown.h"

#include <algorithm>

#include "base/text.h"

namespace mw {
namespace {

constexpr size_t kQuoted = 200;  // bytes of a quoted log line
constexpr size_t kTemplatesShown = 15;
constexpr size_t kCausesShown = 4;
constexpr size_t kEvidenceShown = 8;
constexpr size_t kOtherShown = 60;

std::string md(std::string_view text) { return escape_markdown(clip(text, kQuoted)); }

bool in_cycle(const Cycle& cycle, const Moment& moment) {
  return cycle.has(Point{moment.step == kNoStep ? INT64_MAX : moment.step, 0, moment.at, {}, 0});
}

void head(std::string& out, const State& state, const Cycle& cycle) {
  const StatusLine line = status_line(state);
  const std::string title = state.last_at.known() ? cat(" — ", format_utc(state.last_at)) : "";
  out += cat("# Run report", title, "\n\n## Status: ", line.word, "\n\n", md(line.rest), "\n\n");
  if (!cycle.whole()) {
    out += cat("This cycle begins at ",
               cycle.from_step != kNoStep ? cat("step ", cycle.from_step) : format_utc(cycle.from), ".\n\n");
  }
  out += "| | |\n|---|---|\n";
  out += cat("| Framework | ", md(state.framework), state.version.empty() ? "" : " ", md(state.version), " |\n");
  for (const std::string_view key : {"algorithm", "model", "dataset", "lr", "batch_size"}) {
    if (const auto at = state.config.find(std::string(key)); at != state.config.end()) {
      out += cat("| ", key, " | ", md(at->second), " |\n");
    }
  }
  const State::Span steps = state.steps();
  if (steps.count > 0) {
    out += cat("| Steps | ", steps.first, " to ", steps.last, " (", steps.count, " seen",
               state.total_steps > 0 ? cat(", ", state.total_steps, " planned") : "", ") |\n");
  }
  out += cat("| Attempts | ", state.attempts.size(), " |\n");
  if (state.first_at.known()) {
    out += cat("| Time | ", format_utc(state.first_at), " to ", format_utc(state.last_at), ", ",
               format_duration(state.last_at - state.first_at), " |\n");
  }
  if (const double pace = seconds_per_step(state); pace > 0) {
    out += cat("| Pace | ", format_duration(Duration::seconds(pace)), " per step |\n");
  }
  if (const Time end = expected_end(state); end.known()) out += cat("| Expected end | ", format_utc(end), " |\n");
}

void one_incident(std::string& out, const State& state, const Incident& incident) {
  out += cat("\n### #", incident.id, " ", incident.kind, " (", severity_name(incident.severity), ")\n\n",
             md(incident.summary), "\n\n- Onset: ", md(describe(state, incident.onset)),
             "\n- Would have been raised at: ", md(describe(state, incident.detected)), "\n");
  if (!incident.reaction.empty()) out += cat("- Reaction midwatch would take: ", md(incident.reaction), "\n");
  if (!incident.followed_by.empty()) {
    out += "- Followed by:";
    for (const uint32_t id : incident.followed_by) out += cat(" \\#", id);
    out += "\n";
  }
  if (!incident.evidence.empty()) out += "\nEvidence:\n\n";
  for (size_t i = 0; i < incident.evidence.size() && i < kEvidenceShown; ++i) {
    const Evidence& e = incident.evidence[i];
    if (!e.signal.empty()) {
      out += cat("- ", md(e.signal), e.step == kNoStep ? "" : cat(" at step ", e.step), " = ", e.value,
                 e.text.empty() ? "" : " — ", md(e.text), "\n");
    } else {
      out += cat("- ", md(describe(state, e.where)), " ", markdown_code(clip(e.text, kQuoted)), "\n");
    }
  }
  if (incident.causes.empty()) return;
  out += "\n| Likely cause | Score | For | Against |\n|---|---:|---|---|\n";
  for (size_t i = 0; i < incident.causes.size() && i < kCausesShown; ++i) {
    const RankedCause& c = incident.causes[i];
    const auto join = [](const std::vector<std::string>& parts) {
      std::string text;
      for (const std::string& part : parts) text += (text.empty() ? "" : "; ") + md(part);
      return text;
    };
    out += cat("| ", md(c.id), " | ", format_short(c.score, 2), " | ", join(c.reasons_for), " | ",
               join(c.reasons_against), " |\n");
  }
  const RankedCause& lead = incident.causes.front();
  if (!lead.check.empty()) out += cat("\nCheck: ", md(lead.check), "\n");
  if (!lead.fix.empty()) out += cat("\nFix: ", md(lead.fix), "\n");
}

void incidents(std::string& out, const State& state, const Cycle& cycle) {
  out += "\n## Issues found\n";
  size_t shown = 0, earlier = 0;
  for (const Incident& incident : state.incidents) {
    if (incident.severity == Severity::kInfo) continue;
    if (!incident.open && !in_cycle(cycle, incident.onset)) {
      ++earlier;
      continue;
    }
    one_incident(out, state, incident);
    ++shown;
  }
  if (shown == 0) out += "\nNone seen in these files.\n";
  if (earlier > 0) out += cat("\n", earlier, " earlier, over before this cycle.\n");
  bool first = true;
  for (const Incident& incident : state.incidents) {
    if (incident.severity != Severity::kInfo || !in_cycle(cycle, incident.onset)) continue;
    if (first) out += "\nFor information:\n\n";
    first = false;
    out += cat("- ", incident.kind, " (", md(describe(state, incident.onset)), "): ", md(incident.summary), "\n");
  }
}

void metric_table(std::string& out, const std::vector<MetricLine>& lines, size_t limit, bool whole) {
  out += "| Signal | Name in the run | First | Last | Min | Max | Trend |\n|---|---|---:|---:|---:|---:|---|\n";
  size_t shown = 0;
  for (const MetricLine& line : lines) {
    if (++shown > limit) break;
    const bool unchanged = !whole && line.points.size() > 1 && line.min == line.max;
    out += cat("| ", md(line.name), line.unit.empty() || line.unit == "1" ? "" : cat(" (", line.unit, ")"), " | ",
               md(line.raw), " | ", format_short(line.first), " | ", format_short(line.last), " | ",
               format_short(line.min), " | ", format_short(line.max), " | ",
               unchanged ? "unchanged" : trend_word(line.trend), " |\n");
  }
  if (lines.size() > limit) out += cat("\n… and ", lines.size() - limit, " more.\n");
}

void metrics(std::string& out, const State& state, const Cycle& cycle) {
  const std::vector<MetricLine> lines = canonical_metrics(state, cycle);
  out += "\n## Metrics\n\n";
  if (lines.empty()) {
    out +=
        cycle.whole() ? "No metric was seen in these files.\n" : "Unchanged since last: no new metric in this cycle.\n";
  } else {
    metric_table(out, lines, 200, cycle.whole());
  }
  if (const auto evals = evaluations(state, cycle); !evals.empty()) {
    out += "\n### Held-out evaluation\n\n";
    metric_table(out, evals, 60, cycle.whole());
  }
  if (const auto others = other_metrics(state, cycle); !others.empty()) {
    out += "\n### Further metrics of the run\n\n";
    metric_table(out, others, kOtherShown, cycle.whole());
  }
}

void rewards_and_formats(std::string& out, const State& state) {
  if (!state.formats.empty()) {
    out += "\n## Format compliance\n\n| Rule | Passed | Failed | Pass rate |\n|---|---:|---:|---:|\n";
    for (const auto& [rule, judged] : state.formats) {
      const double all = static_cast<double>(judged.passed + judged.failed);
      out += cat("| ", md(rule), " | ", judged.passed, " | ", judged.failed, " | ",
                 judged.passed > 0 ? cat(format_short(100.0 * static_cast<double>(judged.passed) / all, 3), " %") : "",
                 " |\n");
    }
  }
  if (!state.tools.empty()) {
    out +=
        "\n## Tools\n\n| Function | Calls | Mean | Longest | Timeouts | Model's errors | Environment's errors | Most "
        "frequent error |\n|---|---:|---:|---:|---:|---:|---:|---|\n";
    for (const auto& [name, tool] : state.tools) {
      const auto top = std::max_element(tool.errors.begin(), tool.errors.end(),
                                        [](const auto& a, const auto& b) { return a.second < b.second; });
      const bool timed = tool.timed > 0;
      out += cat("| ", md(name), " | ", tool.calls, " | ",
                 timed ? format_duration(Duration::seconds(tool.seconds_sum / static_cast<double>(tool.timed))) : "",
                 " | ", timed ? format_duration(Duration::seconds(tool.seconds_max)) : "", " | ", tool.timeouts, " | ",
                 tool.model_errors, " | ", tool.environment_errors, " | ",
                 top == tool.errors.end() ? "" : cat(md(top->first), " (", top->second, ")"), " |\n");
    }
  }
}

void timing(std::string& out, const State& state, const Cycle& cycle) {
  const std::vector<TimeShare> split = time_split(state, cycle);
  if (split.empty()) return;
  out += "\n## Where a step's time goes\n\n| Phase | Per step | Share |\n|---|---:|---:|\n";
  for (const TimeShare& part : split) {
    out += cat("| ", part.phase, " | ", format_duration(Duration::seconds(part.seconds_per_step)), " | ",
               format_short(part.share * 100, 3), " % |\n");
  }
  if (const std::string bound = bound_by(split); !bound.empty()) out += cat("\nThe run is bound by ", bound, ".\n");
}

void history(std::string& out, const State& state, const Cycle& cycle) {
  out += "\n## Checkpoints\n\n";
  size_t shown = 0;
  for (const auto& [when, saved] : state.checkpoints) {
    if (!in_cycle(cycle, when)) continue;
    if (shown++ == 0) out += "| Step | Time | Path | |\n|---:|---|---|---|\n";
    out += cat("| ", saved.step == kNoStep ? "" : cat(saved.step), " | ", format_utc(when.at), " | ", md(saved.path),
               " | ", saved.complete ? "saved" : "begun", " |\n");
  }
  if (shown == 0) out += "None seen.\n";
  if (state.attempts.size() > 1) {
    out += "\n## Attempts\n\n| # | Began | Steps | Resumed at | End |\n|---:|---|---|---:|---|\n";
    for (size_t i = 0; i < state.attempts.size(); ++i) {
      const AttemptState& a = state.attempts[i];
      out += cat("| ", i + 1, " | ", md(describe(state, a.began)), " | ",
                 a.first_step == kNoStep ? "none" : cat(a.first_step, " to ", a.last_step), " | ",
                 a.resumed_at == kNoStep ? "" : cat(a.resumed_at), " | ", a.ended ? md(a.ended->text) : "", " |\n");
    }
  }
  std::vector<const TemplateState*> order;
  for (const TemplateState& t : state.templates) {
    if (in_cycle(cycle, t.last)) order.push_back(&t);
  }
  std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    return a->level != b->level ? a->level > b->level : a->count > b->count;
  });
  if (order.empty()) return;
  out += "\n## Warnings and errors\n\n| Count | Level | Text | First | Last |\n|---:|---|---|---|---|\n";
  for (size_t i = 0; i < order.size() && i < kTemplatesShown; ++i) {
    const TemplateState& t = *order[i];
    out += cat("| ", t.count, " | ", t.level == event::Logged::Level::kWarning ? "warning" : "error", " | ",
               markdown_code(clip(t.text, kQuoted)), " | ", md(describe(state, t.first)), " | ",
               md(describe(state, t.last)), " |\n");
  }
}

}  // namespace

std::string markdown_report(const Replayed& replayed, const Cycle& cycle) {
  const State& state = replayed.state;
  std::string out;
  head(out, state, cycle);
  incidents(out, state, cycle);
  metrics(out, state, cycle);
  rewards_and_formats(out, state);
  timing(out, state, cycle);
  history(out, state, cycle);
  if (!replayed.notes.empty()) {
    out += "\n## Notes\n\n";
    for (const std::string& note : replayed.notes) out += cat("- ", md(note), "\n");
  }
  out += cat("\n---\nMade by midwatch from ", replayed.input.files, " files (",
             format_bytes(static_cast<double>(replayed.input.bytes)), ", ", replayed.input.lines, " lines).\n");
  return out;
}

}  // namespace mw
