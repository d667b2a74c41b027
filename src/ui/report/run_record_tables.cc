// The records of runs as CSV and JSON.
#include <algorithm>

#include "base/json.h"
#include "base/numbers.h"
#include "base/text.h"
#include "core/cost.h"
#include "ui/report/run_record.h"
#include "ui/view/csv.h"
#include "ui/view/lost_time.h"
#include "ui/view/overview.h"
#include "ui/view/record_json.h"
#include "ui/view/run_filter.h"
#include "ui/view/run_record.h"

namespace mw {
namespace {

constexpr double kHour = 3600;
/// Columns that are settings, by their canonical names.
constexpr std::string_view kSettings[] = {
    "model",   "dataset",           "algorithm",           "lr",  "batch_size", "num_generations",
    "kl_coef", "max_prompt_length", "max_response_length", "seed"};

class Row {
 public:
  void text(std::string_view value) { add(csv_cell(escape_terminal(value))); }
  void number(double value) { add(format_double(value)); }
  void step(int64_t value) { add(value == kNoStep ? "" : cat(value)); }
  std::string line() const { return line_ + "\n"; }

 private:
  void add(std::string_view cell) {
    if (!first_) line_ += ',';
    first_ = false;
    line_ += cell;
  }
  std::string line_;
  bool first_ = true;
};

std::string joined(const std::vector<std::string>& words, std::string_view between) {
  std::string text;
  for (const std::string& word : words) text += cat(text.empty() ? "" : between, word);
  return text;
}

void put_figure(Row& row, const RunRecord::Figure* figure) {
  if (figure == nullptr) {
    for (int i = 0; i < 4; ++i) row.text("");
    return;
  }
  row.number(figure->last);
  row.step(figure->last_step);
  figure->rated ? row.number(figure->best) : row.text("");
  row.step(figure->rated ? figure->best_step : kNoStep);
}

const RunRecord::Figure* first_evaluation(const RunRecord& record) {
  for (const RunRecord::Figure& figure : record.figures) {
    if (figure.evaluation) return &figure;
  }
  return nullptr;
}

std::vector<std::string> kinds_of(const RunRecord& record) {
  std::vector<std::string> kinds;
  for (const RunRecord::Incident& incident : record.incidents) {
    if (std::find(kinds.begin(), kinds.end(), incident.kind) == kinds.end()) kinds.push_back(incident.kind);
  }
  return kinds;
}

std::string head() {
  std::string line = "run,state,framework,began,ended,hours,attempts";
  for (const std::string_view key : kSettings) line += cat(",", key);
  return line +
         ",machines,step,planned_steps,seconds_per_step,reward,reward_step,best_reward,best_reward_step,evaluation,"
         "evaluation_value,evaluation_step,best_evaluation,best_evaluation_step,incidents,open_critical,"
         "last_checkpoint,cost_per_hour,cost,tags,lessons,wandb,command\n";
}

std::string line_of(const RunsAnswer::Run& run) {
  const RunRecord& record = run.record;
  Row row;
  row.text(run.status.name);
  row.text(state_of(run));
  row.text(record.framework);
  row.text(format_utc(record.began));
  row.text(format_utc(record.ended));
  row.number(record.seconds / kHour);
  row.step(static_cast<int64_t>(record.attempts.size()));
  for (const std::string_view key : kSettings) row.text(record_setting(record, key));
  std::vector<std::string> machines, lessons;
  for (const RunRecord::Machine& one : record.machines)
    machines.push_back(cat(one.name, one.gpus.empty() ? "" : cat(" (", one.gpus, ")")));
  for (const RunRecord::Note& note : record.notes) {
    if (note.kind == "lesson") lessons.push_back(note.text);
  }
  row.text(joined(machines, "; "));
  row.step(record.step);
  row.step(record.planned > 0 ? record.planned : kNoStep);
  record.step_seconds > 0 ? row.number(record.step_seconds) : row.text("");
  put_figure(row, figure_of(record, "reward.mean"));
  const RunRecord::Figure* evaluation = first_evaluation(record);
  row.text(evaluation == nullptr ? "" : evaluation->name);
  put_figure(row, evaluation);
  row.text(joined(kinds_of(record), "; "));
  row.step(static_cast<int64_t>(record.critical));
  int64_t saved = kNoStep;
  for (const RunRecord::Checkpoint& one : record.checkpoints) saved = one.saved ? std::max(saved, one.step) : saved;
  row.step(saved);
  const bool priced = record.cost_per_hour > 0;
  priced ? row.number(record.cost_per_hour) : row.text("");
  row.text(priced ? money_text(record.seconds / kHour * record.cost_per_hour) : "");
  row.text(joined(record.tags, "; "));
  row.text(joined(lessons, "; "));
  row.text(record.wandb);
  row.text(joined(record.command, " "));
  return row.line();
}

void put_lost(JsonWriter& json, const RunRecord& record) {
  const LostTime lost = lost_time(record);
  json.key("lost").begin_object().key("seconds").number(lost.seconds());
  json.key("failed_s").number(lost.failed_s).key("redone_s").number(lost.redone_s);
  json.key("stalled_s").number(lost.stalled_s).key("poisoned_s").number(lost.poisoned_s);
  json.key("between_s").number(lost.between_s).key("gpus");
  lost.gpus > 0 ? json.integer(lost.gpus) : json.null();
  json.key("cost");
  record.cost_per_hour > 0 ? json.number(lost.seconds() / kHour * record.cost_per_hour) : json.null();
  json.end_object();
}

}  // namespace

std::string csv_of_runs(const std::vector<RunsAnswer::Run>& runs) {
  std::string out = head();
  for (const RunsAnswer::Run& run : runs) {
    if (run.trouble.empty()) out += line_of(run);
  }
  return out;
}

std::string json_of_run(const RunsAnswer::Run& run) {
  std::string more;
  {
    JsonWriter json(more);
    json.begin_object().key("state").string(state_of(run)).key("live").boolean(run.live);
    json.key("cost");
    run.record.cost_per_hour > 0 ? json.number(run.record.seconds / kHour * run.record.cost_per_hour) : json.null();
    put_lost(json, run.record);
    json.key("before").string(run.before).key("differs");
    put_changes(json, run.differs);
    json.end_object();
  }
  std::string record = record_json(run.record);  // an object, and so is `more`
  record.back() = ',';
  return record + more.substr(1);
}

std::string json_of_runs(const std::vector<RunsAnswer::Run>& runs) {
  std::string out;
  {
    JsonWriter json(out);
    json.begin_object().key("schema").string("midwatch.runs-export/1").key("runs").begin_array();
    for (const RunsAnswer::Run& run : runs) {
      if (run.trouble.empty()) json.raw(json_of_run(run));
    }
    json.end_array().end_object();
  }
  return out + "\n";
}

}  // namespace mw
