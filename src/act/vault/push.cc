#include "act/vault/push.h"

#include <algorithm>
#include <optional>

#include "act/vault/catalogue.h"
#include "act/vault/unfinished.h"
#include "base/digest.h"
#include "base/text.h"
#include "core/framework_family.h"
#include "sense/checkpoints/scan.h"
#include "sense/checkpoints/verify.h"

namespace mw::vault {
namespace {

using How = event::CheckpointSeen::How;

/// `path` of the checkpoint is another one than when it was looked at first.
Error still_written(const VaultDoors& doors, const PushOptions& options, const std::string& path) {
  const auto there = doors.disk.info(options.folder);
  if (!there.ok() && there.error().code == Error::Code::kNotFound)
    return removed_meanwhile(cat("the checkpoint was removed while it was sent: ", options.folder));
  return still_being_written(cat(path, " changed"));
}

Result<void> add_part(Disk& disk, const PushPart& part, Tree& tree) {
  const auto info = disk.info(part.from);
  if (!info.ok()) return info.error();
  const bool folder = info->kind == FileInfo::Kind::kFolder;
  const auto files =
      folder ? walk(disk, part.from) : walk_one(disk, folder_of(part.from), std::string(basename(part.from)));
  if (!files.ok()) return files.error();
  for (const LocalFile& file : files->files) {
    LocalFile one{cat(kBeside, part.path), file.info, part.from};
    if (folder) one.path += "/" + file.path;
    if (folder) one.from += "/" + file.path;
    tree.files.push_back(std::move(one));
  }
  tree.bytes += files->bytes;
  tree.newest = std::max(tree.newest, files->newest);
  return {};
}

Result<Tree> tree_of(const VaultDoors& doors, const PushOptions& options) {
  auto tree =
      options.file.empty() ? walk(doors.disk, options.folder) : walk_one(doors.disk, options.folder, options.file);
  if (!tree.ok()) return tree;
  for (const PushPart& part : options.parts) MW_TRY(add_part(doors.disk, part, *tree));
  std::sort(tree->files.begin(), tree->files.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
  return tree;
}

/// The tree, when nobody writes to it: files that are younger than the time to settle are looked at twice.
Result<Tree> settled_tree(const VaultDoors& doors, const PushOptions& options) {
  auto tree = tree_of(doors, options);
  if (!tree.ok()) return tree;
  if (tree->files.empty()) return Error{Error::Code::kInvalid, cat("there is no file in ", options.folder), ""};
  const Duration age = doors.clock.now() - tree->newest;
  if (age.ns < 0 || age >= options.settle) return tree;  // a time to come says nothing: a clock was set
  doors.sleep({options.settle.ns - age.ns});
  const auto again = tree_of(doors, options);
  if (!again.ok()) return again.error();
  const std::string other = difference(*tree, *again);
  if (!other.empty()) return still_written(doors, options, other);
  return tree;
}

/// What its files call for and is not there, or contradicts them: as `midwatch checkpoint verify` has it. "": nothing.
/// Without a clock: one that is not whole a moment after its save will not be shipped whole either. `other`: a file in
/// it may hold weights in a format that is not read; of a framework and of layouts that are recognised none does.
std::string what_breaks(const std::optional<CheckpointVerdict>& verdict, bool other) {
  if (!verdict) return "";  // the scan says it
  other = other && verdict->framework.empty() && verdict->layouts.empty();
  const bool broken =
      verdict->state == CheckpointVerdict::State::kPartial || verdict->state == CheckpointVerdict::State::kCorrupt;
  if (!broken) return "";
  for (const CheckpointProblem& one : verdict->problems) {
    if (one.breaks && !(other && one.trouble == Trouble::kMetadataOnly))
      return cat(one.path, one.path.empty() ? "" : ": ", one.what);
  }
  return "";
}

class Push {
 public:
  Push(const VaultDoors& doors, const PushOptions& options)
      : doors_(doors),
        options_(options),
        keys_{options.prefix},
        latest_(doors, keys_, options.owner, options.conditions) {}

  Result<Pushed> run() {
    MW_TRY(look());
    const auto promise = latest_.probe();
    if (!promise.ok()) return promise.error();
    out_.promise = *promise;
    std::string trouble;
    const auto now_named = latest_.read(&trouble);
    if (!now_named.ok()) return now_named.error();
    MW_TRY(check_framework(*now_named));
    MW_TRY(claim(*now_named, !trouble.empty()));
    MW_TRY(find_manifest());
    if (!out_.there) {
      const auto sent = send();
      if (!sent.ok()) {
        clean_up(sent.error());
        return sent.error();
      }
      MW_TRY(put_manifest());
      MW_TRY(still_there());
      out_.there = adopted_ && out_.moved.moved == 0;
    }
    Pointer target;
    target.step = options_.step;
    target.checkpoint = out_.manifest.id;
    target.manifest_hash = content_hash(text_);
    target.at = doors_.clock.now();
    const auto stays = stays_at_whole();
    if (!stays.ok()) return stays.error();
    const bool aside = options_.aside && !out_.before.checkpoint.empty();
    if (*stays && !aside) {
      out_.latest = Moved::kKept;
      return std::move(out_);
    }
    if (aside) {  // named anew, so that this one, of a later step, does not count as what it is about to name
      target.step = out_.before.step;
      target.checkpoint = out_.before.checkpoint;
      target.manifest_hash = out_.before.manifest_hash;
    } else if (!options_.older && !options_.alone) {
      MW_TRY(prefer_later(target));
    }
    const auto moved = latest_.move(target, options_.older || aside, options_.alone);
    if (!moved.ok()) return moved.error();
    const bool own = target.checkpoint == out_.manifest.id;
    out_.latest = own || *moved != Moved::kMoved ? *moved : Moved::kKept;
    const auto now = doors_.store.head(keys_.manifest(out_.manifest.id));
    if (now.ok() && now->changed.known()) remove_unfinished(doors_, keys_, latest_, now->changed);
    return std::move(out_);
  }

 private:
  /// The checkpoint as it lies on the disk: whole, as far as that can be seen, and not being written.
  Result<void> look() {
    auto tree = settled_tree(doors_, options_);
    if (!tree.ok()) return tree.error();
    tree_ = std::move(*tree);
    std::optional<CheckpointVerdict> verdict;
    const std::string place = cat(options_.folder, options_.file.empty() ? "" : "/", options_.file);
    VerifyOptions how;
    how.beside = options_.beside;
    CheckpointScan scan = scan_checkpoint(doors_.disk, place, options_.step, nullptr, &verdict, how);
    // The manifest keeps what is found now: a disk that did not answer once must not leave it unproven for ever.
    if (scan.seen.how != How::kWhole || (verdict && verdict->state == CheckpointVerdict::State::kUnknown))
      scan = scan_checkpoint(doors_.disk, place, options_.step, nullptr, &verdict, how);
    if (!scan.there) return Error{Error::Code::kNotFound, cat(place, " cannot be read"), ""};
    std::string broken = scan.seen.what;
    if (scan.seen.how != How::kBroken) {
      broken = what_breaks(verdict, scan.may_hold_weights);
      if (verdict) recognise(verdict->framework);
      // Whoever begins from the store takes one that its trainer can resume from, where there is one.
      if (verdict) out_.manifest.lacks = lacks_of(*verdict);
    }
    if (!broken.empty()) {
      return Error{Error::Code::kInvalid, cat("the checkpoint is broken: ", broken), std::string(kBrokenHint)};
    }
    MW_TRY(check_verdict());
    const auto proven = look_at_parts();
    if (!proven.ok()) return proven.error();
    out_.manifest.id = checkpoint_id(options_.step, tree_.state());
    const bool read = !verdict || verdict->state != CheckpointVerdict::State::kUnknown;
    out_.manifest.scanned = scan.seen.how == How::kWhole && read && *proven ? "whole" : "unknown";
    return {};
  }

  /// Another role is a checkpoint like this one. False: nothing proves that all of them are whole.
  Result<bool> look_at_parts() {
    bool proven = true;
    for (const PushPart& part : options_.parts) {
      const auto info = doors_.disk.info(part.from);
      if (!info.ok()) return info.error();
      if (info->kind != FileInfo::Kind::kFolder) continue;
      std::optional<CheckpointVerdict> verdict;
      const CheckpointScan scan = scan_checkpoint(doors_.disk, part.from, options_.step, nullptr, &verdict);
      const std::string broken =
          scan.seen.how == How::kBroken ? scan.seen.what : what_breaks(verdict, scan.may_hold_weights);
      if (!scan.there || !broken.empty()) {
        return Error{Error::Code::kInvalid, cat("a part of the checkpoint is broken: ", part.path, ": ", broken),
                     std::string(kBrokenHint)};
      }
      if (verdict && out_.manifest.lacks.empty()) out_.manifest.lacks = lacks_of(*verdict);
      const bool read = !verdict || verdict->state != CheckpointVerdict::State::kUnknown;
      proven = proven && scan.seen.how == How::kWhole && read;
    }
    return proven;
  }

  /// What `verify --deep` found in the same files is not forgotten: a machine would begin from it.
  Result<void> check_verdict() const {
    const mw::CheckpointManifest* const earlier = options_.verified;
    if (earlier == nullptr || options_.suspect || (earlier->verdict != "suspect" && earlier->verdict != "corrupt"))
      return {};
    for (const mw::ManifestFile& file : earlier->files) {
      const auto now = std::lower_bound(tree_.files.begin(), tree_.files.end(), file.path,
                                        [](const LocalFile& one, const std::string& path) { return one.path < path; });
      if (now == tree_.files.end() || !is_untouched(*now, file)) return {};  // saved anew since
    }
    return Error{Error::Code::kInvalid,
                 cat("the checkpoint is ", earlier->verdict, ", as a verification found at ", format_utc(earlier->at)),
                 std::string(kFoundBadHint)};
  }

  /// What its files show is certain where its name fits, too. Whoever receives it sets that framework's pointer.
  void recognise(const std::string& by_files) {
    framework_ = options_.framework;
    const bool fits = std::find(options_.may_be.begin(), options_.may_be.end(), by_files) != options_.may_be.end();
    if (framework_.empty() && fits) framework_ = by_files;
  }

  /// Whoever begins from the store sets the pointer of one framework, whose trainer reads no other's checkpoints,
  /// unless one saves by the other's code. Before claim(), as what is refused fences nobody off.
  Result<void> check_framework(const Pointer& now) {
    if (!options_.one_framework || options_.suspect || framework_.empty() || now.checkpoint.empty()) return {};
    const auto text = get_small(doors_.store, keys_.manifest(now.checkpoint), kManifestBytes);
    const auto named = text.ok() ? parse_manifest(*text) : Result<CheckpointManifest>(text.error());
    if (!named.ok() || named->framework.empty() || named->framework == framework_) return {};
    if (is_of_transformers(named->framework) && is_of_transformers(framework_)) return {};
    return Error{Error::Code::kInvalid,
                 cat("latest in the store names step ", now.step, ", which ", named->framework,
                     " saved, and this checkpoint is of ", framework_),
                 "Name a place of its own for it, or say --allow-suspect."};
  }

  Result<void> claim(const Pointer& now, bool damaged) {
    int64_t floor = std::max(now.epoch, options_.floor);
    if (now.epoch == 0 || damaged) {
      // The pointer was lost: manifests still say which epochs there were.
      const auto highest = highest_epoch(doors_.store, keys_);
      if (!highest.ok()) return highest.error();
      floor = std::max(floor, *highest);
    }
    const auto claimed = latest_.claim(floor, options_.ceiling);
    if (!claimed.ok()) return claimed.error();
    out_.before = *claimed;
    return {};
  }

  /// Is it in the store already? Then every file of it has to be there, too.
  Result<void> find_manifest() {
    auto text = get_small(doors_.store, keys_.manifest(out_.manifest.id), kManifestBytes);
    if (!text.ok() && text.error().code == Error::Code::kNotFound) return {};
    if (!text.ok()) return text.error();
    auto manifest = parse_manifest(*text);
    if (!manifest.ok() || manifest->id != out_.manifest.id) return {};    // damaged: it is written anew
    if (options_.repair && manifest->verified == "checksums") return {};  // sending compares, and sends what differs
    const auto there = files_are_there(doors_.store, keys_, *manifest);
    if (!there.ok()) return there.error();
    if (!there->empty()) return {};
    out_.there = true;
    out_.manifest = std::move(*manifest);
    out_.moved = {tree_.bytes, tree_.bytes, 0};
    text_ = std::move(*text);
    return {};
  }

  Result<void> send() {
    CheckpointManifest& manifest = out_.manifest;
    Meter meter(doors_, tree_.bytes);
    const UploadOptions how{options_.folder, keys_.files(manifest.id), options_.pace, options_.part_bytes,
                            options_.verified};
    auto sent = upload(doors_, tree_, how, meter);
    if (!sent.ok()) return sent.error();
    manifest.step = options_.step;
    // What comes back from a store is a folder.
    manifest.name = options_.file.empty() ? std::string(basename(options_.folder)) : cat("step_", options_.step);
    manifest.own = options_.own;
    for (const PushPart& part : options_.parts) manifest.beside.push_back(part.path);
    manifest.layout = options_.layout;
    manifest.framework = framework_;
    manifest.verified = sent->checksums ? "checksums" : "sizes";
    manifest.pushed = doors_.clock.now();
    manifest.pushed.ns -= manifest.pushed.ns % 1'000'000'000;
    manifest.epoch = out_.before.epoch;
    manifest.parent = out_.before.checkpoint;
    manifest.run = options_.run;
    manifest.files = std::move(sent->files);
    MW_TRY(look_for_manifest());
    const auto after = tree_of(doors_, options_);
    if (!after.ok() && after.error().code != Error::Code::kNotFound) return after.error();
    const std::string other = after.ok() ? difference(tree_, *after) : options_.folder;
    if (!other.empty()) return still_written(doors_, options_, other);
    out_.moved = meter.now();
    return {};
  }

  /// A tree that changed, or is gone, will never be whole under this name. What another failure left is what the next
  /// push goes on from.
  void clean_up(const Error& error) {
    if (error.code != Error::Code::kInvalid) return;
    const std::string prefix = keys_.files(out_.manifest.id);
    const auto after = tree_of(doors_, options_);
    const bool gone = !after.ok() && after.error().code == Error::Code::kNotFound;
    if (!gone && (!after.ok() || after->state() == tree_.state())) return;
    const auto others = doors_.store.head(keys_.manifest(out_.manifest.id));  // who was quicker needs the files
    if (others.ok() || others.error().code != Error::Code::kNotFound) return;
    abort_uploads(doors_.store, prefix);
    const auto sent = list_all(doors_.store, prefix);
    if (!sent.ok()) return;
    for (const ObjectInfo& one : *sent) (void)doors_.store.remove(one.key).ok();
  }

  /// Another push of the same files came to its end meanwhile, and `latest` may name its manifest: that one stays.
  Result<bool> adopt(const std::string& key) {
    auto there = get_small(doors_.store, key, kManifestBytes);
    if (!there.ok() && (there.error().code == Error::Code::kNotFound || there.error().code == Error::Code::kLimit))
      return false;
    if (!there.ok()) return there.error();
    auto manifest = parse_manifest(*there);
    if (!manifest.ok() || manifest->id != out_.manifest.id) return false;
    const bool same = std::equal(
        manifest->files.begin(), manifest->files.end(), out_.manifest.files.begin(), out_.manifest.files.end(),
        [](const auto& a, const auto& b) { return a.path == b.path && a.size == b.size && a.hash == b.hash; });
    if (!same) return false;
    out_.manifest = std::move(*manifest);
    text_ = std::move(*there);
    return true;
  }

  /// Before the tree is compared for the last time, so that no request comes between that and the manifest.
  Result<void> look_for_manifest() {
    const std::string key = keys_.manifest(out_.manifest.id);
    // Its tag before its content, so that only what was looked at is replaced.
    const auto there = doors_.store.head(key);
    if (!there.ok() && there.error().code != Error::Code::kNotFound) return there.error();
    for (int look = 0; there.ok() && !adopted_ && look < 2; ++look) {  // a garbled answer is no damage
      const auto adopted = adopt(key);
      if (!adopted.ok()) return adopted.error();
      adopted_ = *adopted;
    }
    if (there.ok() && !adopted_) damaged_ = there->etag;
    return {};
  }

  /// Written where there is none, or a damaged one, and read again: what `latest` will name is what was meant.
  Result<void> put_manifest() {
    const std::string key = keys_.manifest(out_.manifest.id);
    if (adopted_) return {};
    text_ = manifest_json(out_.manifest);
    PutCondition condition;
    if (out_.promise == Promise::kSwap) {
      using When = PutCondition::When;
      condition = damaged_.empty() ? PutCondition{When::kAbsent, ""} : PutCondition{When::kMatches, damaged_};
    }
    const auto put = doors_.store.put(key, text_, condition);
    const auto now = get_small(doors_.store, key, kManifestBytes);
    if (!now.ok()) return put.ok() ? now.error() : put.error();
    if (*now == text_) return {};
    if (!put.ok()) return put.error();
    const auto others = put->stored ? Result<bool>(false) : adopt(key);  // somebody was quicker
    if (!others.ok()) return others.error();
    if (*others) return {};
    return Error{Error::Code::kIo, "the store gives another manifest than was put there", "Push again."};
  }

  /// What `latest` names is whole, and nothing proves that of this one; or that one has all that a resume needs.
  Result<bool> stays_at_whole() {
    const std::string& named = out_.before.checkpoint;
    const bool whole = out_.manifest.scanned == "whole";
    if ((whole && out_.manifest.lacks.empty()) || options_.older || options_.suspect || named.empty()) return false;
    const auto text = get_small(doors_.store, keys_.manifest(named), kManifestBytes);
    if (!text.ok() && text.error().code != Error::Code::kNotFound) return text.error();
    const auto manifest = text.ok() ? parse_manifest(*text) : Result<CheckpointManifest>(text.error());
    return manifest.ok() && named != out_.manifest.id && manifest->scanned == "whole" &&
           (!whole || manifest->lacks.empty());
  }

  /// A push of a later step may have come to its end meanwhile, without `latest`, as this one had begun after it:
  /// `latest` names that one then. Not where somebody went back from it on purpose.
  Result<void> prefer_later(Pointer& target) {
    const auto ids = manifest_ids(doors_.store, keys_);
    if (!ids.ok()) return ids.error();
    for (const std::string& id : *ids) {
      const int64_t step = *step_of_id(id);
      if (step <= std::max(target.step, out_.before.step)) return {};
      const auto text = get_small(doors_.store, keys_.manifest(id), kManifestBytes);
      const auto manifest = text.ok() ? parse_manifest(*text) : Result<CheckpointManifest>(text.error());
      if (!manifest.ok() || manifest->id != id || !is_current(out_.before, *manifest)) continue;
      if (out_.manifest.scanned == "whole" && manifest->scanned != "whole") continue;
      if (out_.manifest.lacks.empty() && !manifest->lacks.empty()) continue;
      const auto missing = files_are_there(doors_.store, keys_, *manifest);
      if (!missing.ok()) return missing.error();
      if (!missing->empty()) continue;
      target.step = step;
      target.checkpoint = id;
      target.manifest_hash = content_hash(*text);
      return {};
    }
    return {};
  }

  /// What an earlier push sent may have been taken for left behind while this one compared it (remove_unfinished()).
  Result<void> still_there() {
    if (out_.moved.moved == tree_.bytes) return {};
    const auto missing = files_are_there(doors_.store, keys_, out_.manifest);
    if (!missing.ok()) return missing.error();
    if (missing->empty()) return {};
    return Error{Error::Code::kIo, cat("somebody removed ", *missing, " from the store"), "Push again."};
  }

  const VaultDoors& doors_;
  const PushOptions& options_;
  const Keys keys_;
  LatestPointer latest_;
  Tree tree_;
  Pushed out_;
  std::string framework_;
  bool adopted_ = false;  ///< the manifest is another push's, of the same files
  std::string damaged_;   ///< the tag of the one that lies there and cannot be read
  std::string text_;      ///< of the manifest
};

}  // namespace

Result<Pushed> push(const VaultDoors& doors, const PushOptions& options) { return Push(doors, options).run(); }

}  // namespace mw::vault
