// A run of events written by hand, for tests of what is judged of it.
#pragma once

#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "core/advance.h"

namespace mw {

/// A run written by hand. Every say_*() is one line of one text log, a minute after the last.
class PlantedRun {
 public:
  PlantedRun() {
    add("cuda-oom-trainer", "gpu-out-of-memory", Role::kRoot, Severity::kCritical, true, "config-fix");
    add("vllm-enginecore-fatal", "engine-dead", Role::kRoot, Severity::kCritical, true, "restart-component");
    add("vllm-engine-dead", "engine-dead", Role::kSymptom, Severity::kCritical, true, "restart-component");
    add("vllm-silent-death", "engine-dead", Role::kRoot, Severity::kCritical, false, "restart-component");
    add("ray-actor-died", "worker-lost", Role::kSymptom, Severity::kCritical, true, "restart-run-from-checkpoint");
    add("nccl-remote-process-exited", "collective-timeout", Role::kCascade, Severity::kWarning, true, "ignore");
    add("nccl-watchdog-timeout", "collective-timeout", Role::kRoot, Severity::kCritical, true,
        "restart-run-from-checkpoint");
    add("shm-sigbus-share-fd", "shm-exhausted", Role::kRoot, Severity::kCritical, true, "config-fix");
    add("core-dump-fills-disk", "disk-pressure", Role::kRoot, Severity::kWarning, false, "free-space-then-resume");
    add("enospc-generic", "disk-full", Role::kRoot, Severity::kCritical, true, "free-space-then-resume");
    add("torch-writer-failed", "checkpoint-failed", Role::kRoot, Severity::kCritical, true, "free-space-then-resume");
    add("emfile-too-many-open-files", "resource-limit", Role::kRoot, Severity::kCritical, true, "config-fix");
    add("api-connection-error-all-rollouts", "network", Role::kSymptom, Severity::kWarning, false, "retry");
    add("vllm-max-tokens-too-large", "config-error", Role::kRoot, Severity::kCritical, false, "config-fix");
    add("reward-malformed-json-list-get", "code-error", Role::kRoot, Severity::kCritical, true, "config-fix");
    add("module-not-found-spawn-child", "dependency-broken", Role::kRoot, Severity::kCritical, true, "config-fix");
    add("vllm-wakeup-oom", "gpu-out-of-memory", Role::kRoot, Severity::kCritical, true, "config-fix");
    add("cuda-illegal-memory-access", "gpu-fault", Role::kRoot, Severity::kCritical, true, "restart-component");
    add("user-cancelled", "interrupted", Role::kRoot, Severity::kWarning, true, "ignore");
    add("torchelastic-sigterm", "interrupted", Role::kCascade, Severity::kWarning, true, "ignore");
    add("ray-noset-visible-devices-warning", "config-error", Role::kBenign, Severity::kInfo, false, "ignore");
    add("wandb-retrying-network", "network", Role::kRoot, Severity::kWarning, false, "retry");
    say(event::SourceOpened{0, "train.log", "text", 0});
  }

  void add(const char* id, const char* kind, Role role, Severity severity, bool fatal, const char* reaction) {
    Signature signature;
    signature.id = id;
    signature.kind = kind;
    signature.role = role;
    signature.severity = severity;
    signature.fatal = fatal;
    signature.reaction = reaction;
    signature.symptom = id;
    signature.transient = "deterministic";
    knowledge.by_id[id] = knowledge.signatures.size();
    knowledge.signatures.push_back(std::move(signature));
  }

  /// Lines that say nothing.
  void talk(uint64_t lines) { line += lines; }
  template <typename Body>
  void say_without_clock(Body body) {
    Event event;
    event.where = {0, ++line};
    event.body = std::move(body);
    std::vector<Event> decided;
    advance(state, event, knowledge, Judge::kAtClose, decided);
  }
  template <typename Body>
  void say(Body body) {
    ++line;
    Event event;
    event.at = Time::from_seconds(1'700'000'000.0 + 60.0 * static_cast<double>(line));
    event.where = {0, line};
    event.body = std::move(body);
    std::vector<Event> decided;
    advance(state, event, knowledge, Judge::kAtClose, decided);
  }
  void matched(const char* id, bool sample = false) { say(event::Matched{id, cat(id, " text"), 1, sample}); }
  void trace(const char* exception, const char* message, const char* frame = "train.py:10 in main", bool sample = false,
             bool handled = false) {
    say(event::TraceSeen{exception, message, frame, line + 1, sample, handled});
  }
  void steps(int64_t from, int64_t to) {  // of a run that learns
    for (int64_t step = from; step <= to; ++step) {
      const double reward = 1 - 0.5 * std::exp(-0.01 * static_cast<double>(step));
      say(event::Measured{step, false, {{"reward.mean", "reward", reward + 0.001 * static_cast<double>(step % 5)}}});
    }
  }
  void steps(int64_t from, int64_t to, double reward) {  // that stands
    for (int64_t step = from; step <= to; ++step) {
      say(event::Measured{step, false, {{"reward.mean", "reward", reward + 0.01 * static_cast<double>(step % 5)}}});
    }
  }
  void saved(int64_t step, bool complete = true) { say(event::CheckpointSaved{step, "ckpt", complete}); }
  void restart() { say(event::AttemptBegan{"launcher"}); }

  std::vector<Incident> close() {
    say(event::SourceEnded{1000, static_cast<int64_t>(line), false, "last"});
    say(event::Closed{});
    return judge(state, knowledge);
  }

  Knowledge knowledge;
  State state;
  uint64_t line = 0;
};

/// "kind/cause" of the incidents that a person would be notified of, in order.
inline std::string notable(const std::vector<Incident>& incidents) {
  std::string text;
  for (const Incident& incident : incidents) {
    if (incident.severity == Severity::kInfo) continue;
    if (!text.empty()) text += " ";
    text += incident.kind + "/" + (incident.causes.empty() ? std::string("-") : incident.causes.front().id);
  }
  return text;
}

inline bool has(const std::vector<Incident>& incidents, std::string_view kind, std::string_view cause) {
  for (const Incident& incident : incidents) {
    if (incident.kind == kind && !incident.causes.empty() && incident.causes.front().id == cause) return true;
  }
  return false;
}

}  // namespace mw
