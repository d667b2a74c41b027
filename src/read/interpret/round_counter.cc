#include "read/interpret/round_counter.h"

#include <array>
#include <cmath>
#include <cstdlib>
#include <string>

#include "base/numbers.h"
#include "base/one_of.h"
#include "base/text.h"

namespace mw {
namespace {

constexpr int kSure = 3;           // records
constexpr int64_t kMostAhead = 1;  // one counts from 0, or generates for the next step
constexpr size_t kValueBytes = 24;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// "[rollout 12] ", "Rollout 12/300: ", "generation #12 | " at the beginning of a line.
std::optional<StepPlace> numbered(std::string_view text) {
  static constexpr std::array<std::string_view, 8> kWords = {"rollout",  "rollouts",   "generation", "gen",
                                                             "sampling", "experience", "collect",    "collection"};
  static constexpr std::string_view kBefore = "[(#=-* ", kBetween = " _#-:=", kAfter = "]): |,-=";
  size_t begin = text.find_first_not_of(kBefore), end = begin;
  if (begin == std::string_view::npos || begin > 4) return std::nullopt;
  while (end < text.size() && is_letter(text[end])) ++end;
  if (!is_one_of(to_lower(text.substr(begin, std::min<size_t>(end - begin, 16))), kWords)) return std::nullopt;
  size_t number = end;
  while (number < text.size() && number - end < 2 && kBetween.find(text[number]) != std::string_view::npos) ++number;
  size_t used = number;
  while (used < text.size() && is_digit(text[used])) ++used;
  const auto count = parse_int(text.substr(number, used - number));
  if (!count) return std::nullopt;
  StepPlace at;
  at.step = *count;
  if (used + 1 < text.size() && text[used] == '/' && is_digit(text[used + 1])) {
    size_t total = ++used;
    while (used < text.size() && is_digit(text[used])) ++used;
    at.step_total = parse_int(text.substr(total, used - total)).value_or(0);
  }
  if (used >= text.size() || kAfter.find(text[used]) == std::string_view::npos) return std::nullopt;
  at.word = text.substr(begin, end - begin);
  at.end = used + 1;
  return at;
}

/// The first number behind "reward"; nothing where there is none.
std::optional<double> reward_in(std::string_view text) {
  const size_t word = find_part(text, "eward");
  if (word == std::string_view::npos) return std::nullopt;
  const size_t digit = text.find_first_of("0123456789", word);
  if (digit == std::string_view::npos || digit > word + kValueBytes) return std::nullopt;
  size_t used = 0;
  return parse_double_prefix(text.substr(digit), &used);
}

}  // namespace

std::optional<StepPlace> RoundCounter::place_of(std::string_view text) {
  const auto reward = reward_in(text);
  if (!reward) return std::nullopt;
  std::optional<StepPlace> at = numbered(text);
  if (!at) return std::nullopt;
  fractions_ = fractions_ || *reward != std::floor(*reward);
  lines_ = count_ == kNoStep || at->step == count_ + 1 ? lines_ + 1 : -1;
  count_ = at->step;
  if (agreed_ < kSure || !fractions_ || lines_ < 0) return std::nullopt;
  at->step += ahead_;
  return at;
}

void RoundCounter::trained(int64_t step) {
  if (count_ == kNoStep) return;
  const int64_t ahead = step - count_;
  const bool each = std::abs(ahead) <= kMostAhead && lines_ > 0 && (step_ == kNoStep || step - step_ == lines_);
  agreed_ = !each ? 0 : ahead == ahead_ ? agreed_ + 1 : 1;
  ahead_ = ahead;
  step_ = step;
  lines_ = 0;
}

}  // namespace mw
