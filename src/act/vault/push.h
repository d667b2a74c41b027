// midwatch checkpoint push: a checkpoint of this machine comes into an object store. Parts, complete, head, manifest,
// pointer: in this order, so that whatever fails in between, `latest` names what it named before.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "act/vault/doors.h"
#include "act/vault/latest.h"
#include "act/vault/manifest.h"
#include "act/vault/upload.h"

namespace mw::vault {

/// The hint of the error that says that the checkpoint is not whole.
inline constexpr std::string_view kBrokenHint = "A broken checkpoint is not shipped. Push an earlier one.";

/// Likewise of one that an earlier verification found suspect or corrupt.
inline constexpr std::string_view kFoundBadHint =
    "midwatch checkpoint verify PATH --deep says why. Push an earlier one, or say --allow-suspect.";

/// What belongs to the checkpoint and lies beside its folder: a file or a folder.
struct PushPart {
  std::string path;  ///< below the folder that holds all of it
  std::string from;  ///< where it lies, absolute
};

struct PushOptions {
  std::string prefix;                ///< of the run in the store, without slashes at its ends
  std::string folder;                ///< of the checkpoint, absolute
  std::string file = {};             ///< the checkpoint is this one file in `folder`; "": it is all of the folder
  std::string own = {};              ///< `folder` below the one that holds all parts; "": there are no others
  std::vector<PushPart> parts = {};  ///< the others
  int64_t step = 0;
  std::string layout, framework;                         ///< "" where not known
  std::vector<std::string> may_be;                       ///< where it is not known: frameworks that name theirs so
  std::vector<std::pair<std::string, std::string>> run;  ///< what is known of the run
  std::string owner;                                     ///< a word that nobody else has
  bool older = false;                                    ///< `latest` may go back to a lower step
  bool aside = false;                                    ///< `latest` stays, where it names any
  bool alone = false;  ///< of a run that ships all of its own: later steps that it did not get `latest` to do not count
  int64_t floor = 0, ceiling = INT64_MAX;  ///< of the pointer's epoch, for whom it is bounded: claim()
  Pace pace;
  SeenConditions* conditions = nullptr;    ///< of earlier pushes to the same place; may be nullptr
  Duration settle = Duration::seconds(3);  ///< a file that is younger may still be written: it is waited for
  int64_t part_bytes = kPartBytes;
  const mw::CheckpointManifest* verified = nullptr;  ///< what an earlier verification read of the same files
  bool suspect = false;                              ///< also where that one found it suspect
  bool one_framework = false;                        ///< not where `latest` names another framework's, unless `suspect`
  /// Checkpoints next to it, which may show that a part of it is lost; empty: it is looked at alone.
  std::vector<std::string> beside = {};
  bool repair = false;  ///< what the store has of it is compared by checksums, where it keeps any, and mended
};

struct Pushed {
  CheckpointManifest manifest;
  bool there = false;  ///< all of it was in the store already, and was only compared
  Progress moved;      ///< of its bytes
  Promise promise = Promise::kSwap;
  Moved latest = Moved::kMoved;
  Pointer before;  ///< what `latest` named before
};

/// Killed at any point and done again, it goes on. kInvalid: the checkpoint is broken, empty, or still being written;
/// nothing of it is in the store then. Nor is it shipped where a file has other bytes than `verified` says,
/// though nobody wrote to it; nor where that verification found it suspect, and nobody wrote to it since.
Result<Pushed> push(const VaultDoors& doors, const PushOptions& options);

}  // namespace mw::vault
