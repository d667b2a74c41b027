#include "read/interpret/own_axis.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "base/checksum.h"
#include "base/one_of.h"
#include "read/lines/step_name.h"

namespace mw {
namespace {

// What an axis may be counted anew in.
constexpr std::array<std::string_view, 6> kOuter = {"stage", "phase", "level", "epoch", "curriculum_stage", "round"};
constexpr int64_t kBacksAllowed = 2;  // records that go back elsewhere than to the beginning, by chance or a resume,
constexpr int64_t kBacksShare = 50;   // and one more for so many records
constexpr double kExact = 1e15;       // doubles beyond do not count by one

bool is_count(double value) { return value >= 0 && value < kExact && value == std::floor(value); }

/// "timesteps": what an environment did by the first record depends on the size of a batch.
bool counts_environment(std::string_view name) {
  return name.find("steps") != std::string_view::npos || name == "timestep";
}

struct HistoryRow {
  double epoch = -1;
  bool trains = false;  // a loss with a rate
  uint64_t hash = 0;    // of all numbers
};

HistoryRow history_row(std::span<KnownName* const> names, std::span<const RowNumber> numbers) {
  HistoryRow row;
  bool loss = false, rate = false;
  row.hash = fnv1a("");
  for (size_t i = 0; i < names.size() && i < numbers.size(); ++i) {
    const double value = numbers[i].value;
    row.hash = fnv1a({reinterpret_cast<const char*>(&value), sizeof value}, row.hash);
    if (names[i]->raw == "epoch") row.epoch = value;
    loss = loss || names[i]->raw == "loss";
    rate = rate || names[i]->raw == "learning_rate";
  }
  row.trains = loss && rate;
  return row;
}

}  // namespace

bool OwnAxis::choose(std::span<KnownName* const> names, std::span<const RowNumber> numbers) {
  int best = -1;
  for (size_t i = 0; i < names.size() && i < numbers.size(); ++i) {
    const int rank = axis_rank(names[i]->raw);
    if (rank < 0 || (best >= 0 && rank >= best) || !is_count(numbers[i].value)) continue;
    if (numbers[i].value > 1 && !counts_environment(names[i]->raw)) continue;
    best = rank;
    name_ = names[i]->raw;
    first_ = last_ = static_cast<int64_t>(numbers[i].value);
  }
  return best >= 0;
}

/// To the beginning, within another round or of another start; or elsewhere, as after a resume.
void OwnAxis::begin_again(int64_t value, double outer) {
  if (value != first_ && ++backs_ > kBacksAllowed + records_ / kBacksShare) return give_up();
  base_ = value == first_ && outer > outer_ ? base_ + last_ + stride_ - first_ : 0;
}

/// Is it a row of a Trainer's history, which says how far its epoch is? Of one at the very beginning nobody knows yet
/// whether epochs are counted in parts: the next ones will show it.
bool OwnAxis::counts_rows(std::span<KnownName* const> names, std::span<const RowNumber> numbers) {
  const HistoryRow row = history_row(names, numbers);
  if (!row.trains || row.epoch < 0 || row.epoch >= 1) return give_up(), false;
  rows_ = row.epoch > 0;
  return rows_;
}

int64_t OwnAxis::row_of(std::span<KnownName* const> names, std::span<const RowNumber> numbers) {
  const HistoryRow row = history_row(names, numbers);
  if (!row.trains || row.epoch < 0) return kNoStep;
  if (row.hash == row_) return last_;
  last_ = row.epoch < epoch_ ? 1 : last_ + 1;
  epoch_ = row.epoch;
  row_ = row.hash;
  return last_;
}

int64_t OwnAxis::step_of(std::span<KnownName* const> names, std::span<const RowNumber> numbers) {
  if (dead_) return kNoStep;
  if (rows_) return row_of(names, numbers);
  if (name_.empty() && !choose(names, numbers)) return counts_rows(names, numbers) ? row_of(names, numbers) : kNoStep;
  double outer = 0;
  const RowNumber* own = nullptr;
  for (size_t i = 0; i < names.size() && i < numbers.size(); ++i) {
    if (names[i]->raw == name_) own = &numbers[i];
    if (is_one_of(names[i]->raw, kOuter) && names[i]->raw != name_) outer = numbers[i].value;
  }
  if (own == nullptr || !is_count(own->value)) return kNoStep;
  const auto value = static_cast<int64_t>(own->value);
  if (value < last_) begin_again(value, outer);
  if (dead_) return kNoStep;
  if (value > last_) stride_ = value - last_;
  if (value != last_) ++records_;
  last_ = value;
  outer_ = outer;
  return base_ + value;
}

}  // namespace mw
