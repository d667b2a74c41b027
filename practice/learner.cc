#include "practice/learner.h"

#include <algorithm>
#include <cmath>

namespace practice {
namespace {

constexpr int kEvalSamples = 16, kEvalPasses = 8;

/// 1 - C(n - right, k) / C(n, k), as a product.
double pass_at(int n, int right, int k) {
  if (n - right < k) return 1;
  double none = 1;
  for (int i = n - right + 1; i <= n; ++i) none *= 1 - static_cast<double>(k) / i;
  return 1 - none;
}

/// The value below which `share` of all lie.
double quantile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  const auto place = static_cast<size_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + static_cast<ptrdiff_t>(place), values.end());
  return values[place];
}

}  // namespace

Question draw_question(mw::Prng& dice) {
  return {static_cast<int>(dice.below(kOperands)), static_cast<int>(dice.below(kOperands)), dice.chance(0.5)};
}

void describe(const std::vector<Sample>& samples, StepFigures& f) {
  f.reward_min = f.length_min = 1e9;
  f.reward_max = -1e9;
  double ended = 0;
  const auto n = static_cast<double>(samples.size());
  std::vector<double> rewards, entropies;
  for (const Sample& s : samples) {
    const auto length = static_cast<double>(s.tokens.size());
    f.reward_mean += s.reward / n;
    f.format_rate += s.format / n;
    f.correct_rate += s.correct / n;
    f.rubric_rate += s.rubric / n;
    f.high_but_wrong += s.reward >= 0.8 && s.correct == 0 ? 1 / n : 0;
    f.length_mean += length / n;
    f.cut_rate += s.cut ? 1 / n : 0;
    f.tokens += length + 3;
    f.reward_min = std::min(f.reward_min, s.reward);
    f.reward_max = std::max(f.reward_max, s.reward);
    f.length_min = std::min(f.length_min, length);
    f.length_max = std::max(f.length_max, length);
    if (!s.cut) ended += 1, f.terminated_length += length;
    rewards.push_back(s.reward);
    entropies.push_back(s.entropy);
  }
  if (ended > 0) f.terminated_length /= ended;
  f.reward_p90 = quantile(rewards, 0.9);
  f.entropy_p10 = quantile(entropies, 0.1);
  f.entropy_p90 = quantile(entropies, 0.9);
}

std::vector<double> Learner::advantages(const std::vector<Sample>& samples, StepFigures& f) const {
  std::vector<double> result(samples.size());
  const auto size = static_cast<size_t>(settings_.group_size);
  double spread = 0;
  for (size_t g = 0; g * size < samples.size(); ++g) {
    double mean = 0, square = 0;
    for (size_t i = g * size; i < (g + 1) * size; ++i) mean += samples[i].reward / static_cast<double>(size);
    for (size_t i = g * size; i < (g + 1) * size; ++i) square += std::pow(samples[i].reward - mean, 2);
    const double deviation = std::sqrt(square / static_cast<double>(size));
    spread += deviation;
    if (deviation == 0) f.zero_std_groups += 1.0 / settings_.groups;
    for (size_t i = g * size; i < (g + 1) * size; ++i) result[i] = (samples[i].reward - mean) / (deviation + 1e-4);
  }
  f.reward_std = spread / settings_.groups;
  f.advantage_min = *std::min_element(result.begin(), result.end());
  f.advantage_max = *std::max_element(result.begin(), result.end());
  double square = 0;
  for (const double a : result) square += a * a / static_cast<double>(result.size());
  f.advantage_std = std::sqrt(square);
  return result;
}

/// One sample's part in a pass: adds to `gradient` and to the figures; its mean entropy.
double Learner::pass(const Sample& sample, double advantage, double tokens, StepFigures& f,
                     std::vector<double>& gradient) const {
  double entropy = 0;
  const std::vector<double> now = policy_.score(sample, &entropy);
  std::vector<double> coefficient(now.size(), 0.0);
  for (size_t t = 0; t < now.size(); ++t) {
    const double ratio = std::exp(now[t] - sample.log_probs[t]);
    const double bounded = std::clamp(ratio, 1 - settings_.clip, 1 + settings_.clip);
    const bool cut = ratio * advantage > bounded * advantage;
    f.loss -= std::min(ratio * advantage, bounded * advantage) / tokens;
    coefficient[t] = cut ? 0 : ratio * advantage / tokens;
    f.clip_frac += cut ? 1 / tokens : 0;
    f.kl += (sample.log_probs[t] - now[t]) / tokens;
    f.ratio_mean += ratio / tokens;
    f.logp_diff += std::abs(sample.log_probs[t] - now[t]) / tokens;
    f.mismatch_kl += (ratio - 1 - (now[t] - sample.log_probs[t])) / tokens;
  }
  policy_.accumulate(sample, coefficient, gradient);
  return entropy;
}

void Learner::learn(const std::vector<Sample>& samples, const std::vector<double>& advantage, StepFigures& f) {
  double tokens = 0;
  for (const Sample& s : samples) tokens += static_cast<double>(s.tokens.size());
  double first_diff = 0, first_kl = 0;
  for (int round = 0; round < settings_.updates; ++round) {
    std::vector<double> gradient(policy_.weights().size(), 0.0);
    f.clip_frac = f.kl = f.loss = f.ratio_mean = f.entropy = f.logp_diff = f.mismatch_kl = 0;
    for (size_t i = 0; i < samples.size(); ++i) {
      f.entropy += pass(samples[i], advantage[i], tokens, f, gradient) / static_cast<double>(samples.size());
    }
    // Before the first update trainer and engine should have the same weights: what differs then is their mismatch.
    if (round == 0) first_diff = f.logp_diff, first_kl = f.mismatch_kl;
    double norm = 0;
    for (const double g : gradient) norm += g * g;
    norm = std::sqrt(norm);
    ascend(gradient, std::min(1.0, settings_.max_norm / (norm + 1e-12)));
    f.grad_norm = norm;
  }
  f.logp_diff = first_diff;
  f.mismatch_kl = first_kl;
  f.lr = settings_.lr;
}

void Learner::warm_up(mw::Prng& dice) {
  for (int round = 0; round < 60; ++round) {
    std::vector<double> gradient(policy_.weights().size(), 0.0);
    for (int i = 0; i < 64; ++i) {
      Sample s;
      s.question = draw_question(dice);
      const int digit = dice.chance(0.3) ? s.question.answer() : static_cast<int>(dice.below(10));
      s.tokens = {kThink, kAnswer, digit, kEnd};
      if (dice.chance(0.3)) s.tokens.insert(s.tokens.begin() + 1, kNoise1);
      policy_.accumulate(s, std::vector<double>(s.tokens.size(), 1.0 / 256), gradient);
    }
    ascend(gradient, 1);
  }
  first_.clear(), second_.clear(), adam_steps_ = 0;
}

/// One step of Adam (Kingma and Ba, 2015), uphill.
void Learner::ascend(const std::vector<double>& gradient, double scale) {
  first_.resize(gradient.size());
  second_.resize(gradient.size());
  ++adam_steps_;
  const double c1 = 1 - std::pow(0.9, adam_steps_), c2 = 1 - std::pow(0.99, adam_steps_);
  for (size_t w = 0; w < gradient.size(); ++w) {
    const double g = gradient[w] * scale;
    first_[w] = 0.9 * first_[w] + 0.1 * g;
    second_[w] = 0.99 * second_[w] + 0.01 * g * g;
    policy_.weights()[w] += settings_.lr * (first_[w] / c1) / (std::sqrt(second_[w] / c2) + 1e-8);
  }
}

Evaluation Learner::evaluate() const {
  Evaluation result;
  mw::Prng fixed(1), drawn(2);
  const double questions = 2.0 * kOperands * kOperands;
  for (int a = 0; a < kOperands; ++a) {
    for (int b = 0; b < kOperands; ++b) {
      for (const bool minus : {false, true}) {
        const Question question{a, b, minus};
        Sample best = policy_.write(question, fixed, 0.05);
        grade(best, false);
        result.pass1 += best.correct / questions;
        int right = 0;
        for (int i = 0; i < kEvalSamples; ++i) {
          Sample s = policy_.write(question, drawn, 1.0);
          grade(s, false);
          right += s.correct > 0 ? 1 : 0;
        }
        result.pass8 += pass_at(kEvalSamples, right, kEvalPasses) / questions;
      }
    }
  }
  return result;
}

void Learner::restore(const Checkpoint& from) {
  policy_.weights() = from.weights;
  first_ = from.first;
  second_ = from.second;
  adam_steps_ = static_cast<int>(from.adam_steps);
}

}  // namespace practice
