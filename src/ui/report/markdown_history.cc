#include "ui/report/markdown_history.h"

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "ui/report/markdown.h"
#include "ui/report/markdown_tables.h"
#include "ui/view/attempts.h"

namespace mw {
namespace {

constexpr size_t kActionsShown = 60, kAttemptsShown = 60;
constexpr size_t kWhy = 300;  // bytes of a reason

/// An attempt of the run, numbered through its machines.
struct HistoryRow {
  size_t number = 0, record = 0;
  AttemptRow row;
};

std::vector<HistoryRow> rows_of(const RunHistory& history) {
  std::vector<HistoryRow> out;
  for (size_t i = 0; i < history.records.size(); ++i) {
    if (history.records[i].replayed == nullptr) continue;
    for (AttemptRow& row : attempt_rows(history.records[i].replayed->state)) {
      out.push_back({out.size() + 1, i, std::move(row)});
    }
  }
  return out;
}

/// The step of a machine's last heartbeat where that is later than its record, which it ships more rarely; else
/// kNoStep.
int64_t said_later(const RunHistory& history, const HistoryRow& last) {
  const size_t leg = history.records[last.record].leg;
  if (leg == SIZE_MAX || !history.fleet.legs[leg].last) return kNoStep;
  const int64_t step = history.fleet.legs[leg].last->beat.step;
  return step > last.row.reached ? step : kNoStep;
}

/// Steps of the last attempt on a machine that the next machine did again.
std::string lost_between(const RunHistory& history, const HistoryRow& last, const HistoryRow& next) {
  if (last.row.reached == kNoStep || next.row.first == kNoStep) return "";
  const int64_t from = next.row.resumed_at != kNoStep ? next.row.resumed_at : next.row.first - 1;
  const int64_t steps = std::max(last.row.reached, said_later(history, last)) - from;
  return steps <= 0 ? "" : cat(steps, steps == 1 ? " step" : " steps", ", done again on the next machine");
}

/// What ended a machine, as its controller has it; "": nothing did, or nobody rented it.
std::string end_of(const RunHistory& history, const RunHistory::Record& record) {
  return record.leg == SIZE_MAX ? "" : history.fleet.legs[record.leg].rental.end;
}

std::string machine_name(const RunHistory& history, size_t record) {
  const size_t leg = history.records[record].leg;
  return leg == SIZE_MAX ? markdown_text(history.records[record].name) : cat(leg + 1);
}

std::string table_row(std::string_view name, std::string_view value) {
  return value.empty() ? "" : cat("| ", name, " | ", markdown_text(value), " |\n");
}

std::string head(const RunHistory& history, const std::vector<HistoryRow>& rows) {
  const FleetAnswer& fleet = history.fleet;
  const size_t machines = std::max(fleet.legs.size(), history.records.size());
  std::string out = cat("# The run ", markdown_text(fleet.run), " over ", machines,
                        machines == 1 ? " machine" : " machines", "\n\n| | |\n|---|---|\n");
  if (fleet.managed) {
    const bool rests = fleet.control.phase == fleet::Control::Phase::kStopped;
    out += table_row("State", rests ? fleet.control.outcome : std::string(word_of(fleet.verdict.kind)));
    out += table_row("Cost", cat(format_money(fleet.cost), " of ", format_money(fleet.limit)));
  }
  out += table_row("Store", fleet.store);
  out += table_row("Attempts", cat(rows.size()));
  if (fleet.newest != kNoStep) {
    out += table_row("Newest checkpoint", cat("step ", fleet.newest, ", verified, since ", when(fleet.pushed)));
  }
  int64_t redone = 0;
  for (const fleet::Leg& leg : fleet.legs) redone += std::max<int64_t>(0, leg.redone);
  if (fleet.managed && machines > 1) out += table_row("Steps done again", cat(redone));
  return out + table_row("W&B run", history.wandb);
}

std::string leg_steps(const fleet::Leg& leg) {
  if (!leg.last) return "it never said a word";
  const fleet::Heartbeat& beat = leg.last->beat;
  const std::string from = beat.from == 0 ? "from scratch" : beat.from > 0 ? cat("from step ", beat.from) : "";
  return beat.step == kNoStep ? from : cat(from, from.empty() ? "to " : " to step ", beat.step);
}

std::string machines(const RunHistory& history) {
  if (history.fleet.legs.empty()) return "";
  std::string out =
      "\n## Machines\n\n| # | Where | Rented | Given back | Cost | Steps, as it said | In the store | Done again | End "
      "|\n"
      "|---:|---|---|---|---:|---|---:|---:|---|\n";
  for (size_t i = 0; i < history.fleet.legs.size(); ++i) {
    const fleet::Leg& leg = history.fleet.legs[i];
    const fleet::Rental& rental = leg.rental;
    const int64_t shipped = leg.last ? leg.last->beat.shipped : kNoStep;
    out += cat("| ", i + 1, " | ",
               markdown_text(cat(rental.provider, " ", rental.host.empty() ? rental.instance : rental.host)), " | ",
               when(rental.asked), " | ", when(rental.gone), " | ", format_money(leg.cost), " | ", leg_steps(leg),
               " | ", shipped == kNoStep ? "" : cat(shipped), " | ", leg.redone < 0 ? "" : cat(leg.redone), " | ",
               markdown_text(clip(rental.end, kWhy)), " |\n");
  }
  return out;
}

std::string attempts(const RunHistory& history, const std::vector<HistoryRow>& rows) {
  if (rows.empty()) return "\n## Attempts\n\nNo machine's record came to the store.\n";
  std::string out =
      "\n## Attempts\n\n| # | Machine | Began | Steps | Resumed at | Lasted | End | Lost |\n"
      "|---:|---|---|---|---:|---:|---|---|\n";
  const size_t skip = rows.size() > kAttemptsShown ? rows.size() - kAttemptsShown : 0;
  for (size_t i = skip; i < rows.size(); ++i) {
    const AttemptRow& row = rows[i].row;
    const bool last_here = i + 1 == rows.size() || rows[i + 1].record != rows[i].record;
    const int64_t later = last_here ? said_later(history, rows[i]) : kNoStep;
    const bool moved = last_here && i + 1 < rows.size();
    const std::string ended = last_here ? end_of(history, history.records[rows[i].record]) : "";
    const bool open = row.end == "goes on" || row.end == "no end was seen";
    const std::string end = open && !ended.empty() ? cat("its machine: ", ended) : row.end;
    out += cat("| ", rows[i].number, " | ", machine_name(history, rows[i].record), " | ", when(row.began), " | ",
               steps_done(row), later == kNoStep ? "" : cat(", by its heartbeat ", later), " | ",
               row.resumed_at == kNoStep ? "" : cat(row.resumed_at), " | ", lasted(row), " | ",
               markdown_text(clip(end, kWhy)), " | ",
               moved ? lost_between(history, rows[i], rows[i + 1]) : markdown_text(row.lost), " |\n");
  }
  if (skip > 0) out += cat("\n", skip, " earlier ones are left out.\n");
  return out;
}

std::string actions(const RunHistory& history) {
  if (history.actions.empty()) return "";
  std::string out = "\n## What controllers did\n\n";
  const size_t skip = history.actions.size() > kActionsShown ? history.actions.size() - kActionsShown : 0;
  if (skip > 0) out += cat("- ", skip, " earlier actions are left out\n");
  for (size_t i = skip; i < history.actions.size(); ++i) {
    const RunHistory::Action& one = history.actions[i];
    out += cat("- ", when(one.at), ", epoch ", one.epoch, ": ", markdown_text(one.what),
               one.instance.empty() ? "" : cat(" ", markdown_text(one.instance)),
               one.why.empty() ? "" : cat(": ", markdown_text(clip(one.why, kWhy))), "\n");
  }
  return out;
}

/// Every heading one level lower, so that it stands below the whole run's; not what stands in a block of code.
std::string lowered(const std::string& report) {
  std::string out;
  bool code = false;
  for (const std::string_view line : split(report, '\n')) {
    if (line.starts_with("```")) code = !code;
    out += cat(!code && line.starts_with('#') ? "#" : "", line, "\n");
  }
  while (out.ends_with("\n\n")) out.pop_back();
  return out;
}

std::string record_text(const RunHistory& history, size_t index, const std::vector<HistoryRow>& rows) {
  const RunHistory::Record& record = history.records[index];
  std::string numbers;
  for (const HistoryRow& row : rows) {
    if (row.record == index) numbers += cat(numbers.empty() ? "" : ", ", row.number);
  }
  std::string out =
      cat("\n## Machine ", machine_name(history, index), numbers.empty() ? "" : cat(": attempt ", numbers),
          "\n\nIts record: ", markdown_text(record.name), ".\n");
  if (record.replayed == nullptr) return out + cat("It cannot be read: ", markdown_text(record.trouble), "\n");
  if (const std::string end = end_of(history, record); !end.empty()) {
    out += cat("The machine was given back: ", markdown_text(clip(end, kWhy)),
               ". What follows is what it had shipped by then.\n");
  }
  return out + "\n" + lowered(markdown_report(*record.replayed, {}));
}

}  // namespace

std::string markdown_history(const RunHistory& history) {
  const std::vector<HistoryRow> rows = rows_of(history);
  std::string out = head(history, rows) + machines(history) + attempts(history, rows) + actions(history);
  for (size_t i = 0; i < history.records.size(); ++i) out += record_text(history, i, rows);
  if (!history.notes.empty()) out += "\n## Notes\n\n";
  for (const std::string& note : history.notes) out += cat("- ", markdown_text(note), "\n");
  return out;
}

}  // namespace mw
