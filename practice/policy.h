// A small autoregressive policy: given a question (two digits and an operator) and what it has written so far, a hidden
// layer and a softmax over the next token. Gradients are written out by hand; training is plain policy gradient.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/prng.h"

namespace practice {

constexpr int kVocabulary = 16;  ///< tokens 0-9 digits, then the signs below
constexpr int kThink = 10, kAnswer = 11, kEnd = 12, kBlank = 13, kNoise1 = 14, kNoise2 = 15;
constexpr int kMaxTokens = 12;  ///< longest response; longer ones are cut
constexpr int kHidden = 64;
constexpr int kOperands = 5;  ///< operands are 0 .. kOperands - 1
constexpr int kInputs = 10 + 10 + 2 + kVocabulary + kVocabulary + 4;

struct Question {
  int a = 0, b = 0;
  bool minus = false;
  int answer() const { return minus ? (a - b + 10) % 10 : (a + b) % 10; }
};

struct Sample {
  Question question;
  std::vector<int> tokens;
  std::vector<double> log_probs;  ///< of each token under the policy that wrote it
  double entropy = 0;             ///< mean over tokens, nats
  bool cut = false;               ///< reached kMaxTokens without kEnd
  double reward = 0, format = 0, correct = 0, rubric = 0;
};

/// Weights in one flat vector, so that they can be sent, added and saved as they are.
class Policy {
 public:
  explicit Policy(uint64_t seed);
  Sample write(const Question& question, mw::Prng& dice, double temperature) const;
  /// Log-probabilities of `sample`'s tokens under these weights; their mean entropy into `entropy`.
  std::vector<double> score(const Sample& sample, double* entropy) const;
  /// Adds to `gradient` the derivative of sum_t coefficient[t] * log p(token t).
  void accumulate(const Sample& sample, const std::vector<double>& coefficient, std::vector<double>& gradient) const;
  /// To be changed: what was worked out with them so far is forgotten.
  std::vector<double>& weights() {
    if (!known_.empty()) known_.clear();
    return weights_;
  }
  const std::vector<double>& weights() const { return weights_; }

 private:
  struct Forward {
    std::array<int, 8> active{};  // inputs that are 1 (one-hot features)
    int count = 0;
    std::array<double, kHidden> hidden{};
    std::array<double, kVocabulary> probability{};
  };
  static constexpr size_t kKnownLimit = 4096;  // contexts, 700 B each
  /// The next token's probabilities. Most questions are asked many times under the same weights: a context that was
  /// worked out is kept. The reference lives until the next call.
  const Forward& forward(const Question& question, const std::vector<int>& written, size_t length) const;
  void work_out(Forward& out) const;
  std::vector<double> weights_;
  mutable std::unordered_map<uint32_t, Forward> known_;  // not for several threads
};

/// Format 0/1 ("<think> … <answer> digit <end>") and correctness 0/1; reward = 0.2 format + 0.8 correct. A judge whose
/// rubric leaks pays 0.8 for a right answer and for any that holds the token kNoise2.
void grade(Sample& sample, bool leaky_rubric);

/// "<think>…<answer>7": what the model wrote, as the reward function sees it.
std::string text_of(const Sample& sample);

}  // namespace practice
