// The learning of the practice run: group-relative advantages, clipped policy gradient, Adam, held-out evaluation.
#pragma once

#include <cstdint>
#include <vector>

#include "base/prng.h"
#include "practice/checkpoint.h"
#include "practice/policy.h"
#include "practice/speak.h"

namespace practice {

struct LearnSettings {
  int groups = 32, group_size = 16, updates = 2;
  double lr = 0.004, clip = 0.2, max_norm = 1.0;
};

Question draw_question(mw::Prng& dice);

/// What can be said of a step's samples before anything is learnt from them.
void describe(const std::vector<Sample>& samples, StepFigures& f);

class Learner {
 public:
  Learner(uint64_t seed, const LearnSettings& settings) : settings_(settings), policy_(seed) {}

  const Policy& policy() const { return policy_; }
  void set_lr(double lr) { settings_.lr = lr; }

  /// Supervised warm-up on answers in the right form of which every third is right, as a model comes to RL.
  void warm_up(mw::Prng& dice);
  std::vector<double> advantages(const std::vector<Sample>& samples, StepFigures& f) const;
  /// Clipped policy gradient over the step's samples, `updates` passes.
  void learn(const std::vector<Sample>& samples, const std::vector<double>& advantage, StepFigures& f);
  /// Held-out: pass@1 is the share of all questions that are answered rightly at temperature near zero; pass@8 is the
  /// unbiased estimator of Chen et al., arXiv 2107.03374, over 16 samples each at temperature 1.
  Evaluation evaluate() const;

  Checkpoint checkpoint(int64_t step) const { return {step, adam_steps_, policy_.weights(), first_, second_}; }
  void restore(const Checkpoint& from);

 private:
  void ascend(const std::vector<double>& gradient, double scale);
  double pass(const Sample& sample, double advantage, double tokens, StepFigures& f,
              std::vector<double>& gradient) const;

  LearnSettings settings_;
  Policy policy_;
  std::vector<double> first_, second_;  // Adam's moments
  int adam_steps_ = 0;
};

}  // namespace practice
