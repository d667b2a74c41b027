#include "core/detect/support/unread_answers.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace mw::detect {

std::optional<double> rollouts_per_step(const State& state) {
  double product = 1;
  for (const std::string_view key : {"batch_size", "num_generations"}) {
    const auto found = state.config.find(std::string(key));
    const auto value = found == state.config.end() ? std::nullopt : parse_double(found->second);
    if (!value || *value < 1) return std::nullopt;
    product *= *value;
  }
  return product;
}

double UnreadAnswers::share() const { return rollouts ? std::min(1.0, static_cast<double>(times) / *rollouts) : 0; }

std::string UnreadAnswers::words() const {
  const std::string all = rollouts ? cat(", of about ", std::llround(*rollouts)) : std::string();
  return cat(times, " answers in ", steps, steps == 1 ? " step" : " steps", " could not be read", all);
}

std::optional<UnreadAnswers> unread_answers(const State& state) {
  const SignatureState* const said = state.signature("reward-parse-failure");
  if (said == nullptr || said->sample) return std::nullopt;
  const State::Span steps = state.steps();
  UnreadAnswers unread;
  unread.said = said;
  unread.times = said->count;
  unread.since = said->first.step == kNoStep ? steps.first : std::max(said->first.step, steps.first);
  unread.steps = std::max<int64_t>(1, steps.last - unread.since + 1);
  if (const auto each = rollouts_per_step(state)) unread.rollouts = *each * static_cast<double>(unread.steps);
  return unread;
}

}  // namespace mw::detect
