// The field table of every event: the word that names it in the journal, and its fields in order. Whatever walks over
// events (the codec, random events in tests) walks over this table. An event type without a table does not compile, nor
// does a table that lacks a field.
#pragma once

#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include "core/event.h"

namespace mw {

template <typename Owner, typename Value>
struct EventField {
  std::string_view key;  ///< followed by `":` in `quoted`
  Value Owner::*member;
};
template <typename Owner, typename Value>
constexpr EventField<Owner, Value> field(std::string_view key, Value Owner::*member) {
  return {key, member};
}

/// `name` and `table` of an event type.
template <typename Body>
struct EventTable;

#define MW_EVENT(type, word, ...)                          \
  template <>                                              \
  struct EventTable<event::type> {                         \
    using E = event::type;                                 \
    static constexpr std::string_view name = word;         \
    static constexpr auto table = std::tuple{__VA_ARGS__}; \
  }

MW_EVENT(SourceOpened, "source-opened", field("source", &E::source), field("path", &E::path), field("kind", &E::kind),
         field("bytes", &E::bytes), field("head_hash", &E::head_hash), field("head_bytes", &E::head_bytes));
MW_EVENT(SourceProblem, "source-problem", field("problem", &E::problem), field("detail", &E::detail));
MW_EVENT(SourceEnded, "source-ended", field("bytes", &E::bytes), field("lines", &E::lines), field("torn", &E::torn),
         field("last_text", &E::last_text));
MW_EVENT(Recognised, "recognised", field("framework", &E::framework), field("version", &E::version),
         field("confidence", &E::confidence));
MW_EVENT(SavesAs, "saves-as", field("framework", &E::framework), field("folder", &E::folder));
MW_EVENT(SourceHead, "source-head", field("hash", &E::hash), field("bytes", &E::bytes));
MW_EVENT(ReadAs, "read-as", field("dialect", &E::dialect));
MW_EVENT(ClockLacks, "clock-lacks", field("zone", &E::zone), field("date", &E::date));
MW_EVENT(Configured, "configured", field("key", &E::key), field("value", &E::value));
MW_EVENT(AttemptBegan, "attempt-began", field("why", &E::why));
MW_EVENT(Resumed, "resumed", field("step", &E::step), field("path", &E::path));
MW_EVENT(Planned, "planned", field("total_steps", &E::total_steps));
MW_EVENT(StepBegan, "step-began", field("step", &E::step));
MW_EVENT(PhaseBegan, "phase-began", field("phase", &E::phase));
MW_EVENT(PhaseEnded, "phase-ended", field("phase", &E::phase), field("seconds", &E::seconds), field("step", &E::step));
MW_EVENT(Progressed, "progressed", field("what", &E::what), field("done", &E::done), field("total", &E::total),
         field("elapsed", &E::elapsed));
MW_EVENT(Counted, "counted", field("what", &E::what), field("done", &E::done), field("total", &E::total));
MW_EVENT(Measured, "measured", field("step", &E::step), field("eval", &E::eval), field("readings", &E::readings),
         field("counted", &E::counted));
MW_EVENT(CheckpointSaved, "checkpoint-saved", field("step", &E::step), field("path", &E::path),
         field("complete", &E::complete));
MW_EVENT(CheckpointSeen, "checkpoint-seen", field("step", &E::step), field("path", &E::path), field("how", &E::how),
         field("what", &E::what), field("sign", &E::sign), field("bytes", &E::bytes), field("files", &E::files),
         field("lacks", &E::lacks), field("doubt", &E::doubt));
MW_EVENT(CheckpointRead, "checkpoint-read", field("step", &E::step), field("path", &E::path), field("how", &E::how),
         field("what", &E::what), field("tree_state", &E::tree_state), field("bytes", &E::bytes),
         field("seconds", &E::seconds));
MW_EVENT(PointerSeen, "pointer-seen", field("path", &E::path), field("right", &E::right), field("what", &E::what),
         field("step", &E::step), field("whole", &E::whole), field("whole_path", &E::whole_path));
MW_EVENT(WeightsSynced, "weights-synced", field("version", &E::version), field("seconds", &E::seconds));
MW_EVENT(Ended, "ended", field("how", &E::how), field("code", &E::code), field("text", &E::text));
MW_EVENT(Matched, "matched", field("signature", &E::signature), field("text", &E::text), field("count", &E::count),
         field("sample", &E::sample));
MW_EVENT(TraceSeen, "trace-seen", field("exception", &E::exception), field("message", &E::message),
         field("frame", &E::frame), field("last_line", &E::last_line), field("sample", &E::sample),
         field("handled", &E::handled), field("pid", &E::pid));
MW_EVENT(Logged, "logged", field("level", &E::level), field("pattern", &E::pattern), field("text", &E::text),
         field("count", &E::count));
MW_EVENT(FormatJudged, "format-judged", field("rule", &E::rule), field("passed", &E::passed),
         field("failed", &E::failed));
MW_EVENT(ToolCalled, "tool-called", field("function", &E::function), field("seconds", &E::seconds),
         field("outcome", &E::outcome), field("error", &E::error));
MW_EVENT(ComponentSaw, "component-saw", field("component", &E::component), field("kind", &E::kind),
         field("health", &E::health), field("certain", &E::certain), field("text", &E::text),
         field("address", &E::address), field("pid", &E::pid), field("seconds", &E::seconds));
MW_EVENT(Ticked, "ticked", field("closing", &E::closing), field("speaks", &E::speaks));
MW_EVENT(Closed, "closed", field("final", &E::final));
MW_EVENT(IncidentOpened, "incident-opened", field("id", &E::id), field("json", &E::json));
MW_EVENT(IncidentChanged, "incident-changed", field("id", &E::id), field("json", &E::json));
MW_EVENT(IncidentClosed, "incident-closed", field("id", &E::id), field("why", &E::why));
MW_EVENT(VerdictGiven, "verdict-given", field("verdict", &E::verdict));
MW_EVENT(Note, "note", field("who", &E::who), field("text", &E::text));
MW_EVENT(Changed, "changed", field("attempt", &E::attempt), field("what", &E::what), field("name", &E::name),
         field("before", &E::before), field("after", &E::after));
MW_EVENT(Intended, "intended", field("id", &E::id), field("action", &E::action), field("target", &E::target),
         field("incident", &E::incident), field("why", &E::why));
MW_EVENT(Acted, "acted", field("id", &E::id), field("ok", &E::ok), field("text", &E::text),
         field("seconds", &E::seconds), field("begun", &E::begun));
MW_EVENT(WatchBegan, "watch-began", field("build", &E::build), field("knowledge", &E::knowledge),
         field("settings", &E::settings));
MW_EVENT(AttemptStarted, "attempt-started", field("attempt", &E::attempt), field("pid", &E::pid),
         field("boot", &E::boot));
MW_EVENT(AttemptExited, "attempt-exited", field("attempt", &E::attempt), field("known", &E::known),
         field("code", &E::code), field("signal", &E::signal), field("failure", &E::failure));
MW_EVENT(Requested, "requested", field("what", &E::what), field("who", &E::who));
MW_EVENT(Asked, "asked", field("attempt", &E::attempt), field("action", &E::action), field("text", &E::text));
MW_EVENT(Answered, "answered", field("attempt", &E::attempt), field("action", &E::action), field("answer", &E::answer));
MW_EVENT(Decided, "decided", field("attempt", &E::attempt), field("restart", &E::restart), field("wait_s", &E::wait_s),
         field("why", &E::why), field("facts", &E::facts), field("asks", &E::asks), field("plan", &E::plan));
MW_EVENT(Tripped, "tripped", field("attempt", &E::attempt), field("kind", &E::kind), field("cause", &E::cause),
         field("reaction", &E::reaction), field("summary", &E::summary), field("step", &E::step),
         field("source", &E::source), field("line", &E::line));
MW_EVENT(MembersSeen, "members-seen", field("attempt", &E::attempt), field("boot", &E::boot),
         field("processes", &E::processes));
#undef MW_EVENT

// ---- words of the enumerations; a missing one is a compile warning, which is an error here
// ----------------------------

constexpr std::string_view enum_name(event::CheckpointSeen::How how) {
  using How = event::CheckpointSeen::How;
  switch (how) {
    case How::kWhole:
      return "whole";
    case How::kBroken:
      return "broken";
    case How::kUnknown:
      return "unknown";
  }
  return {};
}
constexpr std::string_view enum_name(event::CheckpointRead::How how) {
  using How = event::CheckpointRead::How;
  switch (how) {
    case How::kSane:
      return "sane";
    case How::kSuspect:
      return "suspect";
    case How::kCorrupt:
      return "corrupt";
    case How::kSkipped:
      return "skipped";
  }
  return {};
}
constexpr std::string_view enum_name(event::Ended::How how) {
  using How = event::Ended::How;
  switch (how) {
    case How::kComplete:
      return "complete";
    case How::kExit:
      return "exit";
    case How::kInterrupted:
      return "interrupted";
    case How::kFailed:
      return "failed";
    case How::kStopped:
      return "stopped";
  }
  return {};
}
constexpr std::string_view enum_name(event::Logged::Level level) {
  using Level = event::Logged::Level;
  switch (level) {
    case Level::kWarning:
      return "warning";
    case Level::kError:
      return "error";
    case Level::kFatal:
      return "fatal";
  }
  return {};
}
constexpr std::string_view enum_name(event::ToolCalled::Outcome outcome) {
  using Outcome = event::ToolCalled::Outcome;
  switch (outcome) {
    case Outcome::kOk:
      return "ok";
    case Outcome::kModelError:
      return "model-error";
    case Outcome::kEnvironmentError:
      return "environment-error";
    case Outcome::kTimeout:
      return "timeout";
  }
  return {};
}

constexpr std::string_view enum_name(event::ComponentSaw::Health health) {
  using Health = event::ComponentSaw::Health;
  switch (health) {
    case Health::kStarting:
      return "starting";
    case Health::kWell:
      return "well";
    case Health::kHalfDead:
      return "half-dead";
    case Health::kSilent:
      return "silent";
    case Health::kFrozen:
      return "frozen";
    case Health::kGone:
      return "gone";
    case Health::kDead:
      return "dead";
  }
  return {};
}

/// Finds the enumerator of a word; enumerators count up from 0, and the first without a word ends them.
template <typename Enum>
constexpr bool enum_from_name(std::string_view name, Enum& out) {
  for (int i = 0;; ++i) {
    const std::string_view word = enum_name(static_cast<Enum>(i));
    if (word.empty()) return false;
    if (word != name) continue;
    out = static_cast<Enum>(i);
    return true;
  }
}

// ---- the table is whole
// ----------------------------------------------------------------------------------------------

namespace detail {

/// Stands for a value of any type in an unevaluated aggregate initialisation.
struct AnyField {
  template <typename T>
  operator T() const;  // NOLINT(google-explicit-constructor): that is its purpose
};
template <typename T, size_t... I>
consteval bool takes(std::index_sequence<I...>) {
  return requires { T{(static_cast<void>(I), AnyField{})...}; };
}

}  // namespace detail

/// Number of members of an aggregate (at most 16).
template <typename T, size_t N = 16>
consteval size_t member_count() {
  if constexpr (detail::takes<T>(std::make_index_sequence<N>{})) {
    return N;
  } else if constexpr (N == 0) {
    return 0;
  } else {
    return member_count<T, N - 1>();
  }
}

namespace detail {

template <typename Body>
consteval bool table_is_whole() {
  static_assert(std::tuple_size_v<decltype(EventTable<Body>::table)> == member_count<Body>(),
                "event_fields.h: the table of an event lacks a field");
  return true;
}
template <typename... Bodies>
consteval bool tables_are_whole(const std::variant<Bodies...>*) {
  return (table_is_whole<Bodies>() && ...);
}
static_assert(tables_are_whole(static_cast<AnyBody*>(nullptr)));
static_assert(member_count<Event>() == 4 && member_count<Where>() == 2, "event_codec.cc writes these by hand");

}  // namespace detail
}  // namespace mw
