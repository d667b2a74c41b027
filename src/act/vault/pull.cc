#include "act/vault/pull.h"

#include <algorithm>
#include <utility>

#include "act/vault/catalogue.h"
#include "act/vault/download.h"
#include "act/vault/tree.h"
#include "base/digest.h"
#include "base/text.h"
#include "base/units.h"

namespace mw::vault {
namespace {

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
    for (const std::string& id : in_order(names)) {
      if (options_.step != kNoStep && *step_of_id(id) != options_.step) continue;
      const auto done = take(id);
      if (done.ok()) {
        discard();
        return std::move(out_);
      }
      if (!is_of_content(done.error())) return done.error();
      passed_over_.push_back(id);
      out_.notes.push_back(cat(id, " is passed over: ", done.error().what, "."));
    }
    discard();
    return nothing(names.empty());
  }

 private:
  Result<void> check_folder() {
    const auto there = doors_.disk.list(options_.folder);
    if (there.ok() && !there->empty()) {
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

  /// Nobody goes on with those: another one was received, or none is whole.
  void discard() const {
    if (!options_.discard) return;
    for (const std::string& id : passed_over_) {
      const std::string partial = partial_of(id);
      if (doors_.disk.info(partial).ok()) options_.discard(partial);
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
    const std::string partial = partial_of(manifest.id);
    MW_TRY(check_space(manifest, partial));
    Meter meter(doors_, manifest.bytes());
    const auto came = download(doors_, keys_.files(manifest.id), manifest, partial, options_.pace, meter);
    if (!came.ok()) return of_two(came.error());
    const auto tree = walk(doors_.disk, partial);
    if (!tree.ok()) return of_two(as_local(tree.error()));
    if (tree->files.size() != manifest.files.size()) {
      return Error{Error::Code::kDenied, cat("somebody else wrote into ", partial), "Remove it and pull again."};
    }
    out_.moved = meter.now();
    const auto renamed = doors_.disk.rename(partial, options_.folder);
    return renamed.ok() ? renamed : Result<void>(of_two(as_local(renamed.error())));
  }

  /// Where the folder is there by now, another process received into it meanwhile, and renamed what this one wrote.
  Error of_two(const Error& error) const {
    const auto there = doors_.disk.list(options_.folder);
    if (!there.ok() || there->empty()) return error;
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
  std::vector<std::string> passed_over_;  ///< ids
  Pulled out_;
};

}  // namespace

Result<Pulled> pull(const VaultDoors& doors, const PullOptions& options) { return Pull(doors, options).run(); }

}  // namespace mw::vault
