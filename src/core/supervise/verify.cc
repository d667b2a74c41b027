#include "core/supervise/verify.h"

#include <algorithm>

#include "base/text.h"
#include "core/advance.h"
#include "core/event_codec.h"
#include "core/straight_clock.h"
#include "core/supervise/outcome_json.h"

namespace mw {
namespace {

constexpr size_t kShown = 160;  // bytes of an event in a sentence

/// Without time and place, which are the cause's.
std::string body_text(const Event& event) {
  std::string text;
  encode_event({{}, {}, event.body}, text);
  return text;
}

std::string yes_or_no(bool restart) { return restart ? "restart" : "no restart"; }

}  // namespace

void Verifier::differs(std::string sentence) {
  if (++differing_ <= kDifferenceLimit) differences_.push_back(std::move(sentence));
}

void Verifier::take(const Event& event) {
  ++events_;
  if (is_judged(event)) {
    judged(event);
  } else {
    const auto* began = std::get_if<event::WatchBegan>(&event.body);
    if (began != nullptr) expected_.clear();  // the watch before was killed in the middle of writing its decisions
    end_of_group();
    if (began != nullptr) {
      same_knowledge_ = same_knowledge_ && began->knowledge == digest_ && began->build == build_;
    }
    if (const auto* one = std::get_if<event::Decided>(&event.body)) decided(*one);
  }
  fold(state_, event);
}

void Verifier::judged(const Event& event) {
  if (!in_group_) {
    in_group_ = true;
    lost_ = false;
    ++judgements_;
    State before = state_;
    expected_.clear();
    JudgeMemory none;  // the walk over the whole run
    review(before, knowledge_, none, expected_, event.at, event.where, event.received);
    std::reverse(expected_.begin(), expected_.end());
  }
  if (lost_) return;  // one difference brings others after it
  const std::string is = body_text(event), should = expected_.empty() ? "nothing" : body_text(expected_.back());
  if (!expected_.empty()) expected_.pop_back();
  if (is == should) return;
  lost_ = true;
  expected_.clear();
  const auto at =
      static_cast<size_t>(std::mismatch(is.begin(), is.end(), should.begin(), should.end()).first - is.begin());
  const size_t from = at < kShown / 2 ? 0 : at - kShown / 2;
  differs(cat("event ", events_, ": the journal has …", clip(is.substr(from), kShown), ", judged again it is …",
              clip(from < should.size() ? should.substr(from) : should, kShown)));
}

void Verifier::end_of_group() {
  if (in_group_ && !expected_.empty()) {
    differs(cat("before event ", events_, ": judged again there would also be ",
                clip(body_text(expected_.back()), kShown)));
  }
  expected_.clear();
  in_group_ = false;
}

void Verifier::finish() { end_of_group(); }

void Verifier::decided(const event::Decided& decided) {
  const auto facts = facts_from_json(decided.facts);
  if (!facts) return differs(cat("attempt ", decided.attempt, ": what its decision rests on cannot be read"));
  if (decided.attempt == static_cast<int64_t>(outcomes_.size())) return;  // it could not be done: no restart after all
  // The history of a run that an older midwatch began is not whole.
  const bool whole = decided.attempt == static_cast<int64_t>(outcomes_.size()) + 1;
  outcomes_.push_back(facts->outcome);
  if (!whole) return;
  ++decisions_;
  const RestartDecision again = after_end(outcomes_, facts->limits);
  const RestartDecision& was = facts->decision;
  if (again.restart == was.restart && again.wait == was.wait && again.why == was.why) return;
  differs(cat("attempt ", decided.attempt, ": decided was ", yes_or_no(was.restart), " (", was.why,
              "), decided again it is ", yes_or_no(again.restart), " (", again.why, ")"));
}

}  // namespace mw
