// The experiment log: all records of runs as a document that people would have written by hand.
#include <algorithm>

#include "base/text.h"
#include "core/cost.h"
#include "ui/report/markdown_tables.h"
#include "ui/report/run_record.h"
#include "ui/view/lost_time.h"
#include "ui/view/overview.h"
#include "ui/view/run_filter.h"
#include "ui/view/run_record.h"

namespace mw {
namespace {

constexpr size_t kSettings = 40;   // rows
constexpr size_t kAttempts = 30;   // the last ones
constexpr size_t kDiffers = 30;    // the first ones
constexpr size_t kText = 1000;     // bytes of a sentence or of a person's note
constexpr size_t kCommand = 1000;  // bytes

std::string sentence(std::string_view text) { return escape_markdown(clip(trim(text), kText)); }

std::string item(std::string_view name, const std::string& escaped) {
  return escaped.empty() ? "" : cat("- **", name, "**: ", escaped, "\n");
}

std::string day(Time at) { return at.known() ? format_utc(at).substr(0, 10) : "date not known"; }

std::string state_line(const RunsAnswer::Run& run) {
  return cat(run.record.status, run.live ? cat(" (", state_of(run), ")") : "");
}

std::string tags_text(const RunRecord& record) {
  std::string text;
  for (const std::string& tag : record.tags) text += cat(text.empty() ? "" : ", ", markdown_text(tag));
  return text;
}

std::string head(const RunsAnswer::Run& run) {
  const RunRecord& record = run.record;
  std::string command;
  for (const std::string& word : record.command) command += (command.empty() ? "" : " ") + word;
  std::string machines;
  for (const RunRecord::Machine& machine : record.machines)
    machines += cat(machines.empty() ? "" : "; ", markdown_text(machine.name),
                    machine.gpus.empty() ? "" : cat(", ", markdown_text(machine.gpus)),
                    record.machines.size() > 1 ? cat(" (attempts ", machine.first, " to ", machine.last, ")") : "");
  return cat("\n### Run: ", markdown_text(run.status.name), " (", day(record.began), ") - ", state_line(run), "\n\n",
             item("Status", cat(escape_markdown(record.status), ". ", sentence(record.headline))),
             item("Model", markdown_text(record_setting(record, "model"))),
             item("Framework", markdown_text(cat(record.framework, record.version.empty() ? "" : " ", record.version))),
             item("Command", command.empty() ? "" : markdown_code(clip(command, kCommand))),
             item("Start", when(record.began)), run.live ? "" : item("End", when(record.ended)),
             item("Duration", record_duration(record)), item("Machines", machines), item("Cost", record_cost(record)),
             item("Lost", lost_time_text(record)), item("Progress", record_progress(record)),
             // Nothing but letters, digits and "-_.:/" can stand in it.
             item("W&B run", record.wandb.empty() ? "" : cat("<", record.wandb, ">")), item("Tags", tags_text(record)));
}

std::string metrics(const RunRecord& record) {
  if (record.figures.empty()) return "";
  std::string out = "\n#### Metrics\n\n| | First | Last | Best |\n|---|---:|---:|---:|\n";
  const auto cell = [](const RunRecord::Figure& figure, double value, int64_t step) {
    return cat(format_value(value, figure.unit), step == kNoStep ? "" : cat(" (step ", step, ")"));
  };
  for (const RunRecord::Figure& one : record.figures) {
    out += cat("| ", markdown_text(one.name), one.evaluation ? " (evaluation)" : "", " | ",
               cell(one, one.first, one.first_step), " | ", cell(one, one.last, one.last_step), " | ",
               one.rated ? cell(one, one.best, one.best_step) : "", " |\n");
  }
  return out;
}

std::string settings(const RunRecord& record) {
  if (record.settings.empty()) return "";
  std::string out = "\n#### Config\n\n| Setting | Value |\n|---|---|\n";
  for (size_t i = 0; i < record.settings.size() && i < kSettings; ++i) {
    const auto& [key, value] = record.settings[i];
    out += cat("| ", markdown_text(key), " | ", markdown_text(value), " |\n");
  }
  if (record.settings.size() > kSettings) out += cat("\n… and ", record.settings.size() - kSettings, " more.\n");
  return out;
}

std::string side(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ';');
  return text.empty() ? text : markdown_code(clip(trim(text), kText));
}

std::string changes_table(const std::vector<RunRecord::Change>& changes, bool attempts) {
  std::string out = cat(attempts ? "| Attempt " : "", "| What | Name | Before | After |\n", attempts ? "|---:" : "",
                        "|---|---|---|---|\n");
  size_t shown = 0;
  for (const RunRecord::Change& one : changes) {
    if (one.what == "nothing") continue;
    if (++shown > kDiffers) break;
    out += cat(attempts ? cat("| ", one.attempt, " ") : "", "| ", markdown_text(one.what), " | ",
               markdown_text(one.name), " | ", side(one.before), " | ", side(one.after), " |\n");
  }
  return shown == 0 ? "" : out;
}

std::string differences(const RunsAnswer::Run& run) {
  std::string out;
  if (!run.before.empty()) {
    const std::string table = changes_table(run.differs, false);
    out += cat("\n#### What differs from ", markdown_text(run.before), "\n\n",
               table.empty() ? "Nothing that is known.\n" : table);
  }
  if (const std::string table = changes_table(run.record.changes, true); !table.empty())
    out += cat("\n#### What changed between attempts\n\n", table);
  return out;
}

std::string attempts(const RunRecord& record) {
  if (record.attempts.size() < 2) return "";
  std::string out = "\n#### Attempts\n\n| Attempt | Began | Steps | Resumed from | End |\n|---:|---|---|---:|---|\n";
  const size_t all = record.attempts.size();
  for (size_t i = all > kAttempts ? all - kAttempts : 0; i < all; ++i) {
    const RunRecord::Attempt& one = record.attempts[i];
    out += cat("| ", i + 1, " | ", when(one.began), " | ",
               one.last_step == kNoStep ? "none" : cat(one.first_step, " to ", one.last_step), " | ",
               one.resumed_at == kNoStep ? "" : cat(one.resumed_at), " | ", markdown_text(one.end), " |\n");
  }
  return out;
}

std::string incidents(const RunRecord& record) {
  if (record.incidents.empty()) return "";
  std::string out = "\n#### Incidents and recovery\n";
  size_t number = 0;
  for (const RunRecord::Incident& one : record.incidents) {
    const std::string place = record_place(one.step, one.at);
    out += cat("\n", ++number, ". **", markdown_text(one.kind), "** (", one.severity,
               place.empty() ? "" : cat(", ", place), "): ", sentence(one.summary), "\n",
               one.cause.empty() ? "" : cat("   - Cause: ", sentence(one.cause), "\n"),
               one.fix.empty() ? "" : cat("   - Fix: ", sentence(one.fix), "\n"),
               "   - Outcome: ", sentence(one.outcome), "\n");
  }
  return out;
}

std::string checkpoints(const RunRecord& record) {
  if (record.checkpoints.empty()) return "";
  std::string out = "\n#### Checkpoints\n\n| Step | Time | Size | Verified | Path |\n|---:|---|---:|---|---|\n";
  for (const RunRecord::Checkpoint& one : record.checkpoints) {
    out +=
        cat("| ", one.step == kNoStep ? "" : cat(one.step), " | ", when(one.at), " | ",
            one.bytes > 0 ? format_value(static_cast<double>(one.bytes), "bytes") : "", " | ",
            markdown_text(one.verified), " | ", one.path.empty() ? "" : markdown_code(clip(one.path, kText)), " |\n");
  }
  if (record.checkpoints_in_all > record.checkpoints.size())
    out += cat("\n", record.checkpoints_in_all - record.checkpoints.size(), " earlier ones are left out.\n");
  return out;
}

std::string words(const RunRecord& record, std::string_view kind, std::string_view heading) {
  std::string out;
  for (const RunRecord::Note& note : record.notes) {
    if (note.kind != kind) continue;
    const std::string place = record_place(note.step, note.at);
    out += cat("- ", sentence(note.text), " (", markdown_text(note.who), place.empty() ? "" : ", ", place, ")\n");
  }
  return out.empty() ? "" : cat("\n#### ", heading, "\n\n", out);
}

std::string one_run(const RunsAnswer::Run& run) {
  const RunRecord& record = run.record;
  return head(run) + metrics(record) + incidents(record) + attempts(record) + differences(run) + settings(record) +
         checkpoints(record) + words(record, "", "Notes") + words(record, "lesson", "Lessons learned");
}

/// "0.41 (best 0.47)" of the reward; "" where the run has none.
std::string reward(const RunRecord& record) {
  const RunRecord::Figure* figure = figure_of(record, "reward.mean");
  if (figure == nullptr) return "";
  const std::string last = format_value(figure->last, figure->unit), best = format_value(figure->best, figure->unit);
  return last == best ? last : cat(last, " (best ", best, ")");
}

std::string table_of(const std::vector<const RunsAnswer::Run*>& runs) {
  std::string out =
      "| Run | Model | Start | Duration | Steps | Final reward | Cost | Status | Tags | Notes |\n"
      "|---|---|---|---|---|---|---:|---|---|---|\n";
  if (runs.empty()) return out + "| *none yet* | | | | | | | | | |\n";
  for (const RunsAnswer::Run* run : runs) {
    const RunRecord& record = run->record;
    const std::string note = record.incidents.empty() ? "" : record.incidents.front().kind;
    out += cat("| ", markdown_text(run->status.name), " | ", markdown_text(record_setting(record, "model")), " | ",
               when(record.began), " | ", record.seconds > 0 ? format_duration(Duration::seconds(record.seconds)) : "",
               " | ", record.step == kNoStep ? "" : cat(record.step),
               record.planned > 0 ? cat(" of ", record.planned) : "", " | ", reward(record), " | ",
               record.cost_per_hour > 0 ? money_text(record.seconds / 3600 * record.cost_per_hour) : "", " | ",
               escape_markdown(state_of(*run)), " | ", tags_text(record), " | ", markdown_text(note), " |\n");
  }
  return out;
}

std::string all_lessons(const std::vector<RunsAnswer::Run>& runs) {
  std::string out;
  for (const RunsAnswer::Run& run : runs) {
    for (const RunRecord::Note& note : run.record.notes) {
      if (note.kind == "lesson") out += cat("- ", sentence(note.text), " (", markdown_text(run.status.name), ")\n");
    }
  }
  return out.empty() ? "" : cat("\n## Lessons learned\n\n", out);
}

}  // namespace

std::string markdown_experiment_log(const std::vector<RunsAnswer::Run>& runs) {
  std::vector<const RunsAnswer::Run*> live, over;
  std::string unreadable;
  double spent = 0, seconds = 0;
  for (const RunsAnswer::Run& run : runs) {
    if (!run.trouble.empty()) {
      unreadable += cat("- ", markdown_text(run.status.name), ": ", markdown_text(run.trouble), "\n");
      continue;
    }
    (run.live ? live : over).push_back(&run);
    seconds += run.record.seconds;
    spent += run.record.seconds / 3600 * run.record.cost_per_hour;
  }
  std::string out =
      cat("# Training runs\n\n", live.size() + over.size(), live.size() + over.size() == 1 ? " run, " : " runs, ",
          format_duration(Duration::seconds(seconds)), " of training",
          spent > 0 ? cat(", ", money_text(spent), " where the price is known") : "", ".\n\n## Active runs\n");
  if (live.empty()) out += "\nNone.\n";
  for (const RunsAnswer::Run* run : live) out += one_run(*run);
  out += cat("\n## Completed runs\n\n", table_of(over));
  for (const RunsAnswer::Run* run : over) out += one_run(*run);
  out += all_lessons(runs);
  return unreadable.empty() ? out : cat(out, "\n## Runs that cannot be read\n\n", unreadable);
}

}  // namespace mw
