// Which step a line of an unknown trainer is of: counted over epochs and rounds, by a number in brackets, or by the
// heading above it.
#include <algorithm>
#include <array>

#include "base/numbers.h"
#include "base/text.h"
#include "read/interpret/generic.h"
#include "read/lines/split_row.h"

namespace mw {
namespace {

constexpr size_t kNone = std::string_view::npos;
constexpr size_t kTagBytes = 24;  // of what stands in brackets before a step in brackets

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

}  // namespace

/// "250 val 4.7993"
bool GenericReader::read_row(std::string_view text, MetricLine& out, Found& found) {
  const auto row = read_split_row(trim(text));
  if (!row || (row->held_out && !has_steps_ && row->step != 0)) return false;
  out.clear();
  out.add(row->held_out ? "val_loss" : "loss", row->loss);
  found.record = found.numbered = has_steps_ = true;
  found.held_out = row->held_out;
  found.step = row->step;
  trained_ = trained_ || !row->held_out;
  return true;
}

/// "Epoch 2/5:  20%|##   | 100/500 [": an epoch has 500 steps.
void GenericReader::note_bar_of_epoch(const StepPlace& at) {
  if (at.epoch == kNoStep || at.step_total <= 1) return;
  epoch_bar_ = epoch_bar_ == 0 || epoch_bar_ == at.step_total ? at.step_total : kUnequal;
}

/// Of a record that names nothing but its epoch. Where the trainer saves by steps, and those are of that epoch as its
/// bars count them, the record is of the epoch's last step.
int64_t GenericReader::over_whole_epochs(const StepPlace& place, int64_t* total) const {
  const int64_t length = epoch_bar_;
  const bool counted = length > 1 && place.epoch > 0 && place.epoch < INT32_MAX && place.epoch_total < INT32_MAX &&
                       length < INT32_MAX && saved_step_ != kNoStep && saved_step_ > place.epoch &&
                       saved_step_ >= (place.epoch - 1) * length && saved_step_ <= (place.epoch + 1) * length;
  *total = counted ? place.epoch_total * length : place.epoch_total;
  return counted ? place.epoch * length : place.epoch;
}

// Steps that begin again in every epoch go on counting; trainers without steps count epochs.
int64_t GenericReader::over_epochs(const StepPlace& place, int64_t* total) {
  if (place.step == kNoStep) return over_whole_epochs(place, total);
  *total = place.step_total;
  if (place.word == "global_step" || place.word == "global step") return place.step;
  const bool headed = place.epoch == kNoStep && headed_epoch_ != kNoStep && !is_of_round(place);
  if (place.epoch == kNoStep && !headed) return over_rounds(place, total);
  const int64_t epoch = headed ? headed_epoch_ : place.epoch;
  const int64_t epochs = headed ? headed_epochs_ : place.epoch_total;
  const bool back = place.step < last_step_ && (!headed || place.step <= std::max<int64_t>(1, stride_));
  if (last_epoch_ != kNoStep && epoch > last_epoch_ && back) {
    base_ += place.step_total > 0 ? place.step_total : last_step_ + (place.step == 0 ? stride_ : 0);
  } else if (last_epoch_ != kNoStep && epoch < last_epoch_) {
    const auto known = bases_.find(epoch);
    base_ = known == bases_.end() ? 0 : known->second;
  } else if (epoch == last_epoch_ && place.step > last_step_) {
    stride_ = place.step - last_step_;
  }
  if (epoch != last_epoch_ && bases_.size() < kEpochs) bases_[epoch] = base_;
  last_epoch_ = epoch;
  last_step_ = place.step;
  // Below a heading the steps may be those of the whole run, until they begin again.
  if (epochs > 1 && place.step_total > 0 && (!headed || base_ > 0)) *total = place.step_total * epochs;
  if (headed && base_ > 0 && epochs <= 1) *total = 0;
  return base_ + place.step;
}

/// Whether the line is the heading of an epoch's figures, of a trainer that counts nothing but epochs.
bool GenericReader::begins_epoch(std::string_view text, const StepPlace& at) {
  if (at.epoch == kNoStep || at.step != kNoStep) return false;
  note_heading(text, at);
  const bool sums_up = sums_up_epoch(text, at);
  counts_epochs_ = counts_epochs_ || sums_up;
  return sums_up;
}

/// "===== Epoch 2/5 =====", "Starting epoch 2": the steps below it are of that epoch, and may begin again with it.
void GenericReader::note_heading(std::string_view text, const StepPlace& at) {
  constexpr std::array<std::string_view, 6> kWords = {"starting", "start", "begin", "beginning", "training", "train"};
  if (at.end == 0 || text.size() >= kHeadingBytes) return;
  const std::string rest = to_lower(cat(text.substr(0, at.begin), " ", text.substr(at.end)));
  for (size_t i = 0; i < rest.size();) {
    size_t end = i;
    while (end < rest.size() && is_letter(rest[end])) ++end;
    const std::string_view word = std::string_view(rest).substr(i, end - i);
    if (!word.empty() && std::find(kWords.begin(), kWords.end(), word) == kWords.end()) return;
    if (word.empty() && rest[i] >= '0' && rest[i] <= '9') return;
    i = std::max(end, i + 1);
  }
  headed_epoch_ = at.epoch;
  headed_epochs_ = at.epoch_total;
}

/// One of so few that they are the updates of a round, by a word that does not name a step.
bool GenericReader::is_of_round(const StepPlace& place) {
  constexpr int64_t kRound = 8;
  if (place.step_total <= 1 || place.step_total > kRound) return false;
  const std::string word = to_lower(place.word);
  return !word.starts_with("step") && !word.starts_with("it");
}

/// "[Update 1/4]" to "[Update 4/4]", again and again: so few are the updates of a round, and the rounds go on counting.
int64_t GenericReader::over_rounds(const StepPlace& place, int64_t* total) {
  const int64_t updates = is_of_round(place) ? place.step_total : 0;
  if (updates == 0 || updates != round_.updates) round_.base = 0;
  if (updates != 0 && place.step == 1 && round_.last == updates) round_.base += updates;
  round_.updates = updates;
  round_.last = place.step;
  *total += round_.base;
  return round_.base + place.step;
}

/// "[rollout 12] reward: 0.25" where that goes with the trainer's steps, "[12] loss: 0.5 reward: 0.25", "#12 loss 0.5
/// reward 0.25": a number that only grows counts steps; one that does not is a rank or the like.
void GenericReader::bracket_place(std::string_view text, StepPlace& at) {
  const auto round = rounds_.place_of(text);
  if (round && (!at.known() || at.begin < round->end)) at = *round;
  if (at.known()) return;
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
