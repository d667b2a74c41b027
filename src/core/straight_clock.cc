#include "core/straight_clock.h"

#include <algorithm>

#include "core/is_a.h"
#include "core/state.h"

namespace mw {
namespace {

constexpr Duration kSetBack = Duration::seconds(3000);  // by an hour; lines of ranks come late by less
constexpr Duration kNear = Duration::seconds(600);      // a clock that is right again is so near
constexpr uint8_t kSteady = 3;  // lines that went on before, and since: one by itself may quote any time
constexpr uint8_t kMost = 3;    // more often, it is no clock that was set but several in one file

uint8_t one_more(uint8_t count) { return static_cast<uint8_t>(std::min<int>(count + 1, kSteady)); }

}  // namespace

Time StraightClock::straight(uint64_t line, Time at) {
  if (!at.known() || line == 0 || line < line_ || times_ > kMost) return at;
  line_ = line;
  const Duration ahead = at - last_;
  // Several processes, one of them in another zone, or a line that quoted a time.
  if (by_.ns > 0 && ((ahead <= kNear && last_ - at <= kNear) || (since_ < kSteady && ahead.ns > 0))) by_ = Duration();
  Time now = at + by_;
  const bool back = last_.known() && (last_ - now).ns >= kSetBack.ns;
  const bool leap = last_.known() && (now - last_).ns >= kSetBack.ns;
  if (back && steady_ == kSteady) {
    by_ = ++times_ > kMost ? Duration() : last_ - at;
    if (first_ == 0) first_ = line;
    since_ = 0;
    now = at + by_;
  }
  steady_ = leap || back ? 1 : one_more(steady_);  // what leapt may have been a date in the text
  since_ = one_more(since_);
  last_ = now;
  return now;
}

bool is_judged(const Event& event) {
  return is_a<event::IncidentOpened>(event) || is_a<event::IncidentChanged>(event) ||
         is_a<event::IncidentClosed>(event) || is_a<event::VerdictGiven>(event);
}

Time straight_time(State& state, const Event& event) {
  if (!event.at.known() || event.received.known() || event.where.source >= state.sources.size()) return event.at;
  SourceState& source = state.sources[event.where.source];
  if (source.kind != "text") return event.at;
  if (is_a<event::SourceEnded>(event)) return event.at + source.straight.set_back();
  return source.straight.straight(event.where.line, event.at);
}

}  // namespace mw
