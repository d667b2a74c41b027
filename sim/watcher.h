// The watcher, as attach does it: polls the files, journals what they say, folds, judges, and journals what it decides.
// Everything that it knows after a restart comes from the journal.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/advance.h"
#include "journal/journal.h"
#include "platform/disk.h"
#include "sim/world.h"

namespace mw::sim {

/// A bug planted on purpose: the checkers must find it.
enum class Mutant { kNone, kDropLastOnRecovery, kDoubleAppend, kStaleAttempt, kForgetOffset, kReactFirst };
bool mutant_from_name(std::string_view name, Mutant& out);

class Watcher {
 public:
  static constexpr const char* kFolder = "/watch/journal";
  static constexpr uint64_t kSegmentBytes = 6000;  ///< small, so that every run seals some

  Watcher(Disk& disk, const World& world, const Knowledge& knowledge, Mutant mutant)
      : disk_(disk), world_(world), knowledge_(knowledge), mutant_(mutant) {}

  /// Opens the journal and takes up the state from it. False: the disk does not let it; try again later.
  bool start();
  /// One turn of the loop: at most `lines` lines of each file. False when the disk failed on the way.
  bool turn(Time now, size_t lines);
  /// The run is over and everything is read.
  bool finish();
  bool all_read() const;

  const State& state() const { return state_; }
  const std::string& trouble() const { return trouble_; }  ///< what the journal complained of, "" when nothing

 private:
  void take(const Event& event);
  void append(const Event& event);

  Disk& disk_;
  const World& world_;
  const Knowledge& knowledge_;
  Mutant mutant_;
  std::unique_ptr<Journal> journal_;
  State state_;
  std::string line_, trouble_;
  uint64_t taken_ = 0;
};

}  // namespace mw::sim
