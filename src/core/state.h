// What we believe of a run: a fold of its events. Plain data; fold.cc says how each event changes it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/event.h"
#include "core/incident.h"
#include "core/line_clock.h"
#include "core/series.h"
#include "core/straight_clock.h"
#include "core/supervise/supervision.h"

namespace mw {

/// A set of whole numbers as a sorted list of closed ranges; at most kRangeLimit ranges (the nearest are joined
/// beyond).
class Ranges {
 public:
  static constexpr size_t kRangeLimit = 4096;
  void add(int64_t value);
  void add(const Ranges& other);
  int64_t count() const;
  bool empty() const { return ranges_.empty(); }
  bool holds(int64_t value) const;
  int64_t first() const { return ranges_.empty() ? kNoStep : ranges_.front().first; }
  int64_t last() const { return ranges_.empty() ? kNoStep : ranges_.back().second; }

 private:
  void add_range(int64_t first, int64_t last);
  std::vector<std::pair<int64_t, int64_t>> ranges_;
};

/// The kind of a source that is no file of the run but the machine under it, as a live watch sees it.
inline constexpr std::string_view kHostKind = "host";

struct SourceState {
  std::string path, kind;
  int64_t bytes = 0, lines = 0;
  bool ended = false, torn = false;
  event::ClockLacks clock_lacks;
  std::string last_text;
  int64_t first_step = kNoStep, last_step = kNoStep;  ///< of its Measured events
  Time first_at, last_at;
  Time end_at;                        ///< as its last line with a clock says, whatever it holds; known once it ended
  uint64_t last_line = 0;             ///< of its last event
  LineClock clock;                    ///< of its events
  StraightClock straight;             ///< likewise: whether it was set back; of a replay
  std::vector<std::string> problems;  ///< at most kProblemLimit; a repeated one is kept once
  static constexpr size_t kProblemLimit = 32;

  int32_t attempt = -1;       ///< the attempt that its next event belongs to; -1: it has not said anything yet
  bool joins = true;          ///< its first comparable measurement may still show which attempt it belongs to
  bool shown = false;         ///< it has reported a step, a failure or an end in its attempt
  bool two_counters = false;  ///< its step counter is really two: going back means nothing
  uint64_t gave_up = 0;       ///< line at which the launcher of its attempt had given up; 0: it has not
  int64_t step = kNoStep;     ///< the step it last spoke of in this attempt
  Ranges steps;               ///< of its training measurements, over all its attempts
  bool names_steps = false;   ///< some of those are not a mere count of its records

  void said(uint64_t line, Time at) {
    last_line = line;
    clock.note(line, at);
  }
};

struct AttemptState {
  std::string why;
  Moment began;
  Moment last;  ///< last sign of life
  Moment busy;  ///< the last one that is not the figures of an inference engine without a request
  /// The longest time since its last step between two of those.
  struct Quiet {
    Time since, until;
    Where before, after;  ///< the two
  };
  Quiet quiet;
  int64_t first_step = kNoStep, last_step = kNoStep;
  int64_t resumed_at = kNoStep;
  bool resumed = false;               ///< the trainer said that it resumed, from whatever step
  std::string save_folder;            ///< where it said that it would save, if that was said in this attempt
  int64_t total_steps = 0;            ///< as planned, 0 when not known
  bool plan_from_checkpoint = false;  ///< the trainer's plan counted from the checkpoint on; total_steps does not
  std::optional<event::Ended> ended;
  Moment ended_at;
  Time ended_heard;                   ///< when midwatch learnt of it, by the machine's clock; unknown in finished files
  bool shown = false;                 ///< a step, a failure or an end was seen in it
  int64_t last_checkpoint = kNoStep;  ///< highest step of a complete checkpoint in it
  /// What the progress bar over its planned steps showed, in order; of many every second one is dropped.
  struct BarMark {
    int64_t done = 0;
    double elapsed = 0;  ///< seconds since the bar was begun
    Where where;
  };
  static constexpr size_t kBarMarks = 512;
  std::vector<BarMark> bar;
};

/// A signature that was seen: where first and last, how often, and what it said the first time.
struct SignatureState {
  std::string id;
  Moment first, last;
  uint64_t count = 0;
  std::string text;
  bool sample = false;  ///< seen only inside samples so far
  /// The first and the last matches (kMatchesKept in all), each with its own moment, for grouping and onset.
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
  /// Calls beyond this are counted as slow: what agent environments themselves warn about (SkyRL's reports count them).
  static constexpr double kSlowSeconds = 180;
  uint64_t calls = 0, ok = 0, model_errors = 0, environment_errors = 0, timeouts = 0;
  double seconds_sum = 0, seconds_max = 0;
  uint64_t timed = 0, slow = 0;
  static constexpr size_t kTimesKept = 1024;
  std::vector<float> times;  ///< seconds of the timed calls, for median and percentiles: every `every`-th one
  uint64_t every = 1;        ///< doubles when kTimesKept is reached
  std::map<std::string, uint64_t> errors;  ///< by type
};

struct PhaseState {
  uint64_t times = 0;
  double seconds_sum = 0, seconds_min = 0, seconds_max = 0, seconds_last = 0;
  static constexpr size_t kEndsKept = 1024;
  std::vector<Point> ends;  ///< the last ones: when each ended, in which step, after how many seconds
};

/// What was emitted of text that may continue (event::Ticked); what is emitted of it later takes its place.
struct ProvisionalEvent {
  Where where;
  std::string signature;  ///< that was matched; "" of a traceback
  uint64_t count = 0;     ///< that it was counted
};

/// Something that midwatch did, or was about to do.
struct ActionState {
  Time at, done_at;  ///< done_at: unknown while nothing came of it
  uint16_t attempt = 0;
  event::Intended intent;
  bool done = false, ok = false;
  bool begun = true;  ///< as of event::Acted
  std::string outcome;
  double seconds = 0;
};

/// What counts up between two steps: a bar, or "finished 37/128 trajectories" in a line.
struct Counter {
  int64_t done = 0, total = 0;
  Time began, moved;  ///< this pass of it, as it was first seen; its last change
  uint16_t attempt = 0;
};

/// A component as a live watch last saw it, and the times when it was not well.
struct ComponentState {
  struct Trouble {
    Moment began;
    uint64_t order = 0;  ///< number of the event in the run, for "which came first"
    event::ComponentSaw saw;
    std::optional<Moment> certain;  ///< since when nothing else must show it
    std::optional<Moment> ended;
  };
  static constexpr size_t kTroublesKept = 16;  ///< the first and the last half
  event::ComponentSaw last;
  Moment since;  ///< it is as `last` says
  std::vector<Trouble> troubles;
};

/// Time passed, by the clock of the machine on which the run is watched.
struct Tick {
  uint64_t order = 0;  ///< number of the event in the run
  Time at;
  int64_t step = kNoStep;  ///< that the last attempt was at
  bool speaks = false;     ///< a log said something since the tick before, besides what idle servers say
};

struct State {
  // Not inline, as many files hold one: each would compile how its hundred members are made, copied and destroyed.
  State();
  State(const State&);
  State(State&&) noexcept;
  State& operator=(const State&);
  State& operator=(State&&) noexcept;
  ~State();

  // limits, beside what they limit
  static constexpr size_t kSeriesLimit = 2000;      ///< series; further raw names are counted, not kept
  static constexpr size_t kHostSeriesLimit = 512;   ///< series of the machine's figures; further ones are counted
  static constexpr size_t kHostPointLimit = 2048;   ///< points of each of them
  static constexpr size_t kPointLimit = 1'500'000;  ///< points of all series together; each gets its share of them
  static constexpr size_t kTemplateLimit = 2000;    ///< log templates
  static constexpr size_t kTraceLimit = 256;        ///< tracebacks kept, the first and the last half
  static constexpr size_t kCheckpointLimit = 4096;  ///< checkpoint events kept
  static constexpr size_t kSourceLimit = 4096;      ///< sources; events of further ones count for the last
  static constexpr size_t kAttemptLimit = 1024;     ///< attempts; what comes later belongs to the last
  static constexpr size_t kSignatureLimit = 4096;   ///< different signatures
  static constexpr size_t kNameLimit = 4096;        ///< entries of each map by name (config, tools, phases, ...)
  static constexpr size_t kAnchorLimit = 16384;     ///< (time, step) pairs; halved beyond
  static constexpr size_t kIncidentLimit = 1000;    ///< incidents kept
  static constexpr size_t kActionLimit = 1000;      ///< actions kept, the first and the last half
  static constexpr size_t kComponentLimit = 64;     ///< components kept: the first half and the last
  static constexpr size_t kNoteLimit = 1000;        ///< words of people kept, likewise
  static constexpr size_t kChangeLimit = 1000;      ///< changes between attempts kept, likewise
  static constexpr size_t kTickLimit = 2048;        ///< ticks kept; halved beyond
  static constexpr size_t kProvisionalLimit =
      1000;  ///< provisional events that may be replaced; older ones count for good

  std::string framework = "custom", version;
  double framework_confidence = 0;
  std::string saves_as;  ///< by whose names its checkpoints were found to be saved; "": the framework's own
  std::string saves_in;  ///< the folder of those, absolute
  const std::string& saver() const { return saves_as.empty() ? framework : saves_as; }
  std::map<std::string, std::string> config;
  std::vector<SourceState> sources;    ///< index = Where::source
  std::vector<AttemptState> attempts;  ///< never empty once an event came
  Time first_at, last_at;
  uint64_t events = 0;
  uint64_t order = 0;

  /// One per source and name, canonical or not, in order of first sight: the same signal may stand here several times,
  /// once for each source and raw name that has it. find() and shown() give one answer each.
  std::vector<Series> series;
  std::vector<Series> eval;  ///< held-out evaluations, likewise
  uint64_t series_dropped = 0;
  /// What a live watch measured of the machine under the run: `raw` names the thing ("/data", "0" for a GPU), the
  /// points have times and no step. Apart from the run's own series, which they must not be taken for.
  std::vector<Series> host;

  std::vector<SignatureState> signatures;  ///< in order of first sight
  std::vector<TraceState> traces;
  std::vector<ProvisionalEvent> provisional;
  bool saying_last_words = false;
  std::vector<TemplateState> templates;
  std::map<std::string, ToolState> tools;
  std::map<std::string, event::FormatJudged> formats;
  std::map<std::string, PhaseState> phases;
  std::string current_phase;
  Moment phase_began;
  /// An evaluation, a save or a start-up that was announced: it may take long by design, and say nothing meanwhile.
  struct LongPhase {
    Time from, until;  ///< unknown `until`: nothing shows yet that it is over
    int64_t step = kNoStep;
    uint16_t attempt = 0;
    bool evaluates = false;
  };
  static constexpr size_t kLongPhases = 64;
  std::vector<LongPhase> long_phases;
  std::map<std::string, event::Progressed> progress;
  std::map<std::string, Counter> counters;  ///< by what they count, as the log says it
  std::vector<std::pair<Moment, event::CheckpointSaved>> checkpoints;
  /// Checkpoints as they were found on the disk, in the order of the scans; Moment::step is theirs.
  std::vector<std::pair<Moment, event::CheckpointSeen>> checkpoint_scans;
  /// Likewise, of which a live watch read all bytes, or did not; and what it found of pointers to the newest one.
  std::vector<std::pair<Moment, event::CheckpointRead>> checkpoint_reads;
  std::vector<std::pair<Moment, event::PointerSeen>> pointers;
  uint64_t weight_syncs = 0;
  Moment last_sync;
  int64_t total_steps = 0;
  bool closed = false;

  std::vector<Incident> incidents;
  uint32_t last_incident = 0;  ///< highest number given so far; numbers are never given twice
  std::string verdict = "unknown";

  Supervision supervision;  ///< what midwatch knows of a command that it started
  std::vector<ActionState> actions;
  uint32_t last_action = 0;  ///< highest number given so far
  std::vector<std::pair<Moment, event::Note>> notes;
  std::vector<event::Changed> changes;  ///< between attempts of a supervised run, in order

  std::vector<ComponentState> components;  ///< in order of first sight

  /// (time, step) of training measurements and step announcements, by time: which step it was at a given moment.
  std::vector<std::pair<Time, int64_t>> anchors;
  /// Events that show that time passed, in order: by when the events before it had been received.
  std::vector<Tick> ticks;

  /// The series of a canonical signal, nullptr when the run does not show it. When several sources (or raw names) have
  /// it, the one with the most points of an attempt owns that attempt, the lower source number on a tie; the others
  /// only add what lies outside the owner's steps. Lives until the next fold().
  const Series* find(std::string_view signal) const;
  const Series* find_raw(std::string_view raw) const;
  /// Every signal once, in order of first sight: canonical ones merged as by find(), raw-only ones as by find_raw().
  std::vector<const Series*> shown(bool evaluations = false) const;
  /// The step that the run was at by its own measurements at `at`; kNoStep when not known.
  int64_t step_at(Time at) const;
  /// When who watches first saw the run at `step`, at which it still is; unknown where nobody watches, or it is
  /// elsewhere.
  Time reached_at(int64_t step) const;
  const SignatureState* signature(std::string_view id) const;
  /// Was it the machine, not a file of the run, that showed what happened there?
  bool by_host(const Where& where) const {
    return where.source < sources.size() && sources[where.source].kind == kHostKind;
  }
  /// First, last step and number of distinct steps over all attempts; kNoStep, kNoStep, 0 when none.
  struct Span {
    int64_t first = kNoStep, last = kNoStep, count = 0;
    bool counted = false;  ///< no source says of which step any record is: they are records, counted from 1
  };
  Span steps() const;
  /// Likewise, without the rest of it.
  bool only_counts_records() const;

  // Indices for fold() and find(), made from the above; of no use to anything else.
  std::unordered_map<uint64_t, uint32_t> series_index, eval_index, template_index;  ///< looked up only, never iterated
  struct Merged {
    struct Member {
      size_t index = 0;  ///< in `series` or `eval`
      uint64_t count = 0, rewritten = 0;
      size_t points = 0;
      bool operator==(const Member&) const = default;
    };
    std::vector<Member> members;  ///< as they were when it was made
    std::vector<size_t> order;    ///< their indices, who counts most first; the last is who owns the last attempt
    size_t attempts = 0;          ///< likewise
    bool grows = false;           ///< only its owner has points of the last attempt: its next ones go to the end
    uint64_t used = 0;            ///< `events` when it was last asked for
    Series series;
  };
  struct DoneSteps {
    uint64_t stamp = UINT64_MAX;                     ///< likewise
    bool measured = false;                           ///< any series has a point
    std::vector<std::pair<int64_t, int64_t>> steps;  ///< by attempt, first and last; kNoStep: none
  };
  mutable DoneSteps done_steps;                               ///< cache of detect::done_in()
  mutable std::map<std::string, Merged, std::less<>> merged;  ///< cache of find() where several series are one signal
};

/// Changes `state` by one event. Never fails; an event that makes no sense changes only the counters.
void fold(State& state, const Event& event);

}  // namespace mw
