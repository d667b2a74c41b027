#include "read/interpret/records.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/text.h"

namespace mw {
namespace {

// Names that carry the step whoever the trainer is, best first.
constexpr std::array<std::string_view, 22> kStepKeys = {"training/global_step",
                                                        "train/global_step",
                                                        "trainer/global_step",
                                                        "global_step",
                                                        "training_step",
                                                        "train_step",
                                                        "train/step",
                                                        "trainer/step",
                                                        "step",
                                                        "Step",
                                                        "iteration",
                                                        "iter",
                                                        "steps",
                                                        "update",
                                                        "current_steps",
                                                        "current_step",
                                                        "global_steps",
                                                        "optimizer_step",
                                                        "opt_step",
                                                        "update_step",
                                                        "iterations",
                                                        "time/iterations"};
// Names that carry how many steps there will be.
constexpr std::array<std::string_view, 4> kPlanKeys = {"total_steps", "max_steps", "total_step", "num_training_steps"};
// Bookkeeping of sinks, never signals.
constexpr std::array<std::string_view, 6> kBookkeeping = {"_step", "_runtime",  "_timestamp",
                                                          "time",  "timestamp", "_wandb"};

// Whole, and in the range in which a double is exact.
bool whole(double value) { return std::isfinite(value) && std::fabs(value) < 1e15 && std::floor(value) == value; }

}  // namespace

void Records::set_speaker(std::optional<size_t> dialect) {
  if (speaker_ == dialect) return;
  speaker_ = dialect;
  forget_meanings();
}

void Records::forget_meanings() {
  meanings_.clear();
  names_.forget();
  places_.clear();
}

int64_t Records::offset() const { return speaker_ ? book_.dialects()[*speaker_].step_offset : 0; }

const Meaning& Records::meaning(size_t place, std::string_view raw) {
  if (names_.known(place, raw)) return *places_[place];
  const Meaning& means = look_up(raw);
  if (place < places_.size()) {
    places_[place] = &means;
  } else if (place == places_.size() && place < RowNames::kPlacesLimit) {
    places_.push_back(&means);
  }
  return means;
}

const Meaning& Records::look_up(std::string_view raw) {
  name_.assign(raw);
  if (const auto found = meanings_.find(name_); found != meanings_.end()) return found->second;
  if (meanings_.size() >= kMeaningLimit) forget_meanings();
  Meaning fresh = book_.meaning(speaker_, raw);
  fresh.ignored = fresh.ignored || is_step_key(raw) ||
                  std::find(kPlanKeys.begin(), kPlanKeys.end(), raw) != kPlanKeys.end() ||
                  std::find(kBookkeeping.begin(), kBookkeeping.end(), raw) != kBookkeeping.end();
  return meanings_.emplace(name_, std::move(fresh)).first->second;
}

bool Records::is_step_key(std::string_view raw) const {
  if (speaker_) {
    const auto& keys = book_.dialects()[*speaker_].step_keys;
    if (std::find(keys.begin(), keys.end(), raw) != keys.end()) return true;
  }
  return std::find(kStepKeys.begin(), kStepKeys.end(), raw) != kStepKeys.end();
}

/// The first step of the rollout. In the common case there is one step per rollout and the numbers are the same; where
/// the steps run ahead of the rollouts, the record of a rollout comes when all steps of those before it are done.
int64_t Records::step_of_rollout(int64_t number, const Record& record) {
  if (trained_ == kNoStep || number >= trained_) return number;
  const bool divides = number > 1 && (trained_ + 1) % number == 0;
  if (steps_per_rollout_ == 0 && divides) {
    steps_per_rollout_ = (trained_ + 1) / number;
    if (plan_ > 0) sink_.put({record.at, record.where, event::Planned{plan_ * steps_per_rollout_}});
  }
  return steps_per_rollout_ > 1 ? number * steps_per_rollout_ : trained_;
}

int64_t Records::own_step(const Record& record) {
  const auto value_of = [&](std::string_view key) -> int64_t {
    for (const RowNumber& number : record.numbers) {
      if (number.key == key && whole(number.value)) return static_cast<int64_t>(number.value) + offset();
    }
    return kNoStep;
  };
  if (speaker_) {
    for (const std::string& key : book_.dialects()[*speaker_].step_keys) {
      const int64_t step = value_of(key);
      if (step == kNoStep) continue;
      if (key.starts_with("rollout/")) return step_of_rollout(step, record);
      if (!record.eval) trained_ = step;
      return step;
    }
  }
  if (record.step == kNoStep) return usual_step(record);
  const int64_t step = record.step + offset();
  if (record.policy == StepPolicy::kRollout) return step_of_rollout(step, record);
  if (!record.eval) trained_ = step;
  return step;
}

/// The value of the best of kStepKeys that the record has.
int64_t Records::usual_step(const Record& record) const {
  constexpr std::string_view kLast = "pnrse";  // letters with which they end: few other names do
  size_t best = kStepKeys.size();
  int64_t step = kNoStep;
  for (const RowNumber& number : record.numbers) {
    if (number.key.empty() || kLast.find(number.key.back()) == std::string_view::npos) continue;
    const auto rank =
        static_cast<size_t>(std::find(kStepKeys.begin(), kStepKeys.end(), number.key) - kStepKeys.begin());
    if (rank >= best || !whole(number.value)) continue;
    best = rank;
    step = static_cast<int64_t>(number.value) + offset();
  }
  return step;
}

bool Records::counts(const Record& record) const {
  if (record.policy == StepPolicy::kCount) return true;
  if (record.format_step != kNoStep || keyed_) return false;
  return speaker_ && book_.dialects()[*speaker_].count_steps;
}

// The step of a record; with kNoStep and *ordinal > 0 it will be known later.
int64_t Records::step_of(const Record& record, int64_t* ordinal) {
  if (const int64_t step = own_step(record); step != kNoStep) {
    keyed_ = keyed_ || record.step == kNoStep;
    return step;
  }
  if (record.format_step != kNoStep && !keyed_) return record.format_step + offset();
  if (counts(record)) {
    double epoch = std::numeric_limits<double>::quiet_NaN();
    for (const RowNumber& number : record.numbers) {
      if (number.key == "epoch") epoch = number.value;
    }
    *ordinal = counter_.record(epoch);
    return kNoStep;
  }
  if (record.policy == StepPolicy::kNext && current_ != kNoStep) return current_ + 1;
  return current_ != kNoStep || record.format_step == kNoStep ? current_ : record.format_step + offset();
}

void Records::add(const Record& record) {
  event::Measured train;
  event::Measured eval;
  bool any_train = false;
  bool sampled = false;
  std::string joined;
  train.readings.reserve(record.numbers.size());
  for (size_t i = 0; i < record.numbers.size(); ++i) {
    const RowNumber& number = record.numbers[i];
    std::string_view raw = number.key;
    if (!record.prefix.empty()) {
      joined = cat(record.prefix, raw);
      raw = joined;
    }
    const Meaning& means = meaning(i, raw);
    if (means.ignored) continue;
    const bool is_eval = record.eval || means.eval;
    Reading reading{means.signal, std::string(raw), number.value};
    if (is_eval && reading.signal.substr(0, 5) != "eval.") reading.signal = cat("eval.", raw);
    if (!reading.signal.empty()) reading.value = number.value * means.scale + means.offset;
    any_train = any_train || (!is_eval && !means.sampled && means.signal != "epoch");
    sampled = sampled || means.sampled;
    (is_eval ? eval : train).readings.push_back(std::move(reading));
  }
  const bool closing = note_total(record);
  note_plan(record);
  if (train.readings.empty() && eval.readings.empty()) return;
  int64_t ordinal = 0;
  const bool machine_alone = record.of_machine || (!any_train && sampled);
  if (machine_alone && eval.readings.empty()) {  // its samples are no steps
    train.step = current_;
    put({record.at, record.where, std::move(train)}, ordinal);
    return;
  }
  if (closing && counts(record)) {  // what it sums up was logged: it is no step of its own
    train.step = eval.step = std::max(current_, counter_.shown() >= 0 ? counter_.shown() : kNoStep);
  } else if (!any_train && counts(record)) {  // an evaluation between two training records does not count
    const int64_t step = own_step(record);
    eval.step = step != kNoStep ? step : current_;
    if (!pending_.empty() && step == kNoStep) ordinal = pending_.back().ordinal;
  } else {
    const int64_t step = step_of(record, &ordinal);
    train.step = eval.step = step;
    if (step != kNoStep && (any_train || current_ == kNoStep)) current_ = step;
  }
  eval.eval = true;
  if (any_train && !train.readings.empty()) put({record.at, record.where, std::move(train)}, ordinal);
  if (!eval.readings.empty()) put({record.at, record.where, std::move(eval)}, ordinal);
  release(false);
}

// A record that says beside its step how many there will be.
void Records::note_plan(const Record& record) {
  for (const RowNumber& number : record.numbers) {
    const bool may_be = number.key.ends_with("step") || number.key.ends_with("steps");
    if (!may_be || std::find(kPlanKeys.begin(), kPlanKeys.end(), number.key) == kPlanKeys.end()) continue;
    if (!whole(number.value) || number.value < 1 || number.value == planned_) continue;
    planned_ = number.value;
    sink_.put({record.at, record.where, event::Planned{static_cast<int64_t>(number.value)}});
  }
}

// A Trainer's last record: how long it ran and how many steps a second it made.
bool Records::note_total(const Record& record) {
  double seconds = 0;
  double rate = 0;
  for (const RowNumber& number : record.numbers) {
    if (number.key == "train_runtime") seconds = number.value;
    if (number.key == "train_steps_per_second") rate = number.value;
  }
  const double steps = seconds * rate;
  if (steps >= 1 && steps <= 1e9) {
    counter_.total(std::llround(steps));
    release(true);
  }
  return seconds > 0;
}

void Records::put(Event&& event, int64_t ordinal) {
  if (ordinal == 0) {
    sink_.put(std::move(event));
    return;
  }
  pending_.push_back({ordinal, std::move(event)});
}

void Records::release(bool all) {
  const size_t limit = counter_.shown() >= 0 ? kPendingLimit : kPendingBlind;
  if (all || pending_.size() > limit) counter_.settle();
  while (!pending_.empty()) {
    const auto step = counter_.step_of(pending_.front().ordinal);
    if (!step) return;
    Event event = std::move(pending_.front().event);
    pending_.pop_front();
    auto& measured = std::get<event::Measured>(event.body);
    measured.step = *step;
    current_ = *step;
    sink_.put(std::move(event));
  }
}

void Records::steps_done(int64_t done, int64_t total) {
  if (done < counter_.shown()) release(true);
  counter_.bar(done, total);
  release(false);
}

void Records::resumed(int64_t step) {
  counter_.resumed(step);
  current_ = step;
}

void Records::finish() { release(true); }

}  // namespace mw
