#include "ui/report/run_record.h"

#include <algorithm>

#include "base/text.h"
#include "core/changes.h"
#include "core/cost.h"
#include "ui/report/paint.h"
#include "ui/view/lost_time.h"
#include "ui/view/overview.h"
#include "ui/view/run_filter.h"

namespace mw {
namespace {

constexpr size_t kLines = 5;        // terminal lines of one item
constexpr size_t kLabel = 18;       // cells of a line's head
constexpr size_t kAttempts = 8;     // the last ones
constexpr size_t kIncidents = 10;   // the most consequential ones
constexpr size_t kNotes = 12;       // the last ones
constexpr size_t kDiffers = 12;     // the first ones
constexpr size_t kCheckpoints = 4;  // the last ones
constexpr std::string_view kSpecified[] = {
    "model",   "dataset",           "algorithm",           "lr",       "batch_size", "group_size", "num_generations",
    "kl_coef", "max_prompt_length", "max_response_length", "num_gpus", "seed"};

std::string specification(const RunRecord& record) {
  std::string text;
  for (const std::string_view key : kSpecified) {
    if (const std::string_view value = record_setting(record, key); !value.empty())
      text += cat(text.empty() ? "" : " · ", key, " ", value);
  }
  return text;
}

std::string joined(const std::vector<std::string>& words, std::string_view between) {
  std::string text;
  for (const std::string& word : words) text += cat(text.empty() ? "" : between, word);
  return text;
}

/// Writes "  head          text", wrapped, and nothing where there is no text.
class Lines {
 public:
  explicit Lines(const Console& console) : paint_(console) {}
  void add(std::string_view head, std::string_view text, Painter::Colour colour = nullptr) {
    if (!text.empty()) out += paint_.hanging(cat("  ", pad(head, kLabel)), text, kLines, colour, &Painter::dim);
  }
  const Painter& paint() const { return paint_; }
  std::string out;

 private:
  Painter paint_;
};

void add_attempts(const RunRecord& record, Lines& lines) {
  const size_t all = record.attempts.size();
  for (size_t i = all > kAttempts ? all - kAttempts : 0; i < all && all > 1; ++i) {
    const RunRecord::Attempt& one = record.attempts[i];
    std::string text = cat(i + 1);
    if (one.last_step != kNoStep) text += cat(", steps ", one.first_step, " to ", one.last_step);
    if (one.resumed_at != kNoStep) text += cat(", resumed from ", one.resumed_at);
    lines.add("attempt", cat(text, ": ", one.end));
  }
}

void add_incidents(const RunRecord& record, Lines& lines) {
  size_t shown = 0;
  for (const RunRecord::Incident& one : record.incidents) {
    if (++shown > kIncidents) break;
    const std::string place = record_place(one.step, one.at);
    lines.add("incident",
              cat("#", one.id, " ", one.kind, ", ", one.severity, ", ", one.outcome, place.empty() ? "" : ", since ",
                  place, ". ", one.summary, one.summary.ends_with('.') ? "" : ".",
                  one.cause.empty() ? "" : cat(" Cause: ", one.cause, ".")),
              one.severity == "critical" && one.open ? &Painter::red : nullptr);
  }
  if (record.incidents.size() > kIncidents)
    lines.add("incidents", cat("and ", record.incidents.size() - kIncidents, " more: midwatch report"));
}

void add_words(const RunRecord& record, Lines& lines) {
  lines.add("tags", joined(record.tags, ", "));
  size_t left = 0;
  for (const RunRecord::Note& note : record.notes) left += note.kind.empty() || note.kind == "lesson" ? 1 : 0;
  for (const RunRecord::Note& note : record.notes) {
    if (!note.kind.empty() && note.kind != "lesson") continue;
    if (left-- > kNotes) continue;
    const std::string place = record_place(note.step, note.at);
    lines.add(note.kind.empty() ? "note" : "lesson", cat(place, place.empty() ? "" : ", ", note.who, ": ", note.text),
              note.kind.empty() ? nullptr : &Painter::bold);
  }
}

void add_checkpoints(const RunRecord& record, Lines& lines) {
  const size_t all = record.checkpoints.size();
  for (size_t i = all > kCheckpoints ? all - kCheckpoints : 0; i < all; ++i) {
    const RunRecord::Checkpoint& one = record.checkpoints[i];
    const std::string size = one.bytes > 0 ? format_value(static_cast<double>(one.bytes), "bytes") : "";
    std::string text;
    for (const std::string& part : {record_place(one.step, one.at), size, one.verified, one.path})
      text += cat(text.empty() || part.empty() ? "" : ", ", part);
    lines.add("checkpoint", text);
  }
}

void add_differences(const RunsAnswer::Run& run, Lines& lines) {
  if (run.before.empty()) return;
  lines.add("other than", cat(run.before, run.differs.empty() ? ": nothing that is known" : ", the run before:"));
  for (size_t i = 0; i < run.differs.size() && i < kDiffers; ++i) lines.add("", record_change(run.differs[i]));
  if (run.differs.size() > kDiffers) lines.add("", cat("and ", run.differs.size() - kDiffers, " more: --json"));
}

}  // namespace

std::string_view record_setting(const RunRecord& record, std::string_view key) {
  for (const auto& [name, value] : record.settings) {
    if (name == key) return value;
  }
  return {};
}

std::string record_duration(const RunRecord& record) {
  const size_t count = record.attempts.size();
  if (count == 0) return "";
  const std::string attempts = cat(count, count == 1 ? " attempt" : " attempts");
  return record.seconds > 0 ? cat(format_duration(Duration::seconds(record.seconds)), " in ", attempts) : attempts;
}

std::string record_progress(const RunRecord& record) {
  if (record.step == kNoStep) return "";
  return cat(
      "step ", record.step, record.planned > 0 ? cat(" of ", record.planned) : "",
      record.step_seconds > 0 ? cat(", ", format_duration(Duration::seconds(record.step_seconds)), " a step") : "");
}

std::string record_cost(const RunRecord& record) { return cost_text(record.seconds, record.cost_per_hour); }

std::string record_figure(const RunRecord::Figure& figure) {
  const auto at = [&](double value, int64_t step) {
    return cat(format_value(value, figure.unit), step == kNoStep ? "" : cat(" at step ", step));
  };
  std::string more;
  if (figure.rated && figure.best_step != figure.last_step) more = cat("best ", at(figure.best, figure.best_step));
  if (figure.first_step != figure.last_step)
    more += cat(more.empty() ? "" : ", ", "first ", at(figure.first, figure.first_step));
  return cat(at(figure.last, figure.last_step), more.empty() ? "" : cat(" (", more, ")"));
}

std::string record_change(const RunRecord::Change& change) {
  return change_text({change.attempt, change.what, change.name, change.before, change.after});
}

std::string record_place(int64_t step, Time at) {
  return cat(step == kNoStep ? "" : cat("step ", step), step != kNoStep && at.known() ? ", " : "", when(at));
}

std::string terminal_record(const RunsAnswer::Run& run, const Console& console) {
  const RunRecord& record = run.record;
  Lines lines(console);
  const Painter& paint = lines.paint();
  lines.out =
      paint.hanging(cat(escape_terminal(record.status), "  "), record.headline, kLines, nullptr, &Painter::bold);
  lines.add("run", cat(run.status.name, ", ", state_of(run)));
  lines.add("time", cat(when(record.began), record.ended > record.began ? cat(" to ", when(record.ended)) : "",
                        record.began.known() ? ", " : "", record_duration(record)));
  lines.add("framework", cat(record.framework, record.version.empty() ? "" : " ", record.version));
  lines.add("specification", specification(record));
  lines.add("command", joined(record.command, " "));
  lines.add("W&B", record.wandb);
  for (const RunRecord::Machine& machine : record.machines) {
    lines.add("machine",
              cat(machine.name, machine.gpus.empty() ? "" : ", ", machine.gpus,
                  record.machines.size() < 2 ? "" : cat(", attempts ", machine.first, " to ", machine.last)));
  }
  lines.add("cost", record_cost(record));
  lines.add("lost", lost_time_text(record));
  lines.add("progress", record_progress(record));
  for (const RunRecord::Figure& figure : record.figures)
    lines.add(fit(escape_terminal(figure.name), kLabel - 1), record_figure(figure));
  add_attempts(record, lines);
  add_incidents(record, lines);
  add_checkpoints(record, lines);
  add_differences(run, lines);
  add_words(record, lines);
  lines.add("folder", run.status.folder);
  return lines.out;
}

}  // namespace mw
