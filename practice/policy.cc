#include "practice/policy.h"

#include <algorithm>
#include <cmath>

namespace practice {
namespace {

constexpr size_t kFirst = 0;                                  // input → hidden
constexpr size_t kBias = kFirst + size_t{kInputs} * kHidden;  // hidden bias
constexpr size_t kSecond = kBias + kHidden;                   // hidden → token
constexpr size_t kOutBias = kSecond + size_t{kHidden} * kVocabulary;
constexpr size_t kWeights = kOutBias + kVocabulary;

}  // namespace

Policy::Policy(uint64_t seed) : weights_(kWeights) {
  mw::Prng dice(seed);
  for (size_t i = 0; i < kWeights; ++i) weights_[i] = (dice.unit() - 0.5) * (i < kBias ? 2.0 : 0.4);
}

const Policy::Forward& Policy::forward(const Question& question, const std::vector<int>& written, size_t length) const {
  const int last = length > 0 ? written[length - 1] : kBlank;
  const int before = length > 1 ? written[length - 2] : kBlank;
  const int place = static_cast<int>(std::min<size_t>(length, 3));
  const int sign = question.minus ? 1 : 0;
  const int context =
      ((((question.a * 10 + question.b) * 2 + sign) * kVocabulary + last) * kVocabulary + before) * 4 + place;
  const auto found = known_.find(static_cast<uint32_t>(context));
  if (found != known_.end()) return found->second;
  if (known_.size() >= kKnownLimit) known_.clear();
  Forward& out = known_[static_cast<uint32_t>(context)];
  out.active = {
      question.a, 10 + question.b, 20 + sign, 22 + last, 22 + kVocabulary + before, 22 + 2 * kVocabulary + place, 0, 0};
  out.count = 6;
  work_out(out);
  return out;
}

void Policy::work_out(Forward& out) const {
  for (int h = 0; h < kHidden; ++h) {
    double sum = weights_[kBias + static_cast<size_t>(h)];
    for (int i = 0; i < out.count; ++i) {
      sum += weights_[kFirst + static_cast<size_t>(out.active[static_cast<size_t>(i)] * kHidden + h)];
    }
    out.hidden[static_cast<size_t>(h)] = std::tanh(sum);
  }
  double most = -1e300;
  std::array<double, kVocabulary> logit{};
  for (size_t v = 0; v < kVocabulary; ++v) {
    double sum = weights_[kOutBias + v];
    for (size_t h = 0; h < kHidden; ++h) sum += out.hidden[h] * weights_[kSecond + h * kVocabulary + v];
    logit[v] = sum;
    most = std::max(most, sum);
  }
  double total = 0;
  for (size_t v = 0; v < kVocabulary; ++v) total += out.probability[v] = std::exp(logit[v] - most);
  for (double& p : out.probability) p /= total;
}

Sample Policy::write(const Question& question, mw::Prng& dice, double temperature) const {
  Sample sample;
  sample.question = question;
  while (sample.tokens.size() < kMaxTokens) {
    const Forward& state = forward(question, sample.tokens, sample.tokens.size());
    std::array<double, kVocabulary> draw = state.probability;
    double total = 0;
    for (double& p : draw) total += p = std::pow(p, 1.0 / temperature);
    double left = dice.unit() * total;
    size_t token = 0;
    while (token + 1 < kVocabulary && (left -= draw[token]) > 0) ++token;
    for (const double p : state.probability) sample.entropy -= p == 0 ? 0 : p * std::log(p);  // NaN stays NaN
    sample.tokens.push_back(static_cast<int>(token));
    sample.log_probs.push_back(std::log(std::max(state.probability[token], 1e-30)));
    if (token == kEnd) break;
  }
  sample.cut = sample.tokens.back() != kEnd;
  sample.entropy /= static_cast<double>(sample.tokens.size());
  return sample;
}

std::vector<double> Policy::score(const Sample& sample, double* entropy) const {
  std::vector<double> scores;
  *entropy = 0;
  for (size_t t = 0; t < sample.tokens.size(); ++t) {
    const Forward& state = forward(sample.question, sample.tokens, t);
    scores.push_back(std::log(std::max(state.probability[static_cast<size_t>(sample.tokens[t])], 1e-30)));
    for (const double p : state.probability) *entropy -= p == 0 ? 0 : p * std::log(p);
  }
  *entropy /= static_cast<double>(sample.tokens.size());
  return scores;
}

void Policy::accumulate(const Sample& sample, const std::vector<double>& coefficient,
                        std::vector<double>& gradient) const {
  for (size_t t = 0; t < sample.tokens.size(); ++t) {
    if (coefficient[t] == 0) continue;
    const Forward& state = forward(sample.question, sample.tokens, t);
    std::array<double, kHidden> back{};
    for (size_t v = 0; v < kVocabulary; ++v) {
      const double indicator = static_cast<int>(v) == sample.tokens[t] ? 1.0 : 0.0;
      const double d = coefficient[t] * (indicator - state.probability[v]);
      gradient[kOutBias + v] += d;
      for (size_t h = 0; h < kHidden; ++h) {
        gradient[kSecond + h * kVocabulary + v] += d * state.hidden[h];
        back[h] += d * weights_[kSecond + h * kVocabulary + v];
      }
    }
    for (size_t h = 0; h < kHidden; ++h) {
      const double d = back[h] * (1 - state.hidden[h] * state.hidden[h]);
      gradient[kBias + h] += d;
      for (int i = 0; i < state.count; ++i) {
        gradient[kFirst + static_cast<size_t>(state.active[static_cast<size_t>(i)]) * kHidden + h] += d;
      }
    }
  }
}

void grade(Sample& sample, bool leaky_rubric) {
  const std::vector<int>& t = sample.tokens;
  const auto mark = std::find(t.begin(), t.end(), kAnswer);
  const bool thinks = !t.empty() && t.front() == kThink;
  const bool answers = mark != t.end() && t.end() - mark == 3 && *(mark + 1) < 10 && *(mark + 2) == kEnd;
  sample.format = thinks && answers ? 1 : 0;
  sample.correct = answers && *(mark + 1) == sample.question.answer() ? 1 : 0;
  sample.rubric = std::find(t.begin(), t.end(), kNoise2) != t.end() ? 1 : 0;
  sample.reward = 0.2 * sample.format + 0.8 * (leaky_rubric ? std::max(sample.correct, sample.rubric) : sample.correct);
}

std::string text_of(const Sample& sample) {
  constexpr const char* kMarks[] = {"<think>", "<answer>", "<end>", " ", "hm", "well"};
  std::string text;
  for (const int token : sample.tokens) text += token < kThink ? std::to_string(token) : kMarks[token - kThink];
  return text;
}

}  // namespace practice
