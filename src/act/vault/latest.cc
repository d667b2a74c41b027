#include "act/vault/latest.h"

#include <algorithm>
#include <utility>

#include "base/numbers.h"
#include "base/text.h"

namespace mw::vault {
namespace {

using When = PutCondition::When;

constexpr int kTries = 8;                             // of a swap that others disturb, or whose answer is lost
constexpr Duration kSettle = Duration::millis(1500);  // between two observations where there are no conditions

std::string padded(int64_t number) {
  const std::string digits = std::to_string(number);
  return std::string(15 - std::min<size_t>(15, digits.size()), '0') + digits;
}

bool is_lost(const Error& error) { return error.code == Error::Code::kIo || error.code == Error::Code::kInterrupted; }

}  // namespace

Result<bool> LatestPointer::try_conditions(const std::string& key) {
  // A store that refuses the header has no conditions; neither has one that takes no notice of it.
  const auto refused = [](const Error& error) {
    return error.code == Error::Code::kUnsupported || error.code == Error::Code::kInvalid;
  };
  const auto holds = [&](std::string_view text) -> Result<bool> {
    auto now = get_small(doors_.store, key, kPointerBytes);
    if (!now.ok()) return now.error();
    return *now == text;
  };
  const auto first = doors_.store.put(key, "1", {When::kAbsent, ""});
  if (!first.ok()) return refused(first.error()) ? Result<bool>(false) : Result<bool>(first.error());
  const auto second = doors_.store.put(key, "2", {When::kAbsent, ""});
  if (!second.ok()) return refused(second.error()) ? Result<bool>(false) : Result<bool>(second.error());
  auto is = holds("1");
  if (!is.ok() || !*is) return is;
  const auto info = doors_.store.head(key);
  if (!info.ok()) return info.error();
  const auto third = doors_.store.put(key, "3", {When::kMatches, "00000000000000000000000000000000"});
  if (!third.ok()) return refused(third.error()) ? Result<bool>(false) : Result<bool>(third.error());
  is = holds("1");
  if (!is.ok() || !*is) return is;
  const auto fourth = doors_.store.put(key, "4", {When::kMatches, info->etag});
  if (!fourth.ok()) return refused(fourth.error()) ? Result<bool>(false) : Result<bool>(fourth.error());
  return holds("4");
}

Result<Promise> LatestPointer::probe() {
  const Duration now = doors_.clock.steady();
  if (seen_ != nullptr && seen_->at && now.ns - seen_->at->ns < SeenConditions::kFor.ns) {
    promise_ = Promise::kSwap;
    return promise_;
  }
  if (seen_ != nullptr) seen_->at.reset();
  // That it keeps none is said only when it was seen twice: a garbled answer must not cost the fence.
  for (const std::string_view once : {"-1", "-2"}) {
    const std::string key = keys_.under(cat("probes/", owner_, once));
    const auto keeps = try_conditions(key);
    (void)doors_.store.remove(key).ok();
    if (!keeps.ok()) return keeps.error();
    promise_ = *keeps ? Promise::kSwap : Promise::kAppend;
    if (*keeps) break;
  }
  if (seen_ != nullptr && promise_ == Promise::kSwap) seen_->at = now;
  return promise_;
}

Result<LatestPointer::Found> LatestPointer::find() {
  Found found;
  const auto info = doors_.store.head(keys_.pointer());
  if (!info.ok() && info.error().code == Error::Code::kNotFound) return found;
  if (!info.ok()) return info.error();
  found.etag = info->etag;
  const auto text = get_small(doors_.store, keys_.pointer(), kPointerBytes);
  if (!text.ok() && text.error().code != Error::Code::kLimit) return text.error();
  auto pointer = text.ok() ? parse_pointer(*text) : Result<Pointer>(text.error());
  if (pointer.ok()) {
    found.pointer = std::move(*pointer);
  } else {
    found.trouble = cat("latest.json cannot be read: ", pointer.error().what);
  }
  return found;
}

Result<Pointer> LatestPointer::fold(Pointer from, int64_t& highest) {
  const auto listed = list_all(doors_.store, keys_.pointers());
  if (!listed.ok()) return listed.error();
  highest = from.epoch;
  const Pointer base = from;
  int64_t back_in = from.back_in;
  for (const ObjectInfo& one : *listed) {  // their names are in order of epoch and step
    const auto text = get_small(doors_.store, one.key, kPointerBytes);
    if (!text.ok() && text.error().code == Error::Code::kNotFound) continue;
    if (!text.ok()) return text.error();
    const auto entry = parse_pointer(*text);
    if (!entry.ok() || entry->step == kNoStep) continue;
    highest = std::max(highest, entry->epoch);
    if (entry->named_in < from.named_in) continue;
    back_in = std::max(back_in, entry->back_in);
    if (from.step == kNoStep || entry->step >= from.step || entry->older) from = *entry;
  }
  from.back_in = back_in;
  if (base.epoch == highest) from.owner = base.owner;
  from.epoch = highest;
  return from;
}

Result<Pointer> LatestPointer::read(std::string* trouble) {
  const auto found = find();
  if (!found.ok()) return found.error();
  if (trouble != nullptr) *trouble = found->trouble;
  int64_t highest = 0;
  return fold(found->pointer.value_or(Pointer{}), highest);
}

Result<Pointer> LatestPointer::claim(int64_t floor, int64_t ceiling) {
  auto claimed = claim_now(floor, ceiling);
  if (!claimed.ok() && seen_ != nullptr) seen_->at.reset();
  return claimed;
}

Result<Moved> LatestPointer::move(Pointer target, bool older, bool alone) {
  auto moved = move_now(std::move(target), older, alone);
  if ((!moved.ok() || *moved == Moved::kFenced) && seen_ != nullptr) seen_->at.reset();
  return moved;
}

Result<Pointer> LatestPointer::claim_now(int64_t floor, int64_t ceiling) {
  for (int tries = 0; tries < kTries; ++tries) {
    const auto found = find();
    if (!found.ok()) return found.error();
    // One that is damaged is replaced, and what it named is lost: not for a garbled answer's sake.
    if (!found->trouble.empty() && tries < 2) continue;
    int64_t highest = 0;
    auto was = fold(found->pointer.value_or(Pointer{}), highest);
    if (!was.ok()) return was.error();
    if (found->pointer && found->pointer->owner == owner_) {  // an answer was lost
      ours_ = *found->pointer;
      etag_ = found->etag;
      return ours_;
    }
    if (std::max(highest, floor) + 1 >= ceiling) {
      return Error{Error::Code::kDenied, "another machine goes on with this run, and only that one may move latest",
                   ""};
    }
    ours_ = *was;
    ours_.epoch = std::max(highest, floor) + 1;
    ours_.owner = owner_;
    if (promise_ == Promise::kAppend) return ours_;
    const PutCondition condition =
        found->etag.empty() ? PutCondition{When::kAbsent, ""} : PutCondition{When::kMatches, found->etag};
    const auto put = doors_.store.put(keys_.pointer(), pointer_json(ours_), condition);
    if (put.ok() && put->stored) {
      etag_ = put->etag;
      return ours_;
    }
    if (!put.ok() && !is_lost(put.error())) return put.error();
  }
  return Error{Error::Code::kIo, "others move latest all the time", "Try again when they are done."};
}

Result<Moved> LatestPointer::replace(const Pointer& target) {
  for (int tries = 0; tries < kTries; ++tries) {
    const auto put = doors_.store.put(keys_.pointer(), pointer_json(target), {When::kMatches, etag_});
    if (put.ok() && put->stored) return Moved::kMoved;
    if (!put.ok() && !is_lost(put.error())) return put.error();
    const auto now = find();
    if (!now.ok()) return now.error();
    if (now->pointer == target) return Moved::kMoved;
    if (!now->pointer || now->pointer->owner != owner_) return Moved::kFenced;
    if (now->etag != etag_) return Error{Error::Code::kIo, "latest.json is not what was written", ""};
  }
  return Error{Error::Code::kIo, "latest could not be moved", "Try again."};
}

Result<Moved> LatestPointer::append(const Pointer& target) {
  const std::string key = cat(keys_.pointers(), padded(target.epoch), "-", padded(target.step), "-", owner_, ".json");
  const auto put = doors_.store.put(key, pointer_json(target), {});
  if (!put.ok()) return put.error();
  // Two observations some time apart: who else wrote meanwhile is seen by the second one.
  for (int observation = 0; observation < 2; ++observation) {
    if (observation > 0) doors_.sleep(kSettle);
    const auto now = read();
    if (!now.ok()) return now.error();
    if (now->checkpoint != target.checkpoint) return now->step > target.step ? Moved::kKept : Moved::kFenced;
  }
  return Moved::kMoved;
}

Result<Moved> LatestPointer::move_now(Pointer target, bool older, bool alone) {
  if (promise_ == Promise::kAppend) {
    const auto now = read();
    if (!now.ok()) return now.error();
    ours_.step = now->step;
    ours_.checkpoint = now->checkpoint;
    ours_.manifest_hash = now->manifest_hash;
    ours_.back_in = now->back_in;
    target.epoch = std::max(ours_.epoch, now->epoch);
  } else {
    target.epoch = ours_.epoch;
  }
  const bool named = ours_.checkpoint == target.checkpoint && ours_.manifest_hash == target.manifest_hash;
  if (named && !older) return Moved::kMoved;
  if (ours_.step != kNoStep && ours_.step > target.step && !older) return Moved::kKept;
  target.owner = owner_;
  target.at.ns -= target.at.ns % 1'000'000'000;  // as it is written, so that it is known again when it is read
  target.named_in = target.epoch;
  target.older = ours_.step != kNoStep && ours_.step > target.step;
  target.back_in = older || alone ? target.epoch : ours_.back_in;
  return promise_ == Promise::kSwap ? replace(target) : append(target);
}

Result<std::optional<Pointer>> LatestPointer::held() {
  if (promise_ == Promise::kAppend) return std::optional<Pointer>();
  auto now = find();
  if (!now.ok()) return now.error();
  if (now->pointer && now->pointer->owner != owner_) now->pointer.reset();
  return std::move(now->pointer);
}

}  // namespace mw::vault
