// What of a run is worth a notice, by what is known of it. Pure.
#pragma once

#include <string>
#include <vector>

#include "act/notify/channels/message.h"
#include "core/knowledge.h"
#include "core/state.h"
#include "core/supervise/mode.h"

namespace mw {

struct NoticeContext {
  std::string run, home;
  bool holds = false;    ///< midwatch run; otherwise it only watches
  bool breaker = false;  ///< the circuit breaker is on
  Mode breaking = Mode::kAct, breaking_learning = Mode::kAsk;
};

/// The key under which an incident is told at its present severity; it is told again when it becomes graver.
std::string opened_key(uint32_t incident, Severity severity);
std::string closed_key(uint32_t incident);

/// All keys that are told with this one: an incident that is told as critical is told as a warning, too.
std::vector<std::string> covered_keys(const std::string& key);

/// What could be told of the incidents and the verdict: an "opened" or, when it is over, a "closed" of each. Only key,
/// event, severity, incident, step and time are filled in.
std::vector<Notice> incident_news(const State& state, const NoticeContext& context);

/// The words of a notice about an incident, as the incident stands.
void fill_in(Notice& notice, const State& state, const Knowledge& knowledge, const NoticeContext& context);

/// What was decided when attempts of a supervised run ended: restarted, asks, stopped, finished. In order.
std::vector<Notice> attempt_news(const Supervision& known);

}  // namespace mw
