#include "act/supervise/old_files.h"

#include <optional>

#include "act/supervise/judgement.h"
#include "base/json.h"
#include "base/text.h"
#include "core/supervise/outcome_json.h"
#include "platform/durable.h"

namespace mw {
namespace {

/// What such a file holds; nothing when there is none, or when it is somebody else's.
Result<std::optional<Json>> old_file(Disk& disk, const std::string& path, const std::string& nonce) {
  const auto text = read_small(disk, path);
  if (!text.ok() && text.error().code == Error::Code::kNotFound) return std::optional<Json>();
  if (!text.ok()) return text.error();
  auto json = Json::parse(*text);
  if (!json.ok() || !json->is_object() || nonce.empty() || json->string_or("run", "") != nonce) {
    return std::optional<Json>();
  }
  return std::optional<Json>(std::move(*json));
}

event::Decided decided_in(const Json& json, int attempt) {
  Judgement judgement;
  judgement.outcome = read_outcome(json);
  judgement.facts = json.string_or("facts", "");
  judgement.decision.restart = json.boolean_or("restart", false);
  judgement.decision.wait.ns = json.integer_or("wait_ns", 0);
  judgement.decision.why = json.string_or("why", "");
  judgement.decision.spent = static_cast<int>(json.integer_or("spent", 0));
  judgement.asks = json.boolean_or("asks", false);
  if (judgement.facts.empty()) judgement.facts = facts_json({judgement.outcome, {}, judgement.decision});
  if (!read_plan(json, judgement) && judgement.decision.restart) {
    judgement.decision.restart = judgement.asks = false;
    judgement.decision.why += " But an earlier midwatch decided which checkpoints move: a person must look.";
  }
  return decided_event(attempt, judgement);
}

event::Tripped trip_in(const Json& json, int attempt) {
  Trip trip{json.string_or("kind", ""),    json.string_or("cause", ""),      json.string_or("reaction", ""),
            json.string_or("summary", ""), json.integer_or("step", kNoStep), {}};
  trip.where.source = static_cast<uint32_t>(json.integer_or("source", 0));
  trip.where.line = static_cast<uint64_t>(json.integer_or("line", 0));
  return tripped_event(attempt, trip);
}

}  // namespace

Result<void> record_old_files(Disk& disk, const std::string& run_folder, const RunSpec& spec, int attempts,
                              const State& state, EventWriter& writer) {
  for (int number = 1; number <= attempts; ++number) {
    const std::string folder = cat(run_folder, "/", kAttemptsFolder, "/", number);
    const SupervisedAttempt* known = state.supervision.attempt(number);
    const auto trip = old_file(disk, cat(folder, "/trip.json"), spec.nonce);
    if (!trip.ok()) return trip.error();
    if (*trip && (known == nullptr || !known->trip)) MW_TRY(writer.record(trip_in(**trip, number)));
    const auto judgement = old_file(disk, cat(folder, "/judgement.json"), spec.nonce);
    if (!judgement.ok()) return judgement.error();
    known = state.supervision.attempt(number);
    if (*judgement && (known == nullptr || !known->decided || known->plan.empty())) {
      MW_TRY(writer.record(decided_in(**judgement, number)));
    }
  }
  for (const std::string_view name : {"stop", "paused"}) {
    const std::string path = cat(run_folder, "/", name);
    const auto file = old_file(disk, path, spec.nonce);
    if (!file.ok()) return file.error();
    if (!*file) continue;
    MW_TRY(writer.record(event::Requested{name == "stop" ? "stop" : "pause", "midwatch"}));
    MW_TRY(disk.remove(path));  // later requests are in the journal only
  }
  return {};
}

}  // namespace mw
