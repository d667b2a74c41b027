#include "act/vault/ship_task.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "act/cleanup/cleanup_result.h"
#include "act/supervise/judgement.h"
#include "act/vault/ship.h"
#include "act/vault/tree.h"
#include "base/numbers.h"
#include "base/text.h"
#include "core/checkpoint_trust.h"
#include "core/overwrites.h"
#include "core/supervise/action_kind.h"

namespace mw {
namespace {

constexpr Duration kNap = Duration::millis(10);

/// The W&B run that the trainer's own file names: "…/run-ID.wandb".
std::string wandb_run_of(const State& state) {
  constexpr std::string_view kBefore = "run-", kAfter = ".wandb";
  std::string id;
  for (const SourceState& source : state.sources) {
    const std::string_view name = basename(source.path);
    if (name.size() > kBefore.size() + kAfter.size() && name.starts_with(kBefore) && name.ends_with(kAfter)) {
      id = name.substr(kBefore.size(), name.size() - kBefore.size() - kAfter.size());
    }
  }
  return id;
}

ShipJob job_of(const State& state, NextShipment what, std::vector<std::pair<std::string, std::string>> facts) {
  ShipJob job;
  for (const auto& [moment, seen] : state.checkpoint_scans) {
    if (seen.path == what.path) job.least_bytes = seen.bytes;
  }
  // A second name keeps the space of what its trainer deletes.
  job.links = std::none_of(state.incidents.begin(), state.incidents.end(), [](const Incident& incident) {
    return incident.open && (incident.kind == "disk-full" || incident.kind == "disk-pressure");
  });
  job.framework = state.framework == "custom" ? "" : state.framework;
  job.facts = std::move(facts);
  const bool known =
      std::any_of(job.facts.begin(), job.facts.end(), [](const auto& fact) { return fact.first == "wandb_run_id"; });
  if (const std::string id = wandb_run_of(state); !known && !id.empty()) job.facts.emplace_back("wandb_run_id", id);
  job.facts.emplace_back("attempt", std::to_string(state.attempts.size()));
  job.facts.emplace_back("folder", folder_of(what.path));
  job.what = std::move(what);
  return job;
}

/// Who took it away before it was shipped.
std::string why_gone(const State& state, const std::string& path, const std::string& layout) {
  const std::vector<Shipment> all = shipments(state);
  const auto known = std::find_if(all.begin(), all.end(), [&path](const Shipment& one) { return one.path == path; });
  const uint16_t saved_in = known == all.end() ? 0 : known->saved_in;
  for (const ActionState& action : state.actions) {
    const bool own = action.intent.action == kCleanupAction && action.intent.target == path;
    if (own && action.attempt >= saved_in && (!action.done || action.ok)) return "midwatch removed it";
  }
  for (const SupervisedAttempt& attempt : state.supervision.attempts) {
    if (!attempt.decided || attempt.number <= static_cast<int64_t>(saved_in)) continue;
    for (const QuarantinePlan& plan : judgement_of(attempt).back.plans) {
      const bool moved = std::any_of(plan.items.begin(), plan.items.end(), [&](const QuarantinePlan::Item& item) {
        return cat(plan.root, "/", with_step(layout, item.step)) == path;
      });
      if (moved) return "midwatch quarantined it";
    }
  }
  return "its trainer, or somebody else, deleted it";
}

/// Another try would find the same, unless somebody saves it anew.
bool is_refused(const Error& error) {
  return error.hint == vault::kBrokenHint || error.hint == vault::kFoundBadHint || error.hint == vault::kGoneHint;
}

std::string latest_text(const vault::Pushed& pushed) {
  switch (pushed.latest) {
    case vault::Moved::kMoved:
      return "latest names it";
    case vault::Moved::kKept:
      return cat("latest stays at step ", pushed.before.step);
    case vault::Moved::kFenced:
      return "latest was left alone: another midwatch began to ship to this place";
  }
  return "";
}

}  // namespace

ShipTask::~ShipTask() { stop_->store(true); }

bool ShipTask::later(const std::string& path) const {
  const auto known = retries_.find(path);
  return known != retries_.end() && clock_.steady() < known->second.due;
}

/// It is not there now; a later attempt may save it anew.
void ShipTask::lost(const std::string& path) { retries_[path] = {{clock_.steady().ns + kLostFor.ns}, {}, true}; }

/// What came from the store is there, and need not be sent to it.
void ShipTask::note_received(const State& state, EventWriter& writer) {
  const event::CheckpointSeen* const there = scope_.received && !received_noted_ ? to_go_on_from(state) : nullptr;
  if (there == nullptr) return;
  received_noted_ = true;
  const bool known = std::any_of(state.actions.begin(), state.actions.end(), [there](const ActionState& action) {
    return is_ship(action) && action.intent.target == there->path;
  });
  const auto action =
      known ? Result<uint32_t>(0U)
            : writer.intend({0, std::string(kShip), there->path, 0, "The first attempt goes on from it."});
  if (!known && action.ok()) writer.acted({*action, true, "it is there: it came from there, or was compared", 0});
}

/// What a midwatch before this one was shipping is shipped again: what it sent is there, and is gone on with.
void ShipTask::settle_doubts(const State& state, EventWriter& writer) {
  if (doubts_settled_) return;
  doubts_settled_ = true;
  for (const ActionState& action : in_doubt(state, Executor::kShipper)) {
    writer.acted({action.intent.id, false, "midwatch was ended meanwhile; it is shipped again", 0});
  }
}

void ShipTask::begin(const State& state, EventWriter& writer) {
  if (stop_->load()) return;
  auto next = next_shipment(state, [this](const std::string& path) { return later(path); });
  if (!next) return;
  if (!scope_.there(next->path)) {
    lost(next->path);
    return;
  }
  const std::string why = cat(next->back ? "what latest names there was left behind: " : "", "to ", scope_.place);
  const auto action = writer.intend({0, std::string(next->back ? kShipBack : kShip), next->path, 0, why});
  if (!action.ok()) return;
  action_ = *action;
  what_ = *next;
  began_ = clock_.steady();
  ShipJob job = job_of(state, std::move(*next), scope_.facts);
  const CheckpointLayout layout = scope_.layout(state.saver());
  job.layout = layout.folder;
  job.beside = layout.takes_any_folder;
  call_.start([ship = scope_.ship, job, stop = stop_] { return ship(job, stop); });
  if (!call_.started()) take_failure({Error::Code::kIo, "no thread is to be had", ""}, state, writer);
}

void ShipTask::take_failure(const Error& error, const State& state, EventWriter& writer) {
  logs_last_ = false;  // what comes of it is in the journal
  std::string text;
  if (!scope_.there(what_.path)) {
    lost(what_.path);
    text = cat(why_gone(state, what_.path, scope_.layout(state.saver()).folder), " before it was shipped");
  } else {
    Retry& retry = retries_[what_.path];
    // One slot that is written over and over (AReaL's) rests between two saves only.
    const bool first = retry.wait.ns == 0 || error.hint == vault::kWrittenHint;
    retry.wait = first ? kFirstWait : Duration{std::min(retry.wait.ns * 2, kLongestWait.ns)};
    retry.due = {clock_.steady().ns + retry.wait.ns};
    retry.refused = is_refused(error);
    const bool plain = error.hint.empty() || error.hint == vault::kBrokenHint || error.hint == vault::kGoneHint ||
                       error.hint == vault::kWrittenHint;
    const std::string hint = plain ? "" : cat(" ", error.hint);
    text = stop_->load() ? std::string("not complete when midwatch ended; the next push goes on with it")
                         : cat(error.what, ".", hint, " Next try in ", format_duration(retry.wait));
  }
  writer.acted({action_, false, text, since(began_).seconds()});
  scope_.say(cat("the checkpoint of step ", what_.step, " was not shipped: ", text));
}

void ShipTask::take(Result<vault::Pushed> done, const State& state, EventWriter& writer) {
  if (!done.ok()) return take_failure(done.error(), state, writer);
  retries_.erase(what_.path);
  logs_last_ = false;
  logs_soon_ = true;
  const double seconds = since(began_).seconds();
  const int64_t bytes = done->manifest.bytes();
  const std::string text = cat(
      format_bytes(static_cast<double>(bytes)),
      done->there ? ", was there already; " : cat(" in ", format_duration(since(began_)), "; "), latest_text(*done));
  writer.acted({action_, done->latest != vault::Moved::kFenced, text, seconds});
  scope_.say(cat("the checkpoint of step ", what_.step, " is in ", scope_.place, ": ", text));
  if (done->latest != vault::Moved::kFenced) return;
  Retry& retry = retries_[what_.path];
  retry.wait = kLongestWait;
  retry.due = {clock_.steady().ns + retry.wait.ns};
}

void ShipTask::ship_logs() {
  if (auto done = logs_.take()) {
    if (!done->ok() && !logs_failed_ && !stop_->load())
      scope_.say(cat("the journal and the logs are not shipped: ", done->error().what, ". They are tried again"));
    logs_failed_ = !done->ok();
  }
  // The history in the store goes as far as its checkpoints do.
  const bool due = !logs_at_ || since(*logs_at_) >= (logs_soon_ ? kLogsSoon : kLogsEvery) || (ended_ && !logs_last_);
  if (logs_.started() || !due || stop_->load()) return;
  // The last time everything else has been recorded.
  if (ended_ && (call_.started() || logs_last_)) return;
  logs_last_ = ended_.has_value();
  logs_soon_ = false;
  logs_at_ = clock_.steady();
  logs_.start([ship = scope_.ship_logs, stop = stop_] { return ship(stop); });
}

std::optional<Duration> ShipTask::turn(const State& state, bool, EventWriter& writer) {
  settle_doubts(state, writer);
  note_received(state, writer);
  if (auto done = call_.take()) take(std::move(*done), state, writer);
  if (!call_.started()) begin(state, writer);
  ship_logs();
  return call_.started() || logs_.started() || ended_ ? kPoll : Duration::seconds(1);
}

bool ShipTask::may_end(const State& state, int stops) {
  if (!ended_) ended_ = clock_.steady();
  const Duration waited = since(*ended_);
  const Duration most = stops > 0 || state.supervision.stop ? std::min(scope_.wait, kAtStop) : scope_.wait;
  if (stops > 1 || waited >= most) return true;
  if (call_.started() || logs_.started() || !logs_last_) return false;
  const auto due = next_shipment(state, [this](const std::string& path) {
    const auto known = retries_.find(path);
    return known != retries_.end() && (known->second.refused || (known->second.lost && !scope_.there(path)));
  });
  return !due.has_value();
}

/// Some run is too short for a checkpoint.
bool ShipTask::trained(const State& state) {
  constexpr int64_t kLeast = 10;  // steps
  return std::any_of(state.attempts.begin(), state.attempts.end(), [](const AttemptState& one) {
    return one.first_step != kNoStep && one.last_step - one.first_step >= kLeast;
  });
}

/// What is whole on this machine and not in the store, where the run is over.
void ShipTask::say_what_is_left(const State& state) const {
  std::string steps;
  size_t count = 0;
  const std::vector<Shipment> all = shipments(state);
  for (const Shipment& one : all) {
    const bool due = one.how == Shipment::How::kWaiting || one.how == Shipment::How::kFailed;
    const auto known = retries_.find(one.path);
    const bool bad = known != retries_.end() && (known->second.refused || known->second.lost);
    const bool sending = call_.started() && one.path == what_.path;  // take_failure() says it
    if (!due || bad || sending || !scope_.there(one.path)) continue;
    steps += cat(count++ == 0 ? "" : ", ", one.step);
  }
  if (const auto counted = newest_without_step(state); all.empty() && counted) {
    scope_.say(
        cat("none of the checkpoints in ", folder_of(counted->path), " is in ", scope_.place,
            ": their numbers count saves, and a store keeps checkpoints by their steps. midwatch checkpoint push ",
            counted->path, " ", scope_.place, " --step N ships one"));
  } else if (all.empty() && trained(state)) {
    scope_.say(cat("no checkpoint of this run was recognised, so none is in ", scope_.place,
                   ". If it saved some, say where and how their folders are named: --checkpoints DIR, and pattern of "
                   "[checkpoints]"));
  }
  if (count == 0) return;
  scope_.say(cat("not in ", scope_.place, " when midwatch ended: the checkpoint", count == 1 ? "" : "s", " of step ",
                 steps, ". midwatch checkpoint push ships one"));
}

void ShipTask::over(const State& state, EventWriter& writer) {
  stop_->store(true);
  say_what_is_left(state);
  for (int64_t waited = 0; call_.busy() && waited < kLastCall.ns; waited += kNap.ns)
    std::this_thread::sleep_for(std::chrono::nanoseconds(kNap.ns));
  if (auto done = call_.take()) return take(std::move(*done), state, writer);
  if (call_.started()) take_failure({Error::Code::kInterrupted, "", ""}, state, writer);
}

}  // namespace mw
