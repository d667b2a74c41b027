#include "read/interpret/environment_lines.h"

#include <algorithm>
#include <array>
#include <functional>

#include "base/one_of.h"
#include "base/text.h"

namespace mw {
namespace {

constexpr size_t kNone = std::string_view::npos;
constexpr size_t kLeadBytes = 60;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// What there are many of within one step.
bool is_one_of_many(std::string_view word) {
  static constexpr std::array<std::string_view, 16> kWords = {
      "env",    "environment", "task",   "turn",         "game",     "traj",    "trajectory", "rollout",
      "sample", "completion",  "prompt", "conversation", "dialogue", "problem", "question",   "instance"};
  return is_one_of(to_lower(word), kWords);
}

/// "env 3", "[task 12]", "turn #2", "env_3", "rollout-7" among the words before the step, or at the beginning.
bool numbers_one(std::string_view text) {
  static constexpr std::string_view kBetween = " _#-:=";
  for (size_t at = 0; at < text.size();) {
    if (!is_letter(text[at])) {
      ++at;
      continue;
    }
    size_t end = at;
    while (end < text.size() && is_letter(text[end])) ++end;
    size_t number = end;
    while (number < text.size() && number - end < 2 && kBetween.find(text[number]) != kNone) ++number;
    if (number < text.size() && is_digit(text[number]) && is_one_of_many(text.substr(at, end - at))) return true;
    at = end;
  }
  return false;
}

/// "done=False", "terminated: True", "action=4": an environment answers an action.
bool answers_action(std::string_view text) {
  static constexpr std::array<std::string_view, 4> kEnds = {"done", "terminated", "truncated", "is_done"};
  for (size_t at = text.find_first_of("=:"); at != kNone; at = text.find_first_of("=:", at + 1)) {
    size_t begin = at;
    while (begin > 0 && (is_letter(text[begin - 1]) || text[begin - 1] == '_')) --begin;
    const std::string name = to_lower(text.substr(begin, at - begin));
    const std::string_view value = trim(text.substr(at + 1));
    if (name == "action" && !value.empty()) return true;
    const bool flag = value.starts_with("True") || value.starts_with("False") || value.starts_with("true") ||
                      value.starts_with("false");
    if (flag && is_one_of(name, kEnds)) return true;
  }
  return false;
}

/// The words before the step, without numbers.
std::string lead_of(std::string_view text, const StepPlace& at) {
  std::string lead(trim(text.substr(0, std::min(at.begin, kLeadBytes))));
  std::erase_if(lead, is_digit);
  return lead;
}

}  // namespace

bool EnvironmentLines::is_named(std::string_view text, const StepPlace& at) {
  if (answers_action(text)) return true;
  if (at.known()) return numbers_one(text.substr(0, std::min(at.begin, kLeadBytes)));
  const size_t colon = text.substr(0, kLeadBytes).find_first_of(":]|");  // "turn 3: reward 0.5"
  return colon != kNone && numbers_one(text.substr(0, colon));
}

void EnvironmentLines::trained(std::string_view text, const StepPlace& at) {
  if (at.step == kNoStep) return;
  if (step_ != kNoStep && at.step > step_) apart_ = at.step - step_;
  records_ = step_ == kNoStep || at.step > step_ ? records_ + 1 : 1;
  step_ = at.step;
  total_ = at.step_total;
  if (std::string lead = lead_of(text, at); lead != lead_) lead_ = std::move(lead);
}

bool EnvironmentLines::is_others(std::string_view text, const StepPlace& at) {
  if (records_ < kSure || at.step == kNoStep) return false;
  std::string lead = lead_of(text, at);
  const bool other_total = at.step_total > 0 && total_ > 0 && at.step_total != total_;
  if (lead == lead_ && !other_total) return false;
  if (other_total) lead += cat("/", at.step_total);
  const auto known = others_.find(lead);
  if (known != others_.end() && known->second >= kSure) return true;
  if (at.step >= step_ && at.step <= step_ + apart_) return false;
  if (others_.size() < kOthersLimit || known != others_.end()) ++others_[lead];
  return true;
}

}  // namespace mw
