// A trainer that learns, stalls, loses its engine, dies, and is started again, all from one seed.
#pragma once

#include <cstdint>

#include "base/prng.h"
#include "base/time.h"
#include "sim/world.h"

namespace mw::sim {

class Trainer {
 public:
  enum class Story {
    kHealthy,
    kEngineDies,    ///< a line says so, reward is zero from then on
    kCrashes,       ///< a traceback, exit status 1
    kDiesSilently,  ///< its files just stop
    kStalls,        ///< it lives and says nothing more
    kRestarts,      ///< crashes and goes on from a checkpoint
    kStartsOver,    ///< crashes and begins at step 1 again
    kNotANumber,
    kEntropyFalls,
    kCount
  };

  Trainer(uint64_t seed, World& world, Time start);
  /// Lets `time` pass; writes what happens in it.
  void pass(Duration time);
  bool over() const { return done_; }
  Story story() const { return story_; }

 private:
  void one_step();
  void measure(double reward);
  void trouble();
  void restart(int64_t from);
  void console(decltype(Event::body) body);
  void metrics(decltype(Event::body) body);
  void put(uint32_t source, decltype(Event::body) body, bool timed);

  Prng prng_;
  World& world_;
  Story story_;
  Time now_;
  Duration step_time_, until_step_;
  int64_t step_ = 0, total_ = 0, trouble_at_ = 0, checkpoint_every_ = 0, last_checkpoint_ = 0;
  bool has_metrics_ = false, metrics_timed_ = false, console_timed_ = false, banner_ = false;
  bool engine_dead_ = false, troubled_ = false, done_ = false;
  double entropy_ = 1.2;
};

}  // namespace mw::sim
