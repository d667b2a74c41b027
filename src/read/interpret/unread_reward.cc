#include "read/interpret/unread_reward.h"

#include <algorithm>

#include "base/text.h"

namespace mw {
namespace {

constexpr size_t kLineBytes = 200;  // a longer one is a sentence, a dump or a sample
constexpr size_t kShapeBytes = 32;  // of a line's beginning
constexpr size_t kBetween = 10;     // from the name to its value

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// "reward: 0.31", "mean_reward=0.31", "reward_mean 0.31": a name with its value, a number with decimals.
bool has_reward(std::string_view text) {
  const size_t word = find_part(text, "eward");
  if (word == std::string_view::npos || word == 0 || (text[word - 1] != 'r' && text[word - 1] != 'R')) return false;
  static constexpr std::string_view kOfName = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_/";
  const size_t name = std::min(text.find_first_not_of(kOfName, word), text.size());
  size_t value = std::min(text.find_first_not_of(" :=|-'\"", name), text.size());
  for (const std::string_view mean : {"mean", "avg"}) {  // "rewards: mean 0.31"
    if (text.substr(value).starts_with(mean)) value = text.find_first_not_of(" :=", value + mean.size());
  }
  if (value >= text.size() || value - name > kBetween || !is_digit(text[value])) return false;
  const size_t point = text.find_first_not_of("0123456789", value);
  return point + 1 < text.size() && text[point] == '.' && is_digit(text[point + 1]);
}

}  // namespace

bool UnreadReward::saw(std::string_view text) {
  if (reported_ || text.size() > kLineBytes || !has_reward(text)) return false;
  std::string shape(trim(text).substr(0, kShapeBytes));
  std::erase_if(shape, [](char c) { return is_digit(c) || c == ' '; });
  const auto known = shapes_.find(shape);
  if (known == shapes_.end()) {
    if (shapes_.size() < kShapes) shapes_.emplace(std::move(shape), 1);
    return false;
  }
  reported_ = ++known->second >= kOften;
  return reported_;
}

}  // namespace mw
