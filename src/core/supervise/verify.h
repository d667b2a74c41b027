// Folds a journal again and makes its decisions anew: are they the ones that were made? Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/event.h"
#include "core/knowledge.h"
#include "core/state.h"
#include "core/supervise/policy.h"

namespace mw {

/// Takes a journal's events in order. What was judged (incidents, verdicts) is judged again from what was known then;
/// what was decided between attempts is decided again from what it rested on.
class Verifier {
 public:
  static constexpr size_t kDifferenceLimit = 100;  ///< further ones are only counted

  /// `knowledge` must outlive it; `digest` is its digest (event::WatchBegan::knowledge), `build` this program's
  /// version.
  Verifier(const Knowledge& knowledge, std::string digest, std::string build)
      : knowledge_(knowledge), digest_(std::move(digest)), build_(std::move(build)) {}

  void take(const Event& event);
  /// Nothing more comes.
  void finish();

  const State& state() const { return state_; }
  uint64_t events() const { return events_; }
  uint64_t judgements() const { return judgements_; }  ///< after which something was decided
  uint64_t decisions() const { return decisions_; }    ///< between attempts
  uint64_t differing() const { return differing_; }
  /// One sentence each.
  const std::vector<std::string>& differences() const { return differences_; }
  /// Every watch had this build and this knowledge, as far as the journal says.
  bool same_knowledge() const { return same_knowledge_; }

 private:
  void judged(const Event& event);
  void end_of_group();
  void decided(const event::Decided& decided);
  void differs(std::string sentence);

  const Knowledge& knowledge_;
  std::string digest_, build_;
  State state_;
  std::vector<Event> expected_;  // what should be decided now and was not taken yet, the next at the end
  bool in_group_ = false, lost_ = false;
  std::vector<AttemptOutcome> outcomes_;
  bool same_knowledge_ = true;
  uint64_t events_ = 0, judgements_ = 0, decisions_ = 0, differing_ = 0;
  std::vector<std::string> differences_;
};

}  // namespace mw
