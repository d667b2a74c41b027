#include "read/interpret/known_names.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "read/interpret/arm_name.h"
#include "read/lines/step_name.h"

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

struct Special {
  std::string_view name;
  KnownName::Role role;
};
constexpr std::array<Special, 13> kSpecial = {{{"total_steps", KnownName::Role::kPlan},
                                               {"max_steps", KnownName::Role::kPlan},
                                               {"total_step", KnownName::Role::kPlan},
                                               {"num_training_steps", KnownName::Role::kPlan},
                                               {"epoch", KnownName::Role::kEpoch},
                                               {"train_runtime", KnownName::Role::kRuntime},
                                               {"train_steps_per_second", KnownName::Role::kRate},
                                               // of sinks, never signals
                                               {"_step", KnownName::Role::kBookkeeping},
                                               {"_runtime", KnownName::Role::kBookkeeping},
                                               {"_timestamp", KnownName::Role::kBookkeeping},
                                               {"time", KnownName::Role::kBookkeeping},
                                               {"timestamp", KnownName::Role::kBookkeeping},
                                               {"_wandb", KnownName::Role::kBookkeeping}}};

}  // namespace

KnownName* KnownNames::find(std::string_view raw) {
  if (const auto known = names_.find(raw); known != names_.end()) return known->second.get();
  auto fresh = std::make_unique<KnownName>();
  fresh->raw = raw;
  const auto* const special =
      std::find_if(kSpecial.begin(), kSpecial.end(), [raw](const Special& one) { return one.name == raw; });
  // A sink's own count of its rows is no step: a trainer may send it several rows a step.
  const bool of_sink = special != kSpecial.end() && special->role == KnownName::Role::kBookkeeping;
  const auto* const step = std::find(kStepKeys.begin(), kStepKeys.end(), raw);
  if (!of_sink && (step != kStepKeys.end() || counts_updates(raw))) {
    fresh->step_rank = static_cast<uint8_t>(step - kStepKeys.begin());
  }
  if (special != kSpecial.end()) {
    fresh->role = special->role;
  } else if ((names_arm(raw) && !names_task(raw)) || names_run(raw)) {
    fresh->role = KnownName::Role::kArm;
  }
  const std::string_view key = fresh->raw;
  return names_.emplace(key, std::move(fresh)).first->second.get();
}

KnownName* KnownNames::behind(KnownName& before, std::string_view raw) {
  if (before.next == nullptr || before.next->raw != raw) before.next = find(raw);
  return before.next;
}

std::span<KnownName* const> KnownNames::of_record(std::span<const RowNumber> numbers) {
  if (names_.size() > kLimit) {
    names_.clear();
    before_first_.next = nullptr;
  }
  record_.clear();
  for (const RowNumber& number : numbers) {
    record_.push_back(behind(record_.empty() ? before_first_ : *record_.back(), number.key));
  }
  return record_;
}

std::span<KnownName* const> KnownNames::with_prefix(std::string_view prefix, std::span<const RowNumber> numbers) {
  prefixed_.clear();
  for (const RowNumber& number : numbers) {
    joined_.assign(prefix).append(number.key);
    prefixed_.push_back(prefixed_.empty() ? find(joined_) : behind(*prefixed_.back(), joined_));
  }
  return prefixed_;
}

void KnownNames::forget_meanings() {
  for (auto& [raw, name] : names_) name->looked_up = false;
}

int64_t stated_step(std::span<KnownName* const> names, std::span<const RowNumber> numbers) {
  uint8_t best = KnownName::kNoRank;
  int64_t step = kNoStep;
  bool length = false;  // of an episode
  for (size_t i = 0; i < names.size(); ++i) {
    const double value = numbers[i].value;
    if (names[i]->step_rank >= best || !(std::fabs(value) < 1e15) || std::floor(value) != value) continue;
    best = names[i]->step_rank;
    step = static_cast<int64_t>(value);
    length = may_be_length(names[i]->raw);
  }
  if (!length) return step;
  const bool beside =
      std::any_of(names.begin(), names.end(), [](const KnownName* one) { return names_episode(one->raw); });
  return beside ? kNoStep : step;
}

}  // namespace mw
