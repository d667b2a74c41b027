// Which step a line of an unknown trainer is of: counted over epochs and rounds, by a number in brackets, or by the
// heading above it.
#include <algorithm>

#include "base/numbers.h"
#include "base/text.h"
#include "read/interpret/generic.h"

namespace mw {
namespace {

constexpr size_t kNone = std::string_view::npos;
constexpr size_t kTagBytes = 24;  // of what stands in brackets before a step in brackets

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

}  // namespace

// Steps that begin again in every epoch go on counting; trainers without steps count epochs.
int64_t GenericReader::over_epochs(const StepPlace& place, int64_t* total) {
  if (place.step == kNoStep) {
    *total = place.epoch_total;
    return place.epoch;
  }
  *total = place.step_total;
  if (place.word == "global_step" || place.word == "global step") return place.step;
  if (place.epoch == kNoStep) return over_rounds(place, total);
  if (last_epoch_ != kNoStep && place.epoch > last_epoch_ && place.step < last_step_) {
    base_ += place.step_total > 0 ? place.step_total : last_step_ + 1;
  } else if (last_epoch_ != kNoStep && place.epoch < last_epoch_) {
    base_ = 0;
  }
  last_epoch_ = place.epoch;
  last_step_ = place.step;
  if (place.epoch_total > 1 && place.step_total > 0) *total = place.step_total * place.epoch_total;
  return base_ + place.step;
}

/// "[Update 1/4]" to "[Update 4/4]", again and again: so few are the updates of a round, and the rounds go on counting.
int64_t GenericReader::over_rounds(const StepPlace& place, int64_t* total) {
  constexpr int64_t kRound = 8;
  const auto inner = [&place] {
    const std::string word = to_lower(place.word);
    return !word.starts_with("step") && !word.starts_with("it");
  };
  const bool few = place.step_total > 1 && place.step_total <= kRound;
  const int64_t updates = few && inner() ? place.step_total : 0;
  if (updates == 0 || updates != round_.updates) round_.base = 0;
  if (updates != 0 && place.step == 1 && round_.last == updates) round_.base += updates;
  round_.updates = updates;
  round_.last = place.step;
  *total += round_.base;
  return round_.base + place.step;
}

/// "[12] loss: 0.5 reward: 0.25", "#12 loss 0.5 reward 0.25": a number that only grows counts steps; one that does not
/// is a rank or the like.
void GenericReader::bracket_place(std::string_view text, StepPlace& at) {
  if (brackets_ == kNoBrackets || (!text.starts_with('[') && !text.starts_with('#'))) return;
  size_t tag = 0;  // "[train][12] ..."
  if (text.size() > 1 && is_letter(text[1])) tag = text.substr(0, kTagBytes).find("][") + 1;
  if (tag > 0) text.remove_prefix(tag);
  const size_t close = text.substr(0, 12).find(text[0] == '[' ? ']' : ' ');
  const auto number = close == kNone ? std::nullopt : parse_int(trim(text.substr(1, close - 1)));
  if (!number || *number < 0) return;
  MetricLine pairs, words;
  pairs.read(text.substr(close + 1));
  words.read_words(text.substr(close + 1));
  if (std::max(known_in(pairs), known_in(words)) < 2) return;
  if (*number <= brackets_) {
    brackets_ = kNoBrackets;
    return;
  }
  brackets_ = *number;
  at.step = *number;
  at.word = "it";
  at.begin = 0;
  at.end = tag + close + 1;
}

/// "avg_len: 412.5" among the figures of learning that stand one by one under a step's heading.
bool GenericReader::stands_beside(std::string_view text, const MetricLine& out) const {
  if (!blocks_ || text.size() >= kAloneBytes || out.numbers().size() != 1 || out.numbers()[0].key.find(' ') != kNone)
    return false;
  const std::string signal = book_.generic_meaning(out.numbers()[0].key).signal;
  return signal.starts_with("response.") || signal == "lr" || signal == "time.step";
}

}  // namespace mw
