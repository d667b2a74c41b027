#include "act/supervise/approvals.h"

#include <algorithm>

#include "act/supervise/seal.h"
#include "base/text.h"
#include "platform/durable.h"

namespace mw {
namespace {

constexpr std::string_view kActions[] = {"break", "restart"};
constexpr std::string_view kSelf = "midwatch";
constexpr std::string_view kAsked = "asked-to-", kGiven = "may-", kRefused = "may-not-break";

}  // namespace

std::string approval_asked(Disk& disk, const std::string& folder, const std::string& nonce) {
  const auto ours = [&](const std::string& path) {
    const auto seal = seal_of(disk, path, nonce);
    return seal.ok() && *seal == Seal::kOurs;
  };
  for (const std::string_view action : kActions) {
    if (ours(cat(folder, "/", kAsked, action)) && !ours(cat(folder, "/", kGiven, action))) return std::string(action);
  }
  return "";
}

std::string Approvals::file(std::string_view what, Deed action) const {
  return cat(folder_, "/", what, kActions[index(action)]);
}

Result<bool> Approvals::ours(const std::string& path, const std::string& nonce) {
  const auto seal = seal_of(doors_.disk, path, nonce);
  if (!seal.ok()) return seal.error();
  if (*seal == Seal::kForeign) foreign_.push_back(path);
  return *seal == Seal::kOurs;
}

Result<void> Approvals::write(const std::string& path) {
  return doors_.write_file(path, seal_text(nonce_, basename(path), doors_.clock.now()));
}

Result<void> Approvals::attempt(const std::string& folder, const std::string& nonce) {
  foreign_.clear();
  const auto refused = ours(cat(folder, "/", kRefused), nonce);
  if (!refused.ok()) return refused.error();
  bool asked[2] = {}, given[2] = {};
  for (size_t i = 0; i < 2; ++i) {
    const auto was_asked = ours(cat(folder, "/", kAsked, kActions[i]), nonce);
    const auto was_given = ours(cat(folder, "/", kGiven, kActions[i]), nonce);
    if (!was_asked.ok()) return was_asked.error();
    if (!was_given.ok()) return was_given.error();
    asked[i] = *was_asked;
    given[i] = *was_given;
  }
  folder_ = folder;
  nonce_ = nonce;
  told_.clear();
  refused_ = *refused;
  std::copy_n(asked, 2, asked_);
  std::copy_n(given, 2, given_);
  return {};
}

Result<bool> Approvals::may(Deed action, Mode mode, const std::string& what, const std::string& why, const State& state,
                            EventWriter& writer) {
  const size_t i = index(action);
  if (mode == Mode::kAct || given_[i]) return true;
  if (mode == Mode::kAsk && !asked_[i]) {
    MW_TRY(write(file(kAsked, action)));
    asked_[i] = true;
  }
  if (!told_.insert(what).second) return false;
  const bool known = std::any_of(state.notes.begin(), state.notes.end(), [&what](const auto& note) {
    return note.second.who == kSelf && contains(note.second.text, what);
  });
  if (known) return false;
  const std::string otherwise =
      action == Deed::kBreak ? "midwatch resume lets it go on" : "midwatch stop ends the run instead";
  const std::string text = mode == Mode::kAsk
                               ? cat(what, ". ", why, " May it? midwatch approve says yes; ", otherwise, ".")
                               : cat("Only watching: ", what, ". ", why);
  doors_.say(text);
  MW_TRY(writer.note({std::string(kSelf), text}, doors_.clock.now()));
  return false;
}

Result<void> Approvals::give(Deed action) {
  MW_TRY(write(file(kGiven, action)));
  given_[index(action)] = true;
  return {};
}

Result<void> Approvals::refuse_break() {
  MW_TRY(write(cat(folder_, "/", kRefused)));
  refused_ = true;
  MW_TRY(doors_.disk.remove(file(kAsked, Deed::kBreak)));
  asked_[index(Deed::kBreak)] = false;
  return {};
}

Result<void> Approvals::withdraw_break() {
  const size_t i = index(Deed::kBreak);
  if (!asked_[i]) return {};
  MW_TRY(doors_.disk.remove(file(kAsked, Deed::kBreak)));
  asked_[i] = given_[i] = false;
  told_.clear();
  doors_.say("what midwatch asked about is over: it asks no more");
  return {};
}

}  // namespace mw
