#include "ui/view/run_record.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string_view>

#include "base/text.h"
#include "core/changes.h"
#include "core/collected.h"
#include "core/cost.h"
#include "core/notes.h"
#include "core/signal.h"
#include "core/supervise/supervision.h"
#include "ui/view/attempts.h"
#include "ui/view/checkpoints.h"
#include "ui/view/evaluation_table.h"
#include "ui/view/overview.h"
#include "ui/view/pace.h"
#include "ui/view/ranked.h"
#include "ui/view/wandb_page.h"

namespace mw {
namespace {

constexpr size_t kSettingsKept = 300;  // those that a person asks for first are among them
constexpr size_t kValueKept = 200;     // bytes of a setting
constexpr size_t kTextKept = 500;      // bytes of a sentence
constexpr size_t kCheckpointsKept = 12;
constexpr size_t kAttemptsKept = 100;
constexpr size_t kIncidentsKept = 50;
constexpr size_t kChangesKept = 100;
constexpr size_t kScoresKept = 6;

/// What an experiment log says first of a run, in its order.
constexpr std::array<std::string_view, 17> kFirst = {
    "model",           "dataset", "algorithm", "lr",        "batch_size",        "group_size",
    "num_generations", "kl_coef", "clip_low",  "clip_high", "max_prompt_length", "max_response_length",
    "total_steps",     "epochs",  "seed",      "num_gpus",  "save_steps"};
/// Figures of a run's end, in the order in which people read them; with those of which the best is worth a word.
constexpr std::array<std::string_view, 7> kFigures = {
    "reward.mean", "entropy", "kl.ref", "loss.total", "grad_norm", "response.length", "throughput.tokens"};

bool is_setting(std::string_view key) {
  return !key.starts_with("summary/") && !key.starts_with("run/") && key != "wandb_page";
}

std::vector<std::pair<std::string, std::string>> settings_of(const State& state) {
  std::vector<std::pair<std::string, std::string>> settings;
  for (const std::string_view key : kFirst) {
    if (const auto at = state.config.find(std::string(key)); at != state.config.end())
      settings.emplace_back(at->first, clip(at->second, kValueKept));
  }
  for (const auto& [key, value] : state.config) {
    if (settings.size() >= kSettingsKept) break;
    if (is_setting(key) && std::find(kFirst.begin(), kFirst.end(), key) == kFirst.end())
      settings.emplace_back(key, clip(value, kValueKept));
  }
  return settings;
}

RunRecord::Figure figure(const SignalLine& line, bool evaluation) {
  RunRecord::Figure figure;
  figure.name = line.name;
  figure.unit = line.unit;
  figure.evaluation = evaluation;
  const SignalRow* row = find_signal(line.series != nullptr ? line.series->signal : line.name);
  const bool score = evaluation && (row == nullptr || row->worse == Worse::kNeither) && is_score(line.name);
  const Worse worse = score ? Worse::kDown : row == nullptr ? Worse::kNeither : row->worse;
  // Of what only drifts (entropy, lengths, KL) neither end is the best.
  figure.rated = score || (worse != Worse::kNeither && (evaluation || line.name.starts_with("reward.")));
  bool any = false;
  for (const Point& point : line.points) {
    if (!std::isfinite(point.value)) continue;
    if (!any) {
      figure.first = point.value;
      figure.first_step = point.step;
    }
    if (!any || (worse == Worse::kUp ? point.value < figure.best : point.value > figure.best)) {
      figure.best = point.value;
      figure.best_step = point.step;
    }
    any = true;
    figure.last = point.value;
    figure.last_step = point.step;
  }
  return figure;
}

std::vector<RunRecord::Figure> figures_of(const State& state) {
  std::vector<RunRecord::Figure> figures;
  const std::vector<SignalLine> lines = canonical_metrics(state, {});
  const auto add = [&](std::string_view name) {
    for (const SignalLine& line : lines) {
      if (line.name == name && !line.points.empty()) figures.push_back(figure(line, false));
    }
  };
  add(kFigures.front());
  size_t scores = 0;
  for (const SignalLine& line : evaluations(state, {})) {
    if (line.points.empty() || !is_score(line.name) || ++scores > kScoresKept) continue;
    figures.push_back(figure(line, true));
  }
  for (size_t i = 1; i < kFigures.size(); ++i) add(kFigures[i]);
  return figures;
}

/// What midwatch did because of it, and whether it is over.
std::string outcome_of(const State& state, const Incident& incident) {
  std::string done;
  for (const ActionState& action : state.actions) {
    const event::Intended& intent = action.intent;
    if (intent.incident != incident.id || intent.action == kCollectEvidence || intent.action == "notify") continue;
    const std::string word = cat(intent.action, !action.done ? " not finished" : action.ok ? "" : " failed");
    if (!contains(done, word)) done += cat(done.empty() ? "" : ", ", word);
  }
  for (const SupervisedAttempt& attempt : state.supervision.attempts) {
    if (attempt.number != incident.latest.attempt + 1 || !attempt.decided) continue;
    if (incident.severity == Severity::kCritical)
      done += cat(done.empty() ? "" : ", ", attempt.restart ? "restarted" : "no restart");
  }
  const std::string stands = incident.open ? "open" : "over";
  return done.empty() ? stands : cat(stands, "; ", done);
}

std::vector<RunRecord::Incident> incidents_of(const State& state) {
  std::vector<RunRecord::Incident> incidents;
  for (const Incident* one : ranked_incidents(state)) {
    if (incidents.size() >= kIncidentsKept) break;
    RunRecord::Incident incident;
    incident.id = one->id;
    incident.kind = one->kind;
    incident.severity = severity_name(one->severity);
    incident.summary = clip(trim(one->summary), kTextKept);
    incident.open = one->open;
    incident.at = one->onset.at;
    incident.step = one->onset.step;
    incident.attempt = static_cast<uint16_t>(one->onset.attempt + 1);
    if (!one->causes.empty() && one->causes.front().score >= kWorthNaming) {
      incident.cause = clip(cause_name(one->causes.front()), kTextKept);
      incident.fix = clip(one->causes.front().fix, kTextKept);
    }
    incident.outcome = outcome_of(state, *one);
    incidents.push_back(std::move(incident));
  }
  return incidents;
}

std::vector<RunRecord::Attempt> attempts_of(const State& state) {
  std::vector<RunRecord::Attempt> attempts;
  for (const AttemptRow& row : attempt_rows(state)) {
    if (attempts.size() >= kAttemptsKept) break;
    attempts.push_back(
        {row.began, row.last, row.first, row.reached, row.resumed_at, clip(row.end, kTextKept), row.seconds});
  }
  return attempts;
}

std::string asks_of(const Supervision& known) {
  if (known.stop || known.attempts.empty()) return "";
  const SupervisedAttempt& last = known.attempts.back();
  return last.breaking.waits() ? "break" : last.restarting.waits() ? "restart" : "";
}

void add_checkpoints(const State& state, RunRecord& record) {
  const std::vector<CheckpointRow> rows = checkpoint_rows(state, {});
  record.checkpoints_in_all = rows.size();
  for (size_t i = rows.size() > kCheckpointsKept ? rows.size() - kCheckpointsKept : 0; i < rows.size(); ++i) {
    const CheckpointRow& row = rows[i];
    record.checkpoints.push_back({row.step, row.bytes, row.at, row.verified, row.path, row.saved});
  }
}

}  // namespace

RunRecord record_of(const State& state) {
  RunRecord record;
  record.began = state.first_at;
  // Neither the clock of a watch nor a note written later is a sign of life.
  for (const AttemptRow& row : attempt_rows(state)) record.ended = std::max(record.ended, row.last);
  record.seconds = run_seconds(state);
  record.verdict = state.verdict;
  const StatusLine line = status_line(state);
  record.status = line.word;
  record.headline = clip(line.rest, kTextKept);
  record.framework = state.framework;
  record.version = state.version;
  record.settings = settings_of(state);
  record.wandb = wandb_page(state);
  const State::Span steps = state.steps();
  record.step = state.attempts.empty() ? kNoStep : state.attempts.back().last_step;
  record.planned = state.total_steps;
  record.steps = steps.count;
  record.step_seconds = seconds_per_step(state);
  record.critical =
      static_cast<uint64_t>(std::count_if(state.incidents.begin(), state.incidents.end(), [](const Incident& incident) {
        return incident.open && incident.severity == Severity::kCritical;
      }));
  record.cost_per_hour = cost_per_hour(state);
  record.attempts = attempts_of(state);
  record.incidents = incidents_of(state);
  record.figures = figures_of(state);
  add_checkpoints(state, record);
  for (PersonsNote& note : notes_of(state))
    record.notes.push_back({note.moment.at, note.moment.step, note.who, note.text, note.kind});
  record.tags = tags_of(state);
  record.asks = asks_of(state.supervision);
  for (const event::Changed& change : state.changes) {
    if (record.changes.size() >= kChangesKept) break;
    record.changes.push_back(
        {change.attempt, change.what, change.name, clip(change.before, kTextKept), clip(change.after, kTextKept)});
  }
  return record;
}

const RunRecord::Figure* figure_of(const RunRecord& record, std::string_view name) {
  for (const RunRecord::Figure& figure : record.figures) {
    if (figure.name == name) return &figure;
  }
  return nullptr;
}

std::vector<RunRecord::Change> different_settings(const RunRecord& before, const RunRecord& after) {
  const std::map<std::string, std::string> was(before.settings.begin(), before.settings.end());
  const std::map<std::string, std::string> is(after.settings.begin(), after.settings.end());
  std::vector<RunRecord::Change> changes;
  for (const auto& [key, value] : after.settings) {
    const auto at = was.find(key);
    if (at == was.end() || at->second != value)
      changes.push_back({0, "setting", key, at == was.end() ? "" : at->second, value});
  }
  for (const auto& [key, value] : before.settings) {
    if (is.count(key) == 0) changes.push_back({0, "setting", key, value, ""});
  }
  return changes;
}

}  // namespace mw
