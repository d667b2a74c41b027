// How the practice run speaks: the log and metric shapes of one framework each, so that its recordings can be read by
// whatever reads that framework's real ones. The shapes follow the frameworks' own format strings; every number in them
// comes from the training that really happens here.
#pragma once

#include <time.h>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace practice {

/// One step's figures.
struct StepFigures {
  int64_t step = 0;  // 1-based
  double reward_mean = 0, reward_std = 0, reward_min = 0, reward_max = 0;
  double format_rate = 0, correct_rate = 0;
  double zero_std_groups = 0;
  double entropy = 0, kl = 0, clip_frac = 0, grad_norm = 0, loss = 0, lr = 0, ratio_mean = 1;
  double length_mean = 0, length_min = 0, length_max = 0, cut_rate = 0, terminated_length = 0;
  double advantage_min = 0, advantage_max = 0;
  double reward_p90 = 0, rubric_rate = 0, high_but_wrong = 0;  // a reward of 0.8 or more for a wrong answer
  double advantage_std = 0, entropy_p10 = 0, entropy_p90 = 0;
  double logp_diff = 0, mismatch_kl = 0;  // engine against trainer, under what should be the same weights
  bool mismatch_known = false;            // log them where the framework leaves that open
  double s_rollout = 0, s_reward = 0, s_train = 0, s_sync = 0, s_step = 0;
  double tokens = 0;
};

/// Held-out results, shares of questions.
struct Evaluation {
  double pass1 = 0, pass8 = 0;
};

/// The practice clock: starts at a fixed moment and goes on by what the phases are said to take, so that the same seed
/// gives the same bytes. A live one is the clock on the wall.
class Clock {
 public:
  explicit Clock(mw::Time start) : now_(start) {}
  static Clock live() { return Clock({}); }
  void pass(double seconds) {
    if (now_.known()) now_ = now_ + mw::Duration::seconds(seconds);
  }
  void jump(double seconds) { jumped_ = jumped_ + mw::Duration::seconds(seconds); }
  mw::Time now() const {
    if (now_.known()) return now_ + (jumped_ - mw::Time{});
    timespec at{};
    clock_gettime(CLOCK_REALTIME, &at);
    return {at.tv_sec * 1'000'000'000 + at.tv_nsec / 1'000'000 * 1'000'000 + jumped_.ns};
  }

 private:
  mw::Time now_, jumped_;
};

class Speaker {
 public:
  virtual ~Speaker() = default;
  virtual void begin(int64_t total_steps, int groups, int group_size) = 0;
  virtual void step(const StepFigures& figures) = 0;
  virtual void evaluated(int64_t step, const Evaluation& result) = 0;
  virtual void resumed(int64_t step, const std::string& path) = 0;
  virtual void saved(int64_t step, const std::string& path) = 0;
  /// The engine is gone; what the trainer of this framework then prints. True: it goes on with zero rewards.
  virtual bool engine_died(int64_t step) = 0;
  /// What it logs where it takes an empty answer for every request that a dead engine does not serve.
  virtual void requests_failed(int64_t step) { (void)engine_died(step); }
  virtual void generating(int64_t step) { (void)step; }  ///< the rollout of a step begins
  virtual void step_over(int64_t step) { (void)step; }   ///< all of it is done, its save too
  /// An exception ends the training: a traceback in Python's form, its first line left out.
  virtual void raised(int64_t step, const std::vector<std::string>& traceback) = 0;
  virtual void note(const std::string& text) = 0;  ///< a line of code that is not the framework's
  /// The engine does not answer yet; said after 0, 10, 20 … seconds.
  virtual void waiting_for_engine(double seconds) = 0;
  virtual void finished() = 0;

  std::string address;  ///< of the engine, "host:port"; "" where it is a child
  std::string trouble;  ///< why its last request failed, as a Python client says it; "" where that is not known
};

/// `speak` is one of "areal", "verl", "trl", "openrlhf", "skyrl", "prime-rl"; nullptr when it is none of them. Files go
/// to `folder`; the log to standard output when it is "".
std::unique_ptr<Speaker> make_speaker(std::string_view speak, const std::string& folder, Clock& clock);

}  // namespace practice
