#include "read/files/json_rewards.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <vector>

#include "base/text.h"
#include "read/files/json_members.h"
#include "read/files/json_value.h"
#include "read/lines/reward_list.h"

namespace mw {
namespace {

constexpr std::string_view kName = "\"rewards\"";
constexpr double kRounded = 1e-3;  // how far a mean that was written for people may lie from that of the list

/// False where the list holds something else than finite numbers and such lists, or too many.
bool collect(std::string_view list, int depth, std::vector<double>& numbers) {
  constexpr int kDeepest = 3;
  bool fit = depth < kDeepest;
  const bool whole =
      fit && for_each_element(list, [&](std::string_view element) {
        double number = 0;
        if (!fit) return;
        if (element[0] == '[') {
          fit = collect(element, depth + 1, numbers);
        } else {
          fit = read_json_number(element, number) && std::isfinite(number) && numbers.size() < kMostRewards;
          if (fit) numbers.push_back(number);
        }
      });
  return whole && fit;
}

}  // namespace

void add_listed_rewards(std::string_view json, RowBuilder& row) {
  if (memmem(json.data(), json.size(), kName.data(), kName.size()) == nullptr) return;
  const auto of_reward = [](const RowNumber& one) { return contains_folded(one.key, "reward"); };
  std::vector<double> said;
  for (const RowNumber& one : row.numbers())
    if (of_reward(one)) said.push_back(one.value);
  std::vector<double> numbers;
  for_each_member(json, [&](std::string_view key, std::string_view value) {
    if (key == "rewards" && value[0] == '[' && !collect(value, 0, numbers)) numbers.clear();
  });
  if (numbers.size() < 2) return;
  double sum = 0, squares = 0;
  for (const double one : numbers) sum += one;
  const double mean = sum / static_cast<double>(numbers.size());
  for (const double one : numbers) squares += (one - mean) * (one - mean);
  const auto [least, most] = std::minmax_element(numbers.begin(), numbers.end());
  if (said.empty()) {
    row.add_number("reward", mean);
  } else if (said.size() > 1 || std::abs(said[0] - mean) > kRounded * std::max(1.0, std::abs(mean))) {
    return;  // the row says more of its rewards itself, or they are of something else: of parts, of turns
  }
  row.add_number("reward_max", *most);
  row.add_number("reward_min", *least);
  row.add_number("reward_std", *least == *most ? 0 : std::sqrt(squares / static_cast<double>(numbers.size())));
}

}  // namespace mw
