#include "read/interpret/arms.h"

#include <algorithm>
#include <cmath>

#include "base/numbers.h"
#include "base/text.h"
#include "core/mixed_runs.h"
#include "read/interpret/arm_name.h"

namespace mw {
namespace {

constexpr size_t kFigures = 64;  // of a record, that are compared
constexpr size_t kNameBytes = 40;

bool says_reward(std::string_view name) {
  return contains_folded(name, "reward") || contains_folded(name, "score") || contains_folded(name, "acc") ||
         contains_folded(name, "return");
}

/// Another start of the same training, or its next stage, may be called so: "run=3" may count starts, "[sft]" and
/// "[grpo]" may follow one another. "run=high" is what a person calls an arm.
bool may_be_a_start(std::string_view arm) {
  const size_t set = arm.find('=');
  if (set == std::string_view::npos || arm.front() == '[') return true;
  const std::string_view key = arm.substr(0, set), value = arm.substr(set + 1);
  if (names_rate(key)) return true;
  return names_run(key) && std::any_of(value.begin(), value.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

std::string_view Arms::of_row(std::span<const RowNumber> numbers, std::span<KnownName* const> names,
                              std::span<const RowText> texts) {
  text_.clear();
  if (too_many_) return text_;
  const auto add = [this](std::string_view key, std::string_view value) {
    if (value.empty() || value.size() > kNameBytes) return;
    text_ += cat(text_.empty() ? "" : " ", key, "=", value);
  };
  for (const RowText& text : texts) {
    if (names_arm(text.key) || names_run(text.key)) add(text.key, text.value);
  }
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i]->role == KnownName::Role::kArm) add(names[i]->raw, format_double(numbers[i].value));
  }
  for (size_t i = 0; i < names.size() && text_.empty(); ++i) {
    if (names_rate(names[i]->raw)) add(names[i]->raw, format_double(numbers[i].value));
  }
  return text_;
}

std::string_view Arms::of_line(std::string_view text) {
  text_.clear();
  if (too_many_) return text_;
  arm_of_line(text, text_);
  // A rate shows an arm only where nothing better does.
  headed_ = (text_.empty() || may_be_a_start(text_)) && !heading_.empty();
  if (headed_) text_ = heading_;
  return text_;
}

void Arms::note_heading(std::string_view text) {
  if (too_many_) return;
  std::string found;
  arm_of_heading(text, found);
  if (!found.empty()) heading_ = std::move(found);
}

bool Arms::wanted(std::string_view arm) {
  if (!chooses() || arm.empty()) return true;
  const bool chosen = arm == choice_->only;
  const bool other = !chosen && std::find(choice_->known.begin(), choice_->known.end(), arm) != choice_->known.end();
  passed_ = chosen ? 0 : passed_ + (other ? 1 : 0);
  return !other;
}

bool Arms::names_same(std::span<const RowNumber> numbers) const {
  return std::all_of(numbers.begin(), numbers.end(),
                     [this](const RowNumber& one) { return figures_.find(one.key) != figures_.end(); });
}

/// With the record of another arm at the same step.
void Arms::compare(std::span<const RowNumber> numbers) {
  size_t same = 0, other = 0;
  bool rewards = false;
  for (const RowNumber& one : numbers) {
    const auto held = figures_.find(one.key);
    if (held == figures_.end() || one.value == std::round(one.value)) continue;
    rewards = rewards || says_reward(one.key);
    ++(figures_differ(held->second, one.value) ? other : same);
  }
  if (!rewards) return;
  ++(other >= same ? other_ : equal_);
}

void Arms::note(std::string_view arm, Arm& one, int64_t step) {
  ++one.records;
  if (one.steps.holds(step)) {
    ++one.repeats;
  } else {
    if (steps_.holds(step)) ++one.shared;
    one.steps.add(step);
    steps_.add(step);
  }
  if (arm != last_ && one.records > 1) ++turns_;
  last_ = arm;
}

Arms::Take Arms::take(std::string_view arm, int64_t step, std::span<const RowNumber> numbers) {
  if (too_many_ || arm.empty() || step == kNoStep || chooses()) return Take::kTake;
  auto known = arms_.find(arm);
  if (known == arms_.end()) {
    if (arms_.size() >= kArms) {
      too_many_ = true;
      arms_.clear();
      return Take::kTake;
    }
    if (arms_.empty()) first_ = arm;
    const size_t order = arms_.size();
    known = arms_.emplace(std::string(arm), Arm()).first;
    known->second.order = order;
    known->second.headed = headed_;
  }
  const bool beside = step == held_ && arm != holder_ && names_same(numbers);
  if (beside) compare(numbers);
  note(arm, known->second, step);
  followed_ = turns_ >= kTurns && arms_.size() > 1 && sure(kTurns);
  if (followed_) return arm == first_ ? Take::kTake : Take::kOther;
  if (beside && arm != first_) return Take::kBeside;
  held_ = step;
  holder_ = arm;
  figures_.clear();
  for (const RowNumber& number : numbers) {
    if (figures_.size() < kFigures) figures_[std::string(number.key)] = number.value;
  }
  return Take::kTake;
}

/// Do only names tell the arms apart that another start of the same training may have as well?
bool Arms::by_runs_name() const {
  return std::any_of(arms_.begin(), arms_.end(), [](const auto& one) { return may_be_a_start(one.first); });
}

/// Do headings tell them apart that name nothing else, so that steps may go on from one to the next?
bool Arms::by_headings() const {
  return std::all_of(arms_.begin(), arms_.end(), [](const auto& one) {
    return one.second.headed && names_arm_alone(std::string_view(one.first).substr(0, one.first.find('=')));
  });
}

/// Several arms, of which each has a record of each step.
bool Arms::sure(int64_t least) const {
  int64_t all = 0, most = 0, shared = 0, repeats = 0;
  int arms = 0;
  for (const auto& [name, arm] : arms_) {
    all += arm.records;
    most = std::max(most, arm.records);
    shared += arm.shared;
    repeats += arm.repeats;
    arms += arm.records >= least ? 1 : 0;
  }
  if (arms < 2 || static_cast<double>(repeats) > kRepeats * static_cast<double>(all)) return false;
  if (static_cast<double>(shared) < kShared * static_cast<double>(all - most) && !by_headings()) return false;
  if (equal_ > other_) return false;  // two loggers of one training
  return turns_ >= kTurns || !by_runs_name();
}

void Arms::finish() {
  if (choice_ == nullptr || chooses() || too_many_ || !sure(kLeast)) return;
  std::vector<std::pair<size_t, std::string>> in_order;
  for (const auto& [name, arm] : arms_) {
    if (arm.records >= kLeast) in_order.emplace_back(arm.order, name);
  }
  std::sort(in_order.begin(), in_order.end());
  std::vector<std::string> names;
  for (auto& [order, name] : in_order) names.push_back(std::move(name));
  if (choice_->found.empty()) {
    choice_->found = std::move(names);
  } else {
    choice_->differ = choice_->differ || choice_->found != names;
  }
}

}  // namespace mw
