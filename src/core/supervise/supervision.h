// What midwatch knows and decided of a command that it started: a fold of the journal, so that every face and the next
// midwatch know the same.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/event.h"

namespace mw {

/// Requested::who of a pause that lasts while a component is down, and of its end.
inline constexpr std::string_view kByComponent = "component";

/// Requested::who of a stop by a signal to midwatch, and of a pause until a person answers.
inline constexpr std::string_view kByMidwatch = "midwatch";

/// Answered::answer where midwatch only watches: what it would do is reported, and nobody is asked.
inline constexpr std::string_view kOnlyWatching = "only-watching";

/// Answered::answer where nobody answered in time, and midwatch does what it asked about.
inline constexpr std::string_view kUnanswered = "unanswered";

/// What midwatch asked a person about one action of one attempt.
struct Approval {
  enum class Answer { kNone, kYes, kNo };
  bool asked = false;  ///< and not withdrawn since
  Answer answer = Answer::kNone;
  std::string text;  ///< what it would do
  Time asked_at;     ///< as of receipt
  /// The person has not answered yet.
  bool waits() const { return asked && answer == Answer::kNone; }
};

/// One life of the command. Times are those of receipt.
struct SupervisedAttempt {
  int64_t number = 0;  ///< from 1
  bool started = false;
  int64_t pid = 0;
  std::string boot;
  Time started_at, exited_at, decided_at;
  bool exited = false;
  bool known = false;  ///< how it ended; else code and signal mean nothing
  int64_t code = 0, signal = 0;
  std::string failure;  ///< why it could not be started
  Approval breaking, restarting;
  bool decided = false;
  bool restart = false;
  double wait_s = 0;
  bool asks = false;
  std::string why, facts, plan;        ///< as of event::Decided
  std::optional<event::Tripped> trip;  ///< the circuit breaker ends it
  std::optional<event::MembersSeen> members;
};

struct Supervision {
  static constexpr size_t kAttemptLimit = 1000;  ///< the latest are kept
  static constexpr size_t kRequestLimit = 1000;  ///< likewise
  static constexpr size_t kWatchLimit = 100;     ///< likewise
  struct Request {
    Time at, received;  ///< when the person asked, and when midwatch took it
    std::string what, who;
  };
  std::vector<SupervisedAttempt> attempts;  ///< ascending
  std::vector<Request> requests;            ///< in order
  std::vector<std::pair<Time, event::WatchBegan>> watches;
  bool stop = false;     ///< the run is to end
  bool pause = false;    ///< its processes are to be stopped (SIGSTOP) until somebody resumes it
  std::string pause_by;  ///< who wanted that last; "" while nobody does
  bool paused = false;   ///< they are

  /// nullptr when it is not known.
  const SupervisedAttempt* attempt(int64_t number) const;
};

void fold_supervision(Supervision& into, const Event& event, const event::WatchBegan& began);
void fold_supervision(Supervision& into, const Event& event, const event::AttemptStarted& started);
void fold_supervision(Supervision& into, const Event& event, const event::AttemptExited& exited);
void fold_supervision(Supervision& into, const Event& event, const event::Requested& requested);
void fold_supervision(Supervision& into, const Event& event, const event::Asked& asked);
void fold_supervision(Supervision& into, const Event& event, const event::Answered& answered);
void fold_supervision(Supervision& into, const Event& event, const event::Decided& decided);
void fold_supervision(Supervision& into, const Event& event, const event::Tripped& tripped);
void fold_supervision(Supervision& into, const Event& event, const event::MembersSeen& seen);

}  // namespace mw
