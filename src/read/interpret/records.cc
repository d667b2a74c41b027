#include "read/interpret/records.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/text.h"
#include "core/signal.h"
#include "read/lines/held_out.h"

namespace mw {
namespace {

// Whole, and in the range in which a double is exact.
bool whole(double value) { return std::isfinite(value) && std::fabs(value) < 1e15 && std::floor(value) == value; }

}  // namespace

void Records::set_speaker(std::optional<size_t> dialect) {
  if (speaker_ == dialect) return;
  speaker_ = dialect;
  shares_.set_rules(dialect ? &book_.dialects()[*dialect].shares : nullptr);
  names_.forget_meanings();
}

int64_t Records::offset() const { return speaker_ ? book_.dialects()[*speaker_].step_offset : 0; }

void Records::look_up(KnownName& name) const {
  name.means = book_.meaning(speaker_, name.raw);
  name.means.ignored = name.means.ignored || is_step_key(name) || name.role == KnownName::Role::kPlan ||
                       name.role == KnownName::Role::kBookkeeping;
  const std::string& known = name.means.signal;
  const bool alone = !known.empty() && !known.starts_with("eval.");
  const Meaning plain = alone ? name.means : book_.generic_meaning(held_out_figure(name.raw));
  const SignalRow* signal = find_signal(plain.signal);
  name.share = signal != nullptr && signal->unit == "ratio" && name.means.scale == 1 && name.means.offset == 0;
  name.figure = name.held_out = nullptr;
  name.less = nullptr;
  name.use = nullptr;
  shares_.look_up(name);
  name.looked_up = true;
}

bool Records::is_step_key(const KnownName& name) const {
  if (speaker_) {
    const auto& keys = book_.dialects()[*speaker_].step_keys;
    if (std::find(keys.begin(), keys.end(), name.raw) != keys.end()) return true;
  }
  return name.step_rank != KnownName::kNoRank;
}

Reading Records::reading(KnownName& name, double value, bool held_out) const {
  const bool renamed = held_out && !name.means.signal.starts_with("eval.");
  std::shared_ptr<const FigureName>& shared = renamed ? name.held_out : name.figure;
  if (shared == nullptr) {
    shared = std::make_shared<const FigureName>(renamed ? cat("eval.", name.raw) : name.means.signal, name.raw);
  }
  return {shared, shared->signal.empty() ? value : value * name.means.scale + name.means.offset};
}

/// The first step of the rollout. In the common case there is one step per rollout and the numbers are the same; where
/// the steps run ahead of the rollouts, the record of a rollout comes when all steps of those before it are done.
int64_t Records::step_of_rollout(int64_t number, const Record& record) {
  if (trained_ == kNoStep || number >= trained_) return number;
  const bool divides = number > 1 && (trained_ + 1) % number == 0;
  // The steps of a rollout come before the next one or two: else another run's rollouts stand among its own.
  const int64_t k = steps_per_rollout_;
  if (k > 1 && number * k > trained_ + 1 + k) steps_per_rollout_ = 1;
  if (steps_per_rollout_ == 0 && divides) {
    steps_per_rollout_ = (trained_ + 1) / number;
    if (plan_ > 0) sink_.put({record.at, record.where, event::Planned{plan_ * steps_per_rollout_}});
  }
  return steps_per_rollout_ > 1 ? number * steps_per_rollout_ : trained_;
}

/// What the record says under that name, when it can be a step.
int64_t Records::step_under(const Record& record, std::string_view key) const {
  for (const RowNumber& number : record.numbers) {
    if (number.key == key && whole(number.value)) return static_cast<int64_t>(number.value) + offset();
  }
  return kNoStep;
}

int64_t Records::own_step(const Record& record) {
  if (speaker_) {
    for (const std::string& key : book_.dialects()[*speaker_].step_keys) {
      const int64_t step = step_under(record, key);
      if (step == kNoStep) continue;
      if (key.starts_with("rollout/")) return step_of_rollout(step, record);
      if (!record.eval) trained_ = step;
      return step;
    }
  }
  int64_t step = record.step == kNoStep ? usual_step(record) : record.step + offset();
  if (step != kNoStep && !speaker_) step = counters_.step_of(record.names, record.numbers, step);
  if (record.step == kNoStep) return step != kNoStep ? step : by_axis(record);
  if (record.policy == StepPolicy::kRollout) return step_of_rollout(step, record);
  if (!record.eval) trained_ = step;
  return step;
}

/// The step of a row that has no step, by what else it counts.
int64_t Records::by_axis(const Record& record) {
  const bool row = record.from_file && record.format_step == kNoStep && record.policy == StepPolicy::kCurrent;
  return row && !speaker_ && !record.eval && !record.of_machine ? axis_.step_of(record.names, record.numbers) : kNoStep;
}

/// The value of the best of the usual step names that the record has.
int64_t Records::usual_step(const Record& record) {
  const int64_t step = stated_step(record.names, record.numbers);
  if (step == kNoStep) return step;
  axis_.give_up();
  return over_epochs(step + offset(), record);
}

/// Steps that begin again in every epoch, where the record says beside its step which epoch it is, go on counting.
int64_t Records::over_epochs(int64_t step, const Record& record) {
  double epoch = -1;
  for (size_t i = 0; i < record.numbers.size(); ++i) {
    if (record.names[i]->role == KnownName::Role::kEpoch) epoch = record.numbers[i].value;
  }
  if (epoch < 0 || std::floor(epoch) != epoch) return step;
  EpochCount& count = epochs_;
  if (record.eval) return epoch == count.epoch ? count.base + step : step;
  if (count.epoch >= 0 && epoch > count.epoch && step < count.last) {
    count.base += count.length > count.last ? count.length : count.last + count.apart;
  }
  if (epoch < count.epoch) count = EpochCount{-1, 0, 1, 0, count.length};
  if (count.epoch == epoch && step > count.last) count.apart = step - count.last;
  count.epoch = epoch;
  count.last = step;
  return count.base + step;
}

bool Records::counts(const Record& record) const {
  if (record.policy == StepPolicy::kCount) return true;
  if (record.policy == StepPolicy::kUnnamed) return false;  // no record of the trainer's own
  if (record.format_step != kNoStep || keyed_) return false;
  return speaker_ && book_.dialects()[*speaker_].count_steps;
}

// The step of a record; with kNoStep and *ordinal > 0 it will be known later.
int64_t Records::step_of(const Record& record, int64_t* ordinal) {
  const int64_t own = own_step(record);
  named_ = own != kNoStep;
  if (const int64_t step = own; named_) {
    keyed_ = keyed_ || record.step == kNoStep;
    return step;
  }
  if (record.format_step != kNoStep && !keyed_) return record.format_step + offset();
  if (counts(record)) {
    double epoch = std::numeric_limits<double>::quiet_NaN();
    for (size_t i = 0; i < record.numbers.size(); ++i) {
      if (record.names[i]->role == KnownName::Role::kEpoch) epoch = record.numbers[i].value;
    }
    if (counter_.goes_back(epoch)) release(true);
    *ordinal = counter_.record(epoch);
    return kNoStep;
  }
  if (record.policy == StepPolicy::kNext && current_ != kNoStep) return current_ + 1;
  return current_ != kNoStep || record.format_step == kNoStep ? current_ : record.format_step + offset();
}

/// The reading of a training record, less what the name's rule takes off where the record has it.
Reading Records::trained(KnownName& name, const Record& record, double value) const {
  if (name.means.minus.empty()) return reading(name, value, false);
  const auto less = std::find_if(record.numbers.begin(), record.numbers.end(),
                                 [&name](const RowNumber& one) { return one.key == name.means.minus; });
  if (less == record.numbers.end()) return reading(name, value, false);
  Reading whole = reading(name, value - less->value, false);
  if (name.less == nullptr) {
    name.less = std::make_shared<const FigureName>(whole.signal(), cat(name.raw, " - ", name.means.minus));
  }
  return {name.less, whole.value};
}

namespace {

/// How many steps a Trainer's last record sums up, where nothing was logged before it: its seconds times its rate,
/// where the rate has digits enough for it.
int64_t summed_up(const Record& record) {
  constexpr double kRounded = 0.0005, kStep = 1, kShare = 0.002, kMost = 1e9;
  double seconds = 0, rate = 0;
  for (size_t i = 0; i < record.numbers.size(); ++i) {
    if (record.names[i]->role == KnownName::Role::kRuntime) seconds = record.numbers[i].value;
    if (record.names[i]->role == KnownName::Role::kRate) rate = record.numbers[i].value;
  }
  const double steps = seconds * rate;
  const bool sure = steps >= 1 && steps <= kMost && seconds * kRounded <= std::max(kStep, kShare * steps);
  return sure ? std::llround(steps) : kNoStep;
}

/// One with nothing but its step and epoch says how far the training came: what a trainer logs last holds no figure.
bool is_row_of_training(const Record& record) { return record.from_file && !record.eval; }

}  // namespace

/// A record without figures of its own says how far the training has come.
void Records::reach(int64_t step, const Record& record) {
  if (step == kNoStep) return;
  current_ = step;
  sink_.put({record.at, record.where, event::Measured{step, false, {}}});
}

void Records::add(const Record& record) {
  // One that has to be counted, in the log of a trainer that says its steps: somebody quotes another trainer.
  if (record.policy == StepPolicy::kCount && speaker_ && !counting() && current_ != kNoStep) return;
  if (record.stale) return reach(own_step(record), record);
  event::Measured train, eval;
  bool any_train = false, sampled = false;
  train.readings.reserve(record.numbers.size());
  signals_.begin_record();
  const auto names = record.prefix.empty() ? record.names : names_.with_prefix(record.prefix, record.numbers);
  for (size_t i = 0; i < names.size(); ++i) {
    KnownName& name = *names[i];
    if (!name.looked_up) look_up(name);
    if (name.means.ignored) continue;
    if (record.numbers[i].is_time && name.means.signal.starts_with("reward.")) continue;  // how long rewarding took
    const bool is_eval = record.eval || name.means.eval;
    any_train = any_train || (!is_eval && !name.means.sampled && name.means.signal != "epoch");
    sampled = sampled || name.means.sampled;
    const double value = name.share ? record.numbers[i].value / record.numbers[i].whole : record.numbers[i].value;
    if (is_eval) {
      eval.readings.push_back(reading(name, value, true));
    } else {
      signals_.add(name, value, trained(name, record, value), train.readings);
    }
  }
  if (!record.eval) shares_.add(names, record.numbers, train.readings);
  const bool closing = note_total(record);
  note_plan(record);
  if (train.readings.empty() && eval.readings.empty()) return;
  // The last steps of a training are seldom a whole interval of its log: what sums it up says how far it came.
  if (closing && !counts(record) && current_ != kNoStep && own_step(record) > current_) any_train = true;
  int64_t ordinal = 0;
  const bool machine_alone = record.of_machine || (!any_train && sampled);
  if (machine_alone && eval.readings.empty()) {  // its samples are no steps, not even that of an evaluation before all
    put({record.at, record.where, std::move(train)}, ordinal);
    return;
  }
  if (closing && counts(record)) {  // what it sums up was logged: it is no step of its own
    train.step = eval.step = std::max(current_, counter_.shown() >= 0 ? counter_.shown() : kNoStep);
    if (const int64_t all = summed_up(record); train.step == kNoStep && all != kNoStep) reach(all, record);
  } else if (!any_train && counts(record)) {  // an evaluation between two training records does not count
    const int64_t step = own_step(record);
    eval.step = step != kNoStep ? step : current_;
    if (!pending_.empty() && step == kNoStep) ordinal = pending_.back().ordinal;
  } else {
    const int64_t step = train.step = eval.step = step_of(record, &ordinal);
    if (any_train && named_ && !record.from_file && waits(record, train)) return;
    if (step != kNoStep && any_train) current_ = step;
    const bool bare = !any_train && eval.readings.empty() && speaker_ && is_row_of_training(record);
    if (bare && current_ != kNoStep && step > current_) reach(step, record);
  }
  eval.eval = true;
  if (train.step != kNoStep) step_named();
  if (any_train && !train.readings.empty() && !(ordinal == 0 && put_unnamed(record, train)))
    put({record.at, record.where, std::move(train)}, ordinal);
  if (!eval.readings.empty()) put({record.at, record.where, std::move(eval)}, ordinal);
  release(false);
}

// A record that says beside its step how many there will be.
void Records::note_plan(const Record& record) {
  for (size_t i = 0; i < record.numbers.size(); ++i) {
    const double value = record.numbers[i].value;
    if (record.names[i]->role != KnownName::Role::kPlan || !whole(value) || value < 1 || value == planned_) continue;
    planned_ = value;
    sink_.put({record.at, record.where, event::Planned{static_cast<int64_t>(value)}});
  }
}

// A Trainer's last record: how long it ran and how many steps a second it made.
bool Records::note_total(const Record& record) {
  double seconds = 0;
  double rate = 0;
  for (size_t i = 0; i < record.numbers.size(); ++i) {
    if (record.names[i]->role == KnownName::Role::kRuntime) seconds = record.numbers[i].value;
    if (record.names[i]->role == KnownName::Role::kRate) rate = record.numbers[i].value;
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

/// Whether it waits for a step to be named, or was counted as none is.
bool Records::put_unnamed(const Record& record, event::Measured& train) {
  if (record.policy != StepPolicy::kUnnamed || train.step != kNoStep) return false;
  uint64_t kind = 0;
  for (const Reading& one : train.readings) kind = name_hash(one.raw(), kind);
  Event event{record.at, record.where, std::move(train)};
  const bool taken = unnamed_.take(event, kind, out_);
  if (!taken) train = std::move(std::get<event::Measured>(event.body));
  put_all(out_);
  return taken;
}

void Records::step_named() {
  unnamed_.step_named(out_);
  put_all(out_);
}

void Records::another_process() {
  if (counter_.shown() >= 0) resumed(0);
}

void Records::attempt_over() {
  if (counting()) release(true);  // no bar says any more of which steps they are
  begin_unnamed();
}

bool Records::waits(const Record& record, event::Measured& train) {
  const bool waits = leap_.comes(train.step, out_);
  put_all(out_);
  if (waits) leap_.hold({record.at, record.where, std::move(train)});
  return waits;
}

bool Records::waits(int64_t step, Event&& event) {
  const bool waits = leap_.comes(step + offset(), out_);
  put_all(out_);
  if (waits) leap_.hold(std::move(event));
  return waits;
}

void Records::begin_unnamed() {
  leap_.begin_anew();
  unnamed_.finish(out_);
  put_all(out_);
  unnamed_ = {};
  trained_ = kNoStep;  // its rollouts may be of steps that were done before
}

StepCounter::Turn Records::epoch_turn(std::span<const RowNumber> numbers) const {
  const auto epoch =
      std::find_if(numbers.begin(), numbers.end(), [](const RowNumber& number) { return number.key == "epoch"; });
  return epoch == numbers.end() ? StepCounter::Turn::kUnknown : counter_.turn(epoch->value);
}

void Records::put_all(std::vector<Event>& events) {
  for (Event& event : events) sink_.put(std::move(event));
  events.clear();
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
    measured.counted = counter_.only_counts();
    current_ = *step;
    sink_.put(std::move(event));
  }
}

void Records::steps_done(int64_t done, int64_t total) {
  if (done > 0) step_named();
  if (done < counter_.shown()) release(true);
  counter_.bar(done, total);
  release(false);
}

void Records::saved(int64_t step) {
  if (!counting() || keyed_) return;
  counter_.saved(step + offset());
  release(false);
}

void Records::resumed(int64_t step) {
  if (step > 0) step_named();
  release(true);  // what still waits is of the training before
  leap_.begin_anew();
  counter_.resumed(step);
  current_ = step;
}

void Records::finish() {
  release(true);
  leap_.finish(std::max(plan_, static_cast<int64_t>(planned_)), out_);
  unnamed_.finish(out_);
  put_all(out_);
}

}  // namespace mw
