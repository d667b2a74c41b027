// practice_run: a small but real policy-gradient (GRPO) training: a policy, an inference server of its own that can be
// killed, a reward with two parts, checkpoints. Its figures are those of the training; its clock is a practice clock,
// so that the same seed gives the same bytes.
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "base/numbers.h"
#include "practice/checkpoint.h"
#include "practice/engine.h"
#include "practice/policy.h"
#include "practice/speak.h"

namespace practice {
namespace {

struct Options {
  std::string speak = "areal", out = ".";
  int64_t steps = 120;
  int64_t kill_engine_at = 0;  // 0: never
  int64_t save_every = 20, eval_every = 20;
  uint64_t seed = 7;
  std::string when_engine_dies = "usual";  // "usual" (as the framework does), "zero", "crash", "hang"
  std::string checkpoints;                 // folder; "": none are written
  double pace = 0;                         // seconds a step takes at least, with a live clock
  bool live = false;
  int groups = 32, group_size = 16, updates = 2;
  double lr = 0.004, clip = 0.2, max_norm = 1.0;
};

struct Trainer {
  explicit Trainer(const Options& given)
      : options(given),
        policy(given.seed),
        engine(given.seed),
        dice(given.seed * 977),
        clock(given.live ? Clock::live() : Clock(*mw::parse_time("2026-01-15 08:00:00"))) {}

  const Options& options;
  Policy policy;
  Engine engine;
  mw::Prng dice;
  Clock clock;
  bool engine_alive = true;
  std::vector<double> first, second;  // Adam's moments
  int adam_steps = 0;

  /// Of all that is drawn in a step, where the run may be resumed; else 0, and the dice just go on.
  uint64_t seed_of(int64_t step) const {
    return options.checkpoints.empty() ? 0 : options.seed * 1'000'003 + static_cast<uint64_t>(step) * 2 + 1;
  }

  Question question() {
    return {static_cast<int>(dice.below(kOperands)), static_cast<int>(dice.below(kOperands)), dice.chance(0.5)};
  }

  /// The engine is dead. Does the training go on, on empty answers?
  bool after_death(Speaker& speaker, int64_t step) const {
    if (options.when_engine_dies == "usual") return speaker.engine_died(step);
    if (options.when_engine_dies == "crash") return speaker.engine_died(step), false;
    while (options.when_engine_dies == "hang") pause();  // as a client without a time-out waits
    speaker.requests_failed(step);
    return true;
  }

  std::vector<Sample> rollout(Speaker& speaker, int64_t step, bool* go_on) {
    std::vector<Question> questions;
    questions.reserve(static_cast<size_t>(options.groups));
    for (int i = 0; i < options.groups; ++i) questions.push_back(question());
    if (engine_alive) {
      auto samples = engine.generate(questions, options.group_size, 1.0, seed_of(step));
      if (samples) return *samples;
      engine_alive = false;
    }
    *go_on = after_death(speaker, step);
    // What frameworks that go on do: an empty response for every sample, which scores zero.
    std::vector<Sample> empty(questions.size() * static_cast<size_t>(options.group_size));
    for (size_t i = 0; i < empty.size(); ++i) {
      empty[i].question = questions[i / static_cast<size_t>(options.group_size)];
      empty[i].tokens = {kEnd};
      double entropy = 0;
      empty[i].log_probs = policy.score(empty[i], &entropy);
      empty[i].entropy = entropy;
    }
    return empty;
  }

  std::vector<double> advantages(const std::vector<Sample>& samples, StepFigures& f) const {
    std::vector<double> result(samples.size());
    const auto size = static_cast<size_t>(options.group_size);
    double spread = 0;
    for (size_t g = 0; g * size < samples.size(); ++g) {
      double mean = 0, square = 0;
      for (size_t i = g * size; i < (g + 1) * size; ++i) mean += samples[i].reward / static_cast<double>(size);
      for (size_t i = g * size; i < (g + 1) * size; ++i) square += std::pow(samples[i].reward - mean, 2);
      const double deviation = std::sqrt(square / static_cast<double>(size));
      spread += deviation;
      if (deviation == 0) f.zero_std_groups += 1.0 / options.groups;
      for (size_t i = g * size; i < (g + 1) * size; ++i) result[i] = (samples[i].reward - mean) / (deviation + 1e-4);
    }
    f.reward_std = spread / options.groups;
    f.advantage_min = *std::min_element(result.begin(), result.end());
    f.advantage_max = *std::max_element(result.begin(), result.end());
    return result;
  }

  void describe(const std::vector<Sample>& samples, StepFigures& f) const {
    f.reward_min = f.length_min = 1e9;
    f.reward_max = -1e9;
    double ended = 0;
    const auto n = static_cast<double>(samples.size());
    for (const Sample& s : samples) {
      const auto length = static_cast<double>(s.tokens.size());
      f.reward_mean += s.reward / n;
      f.format_rate += s.format / n;
      f.correct_rate += s.correct / n;
      f.length_mean += length / n;
      f.cut_rate += s.cut ? 1 / n : 0;
      f.tokens += length + 3;
      f.reward_min = std::min(f.reward_min, s.reward);
      f.reward_max = std::max(f.reward_max, s.reward);
      f.length_min = std::min(f.length_min, length);
      f.length_max = std::max(f.length_max, length);
      if (!s.cut) ended += 1, f.terminated_length += length;
    }
    if (ended > 0) f.terminated_length /= ended;
  }

  /// Clipped policy gradient over the step's samples, `updates` passes.
  void learn(const std::vector<Sample>& samples, const std::vector<double>& advantage, StepFigures& f) {
    double tokens = 0;
    for (const Sample& s : samples) tokens += static_cast<double>(s.tokens.size());
    for (int pass = 0; pass < options.updates; ++pass) {
      std::vector<double> gradient(policy.weights().size(), 0.0);
      double clipped = 0, kl = 0, loss = 0, ratios = 0, entropies = 0;
      for (size_t i = 0; i < samples.size(); ++i) {
        double entropy = 0;
        const std::vector<double> now = policy.score(samples[i], &entropy);
        entropies += entropy / static_cast<double>(samples.size());
        std::vector<double> coefficient(now.size(), 0.0);
        for (size_t t = 0; t < now.size(); ++t) {
          const double ratio = std::exp(now[t] - samples[i].log_probs[t]);
          const double bounded = std::clamp(ratio, 1 - options.clip, 1 + options.clip);
          const bool cut = ratio * advantage[i] > bounded * advantage[i];
          loss -= std::min(ratio * advantage[i], bounded * advantage[i]) / tokens;
          coefficient[t] = cut ? 0 : ratio * advantage[i] / tokens;
          clipped += cut ? 1 / tokens : 0;
          kl += (samples[i].log_probs[t] - now[t]) / tokens;
          ratios += ratio / tokens;
        }
        policy.accumulate(samples[i], coefficient, gradient);
      }
      double norm = 0;
      for (const double g : gradient) norm += g * g;
      norm = std::sqrt(norm);
      ascend(gradient, std::min(1.0, options.max_norm / (norm + 1e-12)));
      f.grad_norm = norm, f.clip_frac = clipped, f.kl = kl, f.loss = loss, f.ratio_mean = ratios, f.entropy = entropies;
    }
    f.lr = options.lr;
  }

  /// Supervised warm-up on answers in the right form of which every third is right, as a model comes to RL.
  void warm_up() {
    for (int pass = 0; pass < 60; ++pass) {
      std::vector<double> gradient(policy.weights().size(), 0.0);
      for (int i = 0; i < 64; ++i) {
        Sample s;
        s.question = question();
        const int digit = dice.chance(0.3) ? s.question.answer() : static_cast<int>(dice.below(10));
        s.tokens = {kThink, kAnswer, digit, kEnd};
        if (dice.chance(0.3)) s.tokens.insert(s.tokens.begin() + 1, kNoise1);
        policy.accumulate(s, std::vector<double>(s.tokens.size(), 1.0 / 256), gradient);
      }
      ascend(gradient, 1);
    }
    first.clear(), second.clear(), adam_steps = 0;
  }

  /// One step of Adam (Kingma and Ba, 2015), uphill.
  void ascend(const std::vector<double>& gradient, double scale) {
    first.resize(gradient.size());
    second.resize(gradient.size());
    ++adam_steps;
    const double c1 = 1 - std::pow(0.9, adam_steps), c2 = 1 - std::pow(0.99, adam_steps);
    for (size_t w = 0; w < gradient.size(); ++w) {
      const double g = gradient[w] * scale;
      first[w] = 0.9 * first[w] + 0.1 * g;
      second[w] = 0.99 * second[w] + 0.01 * g * g;
      policy.weights()[w] += options.lr * (first[w] / c1) / (std::sqrt(second[w] / c2) + 1e-8);
    }
  }

  /// Share of all questions that are answered rightly at temperature near zero.
  double evaluate() const {
    double right = 0;
    mw::Prng fixed(1);
    for (int a = 0; a < kOperands; ++a) {
      for (int b = 0; b < kOperands; ++b) {
        for (const bool minus : {false, true}) {
          Sample s = policy.write({a, b, minus}, fixed, 0.05);
          grade(s);
          right += s.correct / (2.0 * kOperands * kOperands);
        }
      }
    }
    return right;
  }

  /// The step to go on from (0: from the beginning); nullopt when the checkpoint is broken.
  std::optional<int64_t> resume(Speaker& speaker) {
    if (options.checkpoints.empty()) return 0;
    std::string problem;
    auto found = load_checkpoint(options.checkpoints, &problem);
    if (!problem.empty()) {
      std::fprintf(stderr, "RuntimeError: cannot load the checkpoint in %s: %s\n", options.checkpoints.c_str(),
                   problem.c_str());
      return std::nullopt;
    }
    if (!found) return 0;
    policy.weights() = found->weights;
    first = found->first;
    second = found->second;
    adam_steps = static_cast<int>(found->adam_steps);
    speaker.resumed(found->step, checkpoint_place(options.checkpoints, found->step));
    return found->step;
  }

  bool save(Speaker& speaker, int64_t step) const {
    if (options.checkpoints.empty()) return speaker.saved(step, ""), true;
    const std::string place = checkpoint_place(options.checkpoints, step);
    if (!save_checkpoint(options.checkpoints, {step, adam_steps, policy.weights(), first, second})) {
      std::fprintf(stderr, "OSError: [Errno %d] %s: '%s'\n", errno, std::strerror(errno), place.c_str());
      return false;
    }
    speaker.saved(step, place);
    return true;
  }

  static timespec steady() {
    timespec at{};
    clock_gettime(CLOCK_MONOTONIC, &at);
    return at;
  }

  /// What is left of the step's pace is slept away.
  void rest(const timespec& began) const {
    const timespec now = steady();
    const double spent =
        static_cast<double>(now.tv_sec - began.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec - began.tv_nsec);
    if (options.pace > spent) usleep(static_cast<useconds_t>((options.pace - spent) * 1e6));
  }

  int train() {
    const auto speaker = make_speaker(options.speak, options.out, clock);
    if (speaker == nullptr) return std::fprintf(stderr, "practice_run: unknown --speak %s\n", options.speak.c_str()), 2;
    speaker->begin(options.steps, options.groups, options.group_size);
    warm_up();
    const auto resumed = resume(*speaker);
    if (!resumed) return 1;
    clock.pass(41);
    engine_alive = engine.load(policy.weights(), 0);
    for (int64_t step = *resumed + 1; step <= options.steps; ++step) {
      const timespec began = steady();
      if (const uint64_t seed = seed_of(step); seed != 0) dice = mw::Prng(seed);
      if (step == options.kill_engine_at && *resumed == 0) engine.kill();  // a second attempt may live
      StepFigures f;
      f.step = step;
      bool go_on = true;
      std::vector<Sample> samples = rollout(*speaker, step, &go_on);
      if (!go_on) return 1;
      for (Sample& s : samples) grade(s);
      describe(samples, f);
      const std::vector<double> advantage = advantages(samples, f);
      learn(samples, advantage, f);
      f.s_rollout = engine_alive ? 20 + f.tokens / 60 + dice.unit() * 3 : 4 + dice.unit();
      f.s_train = 9 + dice.unit(), f.s_reward = 0.4 + dice.unit() * 0.1, f.s_sync = 1.5 + dice.unit() * 0.2;
      f.s_step = f.s_rollout + f.s_train + f.s_reward + f.s_sync;
      clock.pass(f.s_step);
      if (engine_alive) engine_alive = engine.load(policy.weights(), step);
      speaker->step(f);
      if (step % options.save_every == 0 && !save(*speaker, step)) return 1;
      if (step % options.eval_every == 0) speaker->evaluated(step, evaluate());
      rest(began);
    }
    speaker->finished();
    return 0;
  }
};

int usage() {
  std::fprintf(
      stderr,
      "practice_run --speak areal|verl|trl|openrlhf --out DIR|- [--steps N] [--kill-engine-at STEP] [--seed N]\n"
      "             [--checkpoints DIR] [--save-every N] [--pace SECONDS]\n"
      "             [--when-engine-dies usual|zero|crash|hang]\n"
      "Trains a small policy for real and logs in the shape of a framework. With --out - it logs to standard\n"
      "output, by the clock on the wall. With --checkpoints it resumes from the newest one, to the very weights\n"
      "that it would have come to without the break.\n");
  return 2;
}

}  // namespace
}  // namespace practice

int main(int argc, char** argv) {
  practice::Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i];
    const auto number = mw::parse_int(argv[i + 1]);
    if (name == "--speak") {
      options.speak = argv[i + 1];
    } else if (name == "--out") {
      options.live = std::string_view(argv[i + 1]) == "-";
      options.out = options.live ? "" : argv[i + 1];
    } else if (name == "--checkpoints") {
      options.checkpoints = argv[i + 1];
    } else if (name == "--when-engine-dies") {
      options.when_engine_dies = argv[i + 1];
    } else if (name == "--save-every" && number && *number > 0) {
      options.save_every = *number;
    } else if (name == "--pace" && mw::parse_double(argv[i + 1])) {
      options.pace = *mw::parse_double(argv[i + 1]);
    } else if (name == "--steps" && number && *number > 0) {
      options.steps = *number;
    } else if (name == "--kill-engine-at" && number) {
      options.kill_engine_at = *number;
    } else if (name == "--seed" && number) {
      options.seed = static_cast<uint64_t>(*number);
    } else {
      return practice::usage();
    }
  }
  if (argc % 2 == 0) return practice::usage();
  practice::Trainer trainer(options);
  return trainer.train();
}
