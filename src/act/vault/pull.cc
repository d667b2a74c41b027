#include "act/vault/pull.h"

#include <algorithm>
#include <deque>
#include <map>
#include <utility>

#include "act/vault/catalogue.h"
#include "act/vault/download.h"
#include "act/vault/place_parts.h"
#include "act/vault/receiving.h"
#include "act/vault/tree.h"
#include "base/digest.h"
#include "base/text.h"
#include "base/units.h"

namespace mw::vault {
namespace {

constexpr const char* kPartsEnd = ".beside";  // of the folder for what lies beside the checkpoint

/// The error speaks of one checkpoint's content, not of the way to it: another checkpoint may be right.
bool is_of_content(const Error& error) {
  return error.code == Error::Code::kInvalid || error.code == Error::Code::kNotFound ||
         error.code == Error::Code::kLimit;
}

class Pull {
 public:
  Pull(const VaultDoors& doors, const PullOptions& options) : doors_(doors), options_(options), keys_{options.prefix} {}

  Result<Pulled> run() {
    MW_TRY(check_folder());
    std::string trouble;
    auto pointer = LatestPointer(doors_, keys_, "").read(&trouble);
    if (!pointer.ok()) return pointer.error();
    pointer_ = std::move(*pointer);
    if (!trouble.empty()) out_.notes.push_back(trouble);
    const auto ids = manifest_ids(doors_.store, keys_);
    if (!ids.ok()) return ids.error();
    const auto& names = *ids;
    if (pointer_.step != kNoStep && std::find(names.begin(), names.end(), pointer_.checkpoint) == names.end()) {
      out_.notes.push_back(cat("latest names ", pointer_.checkpoint, ", which is not there."));
    }
    for (const std::string& id : options_.step == kNoStep ? in_order(names) : of_step(names)) {
      const auto done = take(id);
      if (done.ok()) {
        say_which();
        passed_over_.push_back(id);
        discard(passed_over_);
        return std::move(out_);
      }
      if (!is_of_content(done.error())) {
        discard({});
        return done.error();
      }
      passed_over_.push_back(id);
      out_.notes.push_back(cat(id, " is passed over: ", done.error().what, "."));
    }
    discard(passed_over_);
    return nothing(names.empty());
  }

 private:
  Result<void> check_folder() {
    const auto there = doors_.disk.list(options_.folder);
    if (there.ok() && !there->empty() && !options_.make_way) {
      return Error{Error::Code::kInvalid, cat(options_.folder, " is there and not empty"),
                   "Nothing is written over: name a folder that is not there."};
    }
    if (!there.ok() && (there.error().code != Error::Code::kNotFound || doors_.disk.info(options_.folder).ok())) {
      return there.error();
    }
    if (!there.ok() && doors_.disk.read_link(options_.folder).ok()) {
      return Error{Error::Code::kInvalid, cat(options_.folder, " is a link that leads nowhere"),
                   "Nothing is written over: remove it, or name another folder."};
    }
    // What is received beside it could not be renamed to it, and would have filled another disk.
    const auto own = doors_.disk.info(options_.folder), above = doors_.disk.info(folder_of(options_.folder));
    if (own.ok() && above.ok() && own->device != above->device) {
      return Error{Error::Code::kInvalid, cat(options_.folder, " is where a disk is mounted"),
                   cat("Name a folder on it: ", options_.folder, "/NAME.")};
    }
    return {};
  }

  /// Nobody goes on with those: another one was received, or none is whole, or another process was faster.
  void discard(const std::vector<std::string>& ids) {
    if (!options_.discard) return;
    for (const std::string& folder : unused_) {
      if (doors_.disk.info(folder).ok()) options_.discard(folder);
    }
    receiving_.clear();
    for (const std::string& id : ids) discard_left(id);
  }

  /// What receivers that were killed left of it; not what others are at work in.
  void discard_left(const std::string& id) const {
    const auto names = doors_.disk.list(folder_of(options_.folder));
    if (!names.ok()) return;
    const std::string partial = partial_of(id), first(basename(partial));
    const auto left = std::count_if(names->begin(), names->end(), [&first](const std::string& name) {
      return name.starts_with(first) && !name.ends_with(".lock");
    });
    std::deque<ReceivingFolder> held;  // so that each is another one
    for (auto i = options_.locks == nullptr ? 0 : left; i >= 0 && left > 0; --i) {
      auto one = ReceivingFolder::claim(doors_.disk, options_.locks, partial, options_.own);
      if (!one.ok()) return;
      for (const std::string& folder : {one->path(), one->path() + kPartsEnd}) {
        if (doors_.disk.info(folder).ok()) options_.discard(folder);
      }
      held.push_back(std::move(*one));
    }
  }

  std::string partial_of(const std::string& id) const { return cat(options_.folder, ".partial-", id); }

  /// Of one step, what latest names first.
  std::vector<std::string> in_order(std::vector<std::string> ids) const {
    std::stable_sort(ids.begin(), ids.end(), [this](const auto& a, const auto& b) {
      return std::pair(*step_of_id(a), a == pointer_.checkpoint) > std::pair(*step_of_id(b), b == pointer_.checkpoint);
    });
    return ids;
  }

  /// Two trainings of one command may each have one of that step: the one that was pushed last comes first.
  std::vector<std::string> of_step(const std::vector<std::string>& ids) {
    std::vector<std::string> found;
    for (const std::string& id : in_order(ids))
      if (*step_of_id(id) == options_.step) found.push_back(id);
    if (found.size() < 2) return found;
    for (const std::string& id : found) {
      const auto text = get_small(doors_.store, keys_.manifest(id), kManifestBytes);
      auto manifest = text.ok() ? parse_manifest(*text) : Result<CheckpointManifest>(text.error());
      if (manifest.ok()) same_step_.emplace(id, std::move(*manifest));
    }
    const auto key = [this](const std::string& id) {
      const auto known = same_step_.find(id);
      return std::pair(id == pointer_.checkpoint, known == same_step_.end() ? Time() : known->second.pushed);
    };
    std::stable_sort(found.begin(), found.end(), [&key](const auto& a, const auto& b) { return key(a) > key(b); });
    return found;
  }

  /// Of several with that step.
  void say_which() {
    if (same_step_.size() < 2) return;
    const auto folder = [](const CheckpointManifest& one) {
      const auto fact =
          std::find_if(one.run.begin(), one.run.end(), [](const auto& pair) { return pair.first == "folder"; });
      return cat(one.id, fact == one.run.end() ? "" : cat(" of ", fact->second));
    };
    std::string others;
    for (const auto& [id, one] : same_step_)
      if (id != out_.manifest.id) others += cat(others.empty() ? "" : ", ", folder(one));
    out_.notes.push_back(cat("There are ", same_step_.size(), " of step ", options_.step, ": this is ",
                             folder(out_.manifest), ", and not ", others, "."));
  }

  Error nothing(bool empty) const {
    std::string why;
    for (const std::string& note : out_.notes) why += cat(why.empty() ? "" : " ", note);
    const std::string of = options_.step == kNoStep ? "" : cat(" of step ", options_.step);
    const std::string at = cat(doors_.store.name(), "/", options_.prefix);
    if (empty || why.empty()) return {Error::Code::kNotFound, cat("there is no checkpoint", of, " in ", at), why};
    return {Error::Code::kNotFound, cat("there is no checkpoint", of, " in ", at, " that is whole"), why};
  }

  Result<void> take(const std::string& id) {
    const auto text = get_small(doors_.store, keys_.manifest(id), kManifestBytes);
    if (!text.ok()) return text.error();
    auto manifest = parse_manifest(*text);
    if (!manifest.ok()) return manifest.error();
    if (manifest->id != id) return Error{Error::Code::kInvalid, "its manifest is another one's", ""};
    if (options_.step == kNoStep && !is_current(pointer_, *manifest)) {
      return Error{Error::Code::kInvalid, "latest was moved to an earlier step since", ""};
    }
    if (options_.step == kNoStep && manifest->scanned != "whole" && pointer_.step != kNoStep &&
        manifest->step > pointer_.step && names_whole()) {
      return Error{Error::Code::kInvalid, "nothing proves that it is whole, and what latest names is", ""};
    }
    // So that not much is received before a file turns out to be missing.
    const auto missing = files_are_there(doors_.store, keys_, *manifest);
    if (!missing.ok()) return missing.error();
    if (!missing->empty()) return Error{Error::Code::kInvalid, cat(*missing, " is missing or has another size"), ""};
    MW_TRY(receive(*manifest));
    out_.latest = id == pointer_.checkpoint;
    out_.manifest = std::move(*manifest);
    return {};
  }

  /// Of what latest names, its files proved it.
  bool names_whole() const {
    const auto text = get_small(doors_.store, keys_.manifest(pointer_.checkpoint), kManifestBytes);
    const auto manifest = text.ok() ? parse_manifest(*text) : Result<CheckpointManifest>(text.error());
    return manifest.ok() && manifest->scanned == "whole";
  }

  Result<void> receive(const CheckpointManifest& manifest) {
    auto claimed = ReceivingFolder::claim(doors_.disk, options_.locks, partial_of(manifest.id), options_.own);
    if (!claimed.ok()) return as_local(claimed.error());
    receiving_.push_back(std::move(*claimed));
    const std::string& partial = receiving_.back().path();
    if (is_taken()) return of_two({}, partial);
    std::string root;
    if (!manifest.own.empty()) {
      auto holds = root_for_parts(manifest, options_.folder);
      if (!holds.ok()) return holds.error();
      root = std::move(*holds);
    }
    MW_TRY(check_space(manifest, partial));
    Meter meter(doors_, manifest.bytes());
    if (!manifest.own.empty()) MW_TRY(receive_beside(manifest, partial, root, meter));
    const CheckpointManifest own = own_of(manifest);
    const auto came = download(doors_, keys_.files(manifest.id), own, partial, options_.pace, meter);
    if (!came.ok()) return of_two(came.error(), partial);
    const auto tree = walk(doors_.disk, partial);
    if (!tree.ok()) return of_two(as_local(tree.error()), partial);
    if (!has_all(*tree, own)) return written_by_others(partial);
    out_.moved = meter.now();
    if (options_.make_way && !way_is_made_) MW_TRY(as_disk(options_.make_way()));
    way_is_made_ = true;
    // The others first: where its own folder is there, all of it is.
    if (!manifest.own.empty())
      MW_TRY(as_disk(place_parts(doors_.disk, beside_of(manifest), partial + kPartsEnd, root)));
    const auto renamed = doors_.disk.rename(partial, options_.folder);
    if (!renamed.ok()) return of_two(as_local(renamed.error()), partial);
    if (!manifest.own.empty()) unused_.push_back(partial + kPartsEnd);
    const auto after = walk(doors_.disk, options_.folder);
    if (!after.ok()) return {};  // a disk that does not answer changed nothing
    if (after->files.size() == tree->files.size() && difference(*tree, *after).empty()) return {};
    MW_TRY(as_disk(doors_.disk.rename(options_.folder, partial)));  // what is not right is not there
    return written_by_others(partial);
  }

  /// Into a folder of this receiver's, too; what lies in its place already stays.
  Result<void> receive_beside(const CheckpointManifest& manifest, const std::string& partial, const std::string& root,
                              Meter& meter) {
    CheckpointManifest beside = beside_of(manifest);
    for (const std::string& part : manifest.beside) {
      const auto placed = is_placed(doors_.disk, beside, root, part);
      const bool goes = !placed.ok() && placed.error().code == Error::Code::kDenied && options_.make_way;
      if (!placed.ok() && !goes) return as_local(placed.error());
      if (goes || !*placed) continue;
      std::erase_if(beside.files, [&part](const ManifestFile& file) { return belongs_to(file, part); });
    }
    if (beside.files.empty()) return {};
    return download(doors_, cat(keys_.files(manifest.id), kBeside), beside, partial + kPartsEnd, options_.pace, meter);
  }

  static Result<void> as_disk(Result<void> done) { return done.ok() ? done : Result<void>(as_local(done.error())); }

  /// Their bytes were compared while they were written; a file that somebody else appended to is longer.
  static bool has_all(const Tree& tree, const CheckpointManifest& manifest) {
    if (tree.files.size() != manifest.files.size()) return false;
    std::map<std::string_view, int64_t> sizes;
    for (const ManifestFile& file : manifest.files) sizes[file.path] = file.size;
    return std::all_of(tree.files.begin(), tree.files.end(), [&sizes](const LocalFile& file) {
      const auto found = sizes.find(file.path);
      return found != sizes.end() && found->second == file.info.size;
    });
  }

  static Error written_by_others(const std::string& partial) {
    return {Error::Code::kDenied, cat("somebody else wrote into ", partial), "Remove it and pull again."};
  }

  /// Something lies in the place of the checkpoint that make_way() does not take away.
  bool is_taken() const {
    if (options_.make_way && !way_is_made_) return false;
    const auto there = doors_.disk.list(options_.folder);
    return there.ok() && !there->empty();
  }

  /// Where the folder is there by now, another process received into it meanwhile: what this one wrote is of no use.
  Error of_two(const Error& error, const std::string& partial) {
    if (!is_taken()) return error;
    unused_.insert(unused_.end(), {partial, partial + kPartsEnd});
    return {Error::Code::kDenied, cat("another process received into ", options_.folder, " at the same time"),
            "It is there: what follows is the other process's to do."};
  }

  /// What the disk says is not said of the checkpoint.
  static Error as_local(Error error) {
    if (is_of_content(error)) error.code = Error::Code::kDenied;
    return error;
  }

  Result<void> check_space(const CheckpointManifest& manifest, const std::string& partial) {
    const auto there = walk(doors_.disk, partial);
    if (!there.ok() && doors_.disk.list(partial).ok()) {  // a link that leads nowhere yet, for one
      return Error{Error::Code::kDenied, cat("what lies in ", partial, " cannot be read: ", there.error().what),
                   "Remove it and pull again."};
    }
    const int64_t have = there.ok() ? there->bytes : 0;
    const auto free = doors_.free_bytes(folder_of(options_.folder));
    if (!free.ok()) return as_local(free.error());
    const int64_t needs = std::max<int64_t>(0, manifest.bytes() - have);
    if (*free >= needs) return {};
    return Error{Error::Code::kFull,
                 cat("step ", manifest.step, " needs ", size_text(needs), ", and ", size_text(*free), " are free for ",
                     options_.folder),
                 "Free some space, or choose another folder."};
  }

  const VaultDoors& doors_;
  const PullOptions& options_;
  const Keys keys_;
  Pointer pointer_;
  std::deque<ReceivingFolder> receiving_;  ///< of each checkpoint that was begun, the last one's at the end
  std::vector<std::string> passed_over_;   ///< ids
  std::map<std::string, CheckpointManifest> same_step_;  // by id, where several have the step that was asked for
  std::vector<std::string> unused_;                      ///< folders that nobody goes on with
  bool way_is_made_ = false;
  Pulled out_;
};

}  // namespace

Result<Pulled> pull(const VaultDoors& doors, const PullOptions& options) { return Pull(doors, options).run(); }

}  // namespace mw::vault
