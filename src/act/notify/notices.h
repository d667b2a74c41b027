// Derives notices from a run's state. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "act/notify/channels/message.h"
#include "core/knowledge.h"
#include "core/state.h"
#include "core/supervise/mode.h"

namespace mw {

struct NoticeContext {
  std::string run, home;
  bool supervises = false;  ///< midwatch supervises the run; otherwise it only watches
  bool breaker = false;     ///< the circuit breaker is on
  Mode breaking = Mode::kAct, breaking_learning = Mode::kAsk, breaking_hang = Mode::kAsk;
  Duration answer_patience = {};  ///< as of RunSpec
};

/// The key of the notice that an incident opened, at this severity: a new notice is sent when it becomes more severe.
std::string opened_key(uint32_t incident, Severity severity);
std::string closed_key(uint32_t incident);

/// All keys that a notice with this key covers: a notice of a critical incident covers its warning, too.
std::vector<std::string> covered_keys(const std::string& key);

/// Possible notices of the incidents and the verdict: "opened" or, when it is over, "closed" for each incident. Only
/// key, event, severity, incident, step and time are filled in.
std::vector<Notice> incident_news(const State& state, const NoticeContext& context);

/// Fills in the texts of a notice about an incident, by the incident's present state.
void fill_in(Notice& notice, const State& state, const NoticeContext& context);

/// How the key of a notice begins that asks about an attempt which runs. It exists only while the answer is waited for.
inline constexpr std::string_view kAsksKey = "asks:attempt:";

/// Notices of the decisions after the attempts of a supervised run: restarted, asks, stopped, finished. In order.
/// Of the last attempt, unless it finished, with what its end costs. Last, what is asked about the one that runs.
std::vector<Notice> attempt_news(const State& state, const NoticeContext& context);

}  // namespace mw
