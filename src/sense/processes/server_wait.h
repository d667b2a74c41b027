// Servers that the run needs and does not start itself: after an attempt that may have ended for want of one, the next
// begins when they answer again. Begun sooner, it would train on what a dead server leaves it, or use up the restarts.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/event_writer.h"
#include "core/knowledge.h"
#include "core/state.h"
#include "platform/background_call.h"
#include "platform/clock.h"
#include "platform/http.h"
#include "sense/processes/probe.h"

namespace mw {

class ServerWait {
 public:
  static constexpr Duration kHeard = Duration::seconds(120);  ///< for one that nobody declared, at most
  static constexpr Duration kAgain = Duration::millis(250);   ///< between two questions to one server

  struct Scope {
    std::shared_ptr<Http> http;
    const Knowledge& knowledge;
    /// Servers that a person declared and that midwatch does not start itself.
    std::vector<components::Target> declared;
    /// Is it surely somebody else's server that listens, or did, at this port of the run's machine?
    std::function<bool(int64_t port)> elsewhere;
    std::function<void(const std::string& sentence)> say;
  };
  ServerWait(Clock& clock, Scope scope) : clock_(clock), scope_(std::move(scope)) {}

  /// May the attempt after the last one in `state` begin? Asks servers that were declared and worked before, and those
  /// beside the run on its machine of which the last attempt complained. On this machine only ones that are surely
  /// somebody else's: what the command itself starts would be waited for in vain. A declared server is waited for as
  /// long as its `ready_within` says. Ask again while it is false.
  bool may_begin(const State& state, EventWriter& writer);
  /// A request is still out.
  bool asking() const;

 private:
  struct Awaited {
    components::Target target;
    Duration longest;
    BackgroundCall<components::Answer> call;
    Duration due;
    bool reported = false;  ///< that it is waited for
    bool there = false;     ///< it answers, or is not waited for any more
  };
  void list(const State& state);
  void add(const components::Target& target, Duration longest);
  bool poll(Awaited& one, EventWriter& writer);
  void report(const std::string& sentence, EventWriter& writer) const;

  Clock& clock_;
  Scope scope_;
  size_t attempt_ = 0;  ///< that ended before: for it `awaited_` was made
  Duration since_;
  std::vector<std::unique_ptr<Awaited>> awaited_;
};

}  // namespace mw
