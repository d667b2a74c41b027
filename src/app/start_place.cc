#include "app/start_place.h"

#include <optional>
#include <utility>

#include "act/vault/place_parts.h"
#include "app/begin_run.h"
#include "app/fleet_beat.h"
#include "app/receiving_beat.h"
#include "app/ship.h"
#include "app/start_roles.h"
#include "app/start_shipped.h"
#include "app/start_words.h"
#include "base/text.h"
#include "platform/private_folder.h"
#include "platform/real/posix_disk.h"
#include "sense/checkpoints/scan.h"

namespace mw {
namespace {

using How = event::CheckpointSeen::How;

/// What lies in the checkpoint's place.
struct Lying {
  bool same = false;                     ///< it is the checkpoint
  std::optional<LocalCheckpoint> other;  ///< it is something else ...
  Error stays = {};                      ///< ... and this is said where it may not be moved
};

/// Something else is there: it may be moved, or nothing is done.
Result<Lying> lying(const StartRequest& request, LocalCheckpoint one, Error stays) {
  if (one.step == kNoStep || !request.may_move || !one.other.empty()) return stays;
  return Lying{false, std::move(one), std::move(stays)};
}

/// Whole by its structure: is it what the store has of that step?
Result<Lying> compared(Disk& disk, const StartRequest& request, const LocalScope& local, const std::string& folder,
                       const vault::CheckpointManifest& shipped) {
  const auto unlike = unlike_shipped(disk, folder, shipped, request.comparing);
  if (!unlike.ok()) return unlike.error();
  if (unlike->empty()) return Lying{true, std::nullopt};
  const auto number = step_in(local.layout.folder, basename(folder));
  LocalCheckpoint one;
  if (number) {
    auto known = look_at_local_one(disk, local, *number);
    if (!known.ok()) return known.error();
    one = std::move(*known);
  }
  one.path = folder;
  one.how = LocalCheckpoint::How::kUnproven;
  one.why = *unlike;
  Error stays{Error::Code::kDenied, cat(folder, " is not what the store has of step ", shipped.step, ": ", *unlike),
              cat("Nothing is written over. Move it away, and run this again: ", how_to_move(folder),
                  ". To go on from it all the same, push it to the store by hand, or begin with midwatch run.")};
  return lying(request, std::move(one), std::move(stays));
}

Result<Lying> what_lies(Disk& disk, const StartRequest& request, const LocalScope& local, const std::string& folder,
                        const vault::CheckpointManifest& shipped) {
  const auto names = disk.list(folder);
  if (!names.ok() && names.error().code == Error::Code::kNotFound) return Lying{};
  if (!names.ok()) return names.error();
  if (names->empty()) return Lying{};
  const CheckpointScan scan = scan_checkpoint(disk, folder, shipped.step, nullptr);
  if (scan.there && scan.seen.how != How::kBroken && !scan.doubtful)
    return compared(disk, request, local, folder, shipped);
  LocalCheckpoint one;
  one.how = LocalCheckpoint::How::kBroken;
  one.step = step_in(local.layout.folder, basename(folder)).value_or(kNoStep);
  one.path = folder;
  one.why =
      scan.doubtful && scan.seen.how != How::kBroken ? "a file that its framework saves is not in it" : scan.seen.what;
  Error stays{Error::Code::kDenied,
              cat(folder, " is there and ",
                  scan.doubtful ? "not whole ('midwatch checkpoint verify' says what is missing)"
                                : cat("broken: ", scan.seen.what)),
              cat("Nothing is written over. Move it away, and run this again: ", how_to_move(folder))};
  return lying(request, std::move(one), std::move(stays));
}

/// A rented machine beats meanwhile; one whose disk is too small says that it is not fit for the run.
Result<PullAnswer> receive(Disk& disk, PullRequest request, const EarlyEnd& early, Duration& time) {
  Result<PullAnswer> pulled = Error{};
  {
    ReceivingBeat beat(early.send());
    request.store.progress = [&beat, shown = request.store.progress](int64_t bytes, int64_t total) {
      beat.moved(bytes, total);
      if (shown) shown(bytes, total);
    };
    pulled = fetch_checkpoint(disk, request);
    time = beat.receiving();
  }
  if (!pulled.ok() && pulled.error().code == Error::Code::kFull) {
    (void)say_unfit(disk, cat("the checkpoint does not fit on its disk: ", pulled.error().what)).ok();
  }
  return pulled;
}

}  // namespace

bool move_away(Disk& disk, const StartRequest& request, const LocalScope& scope, const LocalCheckpoint& one,
               int64_t keep, StartAnswer& answer) {
  const std::string folder = run_folder_of(request.home, answer.name);
  const auto clock = make_posix_clock();
  const bool broken = one.how == LocalCheckpoint::How::kBroken;
  const std::string what = cat(one.path, broken ? " is broken (" : " is not what was shipped (", one.why, ")");
  const auto move = [&]() -> Result<std::string> {
    if (!request.may_move) return Error{Error::Code::kDenied, "restart of [actions] does not let it", ""};
    if (!one.other.empty()) return Error{Error::Code::kDenied, cat("run ", one.other, " saved it"), ""};
    MW_TRY(disk.make_folders(folder));  // without a record of the run nothing would put it back
    make_private(folder);
    return move_broken(disk, scope, folder, clock->now(), {one.step}, keep,
                       broken ? "It was broken, and in the way of the run that began."
                              : "It was not what the run has of that step in its store, and in its way.");
  };
  const auto moved = move();
  if (moved.ok()) {
    answer.moved.push_back(cat(what, ": moved to ", *moved));
    answer.pulled.notes.push_back(cat(answer.moved.back(), "; midwatch restore --run ", answer.name, " puts it back"));
  } else {
    answer.pulled.notes.push_back(
        cat(what, ", and stays there: ", moved.error().what, ". To move it away: ", how_to_move(one.path)));
  }
  return moved.ok();
}

Result<bool> take_shipped(Disk& disk, const StartRequest& request, const LocalScope& local,
                          const vault::CheckpointManifest& manifest, const EarlyEnd& early, StartAnswer& answer) {
  const std::string folder = cat(answer.root, "/", manifest.name);
  const auto there = what_lies(disk, request, local, folder, manifest);
  if (!there.ok()) return there.error();
  std::vector<std::string> notes = std::move(answer.pulled.notes);
  answer.pulled.notes.clear();
  answer.here = there->same;
  if (answer.here) {
    answer.pulled = as_pulled(manifest, folder);
  } else {
    PullRequest wanted{request.store, folder, manifest.step};
    if (request.may_move) {
      wanted.make_way = [&]() -> Result<void> {
        if (there->other && !move_away(disk, request, local, *there->other, kNoStep, answer)) return there->stays;
        return make_way_for_parts(disk, request, local, manifest, answer);
      };
    }
    auto pulled = receive(disk, std::move(wanted), early, answer.receiving);
    notes.insert(notes.end(), answer.pulled.notes.begin(), answer.pulled.notes.end());
    if (!pulled.ok() && pulled.error().code != Error::Code::kNotFound) return pulled.error();
    if (!pulled.ok()) {
      notes.push_back(pulled.error().hint.empty() ? pulled.error().what : pulled.error().hint);
      answer.pulled.notes = std::move(notes);
      return false;
    }
    answer.pulled = std::move(*pulled);
  }
  answer.pulled.notes.insert(answer.pulled.notes.begin(), notes.begin(), notes.end());
  return true;
}

Error with_moved(Error error, const StartAnswer& answer) {
  if (answer.moved.empty()) return error;
  std::string said;
  for (const std::string& one : answer.moved) said += cat(one, ". ");
  error.hint = cat(said, "To put it back: midwatch restore --checkpoints ", answer.root, error.hint.empty() ? "" : ". ",
                   error.hint);
  return error;
}

}  // namespace mw
