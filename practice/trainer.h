// The loop of the practice run: rollout, reward, learning, weight sync, checkpoints, evaluation, and the faults that
// are planned for it.
#pragma once

#include <time.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "practice/engine.h"
#include "practice/learner.h"
#include "practice/options.h"
#include "practice/sinks.h"
#include "practice/speak.h"

namespace practice {

class Trainer {
 public:
  explicit Trainer(const Options& options);
  int train();  ///< the exit status

 private:
  uint64_t seed_of(int64_t step) const;
  bool after_death(int64_t step);
  std::vector<Sample> rollout(int64_t step, bool* go_on);
  std::vector<Sample> empty_answers(const std::vector<Question>& questions) const;
  bool reward(std::vector<Sample>& samples, int64_t step);
  void ask_tools(std::vector<Sample>& samples);
  std::optional<int64_t> resume();
  bool save(int64_t step);
  bool step(int64_t number);
  void sync(int64_t step);
  void await_engine();
  bool open_dashboards();
  template <typename Result>
  void to_dashboards(int64_t step, const Result& result);

  Options options_;
  CheckpointFolder checkpoints_;
  Faults faults_;
  Learner learner_;
  std::unique_ptr<Engine> engine_;
  mw::Prng dice_;
  Clock clock_;
  std::unique_ptr<Speaker> speaker_;
  std::vector<std::unique_ptr<Sink>> sinks_;
  bool engine_alive_ = true;
  bool resumed_ = false;
};

}  // namespace practice
