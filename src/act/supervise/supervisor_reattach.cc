// How a supervisor finds a run that another midwatch left, and what it makes of the files that it finds there.
#include <algorithm>

#include "act/keeper/launch.h"
#include "act/supervise/members.h"
#include "act/supervise/seal.h"
#include "act/supervise/supervisor.h"
#include "base/text.h"
#include "platform/durable.h"

namespace mw {
namespace {

constexpr Duration kMembers = Duration::seconds(2);  // between two looks at who has come from an attempt

}  // namespace

/// Finds the attempts that were made, and in which state the last one was left.
Result<void> Supervisor::reattach() {
  const auto stop = ours(cat(folder_, "/", kStopFile)), pause = ours(cat(folder_, "/", kPauseFile));
  if (!stop.ok()) return stop.error();
  if (!pause.ok()) return pause.error();
  if (*stop) stop_ = Stop::kAsked;
  pause_ = *pause;
  MW_TRY(reattach_attempts());
  if (attempt_ == 0) return {};
  if (static_cast<int>(outcomes_.size()) < attempt_) phase_ = Phase::kRunning;
  auto kept = read_kept(doors_.disk, attempt_folder());
  if (!kept.ok()) return kept.error();
  kept_ = *kept;
  const std::string trip_file = cat(attempt_folder(), "/", kTripFile);
  const auto tripped = ours(trip_file);
  if (!tripped.ok()) return tripped.error();
  if (*tripped) {
    const auto text = read_small(doors_.disk, trip_file);
    if (!text.ok()) return text.error();
    auto trip = parse_trip(*text);
    if (!trip.ok()) return trip.error();
    trip_ = std::move(*trip);
  }
  keeper_from_ = {doors_.clock.steady().ns - kKeeperBegins.ns};
  tree_.take(attempt_, mark_of(spec_, attempt_));
  reattach_members();
  MW_TRY(approvals_.attempt(attempt_folder(), spec_.nonce));
  foreign_.insert(foreign_.end(), approvals_.foreign().begin(), approvals_.foreign().end());
  ended_ = doors_.clock.steady();
  if (phase_ == Phase::kRunning && kept_.child.known() && !kept_.ending) {
    doors_.say(cat("took up attempt ", attempt_, ", process ", kept_.child.pid));
  }
  return {};
}

/// A file that steers, and that midwatch wrote.
Result<bool> Supervisor::ours(const std::string& path) {
  const auto seal = seal_of(doors_.disk, path, spec_.nonce);
  if (!seal.ok()) return seal.error();
  if (*seal == Seal::kForeign) foreign_.push_back(path);
  return *seal == Seal::kOurs;
}

Result<void> Supervisor::reattach_attempts() {
  for (;;) {
    const std::string next = attempt_folder(attempt_ + 1);
    const auto launch = launch_in(doors_.disk, next);
    if (!launch.ok()) return launch.error();
    if (!*launch || (*launch)->nonce != spec_.nonce) {
      if (*launch) foreign_.push_back(cat(next, "/", kLaunchFile));
      return {};
    }
    ++attempt_;
    const std::string judged_in = cat(attempt_folder(), "/", kJudgementFile);
    const auto judged = ours(judged_in);
    if (!judged.ok()) return judged.error();
    if (!*judged) continue;  // still running, or ended while nobody watched
    const auto text = read_small(doors_.disk, judged_in);
    if (!text.ok()) return text.error();
    auto judgement = parse_judgement(*text);
    if (!judgement.ok()) return judgement.error();
    outcomes_.push_back(judgement->outcome);
    decision_ = judgement->decision;
    facts_ = judgement->facts;
    framework_ = judgement->framework;
    back_ = judgement->back;
    resume_ = judgement->resume;
    phase_ = judgement->decision.restart ? Phase::kWaiting : Phase::kOver;
    why_over_ = judgement->decision.why;
    due_ = {doors_.clock.steady().ns + judgement->decision.wait.ns};  // how much of it has passed is not known
  }
}

/// Who came from the attempt and cannot be told by its mark, as the midwatch before this one saw it.
void Supervisor::reattach_members() {
  const std::string path = cat(attempt_folder(), "/", kMembersFile);
  const auto mine = ours(path);
  if (!mine.ok() || !*mine) return;
  const auto text = read_small(doors_.disk, path);
  const auto members = text.ok() ? parse_members(*text, doors_.processes.boot()) : std::vector<ProcessId>();
  tree_.remember(members);
}

/// Now and then; what cannot be written is written the next time that it changes.
void Supervisor::look_at_members() {
  if (since(members_at_) < kMembers) return;
  members_at_ = doors_.clock.steady();
  if (!tree_.look_around()) return;
  const std::string text = members_text(tree_.unmarked(), spec_.nonce, doors_.processes.boot());
  (void)doors_.write_file(cat(attempt_folder(), "/", kMembersFile), text).ok();
}

void Supervisor::tell_foreign(const State& state, EventWriter& writer) {
  for (const std::string& path : foreign_) {
    const std::string text = cat("ignored the file ", path.substr(std::min(path.size(), folder_.size() + 1)),
                                 " in the run's folder: midwatch did not write it");
    const bool known = std::any_of(state.notes.begin(), state.notes.end(),
                                   [&text](const auto& note) { return note.second.text == text; });
    if (known) continue;
    doors_.say(text);
    (void)writer.note({"midwatch", text}, doors_.clock.now()).ok();
  }
  foreign_.clear();
}

}  // namespace mw
