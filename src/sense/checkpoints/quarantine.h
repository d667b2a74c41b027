// Rollback to a checkpoint from before the trouble: later ones are quarantined and the pointer is set back, so that
// the framework's own resume takes the right one. Nothing is deleted, and all of it can be undone (app/restore.h).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "core/checkpoint_layout.h"
#include "core/event.h"
#include "platform/disk.h"
#include "sense/checkpoints/own_folders.h"
#include "sense/checkpoints/ownership.h"
#include "sense/checkpoints/pointer_links.h"

namespace mw {

/// The folder, among the checkpoints or beside the folder of them all (own_folders.h), into which tainted ones are
/// moved.
inline constexpr std::string_view kQuarantineFolder = ".midwatch-quarantine";
/// Also the name of midwatch 0.1: what lies in that folder can still be restored and cleaned up.
inline constexpr std::string_view kQuarantineFolders[] = {kQuarantineFolder, "set-aside-by-midwatch"};

/// All places in which what was moved out of that root may lie, whichever midwatch moved it.
std::vector<OwnFolder> quarantine_places(const std::string& root);

/// Is what lies there of the kind that checkpoints of that layout are, a folder or a file?
bool is_checkpoint_kind(const FileInfo& info, const CheckpointLayout& layout);

/// Steps of the checkpoints in `root`, ascending; other names there do not count.
Result<std::vector<int64_t>> checkpoint_steps(Disk& disk, const std::string& root, const CheckpointLayout& layout);

/// What the pointer says, without blanks around it; nullopt when there is none that can be read.
std::optional<std::string> read_pointer(Disk& disk, const std::string& root, const CheckpointLayout& layout);

/// Likewise, and kIo when the disk does not answer.
Result<std::optional<std::string>> ask_pointer(Disk& disk, const std::string& root, const CheckpointLayout& layout);

/// Does the pointer name something that is not there (any more), or nothing at all, as one that was cut while it was
/// written? A path in it may begin in a folder above. False where there is none.
bool pointer_dangles(Disk& disk, const std::string& root, const CheckpointLayout& layout);

/// What is moved out of one folder of checkpoints, decided once and then done exactly.
struct QuarantinePlan {
  struct Item {
    int64_t step = kNoStep;
    Snapshot::Thing identity;  ///< what exactly; another thing of that name stays
  };
  std::string root;
  std::string label;         ///< folder below kQuarantineFolder that nobody else uses
  std::vector<Item> items;   ///< ascending
  int64_t keep = kNoStep;    ///< what the framework is to resume from; kNoStep: from nothing
  bool set_pointer = false;  ///< to `keep`, or with kNoStep out of the way
  std::string misled = {};   ///< what the pointer says, where that names what is broken and stays; "": it does not
};

/// Of one move, beside what was moved: enough to put everything back as it was.
struct QuarantineManifest {
  struct Item {
    std::string name, to;  ///< seen from the root: below it, `to` perhaps in the place beside it
    Snapshot::Thing identity;
  };
  std::string run_folder, root, why;
  int attempt = 0;
  Time at;
  std::vector<Item> items;
  std::string pointer;                                       ///< name of its file; "": it was left alone
  std::optional<std::string> pointer_before, pointer_after;  ///< its text; unset: there was none
  std::vector<PointerLink> links = {};                       ///< that led to what was moved
  bool restored = false;                                     ///< a person put it back
};
inline constexpr std::string_view kManifestFile = "manifest.json";
std::string manifest_text(const QuarantineManifest& manifest);
/// kInvalid with what is wrong.
Result<QuarantineManifest> parse_manifest(std::string_view text);

/// Where the manifest of what was moved to `folder` lies if it did not fit there: in the folder of the run's record.
std::string manifest_elsewhere(const std::string& run_folder, const std::string& folder);
/// The manifest of what was moved to `folder`: the one that lies in it, else the one that its disk had no room for.
/// kNotFound: neither is there. `place`: becomes its path.
Result<QuarantineManifest> find_manifest(Disk& disk, const std::string& folder, const std::string& run_folder,
                                         std::string* place = nullptr);

/// Writes a small file of the run's record so that it is there whole or not at all, and durable.
using KeepManifest = std::function<Result<void>(const std::string& path, std::string_view text)>;

struct Quarantined {
  int64_t kept = kNoStep;      ///< as planned
  std::vector<int64_t> moved;  ///< ascending; empty when there was nothing to move (any more)
  std::string folder = {};     ///< into which they are moved
  /// It lies among the checkpoints of a trainer that takes it for one of them, as there is no other place: why.
  std::string exposed = {};
  std::string manifest = {};  ///< where the manifest lies, if it did not fit beside what was moved
  /// A link that led to what was moved: it leads to `after` now, or it was moved `to` beside that, or (`trouble`, why)
  /// it leads to nothing; `mend` in it would lead to what is kept. `through`: it is as it was, and leads to what is
  /// kept through that other link.
  struct Link {
    std::string path, before, after, trouble, to, mend, through;
  };
  std::vector<Link> links = {};
  /// The pointer's file, where it was set, what it said before, and what it says now; `pointer_after` unset: it is out
  /// of the way.
  std::string pointer = {}, pointer_before = {};
  std::optional<std::string> pointer_after = {};
  bool pointer_missed = false;  ///< it was not there before
};

/// Does as planned: the manifest is durable before anything moves, then the pointer is set, then the folders move, the
/// newest first. Done again after it was cut short, it finishes; what a person has put back stays. The pointer is set
/// only while it names what is moved, or nothing that is there, or says `misled`, or is missing. Links that led to what
/// is moved, if through others, are set likewise, or moved with it where none at all is left in the folder; one that
/// cannot be set holds nothing up. `of`: run, attempt and reason for the manifest. `elsewhere`: writes the manifest
/// where the disk of the checkpoints has no room for it; unset: then nothing moves. Errors: the disk's; kInvalid for a
/// root that midwatch refuses ("/", no folder), or where the label is another run's.
Result<Quarantined> quarantine(Disk& disk, const CheckpointLayout& layout, const QuarantinePlan& plan,
                               const QuarantineManifest& of, const KeepManifest& elsewhere = nullptr);

}  // namespace mw
