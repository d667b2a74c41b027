// What we believe of a run: a fold of its events. Plain data; fold.cc says how each event changes it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/event.h"
#include "core/incident.h"
#include "core/series.h"

namespace mw {

struct SourceState {
  std::string path, kind;
  int64_t bytes = 0, lines = 0;
  bool ended = false, torn = false;
  std::string last_text;
  int64_t first_step = kNoStep, last_step = kNoStep;  ///< of its Measured events
  Time first_at, last_at;
  uint64_t last_line = 0;  ///< of its last event
  std::vector<std::string> problems;
};

struct AttemptState {
  std::string why;
  Moment began;
  Moment last;  ///< last sign of life
  int64_t first_step = kNoStep, last_step = kNoStep;
  int64_t resumed_at = kNoStep;
  int64_t total_steps = 0;  ///< as planned, 0 when not known
  std::optional<event::Ended> ended;
  Moment ended_at;
};

/// A signature that was seen: where first and last, how often, and what it said the first time.
struct SignatureState {
  std::string id;
  Moment first, last;
  uint64_t count = 0;
  std::string text;
  bool sample = false;  ///< seen only inside samples so far
  /// The first matches, each with its own moment (at most kMatchesKept), for grouping and onset.
  struct Match {
    Moment moment;
    std::string text;
    uint64_t order = 0;  ///< number of the event in the run, for "which came first"
  };
  static constexpr size_t kMatchesKept = 64;
  std::vector<Match> matches;
};

struct TraceState {
  Moment moment;
  uint64_t order = 0;
  event::TraceSeen trace;
};

struct TemplateState {
  event::Logged::Level level = event::Logged::Level::kWarning;
  std::string text;
  uint64_t count = 0;
  Moment first, last;
};

struct ToolState {
  uint64_t calls = 0, ok = 0, model_errors = 0, environment_errors = 0, timeouts = 0;
  double seconds_sum = 0, seconds_max = 0;
  uint64_t timed = 0;
  std::map<std::string, uint64_t> errors;  ///< by type
};

struct PhaseState {
  uint64_t times = 0;
  double seconds_sum = 0, seconds_min = 0, seconds_max = 0, seconds_last = 0;
};

struct State {
  // limits, beside what they limit
  static constexpr size_t kSeriesLimit = 2000;      ///< series; further raw names are counted, not kept
  static constexpr size_t kTemplateLimit = 2000;    ///< log templates
  static constexpr size_t kTraceLimit = 256;        ///< tracebacks kept
  static constexpr size_t kCheckpointLimit = 4096;  ///< checkpoint events kept

  std::string framework = "custom", version;
  double framework_confidence = 0;
  std::map<std::string, std::string> config;
  std::vector<SourceState> sources;    ///< index = Where::source
  std::vector<AttemptState> attempts;  ///< never empty once an event came
  Time first_at, last_at;
  uint64_t events = 0;
  uint64_t order = 0;

  std::vector<Series> series;  ///< canonical ones first come, first served; raw-only ones too
  std::vector<Series> eval;    ///< held-out evaluations, by raw name
  uint64_t series_dropped = 0;

  std::vector<SignatureState> signatures;  ///< in order of first sight
  std::vector<TraceState> traces;
  std::vector<TemplateState> templates;
  std::map<std::string, ToolState> tools;
  std::map<std::string, event::FormatJudged> formats;
  std::map<std::string, PhaseState> phases;
  std::string current_phase;
  Moment phase_began;
  std::map<std::string, event::Progressed> progress;
  std::vector<std::pair<Moment, event::CheckpointSaved>> checkpoints;
  uint64_t weight_syncs = 0;
  Moment last_sync;
  int64_t total_steps = 0;
  bool closed = false;

  std::vector<Incident> incidents;
  std::string verdict = "unknown";

  /// The series of a canonical signal, nullptr when the run does not show it.
  const Series* find(std::string_view signal) const;
  const Series* find_raw(std::string_view raw) const;
  const SignatureState* signature(std::string_view id) const;
  /// First, last step and number of distinct steps over all attempts; kNoStep, kNoStep, 0 when none.
  struct Span {
    int64_t first = kNoStep, last = kNoStep, count = 0;
  };
  Span steps() const;
};

/// Changes `state` by one event. Never fails; an event that makes no sense changes only the counters.
void fold(State& state, const Event& event);

}  // namespace mw
