// What the supervisor does when the run's folder can be neither read nor written: a command that is to stop is stopped
// all the same, and a run whose command is gone comes to an end.
#include <algorithm>

#include "act/supervise/supervisor.h"
#include "base/text.h"

namespace mw {
namespace {

constexpr Duration kNoKeeperComes = Duration::seconds(10);  // a keeper without a record never began after that
// For a keeper to write down how its command ended, before the disk is asked whether it can.
constexpr Duration kKeeperWrites = Duration::seconds(5), kKeeperWritesAtStop = Duration::seconds(1);
constexpr Duration kKeeperWritesAll = Duration::seconds(2);  // what is left of the output, once the end is known
constexpr size_t kProbeBytes = 4096;                         // a block of most file systems

}  // namespace

Result<bool> Supervisor::turn(const State& state, bool quiet, EventWriter& writer) {
  auto on = look_and_act(state, quiet, writer);
  if (on.ok()) {
    if (const auto recorded = record(state, writer); !recorded.ok() && *on) on = recorded.error();
  }
  if (on.ok()) {
    if (const auto kept = keeper_can_go_on(); !kept.ok()) on = kept.error();
  }
  if (on.ok()) {
    trouble_since_.reset();
    // A turn that had nothing to write down, or a moment's room on a full disk, is no end of the wait.
    const bool waits = phase_ == Phase::kEnded || (phase_ == Phase::kRunning && !kept_.done && is_gone());
    if (!waits) gone_since_.reset();
    return on;
  }
  if (!trouble_since_) trouble_since_ = doors_.clock.steady();
  auto over = do_without_record(on.error());
  if (over.ok()) (void)record(state, writer).ok();  // as far as the disk takes it
  return over;
}

/// Two states in which nothing fails, and nothing would ever happen: no keeper began though the run is to stop; and a
/// keeper whose command is gone cannot write down how it ended, or the last of its output.
Result<void> Supervisor::keeper_can_go_on() {
  const bool waits = phase_ == Phase::kRunning && !kept_.done && is_gone();
  if (!waits) {
    waits_since_.reset();
    return {};
  }
  if (!waits_since_) waits_since_ = doors_.clock.steady();
  if (!kept_.child.known()) return stopping() ? Error{Error::Code::kIo, "no keeper began", ""} : Result<void>();
  const Duration patience = stop_ == Stop::kNow ? kUnrecordedKill
                            : stopping()        ? kKeeperWritesAtStop
                            : kept_.ending      ? kKeeperWritesAll
                                                : kKeeperWrites;
  if (since(*waits_since_) < patience) return {};
  const std::string probe = cat(attempt_folder(), "/probe");
  auto room = doors_.write_file(probe, std::string(kProbeBytes, '\n'));
  (void)doors_.disk.remove(probe).ok();
  return room;
}

/// Nothing that came from the attempt lives, as far as its processes were ever known.
bool Supervisor::is_gone() const {
  if (lives(doors_.processes, kept_.child) || tree_.any_alive()) return false;
  return kept_.child.known() || (!lives(doors_.processes, kept_.keeper) && since(keeper_from_) >= kNoKeeperComes);
}

/// How long after the end of the command, or of the attempt, its record is waited for.
Duration Supervisor::unrecorded_end(const Error& trouble) const {
  if (stop_ == Stop::kNow) return kUnrecordedKill;
  if (stopping()) return kUnrecordedEndAtStop;
  // A disk that is full has no room in a moment. It may have some in a while, for another attempt; one that is gone
  // will hardly come back.
  const bool full = trouble.code == Error::Code::kFull && kept_.ending && kept_.ending->known;
  if (full && kept_.ending->code == 0 && !trip_) return kUnrecordedSuccess;
  if (phase_ != Phase::kRunning) return kUnrecordedRestart;
  return full && spec_.limits.restarts >= attempt_ ? kUnrecordedRestart : kUnrecordedEnd;
}

Result<bool> Supervisor::do_without_record(const Error& trouble) {
  const Duration lasts = since(*trouble_since_);
  const bool now = stop_ == Stop::kNow;
  if (phase_ == Phase::kRunning && stopping() && kept_.child.known() && !kept_.ending &&
      lasts >= (now ? kUnrecordedKill : kUnrecordedStop)) {
    tree_.ask_to_end(spec_.grace, now);
  }
  if (phase_ != Phase::kEnded && (phase_ != Phase::kRunning || !is_gone())) return trouble;
  const Duration patience = unrecorded_end(trouble);
  if (!gone_since_) {
    gone_since_ = doors_.clock.steady();
    if (patience == kUnrecordedRestart) {
      doors_.say(cat("attempt ", attempt_, " ended, ", kept_.ending ? outcome_text(*kept_.ending) : kept_.failure,
                     ". What follows must be recorded before it is done: waits ", format_duration(patience),
                     " at most for room on the disk of ", folder_));
    }
  }
  if (since(*gone_since_) < patience) return trouble;
  if (!kept_.ending) {
    kept_.ending = Ending{};
    kept_.ending->known = false;
  }
  phase_ = Phase::kOver;
  why_over_ = stopping() ? stop_reason() : cat("It ended, and the run's record cannot be kept: ", trouble.what, ".");
  const bool waits = kept_.ending->known && lives(doors_.processes, kept_.keeper);
  doors_.say(cat(why_over_, " ", outcome_text(*kept_.ending), stopping() ? cat("; not recorded: ", trouble.what) : "",
                 waits ? cat("; the rest of its output waits in process ", kept_.keeper.pid,
                             ", which writes it as soon as there is room")
                       : ""));
  return false;
}

}  // namespace mw
