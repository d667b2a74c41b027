// A trainer that learns, stalls, loses its engine, dies, and is started again, all from one seed. It logs as
// real trainers do, into files that the program's own sources read.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/prng.h"
#include "base/time.h"
#include "sim/run_files.h"

namespace mw::sim {

class Trainer {
 public:
  enum class Scenario {
    kHealthy,
    kEngineDies,    ///< a line says so, reward is zero from then on
    kCrashes,       ///< a traceback, exit status 1
    kDiesSilently,  ///< its files just stop
    kStalls,        ///< it lives and says nothing more
    kRestarts,      ///< crashes and resumes from a checkpoint
    kStartsOver,    ///< crashes and begins at step 1 again
    kNotANumber,
    kEntropyFalls,
    kCount
  };
  /// Whose shapes it uses.
  enum class Dialect { kVerl, kTrl, kOpenRlhf, kUnknown, kCount };

  Trainer(uint64_t seed, FakeDisk& disk, Time start);
  /// Lets `time` pass; writes what happens in it.
  void pass(Duration time);
  bool over() const { return done_; }
  Scenario scenario() const { return scenario_; }
  /// The dialect that reads it, as --framework takes it.
  std::string_view dialect() const;
  std::vector<RunFile>& files() { return files_; }
  /// Something that was in the files at some time is not in them any more.
  bool rewrote() const;
  /// Its log is copied away and cut: what was written since the last poll can be lost to whoever watches.
  bool copies() const { return copies_; }
  int starts() const { return starts_; }

 private:
  void one_step();
  void measure(double reward);
  void keep_house();
  void trouble();
  void crash();
  void restart(int64_t from);
  void begin();
  void say(std::string_view text);
  void say_figures(double reward, double loss, double kl);
  void say_row(double reward, double loss, double kl);
  void say_saved();
  void engine(std::string_view text);
  std::string stamp() const;

  Prng prng_;
  Scenario scenario_;
  Dialect dialect_;
  Time now_;
  std::vector<RunFile> files_;  // the console, the metrics, the engine's log
  Duration step_time_, until_step_;
  int64_t step_ = 0, total_ = 0, trouble_at_ = 0, checkpoint_every_ = 0, last_checkpoint_ = 0;
  bool has_metrics_ = false, rotates_ = false, copies_ = false, overwrites_ = false;
  bool engine_dead_ = false, troubled_ = false, done_ = false;
  int starts_ = 0;
  double entropy_ = 1.2;
};

}  // namespace mw::sim
