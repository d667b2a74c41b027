// The pointer `latest` of a run in an object store: who may move it, and that it moves whole or not at all.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "act/vault/doors.h"
#include "act/vault/manifest.h"

namespace mw::vault {

/// What the store lets us promise.
enum class Promise {
  kSwap,    ///< it keeps conditions: one owner at a time, and who was overtaken changes nothing
  kAppend,  ///< it does not: the pointer is never torn and never goes back by itself, but two owners at a time do not
            ///< learn of each other for sure
};

/// That a store keeps conditions, as it was seen: for pushes of one process to one place, which is asked eleven
/// requests less each time. Only the stronger promise is remembered: a store that seems to keep none is asked anew, as
/// a garbled answer must not cost the fence. It is forgotten after kFor, and at once when a condition is refused, when
/// what was written is not there, or when somebody else began: whoever changes a gateway in front of the store is found
/// out within the hour. Never kept in a file: another process asks for itself. Not for several threads.
struct SeenConditions {
  static constexpr Duration kFor = Duration::seconds(3600);
  std::optional<Duration> at;  ///< when they were seen, by the steady clock
};

enum class Moved {
  kMoved,   ///< `latest` names it
  kKept,    ///< it names a later step, which was not to be given up
  kFenced,  ///< somebody else began to push meanwhile, and only they may move it now
};

class LatestPointer {
 public:
  /// `owner`: a word that nobody else has. `seen` (may be nullptr) outlives it.
  LatestPointer(const VaultDoors& doors, const Keys& keys, std::string owner, SeenConditions* seen = nullptr)
      : doors_(doors), keys_(keys), owner_(std::move(owner)), seen_(seen) {}

  /// Tries conditions on an object of our own, unless they were seen lately. To be called first by who wants to move
  /// the pointer.
  Result<Promise> probe();
  /// What it names now, whoever put it there; `trouble` says what of it cannot be read.
  Result<Pointer> read(std::string* trouble = nullptr);
  /// Begins an epoch of our own, above `floor` and above all before: from here on everybody who began earlier is fenced
  /// off. Returns the pointer as it was found, with our epoch.
  /// kDenied: an epoch of `ceiling` or above has begun; whoever may claim only below it is fenced off for ever.
  Result<Pointer> claim(int64_t floor, int64_t ceiling = INT64_MAX);
  /// Makes it name `target` (step, checkpoint, manifest_hash, at). After an error nobody knows whether it moved;
  /// another push finds out. A step below the present one only when `older`. With `older` or `alone` no later step
  /// counts any more that was pushed before.
  Result<Moved> move(Pointer target, bool older, bool alone = false);
  /// The pointer as it is now, where it holds our epoch; nullopt: somebody else began since, or the store keeps no
  /// conditions, so that nobody can tell.
  Result<std::optional<Pointer>> held();

 private:
  struct Found {
    std::optional<Pointer> pointer;  ///< nullopt: there is none, or none that can be read
    std::string etag;                ///< "": there is no such object
    std::string trouble;
  };
  /// The object of Promise::kSwap. The tag is not newer than the content, so a swap by it is never wrong.
  Result<Found> find();
  /// Folds the entries of Promise::kAppend over `from`.
  Result<Pointer> fold(Pointer from, int64_t& highest);
  Result<bool> try_conditions(const std::string& key);
  Result<Pointer> claim_now(int64_t floor, int64_t ceiling);
  Result<Moved> move_now(Pointer target, bool older, bool alone);
  Result<Moved> replace(const Pointer& target);
  Result<Moved> append(const Pointer& target);

  const VaultDoors& doors_;
  const Keys& keys_;
  const std::string owner_;
  SeenConditions* const seen_;
  Promise promise_ = Promise::kSwap;
  Pointer ours_;      ///< as claimed
  std::string etag_;  ///< of what we wrote last
};

}  // namespace mw::vault
