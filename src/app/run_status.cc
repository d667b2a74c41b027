#include "app/run_status.h"

#include <unistd.h>

#include "act/keeper/launch.h"
#include "act/keeper/record.h"
#include "act/supervise/adopt.h"
#include "act/supervise/run_files.h"
#include "app/begin_run.h"
#include "base/json.h"
#include "base/secrets.h"
#include "base/text.h"
#include "core/supervise/decide_component.h"
#include "platform/durable.h"
#include "read/recorder.h"

namespace mw {
namespace {

/// When the journal of a run was last written; unknown when there is none.
Time last_written(Disk& disk, const std::string& run_folder) {
  const std::string journal = cat(run_folder, "/journal");
  const auto segments = disk.list(journal);
  Time last;
  for (const std::string& name : segments.ok() ? *segments : std::vector<std::string>()) {
    const auto info = disk.info(cat(journal, "/", name));
    if (info.ok() && (!last.known() || info->changed > last)) last = info->changed;
  }
  return last;
}

void find_watcher(Disk& disk, Processes& processes, RunStatus& status) {
  const auto text = read_small(disk, cat(status.folder, "/", kWatcherFile));
  if (!text.ok()) return;
  const auto json = Json::parse(*text);
  if (!json.ok()) return;
  if (!same_boot(json->string_or("boot", ""), processes.boot())) {
    status.elsewhere = true;
    return;
  }
  const ProcessId id{json->integer_or("pid", 0), static_cast<uint64_t>(json->integer_or("start", 0))};
  if (!lives(processes, id)) return;
  status.watcher = id.pid;
  const auto info = processes.info(id.pid);
  status.watcher_stopped = info.ok() && info->state == 'T';
}

/// The process of a run that somebody else started.
void find_adopted(Disk& disk, Processes& processes, RunStatus& status) {
  using Phase = RunStatus::Phase;
  const auto text = read_small(disk, cat(status.folder, "/", kAdoptedFile));
  if (!text.ok()) return;
  std::string boot;
  const auto adopted = parse_adopted(*text, &boot);
  if (!adopted.ok()) return;
  status.adopted = true;
  status.command = adopted->command;
  status.allow = adopted->allow;
  const auto info = processes.info(adopted->id.pid);
  const bool lives = same_boot(boot, processes.boot()) && info.ok() && info->id == adopted->id && info->state != 'Z';
  status.pid = lives ? adopted->id.pid : 0;
  status.phase = !lives ? Phase::kOver : info->state == 'T' ? Phase::kPaused : Phase::kRunning;
  if (!lives) status.why = cat("Its process ", adopted->id.pid, " has ended.");
}

bool is_launched(Disk& disk, const std::string& folder, const std::string& nonce) {
  const auto launch = launch_in(disk, folder);
  return launch.ok() && (*launch).has_value() && (*launch)->nonce == nonce;
}

/// What the keeper of the last attempt recorded.
Result<void> find_attempt(Disk& disk, Processes& processes, const std::string& nonce, RunStatus& status) {
  using Phase = RunStatus::Phase;
  const auto folder = [&](int number) { return cat(status.folder, "/", kAttemptsFolder, "/", number); };
  while (is_launched(disk, folder(status.attempt + 1), nonce)) ++status.attempt;
  if (status.attempt == 0) return {};
  const auto kept = read_kept(disk, folder(status.attempt));
  if (!kept.ok()) return kept.error();
  status.began = kept->started;
  status.phase = !kept->child.known() ? Phase::kStarting : Phase::kEnded;
  if (!kept->ending && same_boot(kept->boot, processes.boot()) && lives(processes, kept->child)) {
    status.pid = kept->child.pid;
    status.phase = Phase::kRunning;
  }
  return {};
}

/// What was requested and decided, as the journal has it.
void add_decisions(const Supervision& known, RunStatus& status) {
  using Phase = RunStatus::Phase;
  if (status.phase == Phase::kRunning && known.pause) status.phase = Phase::kPaused;
  const std::string stopped = !known.stop ? "" : given_up(known).empty() ? "A stop was requested." : given_up(known);
  if (status.attempt == 0 && status.watcher == 0 && !stopped.empty()) {  // it never came to begin one
    status.phase = Phase::kOver;
    status.why = stopped;
  }
  const SupervisedAttempt* last = known.attempt(status.attempt);
  if (last == nullptr) return;
  status.asks = last->breaking.waits() ? "break" : last->restarting.waits() ? "restart" : "";
  if (!last->decided) return;
  status.why = last->why;
  status.phase = last->restart ? Phase::kWaiting : Phase::kOver;
  if (status.phase == Phase::kWaiting && known.stop) {
    status.phase = Phase::kOver;
    status.why = stopped;
    status.asks.clear();
  }
  if (status.phase == Phase::kWaiting && !known.pause) status.due = last->decided_at + Duration::seconds(last->wait_s);
}

}  // namespace

void add_ages(Disk& disk, const State& state, RunStatus& status) {
  for (const SourceState& source : state.sources) {
    if (source.kind == kHostKind) continue;
    const auto info = disk.info(source.path);
    if (info.ok() && (!status.output.known() || info->changed > status.output)) status.output = info->changed;
  }
  if (state.attempts.empty() || state.attempts.back().last_step == kNoStep) return;
  status.stepped = state.reached_at(state.attempts.back().last_step);
}

Result<void> sign_watch(Disk& disk, Processes& processes, const std::string& run_folder) {
  const auto self = processes.info(getpid());
  if (!self.ok()) return self.error();
  std::string text;
  JsonWriter(text)
      .begin_object()
      .key("version")
      .integer(1)
      .key("pid")
      .integer(self->id.pid)
      .key("start")
      .integer(static_cast<int64_t>(self->id.start))
      .key("boot")
      .string(processes.boot())
      .end_object();
  return write_durably(disk, cat(run_folder, "/", kWatcherFile), text);
}

Result<RunStatus> run_status(Disk& disk, Processes& processes, const std::string& run_folder,
                             const Supervision& known) {
  RunStatus status;
  status.folder = run_folder;
  status.name = basename(run_folder);
  find_watcher(disk, processes, status);
  status.heard = last_written(disk, run_folder);
  const auto text = read_run_spec(disk, run_folder);
  if (!text.ok()) {  // an attached run
    find_adopted(disk, processes, status);
    return status;
  }
  const auto spec = parse_run_spec(*text);
  if (!spec.ok()) return spec.error();
  status.supervised = true;
  status.store = redact_secrets(spec->store);
  status.command = hidden_words(*spec, spec->shown_command.empty() ? spec->command : spec->shown_command);
  status.phase = RunStatus::Phase::kStarting;
  MW_TRY(find_attempt(disk, processes, spec->nonce, status));
  add_decisions(known, status);
  return status;
}

}  // namespace mw
