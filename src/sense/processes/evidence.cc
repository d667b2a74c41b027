#include "sense/processes/evidence.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <thread>

#include "base/secrets.h"
#include "base/text.h"
#include "core/collected.h"
#include "core/components.h"
#include "core/detect/support/host.h"
#include "core/detect/support/pause.h"
#include "core/detect/support/work.h"
#include "core/supervise/action_kind.h"
#include "platform/durable.h"

namespace mw {
namespace {

using components::ProcessSnapshot;
using Health = event::ComponentSaw::Health;

constexpr Duration kNothingDue = Duration::seconds(3600), kPoll = Duration::millis(50);
constexpr size_t kAsked = 2;  // processes whose stacks are asked for
constexpr size_t kSentenceBytes = 1500;
constexpr size_t kFileBytes = size_t{512} << 10;
constexpr double kGpuIdle = 0.05;  // of its time

std::string_view word(Health health) {
  switch (health) {
    case Health::kStarting:
      return "starting";
    case Health::kWell:
      return "well";
    case Health::kHalfDead:
      return "half-dead";
    case Health::kSilent:
      return "silent";
    case Health::kFrozen:
      return "stopped";
    case Health::kGone:
    case Health::kDead:
      return "dead";
  }
  return "";
}

bool is_there(Health health) {
  return health == Health::kHalfDead || health == Health::kSilent || health == Health::kFrozen;
}

/// Components that are there and do not do their work.
std::vector<const event::ComponentSaw*> failing(const State& state) {
  std::vector<const event::ComponentSaw*> found;
  for (const ComponentState& component : state.components) {
    if (is_there(component.last.health) && component.since.attempt + 1U == state.attempts.size())
      found.push_back(&component.last);
  }
  return found;
}

bool concerns_processes(const Incident& incident, const State& state) {
  if (incident.kind == "logging-gap") return state.by_host(incident.onset.where);
  if (incident.kind == "environment-fault") return !failing(state).empty();
  return incident.kind == "stall" || incident.kind == "engine-dead" || incident.kind == "worker-lost" ||
         incident.kind == "collective-timeout";
}

/// "2 of 8 GPUs busy", "GPUs idle"; "" when nothing is known of them.
std::string gpu_words(const State& state) {
  size_t all = 0, busy = 0, spin = 0;
  for (const Series* gpu : detect::host_series(state, "gpu.busy")) {
    ++all;
    if (gpu->empty() || gpu->last() <= kGpuIdle) continue;
    ++busy;
    const Series* memory = detect::host_series(state, "gpu.memory.busy", gpu->raw);
    spin += gpu->last() >= detect::kSpinBusy.value && memory != nullptr && !memory->empty() &&
            memory->last() <= detect::kSpinMemory.value;
  }
  if (all == 0) return "";
  if (busy == 0) return "GPUs idle";
  return cat(busy, " of ", all, all == 1 ? " GPU busy" : " GPUs busy",
             spin == 0 ? "" : cat(", ", spin, " without touching memory"));
}

/// Who listens where, as the watch knows it.
std::vector<std::pair<std::string, std::string>> peers_of(const State& state) {
  constexpr std::string_view kLocal = "localhost:";
  std::vector<std::pair<std::string, std::string>> peers;
  for (const ComponentState& component : state.components) {
    std::string address = component.last.address;
    if (address.rfind(kLocal, 0) == 0) address = cat("127.0.0.1:", address.substr(kLocal.size()));
    if (!address.empty()) peers.emplace_back(address, cat(component.last.component, ", ", word(component.last.health)));
  }
  return peers;
}

components::Surroundings surroundings(const State& state) {
  components::Surroundings around;
  around.peers = peers_of(state);
  around.gpus = gpu_words(state);
  return around;
}

std::string padded(uint32_t number) {
  const std::string digits = cat(number);
  return std::string(digits.size() < 6 ? 6 - digits.size() : 0, '0') + digits;
}

/// Names of threads and what debuggers write are anybody's: nothing in it may act on the terminal of who reads it.
std::string harmless(std::string_view text) {
  std::string out;
  for (const std::string_view line : split(text, '\n')) out += escape_terminal(line) + "\n";
  return out;
}

std::string name_of(const ProcessSnapshot& snapshot) {
  return redact_secrets(cat(snapshot.label, " (pid ", snapshot.info.id.pid, ")"));
}

}  // namespace

/// What was collected before, and what a midwatch before this one had begun when it ended.
void EvidenceTaker::reattach(const State& state, EventWriter& writer) {
  reattached_ = true;
  for (const ActionState& action : state.actions) {
    if (action.intent.action != kCollectEvidence) continue;
    taken_.insert(action.intent.incident);
    const Duration ago = clock_.now() - action.at;
    stacks_due_ = {clock_.steady().ns + std::clamp<int64_t>(kStacksEvery.ns - ago.ns, 0, kStacksEvery.ns)};
  }
  for (const ActionState& action : in_doubt(state, Executor::kEvidence)) {
    writer.acted({action.intent.id, false, std::string(action_kind(kCollectEvidence)->outcome), 0});
  }
}

/// An incident that may show in what the processes do, once for each, while they are there.
const Incident* EvidenceTaker::next(const State& state) {
  for (const Incident& incident : state.incidents) {
    if (!incident.open || incident.latest.attempt + 1U != state.attempts.size()) continue;
    if (taken_.count(incident.id) > 0 || !concerns_processes(incident, state)) continue;
    if (detect::is_paused(state) || scope_.processes().root == 0) return nullptr;
    taken_.insert(incident.id);
    if (last_.ns == 0 || clock_.steady().ns - last_.ns >= kTogether.ns) return &incident;
  }
  return nullptr;
}

components::Suspicion EvidenceTaker::suspicion(const State& state) const {
  const EvidenceScope::RunProcesses run = scope_.processes();
  components::Suspicion of{run.root, run.root_too, run.session, {}, {}};
  for (const event::ComponentSaw* component : failing(state)) {
    if (component->pid > 0) {
      of.of.push_back(component->pid);
    } else if (!component->address.empty()) {
      of.at.push_back(component->address);
    }
  }
  return of;
}

/// Whoever acts on the incident may end the processes in the same turn: the first snapshot is waited for, for kAtOnce
/// at most.
void EvidenceTaker::begin(const Incident& incident, const State& state, EventWriter& writer) {
  incident_ = incident.id;
  critical_ = incident.severity == Severity::kCritical;
  last_ = clock_.steady();
  first_.start([system = scope_.system, of = suspicion(state)] { return snapshot_run(*system, of); });
  for (int64_t ms = 0; ms < kAtOnce.ns / 1'000'000 && first_.busy(); ++ms) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  take_first(state, writer);
}

/// The first snapshot is there: it is written down, and what takes longer is begun.
void EvidenceTaker::take_first(const State& state, EventWriter& writer) {
  if (first_.busy()) return;
  auto snapshot = first_.take();
  tree_ = snapshot ? std::move(snapshot->tree) : "";
  const Duration now = clock_.steady();
  stacks_ = scope_.stacks && now >= stacks_due_;
  const std::string_view why = stacks_
                                   ? "to see what it does; its stacks, too, for which it may be stopped for a moment"
                                   : "to see what it does";
  for (ProcessSnapshot& one : snapshot ? snapshot->suspects : std::vector<ProcessSnapshot>()) {
    const auto action = writer.intend({0, std::string(kCollectEvidence), name_of(one), incident_, std::string(why)});
    if (!action.ok()) continue;  // the journal's disk is full: the run matters more
    const std::string file =
        cat(kEvidenceFolder, "/", padded(*action), "-incident-", incident_, "-pid-", one.info.id.pid, ".txt");
    subjects_.push_back({std::move(one), *action, file});
    (void)keep(subjects_.back(), surroundings(state), nullptr);  // and again when all is known
  }
  if (subjects_.empty()) {
    incident_ = 0;
    return;
  }
  if (stacks_) stacks_due_ = {now.ns + kStacksEvery.ns};
  std::vector<ProcessId> ids;
  for (const Subject& subject : subjects_) ids.push_back(subject.snapshot.info.id);
  rest_.start([system = scope_.system, run = scope_.run_program, between = scope_.between, ids, stacks = stacks_,
               may_stop = critical_] {
    const auto began = std::chrono::steady_clock::now();
    std::this_thread::sleep_for(std::chrono::nanoseconds(between.ns));
    auto sequels = std::make_unique<Sequels>(ids.size());
    for (size_t i = 0; i < ids.size(); ++i) {
      (*sequels)[i].later = components::snapshot_process(*system, ids[i]);
      (*sequels)[i].seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    }
    for (size_t i = 0; stacks && i < ids.size() && i < kAsked; ++i) {
      if ((*sequels)[i].later) (*sequels)[i].stacks = components::stacks_of(*system, run, ids[i], may_stop);
    }
    return sequels;
  });
  if (!rest_.started()) finish({}, state, writer);  // no thread to be had
}

/// A debugger that was killed at its work may have left the process stopped.
std::string EvidenceTaker::resume_stopped(const Subject& subject, const Sequel& sequel, const State& state) {
  if (!sequel.stacks.late || detect::is_paused(state)) return "";
  const auto info = processes_.info(subject.snapshot.info.id.pid);
  if (!info.ok() || !(info->id == subject.snapshot.info.id) || info->state != 'T') return "";
  const bool done = processes_.signal(info->id, SIGCONT).ok();
  return done ? "; the debugger had left it stopped: midwatch resumed it" : "; the debugger has left it stopped";
}

void EvidenceTaker::finish(Sequels sequels, const State& state, EventWriter& writer) {
  sequels.resize(subjects_.size());
  for (size_t i = 0; i < subjects_.size(); ++i) {
    const Subject& subject = subjects_[i];
    const Sequel& sequel = sequels[i];
    components::Surroundings around = surroundings(state);
    around.later = sequel.later ? &*sequel.later : nullptr;
    around.seconds = sequel.seconds;
    if (!sequel.stacks.tool.empty()) {
      around.stacks =
          cat(sequel.stacks.tool, ": ", components::innermost(sequel.stacks.text, subject.snapshot.info.id.pid));
    }
    const std::string kept = keep(subject, around, &sequel);
    const std::string sentence = redact_secrets(sentence_of(subject.snapshot, around));
    writer.acted({subject.action, true,
                  cat(clip(sentence, kSentenceBytes), resume_stopped(subject, sequel, state), "; ", kept),
                  Duration{clock_.steady().ns - last_.ns}.seconds()});
  }
  drop_old_files();
  subjects_.clear();
  incident_ = 0;
}

/// All of it into its file. Returns where it lies, in words.
std::string EvidenceTaker::keep(const Subject& subject, const components::Surroundings& around,
                                const Sequel* sequel) const {
  std::string text = cat("Incident ", incident_, ", ", format_utc(clock_.now()), "\n\n");
  text += full_text(subject.snapshot, around);
  if (sequel != nullptr) {
    const components::Stacks& stacks = sequel->stacks;
    if (!stacks.tool.empty()) text += cat("\nStacks, by ", stacks.tool, ":\n", stacks.text, "\n");
    if (!stacks.why_not.empty()) text += cat("\nNo stacks: ", stacks.why_not, "\n");
  }
  text += cat("\nProcesses of the run (pid, parent, state, name, what it sleeps in):\n", tree_);
  text = harmless(redact_secrets(text));
  if (scope_.known != nullptr) text = scope_.known->hide(text);
  const std::string folder = cat(scope_.folder, "/", kEvidenceFolder);
  auto kept = disk_.make_folders(folder);
  if (kept.ok()) kept = write_privately(disk_, cat(scope_.folder, "/", subject.file), clip(text, kFileBytes));
  return kept.ok() ? subject.file : cat("not kept in full: ", kept.error().what);
}

void EvidenceTaker::drop_old_files() const {
  const std::string folder = cat(scope_.folder, "/", kEvidenceFolder);
  const auto names = disk_.list(folder);
  for (size_t i = 0; names.ok() && i + kFiles < names->size(); ++i)
    (void)disk_.remove(cat(folder, "/", (*names)[i])).ok();
}

bool EvidenceTaker::reads(int64_t pid) const {
  const bool busy = incident_ != 0 && stacks_ && clock_.steady().ns - last_.ns < kSpared.ns;
  return busy && std::any_of(subjects_.begin(), subjects_.end(),
                             [pid](const Subject& subject) { return pid == 0 || subject.snapshot.info.id.pid == pid; });
}

std::optional<Duration> EvidenceTaker::turn(const State& state, bool quiet, EventWriter& writer) {
  if (!reattached_) reattach(state, writer);
  if (incident_ == 0 && quiet) {
    if (const Incident* incident = next(state); incident != nullptr) begin(*incident, state, writer);
  } else if (first_.started()) {
    take_first(state, writer);
  } else if (rest_.started()) {
    if (auto sequels = rest_.take()) finish(std::move(**sequels), state, writer);
  }
  return incident_ == 0 ? kNothingDue : kPoll;
}

void EvidenceTaker::over(const State& state, EventWriter& writer) {
  if (incident_ == 0) return;
  for (int64_t ms = 0; ms < kLastLimit.ns / 1'000'000 && rest_.busy(); ++ms) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  auto sequels = rest_.take();
  finish(sequels ? std::move(**sequels) : Sequels(), state, writer);
}

}  // namespace mw
