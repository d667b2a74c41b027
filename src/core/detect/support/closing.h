// How an attempt that has done all its steps closes: it puts its result away, says so, and is shut down. What is shut
// down once the result is there ends nothing; what fails while the result is being saved ends the run.
#pragma once

#include <string_view>
#include <vector>

#include "core/detect/support/failure_chain.h"
#include "core/detect/support/progress.h"

namespace mw::detect {

/// Keeps a reference to the state, which must outlive it unchanged.
class Closing {
 public:
  Closing(const State& state, const Knowledge& knowledge, const Progress& progress);
  Closing(const State& state, const Knowledge& knowledge) : Closing(state, knowledge, Progress(state)) {}

  /// Does the moment come after the attempt's word that its training is complete or its result saved, and was no save
  /// begun since that is not known to be whole? Only of an attempt that has done its steps.
  bool complete_at(const Moment& moment) const;
  /// Was the result being saved at that moment, as far as the attempt says?
  bool saving_at(const Moment& moment) const;

  /// Did the symptom come as the attempt was shut down, its training complete?
  bool shut_down(const Symptom& symptom) const;
  /// Did what the program does once its training is over (plots, an upload, an evaluation) raise an exception? Its
  /// result is not known to be kept where that is what raised it, or where the attempt ended with another status than
  /// 0. Not known before the log is at its end.
  bool failed_afterwards(const Symptom& symptom) const;
  /// Does it end the program while the result is being saved, though it be no more than the echo of a failure?
  bool breaks_save(const Symptom& symptom) const;

 private:
  enum class Says { kDone, kSaves };
  struct Word {
    Says says;
    Moment moment;
  };
  const Word* last_before(const Moment& moment) const;
  void add(Says says, const Moment& moment);
  void add_done(const SignatureState& seen, const Progress& progress);
  void add_checkpoints(const Progress& progress);

  const State& state_;
  enum class Plan { kOpen, kDone, kUnknown };
  std::vector<Plan> plans_;  ///< by attempt
  std::vector<Word> words_;  ///< said after the last step of an attempt whose plan is not open
};

}  // namespace mw::detect
