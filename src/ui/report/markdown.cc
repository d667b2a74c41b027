#include "ui/report/markdown.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "core/collected.h"
#include "core/cost.h"
#include "core/notes.h"
#include "ui/report/markdown_run.h"
#include "ui/report/markdown_tables.h"
#include "ui/view/checkpoints.h"
#include "ui/view/expected_end.h"
#include "ui/view/incident_chains.h"
#include "ui/view/lost_time.h"
#include "ui/view/pace.h"
#include "ui/view/ranked.h"
#include "ui/view/reward_parts.h"
#include "ui/view/run_record.h"
#include "ui/view/step_table.h"
#include "ui/view/wandb_page.h"

namespace mw {
namespace {

constexpr size_t kQuoted = 200;  // bytes of a quoted log line
constexpr size_t kStatusShown = 500;
constexpr size_t kProcessShown = 1200;  // bytes of what one process did
constexpr size_t kCausesShown = 4;
constexpr size_t kEvidenceShown = 8;
constexpr size_t kIncidentsShown = 50;
constexpr size_t kStepsAround = 6;
constexpr size_t kNotesShown = 30;

std::string row(std::string_view name, std::string_view value) {
  return value.empty() ? "" : cat("| ", name, " | ", markdown_text(value), " |\n");
}

std::string of_last(const State& state, std::string_view signal, std::string_view unit) {
  const Series* s = state.find(signal);
  return s == nullptr || s->empty() ? "" : cat(format_value(s->last(), unit), " ", unit);
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += cat(text.empty() ? "" : ", ", word);
  return text;
}

std::string facts(const State& state, const Cycle& cycle) {
  std::string out = "| | |\n|---|---|\n";
  out += row("Framework", framework_text(state));
  for (const std::string_view key : {"algorithm", "model", "dataset", "lr", "batch_size", "num_generations", "kl_coef",
                                     "max_response_length", "epochs", "seed"}) {
    if (const auto at = state.config.find(std::string(key)); at != state.config.end()) out += row(key, at->second);
  }
  if (state.verdict != "unknown") out += row("Verdict", state.verdict);
  if (const State::Span steps = state.steps(); steps.count > 0) {
    const std::string planned = state.total_steps > 0 ? cat(", ", state.total_steps, " planned") : "";
    out += steps.counted ? row("Records", cat(steps.count, " seen; no line says of which step they are", planned))
                         : row("Steps", cat(steps.first, " to ", steps.last, " (", steps.count, " seen", planned, ")"));
  }
  out += row("Attempts", cat(state.attempts.size()));
  out += row("Time", time_span(state));
  out += row("Pace", pace_text(state));
  out += row("Cost", cost_text(run_seconds(state), cost_per_hour(state)));
  out += row("Lost", lost_time_text(record_of(state)));
  out += row("W&B run", wandb_page(state));
  out += row("Tags", joined(tags_of(state)));
  out += row("Throughput", of_last(state, "throughput.tokens", "tokens/s"));
  out += row("Tokens so far", of_last(state, "tokens.total", "tokens"));
  out += row("Bound by", bound_by(time_split(state, cycle)));
  out += row("Expected end", expected_end_text(expected_end(state)));
  return out;
}

/// Did the attempt begin within the cycle? Of a cycle that begins with a step: at it or later, or after an earlier
/// attempt had come there.
bool begun_in(const State& state, const Cycle& cycle, size_t attempt) {
  if (cycle.from_step == kNoStep) {
    Moment began = state.attempts[attempt].began;
    // The first lines of a program often have no clock; those that follow are of the same attempt.
    if (!began.at.known() && began.where.source < state.sources.size())
      began.at = state.sources[began.where.source].clock.after(began.where.line);
    return in_cycle(state, cycle, began);
  }
  if (state.attempts[attempt].first_step >= cycle.from_step) return true;
  return std::any_of(state.attempts.begin(), state.attempts.begin() + static_cast<std::ptrdiff_t>(attempt),
                     [&cycle](const AttemptState& before) { return before.last_step >= cycle.from_step; });
}

/// "steps 3 to 4, 124 rollouts scored, 1 checkpoint (step 4), no new incident": what the cycle brought, in one line.
std::string cycle_news(const State& state, const Cycle& cycle) {
  std::set<int64_t> steps;
  for (const SignalLine& line : canonical_metrics(state, cycle)) {
    for (const Point& point : line.points) steps.insert(point.step);
  }
  steps.erase(kNoStep);
  std::vector<std::string> news;
  news.push_back(steps.empty()       ? std::string("no step")
                 : steps.size() == 1 ? cat("step ", *steps.begin())
                                     : cat("steps ", *steps.begin(), " to ", *steps.rbegin()));
  uint64_t scored = 0;
  for (const RewardPart& part : reward_parts(state, cycle, 1).parts) scored = std::max(scored, part.cycle.count);
  if (scored > 0) news.push_back(cat(scored, scored == 1 ? " rollout scored" : " rollouts scored"));
  if (const auto rows = checkpoint_rows(state, cycle); !rows.empty()) {
    news.push_back(cat(rows.size(), rows.size() == 1 ? " checkpoint" : " checkpoints",
                       rows.back().step == kNoStep ? "" : cat(", the last of step ", rows.back().step)));
  }
  size_t begun = 0;
  for (size_t i = 1; i < state.attempts.size(); ++i) begun += begun_in(state, cycle, i) ? 1 : 0;
  if (begun > 0) news.push_back(cat(begun, begun == 1 ? " new attempt" : " new attempts"));
  std::string opened;
  for (const Incident* incident : ranked_incidents(state)) {
    if (in_cycle(state, cycle, incident->onset))
      opened += cat(opened.empty() ? "" : ", ", "#", incident->id, " ", incident->kind);
  }
  news.push_back(opened.empty() ? "no new incident" : cat("new incidents: ", opened));
  return joined(news);
}

std::string head(const State& state, const Cycle& cycle) {
  const StatusLine line = status_line(state);
  std::string out = cat("# Run report", state.last_at.known() ? " — " + when(state.last_at) : "",
                        "\n\n## Status: ", line.word, "\n\n", escape_markdown(clip(line.rest, kStatusShown)), "\n\n");
  if (!line.resume.empty()) out += cat("**", escape_markdown(line.resume), "**\n\n");
  if (!cycle.whole()) {
    const std::string step = cycle.from_step == kNoStep ? std::string() : cat("step ", cycle.from_step);
    const std::string at = when(cycle.from);
    const std::string begins = at.empty()     ? step
                               : step.empty() ? at
                                              : cat(at, ", about ", step, " by the clocks and the bar of its log");
    out += cat("This cycle begins at ", begins, ". Since then: ", markdown_text(cycle_news(state, cycle)), ".\n\n");
  }
  return out + facts(state, cycle);
}

std::string evidence(const State& state, const Incident& incident) {
  std::string out;
  size_t shown = 0;
  for (const Evidence* e : fresh_evidence(incident)) {
    if (++shown > kEvidenceShown) break;
    if (!e->signal.empty()) {
      out += cat("- ", markdown_text(e->signal), e->step == kNoStep ? "" : cat(" at step ", e->step), " = ",
                 format_value(e->value, ""), e->text.empty() ? "" : " — ", markdown_text(e->text), "\n");
    } else {
      const std::string place = markdown_text(describe(state, e->where));
      out += cat("- ", place, place.empty() ? "" : " ", markdown_code(clip(trim(e->text), kQuoted)), "\n");
    }
  }
  return out.empty() ? out : cat("\nEvidence:\n\n", out);
}

/// What the run's processes did when it was seen.
std::string processes(const State& state, const Incident& incident) {
  std::string out;
  for (const ActionState* snapshot : collected(state, incident.id)) {
    out += cat(out.empty() ? "\nWhat its processes did:\n\n" : "", "- ",
               escape_markdown(clip(collected_line(*snapshot), kProcessShown)), "\n");
  }
  return out;
}

/// What was advised already, by text: the incident that it was advised for.
using Advised = std::map<std::string, uint32_t>;

std::string advice(std::string_view what, const std::string& text, const Incident& incident, Advised& advised) {
  if (text.empty()) return "";
  const auto [known, fresh] = advised.try_emplace(text, incident.id);
  return cat("\n", what, ": ",
             fresh ? escape_markdown(clip(text, kStatusShown)) : cat("as for \\#", known->second, "."), "\n");
}

std::string causes(const Incident& incident, Advised& advised) {
  if (incident.causes.empty()) return "";
  std::string out = "\n| Cause | Likely? | For | Against |\n|---|---|---|---|\n";
  const auto join = [&incident](const std::vector<std::string>& parts) {
    std::string text;
    for (const std::string& part : fresh_reasons(incident, parts))
      text += (text.empty() ? "" : "; ") + markdown_text(part);
    return text;
  };
  for (const RankedCause* c : shown_causes(incident, kCausesShown)) {
    const bool said = contains(incident.summary, cause_name(*c));
    const std::string name = said || cause_name(*c) == c->id
                                 ? markdown_text(c->id)
                                 : cat(markdown_text(cause_name(*c)), " (", markdown_text(c->id), ")");
    out += cat("| ", name, " | ", likelihood(*c), " | ", join(c->reasons_for), " | ", join(c->reasons_against), " |\n");
  }
  const RankedCause& lead = incident.causes.front();
  const std::string fix = advice("Fix", lead.fix, incident, advised);  // first: of equal texts it keeps the words
  return out + advice("Check", lead.check, incident, advised) + fix;
}

std::string around(const State& state, const Incident& incident) {
  const StepTable table = steps_around(state, incident.onset, kStepsAround);
  return table.empty() ? "" : cat("\nThe steps around the onset:\n\n", markdown_step_table(table));
}

std::string one_incident(const State& state, const IncidentChains& chains, const Incident& incident, const Cycle& cycle,
                         Advised& advised) {
  const bool old = !cycle.whole() && !in_cycle(state, cycle, incident.onset);
  const std::string onset = describe(state, incident.onset), detected = describe(state, incident.detected);
  std::string out =
      cat("\n### #", incident.id, " ", markdown_text(incident.kind), " (", severity_name(incident.severity),
          incident.open ? "" : ", over", old ? ", unchanged since last" : "", ")\n\n",
          escape_markdown(clip(trim(incident.summary), kStatusShown)), "\n\n- Onset: ", markdown_text(onset), "\n");
  if (detected != onset) out += cat("- Would have been raised at: ", markdown_text(detected), "\n");
  if (const Reaction reaction = reaction_to(state, incident); reaction.decided || !incident.reaction.empty()) {
    out +=
        cat(reaction.decided ? "- What midwatch decided: " : "- What midwatch run does: ", markdown_text(reaction.text),
            "\n");
  }
  if (const std::string chain = chain_words(chains, incident); !chain.empty())
    out += cat("- Of one failure: ", markdown_text(trim(chain)), "\n");
  return out + evidence(state, incident) + processes(state, incident) + causes(incident, advised);
}

/// The last notes of people on the run, or the lessons that they noted.
std::string notes(const State& state, const Cycle& cycle, std::string_view kind, std::string_view heading) {
  std::vector<PersonsNote> all = notes_of(state);
  std::erase_if(all,
                [&](const PersonsNote& note) { return note.kind != kind || !in_cycle(state, cycle, note.moment); });
  std::string out;
  for (size_t i = all.size() > kNotesShown ? all.size() - kNotesShown : 0; i < all.size(); ++i) {
    const PersonsNote& note = all[i];
    out += cat("- ", when(note.moment.at), note.moment.step == kNoStep ? "" : cat(", step ", note.moment.step), ", ",
               markdown_text(note.who), ": ", escape_markdown(clip(trim(note.text), kStatusShown)), "\n");
  }
  return out.empty() ? out : cat("\n## ", heading, "\n\n", out);
}

std::string incidents(const State& state, const Cycle& cycle) {
  std::string out = "\n## Issues found\n";
  size_t shown = 0, earlier = 0;
  Advised advised;
  const IncidentChains chains(state);
  for (const Incident* incident : ranked_incidents(state)) {
    const bool over = !incident->open || (!cycle.whole() && overtaken(state, *incident));
    if (over && !in_cycle(state, cycle, incident->onset)) {
      ++earlier;
    } else if (++shown <= kIncidentsShown) {
      out += one_incident(state, chains, *incident, cycle, advised);
      if (shown == 1) out += around(state, *incident);
    }
  }
  if (shown == 0) out += cycle.whole() ? "\nNone seen in these files.\n" : "\nNone seen in this cycle.\n";
  if (shown > kIncidentsShown) out += cat("\n… and ", shown - kIncidentsShown, " more.\n");
  if (earlier > 0) out += cat("\n", earlier, " earlier, over before this cycle.\n");
  size_t infos = 0;
  for (const Incident& incident : state.incidents) {
    if (incident.severity != Severity::kInfo || !in_cycle(state, cycle, incident.onset)) continue;
    if (infos++ == 0) out += "\nFor information:\n\n";
    if (infos > kIncidentsShown) break;
    out += cat("- ", markdown_text(incident.kind), " (", markdown_text(describe(state, incident.onset)),
               "): ", markdown_text(incident.summary), "\n");
  }
  return out;
}

}  // namespace

std::string markdown_report(const Replayed& replayed, const Cycle& cycle, const FormatBatches* batches) {
  const State& state = replayed.state;
  std::string out = head(state, cycle) + markdown_now(state) + markdown_steps(state) + incidents(state, cycle) +
                    notes(state, cycle, "", "What people noted") + notes(state, cycle, kLesson, "Lessons") +
                    markdown_tables(state, cycle, batches);
  if (!replayed.notes.empty()) {
    out += "\n## Notes\n\n";
    for (const std::string& note : replayed.notes) out += cat("- ", markdown_text(note), "\n");
  }
  out += cat("\n---\nMade by midwatch from ", replayed.input.files, replayed.input.files == 1 ? " file (" : " files (",
             format_bytes(static_cast<double>(replayed.input.bytes)), ", ", replayed.input.lines, " lines).\n");
  return out;
}

}  // namespace mw
