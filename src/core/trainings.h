// Where in a run the training changes: a supervised command may train one model after the other (stages, seeds), each
// from its first step on and into a folder of its own. What an earlier one saved is finished: it is none of what a
// later one is rolled back to, resumed from, or shipped behind.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "core/state.h"

namespace mw {

/// A trainer began it within a command that midwatch had started before.
bool begun_within_command(const State& state, size_t attempt);

/// The first attempt, counted from 0, of the training that attempt number `attempt` is of. A supervised command may
/// train one model after the other: what finished, or was followed within one command by one that began at its first
/// step, is not known to be of the training that begins after it.
size_t first_of_training(const State& state, size_t attempt);

/// It said so, or did all of its plan.
bool has_finished(const AttemptState& attempt);

/// The folders of checkpoints that earlier trainings of a supervised command left, as far as the run's events show it;
/// in doubt a folder counts as one of the training that goes on. Of a state that is not changed meanwhile.
class EarlierTrainings {
 public:
  explicit EarlierTrainings(const State& state);

  bool any() const { return first_ > 0 || moves_; }
  /// Was `root`, a folder with checkpoints, left by a training that the command went on from? It saved
  /// there and was followed, within the same command, by the one that goes on; that one did not save there, and saves
  /// elsewhere, or began after the other had finished.
  bool left(std::string_view root) const;
  /// The folders of which left() is true, of all that hold something that was found on the disk.
  std::set<std::string> folders() const;
  /// When the watch first saw the training that goes on at a step of its own; unknown where it did not see its counter
  /// go back.
  Time began() const;
  /// When the watch last saw the training before it, and knew the next one within ten seconds; unknown likewise.
  Time last_before() const;
  /// Is a save that was spoken of in that attempt one of an earlier training's? `path`: "" where its files name none.
  bool has(size_t attempt, const std::string& path) const;

 private:
  static constexpr size_t kNone = SIZE_MAX;
  struct Folder {
    /// What was said of saves there, in the order of the log: which the first and the last were, and their steps.
    struct Said {
      size_t count = 0, first = 0, last = 0, first_attempt = 0, last_attempt = 0;
      int64_t first_step = kNoStep, last_step = kNoStep;
    };
    Said all = {};
    size_t before = kNone;         ///< the last attempt of an earlier training that saved there
    std::set<int64_t> steps = {};  ///< of which an earlier training said that it saves them there
    bool said = false;             ///< the training that goes on said that it saves there
    bool found = false;            ///< something was found there that it can have saved
  };
  void note_said(const State& state);
  void note_found(const State& state);
  bool says_exactly(std::string_view root) const;
  bool said_before(std::string_view root, int64_t step) const;
  std::pair<Time, Time> change() const;
  bool is_over(size_t attempt) const;
  bool moved_on(const Folder::Said& from, std::string_view root) const;
  bool is_one_command(size_t from, size_t to) const;
  bool saves_elsewhere(std::string_view root, bool said) const;

  const State& state_;
  size_t first_ = 0;
  bool moves_ = false;  ///< it is supervised, and its log names several folders
  std::map<std::string, Folder, std::less<>> folders_;
};

}  // namespace mw
