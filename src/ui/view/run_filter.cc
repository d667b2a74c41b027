#include "ui/view/run_filter.h"

#include <algorithm>

#include "base/text.h"
#include "ui/report/status.h"

namespace mw {
namespace {

/// Whoever looks for "failed" means all of these.
constexpr std::string_view kFailed[] = {"crashed", "ended-early", "stalled"};

bool holds(std::string_view text, const std::string& part) { return contains_folded(text, to_lower(part)); }

bool has_status(const std::string& wanted, const RunsAnswer::Run& run) {
  if (to_lower(wanted) == "failed" &&
      std::find(std::begin(kFailed), std::end(kFailed), run.record.verdict) != std::end(kFailed))
    return true;
  return holds(state_of(run), wanted) || holds(run.record.verdict, wanted);
}

bool has_model(const std::string& wanted, const RunRecord& record) {
  return std::any_of(record.settings.begin(), record.settings.end(),
                     [&](const auto& setting) { return setting.first == "model" && holds(setting.second, wanted); });
}

bool has_tag(const std::string& wanted, const RunRecord& record) {
  return std::any_of(record.tags.begin(), record.tags.end(),
                     [&](const std::string& tag) { return to_lower(tag) == to_lower(wanted); });
}

/// All that a person might remember of a run, in one text.
std::string text_of(const RunsAnswer::Run& run) {
  const RunRecord& record = run.record;
  std::string text = cat(run.status.name, "\n", record.framework, "\n", record.headline, "\n", record.wandb, "\n");
  for (const std::string& word : record.command) text += word + " ";
  for (const auto& [key, value] : record.settings) text += cat("\n", key, " ", value);
  for (const RunRecord::Incident& incident : record.incidents)
    text += cat("\n", incident.kind, " ", incident.summary, " ", incident.cause);
  for (const RunRecord::Attempt& attempt : record.attempts) text += "\n" + attempt.end;
  for (const RunRecord::Note& note : record.notes) text += cat("\n", note.who, " ", note.text);
  for (const RunRecord::Machine& machine : record.machines) text += cat("\n", machine.name, " ", machine.gpus);
  return text;
}

}  // namespace

std::string state_of(const RunsAnswer::Run& run) {
  if (!run.trouble.empty()) return "unreadable";
  const bool attached = !run.status.supervised && !run.status.adopted;  // what it does now is what its files say
  if (run.live && attached && !run.record.verdict.empty()) return run.record.verdict;
  if (run.live) return should_be_watched(run.status) ? "not watched" : std::string(phase_word(run.status));
  return run.record.verdict == "running" ? "left alone" : run.record.verdict;
}

bool passes(const RunFilter& filter, const RunsAnswer::Run& run) {
  if (filter.empty()) return true;
  const RunRecord& record = run.record;
  const Time began = record.began.known() ? record.began : run.began;
  if (filter.since.known() && (!began.known() || began < filter.since)) return false;
  if (!filter.framework.empty() && !holds(record.framework, filter.framework)) return false;
  if (!filter.model.empty() && !has_model(filter.model, record)) return false;
  if (!filter.status.empty() && !has_status(filter.status, run)) return false;
  if (!filter.incident.empty() &&
      std::none_of(record.incidents.begin(), record.incidents.end(),
                   [&](const RunRecord::Incident& incident) { return holds(incident.kind, filter.incident); }))
    return false;
  if (!std::all_of(filter.tags.begin(), filter.tags.end(),
                   [&](const std::string& tag) { return has_tag(tag, record); }))
    return false;
  if (filter.words.empty()) return true;
  const std::string text = text_of(run);
  return std::all_of(filter.words.begin(), filter.words.end(),
                     [&](const std::string& word) { return holds(text, word); });
}

}  // namespace mw
