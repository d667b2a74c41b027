// All that can happen to a run, as midwatch sees it. Everything else in the house is made from these.
//
// Observed events come from sources, decided ones from core. An event never carries more than `kTextLimit` bytes of
// foreign text, already redacted of secrets by whoever made it; it is escaped only where it is shown.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "base/time.h"
#include "core/figure_name.h"

namespace mw {

/// Most bytes of foreign text that one event keeps (a log line, an exception's message).
constexpr size_t kTextLimit = 2000;

/// No step is known or meant.
constexpr int64_t kNoStep = INT64_MIN;

/// A place in the run's files. `source` is the number that SourceOpened gave the file; `line` is 1-based (record
/// number in binary files), 0 when there is none.
struct Where {
  uint32_t source = 0;
  uint64_t line = 0;
  auto operator<=>(const Where&) const = default;
};

namespace event {

// ---- sources ------------------------------------------------------------------------------------------------------
struct SourceOpened {  ///< a file (or other source) of the run is being read
  uint32_t source = 0;
  std::string path;
  std::string kind;  ///< "text", "jsonl", "wandb", "tfevents", "csv", "trainer-state", "trackio", "mlflow", "json", ...
  int64_t bytes = 0;
  uint64_t head_hash = 0;  ///< fnv1a of the first `head_bytes` bytes: the same content is known again by them
  int64_t head_bytes = 0;
};
struct SourceProblem {  ///< something is wrong with the file itself; reading goes on
  std::string problem;  ///< "unreadable", "truncated", "rotated", "shrank", "torn-tail", "bad-checksum", "binary-junk",
                        ///< "invalid-utf8", "line-too-long", "not-a-record"
  std::string detail;
};
struct SourceEnded {  ///< its end was reached (replay), or it is gone (attach)
  int64_t bytes = 0;
  int64_t lines = 0;
  bool torn = false;      ///< the last record or line is incomplete
  std::string last_text;  ///< the last non-empty line of a text log, for the reader
};

// ---- what the run says of itself ------------------------------------------------------------------------------------
struct Recognised {  ///< whose trainer this is; may be said again with more confidence
  std::string framework;
  std::string version;
  double confidence = 0;  ///< 0..1
};
struct SavesAs {  ///< the run's checkpoints have the names of a framework that its logs do not show
  std::string framework;
  std::string folder;  ///< in which they lie, absolute
};
struct SourceHead {  ///< more of a young file came: from here on its content is known again by these first bytes
  uint64_t hash = 0;
  int64_t bytes = 0;
};
struct ReadAs {         ///< from this line on the file is read in this dialect; emitted where a watch may reattach
  std::string dialect;  ///< its id; "" is nobody's
};
struct ClockLacks {   ///< what the clocks of the file's lines do not name, as far as it has been read
  bool zone = false;  ///< their zone: they are read as UTC
  bool date = false;  ///< the date, or its year, of the first ones: it is that of the file's last change
};
struct Configured {  ///< one setting of the run ("algorithm"="grpo", "total_steps"="188"); canonical keys in words.md
  std::string key;
  std::string value;
};
struct AttemptBegan {  ///< the trainer started (again): banner, launcher line, step counter that went back
  std::string why;
};
struct Resumed {  ///< the trainer says that it loaded a checkpoint
  int64_t step = kNoStep;
  std::string path;
};
struct Planned {  ///< how far the run means to go
  int64_t total_steps = 0;
};
struct StepBegan {  ///< the trainer says which step it is at
  int64_t step = kNoStep;
};
struct PhaseBegan {
  std::string phase;  ///< "rollout", "reward", "train", "sync", "save", "eval", "init", "advantage", "logprob"
};
struct PhaseEnded {
  std::string phase;
  double seconds = 0;
  int64_t step = kNoStep;
};
struct Progressed {  ///< a progress bar or counter
  std::string what;
  int64_t done = 0;
  int64_t total = 0;
  double elapsed = -1;  ///< seconds since the bar was begun, as it says; below 0: it does not
};
struct Counted {  ///< a line that says how many of so many are done, of which the one before it said fewer
  std::string what;
  int64_t done = 0;
  int64_t total = 0;
};
struct Measured {  ///< one metric record
  int64_t step = kNoStep;
  bool eval = false;  ///< held-out evaluation rather than training
  std::vector<Reading> readings;
  bool counted = false;  ///< the step is a count of records: nothing says of which step they are
};
struct CheckpointSaved {
  int64_t step = kNoStep;
  std::string path;
  bool complete = true;  ///< false: the trainer only said that it began
};
struct CheckpointSeen {                          ///< a checkpoint was looked at on the disk
  enum class How { kWhole, kBroken, kUnknown };  ///< kUnknown: nothing speaks against it, nothing proves it
  int64_t step = kNoStep;
  std::string path;  ///< absolute
  How how = How::kUnknown;
  std::string what;  ///< one sentence: what is wrong, or what was found
  std::string sign;  ///< the signature of knowledge/ that it is a case of; "" when it is none
  int64_t bytes = 0;
  int64_t files = 0;
  std::string lacks;  ///< what a resume needs, the checkpoint before had, and is not in it: "optimizer"; "": nothing
  /// What verify_checkpoint() finds wrong in it, where no file in it can hold weights and nothing shows yet that this
  /// run saves otherwise (kUnknown); "": nothing.
  std::string doubt = {};
};
/// In the middle of a sentence. `seen.lacks` is not empty.
inline std::string lacks_sentence(const CheckpointSeen& seen) {
  return "a resume needs what is not in it (" + seen.lacks + "), and the one before has it";
}
struct CheckpointRead {  ///< all bytes of a checkpoint were read while the run went on
  enum class How { kSane, kSuspect, kCorrupt, kSkipped };  ///< kSkipped: it was not read to its end, `what` says why
  int64_t step = kNoStep;
  std::string path;  ///< absolute
  How how = How::kSkipped;
  std::string what;         ///< the first thing that is wrong, with the tensor's name; one sentence
  uint64_t tree_state = 0;  ///< of names, sizes and times of its files: the same number means the same save
  int64_t bytes = 0;        ///< that were read
  double seconds = 0;       ///< that it took
};
struct PointerSeen {  ///< a framework's file that names its newest checkpoint was found wrong, or right again
  std::string path;   ///< of the file, absolute
  bool right = true;
  std::string what;         ///< "it names step 20, which is not there"; "" when it is right
  int64_t step = kNoStep;   ///< that it names; kNoStep: none
  int64_t whole = kNoStep;  ///< the newest whole checkpoint beside it
  std::string whole_path;
};
struct WeightsSynced {
  int64_t version = kNoStep;
  double seconds = 0;
};
struct Ended {  ///< the run's own word on its end, or its launcher's
  enum class How { kComplete, kExit, kInterrupted, kFailed, kStopped };  ///< kStopped: by midwatch, for cause
  How how = How::kComplete;
  int64_t code = 0;  ///< exit status, or -signal; 0 when not said
  std::string text;
};

// ---- trouble and samples --------------------------------------------------------------------------------------------
struct Matched {  ///< a signature of knowledge/signatures/ was seen
  std::string signature;
  std::string text;
  uint64_t count = 1;   ///< as a "[repeated Nx across cluster]" says
  bool sample = false;  ///< inside a rollout sample or a tool's output: not the infrastructure's
};
struct TraceSeen {        ///< a Python traceback, whole
  std::string exception;  ///< "torch.OutOfMemoryError"
  std::string message;
  std::string frame;  ///< innermost frame: "file:line in function"
  uint64_t last_line = 0;
  bool sample = false;   ///< as above
  bool handled = false;  ///< followed by another exception of the same chain ("During handling of ...")
  int64_t pid = -1;      ///< of the process that printed it, as its prefix says; -1: not said
};
struct Logged {  ///< a warning or an error, by template: sent when a template is first seen, then at doubling counts
  enum class Level { kWarning, kError, kFatal };
  Level level = Level::kWarning;
  uint32_t pattern = 0;  ///< the template's number within the run
  std::string text;      ///< the template, variable parts as "<*>"
  uint64_t count = 1;
};
struct FormatJudged {  ///< format rule of an answer, counted
  std::string rule;
  uint64_t passed = 0;
  uint64_t failed = 0;
};
struct ToolCalled {
  std::string function;
  double seconds = -1;  ///< -1: not said
  enum class Outcome { kOk, kModelError, kEnvironmentError, kTimeout };
  Outcome outcome = Outcome::kOk;
  std::string error;  ///< exception type or short text
};

/// How a component (an engine, a server of tools or rewards, Ray) is. Emitted by a live watch when it changed.
struct ComponentSaw {
  enum class Health {
    kStarting,  ///< it is there and does not work yet
    kWell,      ///< it works, or goes on; after trouble: that is over
    kHalfDead,  ///< it says that it is well and does not do its work
    kSilent,    ///< it does not answer
    kFrozen,    ///< its process is stopped
    kGone,      ///< its process has ended, maybe because it was asked to
    kDead,      ///< its process has ended by a failure
  };
  std::string component;  ///< its name: as declared, else "VLLM::EngineCor (4711)"
  std::string kind;       ///< "engine", "tools", "rewards", "ray", "other"
  Health health = Health::kWell;
  bool certain = false;  ///< the run needs it and goes on without: nothing else must show it
  std::string text;      ///< what shows it, for people
  std::string address;   ///< "127.0.0.1:8000"; "" when not known
  int64_t pid = 0;       ///< 0: none of this machine that is known
  double seconds = 0;    ///< for which it had lasted by then
};

// ---- the watch itself -----------------------------------------------------------------------------------------------
struct Ticked {  ///< time passed without news (attach)
  /// What follows, up to the next Ticked or Closed, are provisional events of text that is still open. If more is
  /// written, they come again, as they then are.
  bool closing = false;
  bool speaks = false;  ///< a log said something since the last one, besides what idle servers say
};
struct Closed {  ///< nothing more will come: end of a replay, or attach was asked to stop
  bool final = true;
};

// ---- decided --------------------------------------------------------------------------------------------------------
struct IncidentOpened {
  uint32_t id = 0;
  std::string json;  ///< the incident, as the "incidents" item of docs/formats/replay-json.md
};
struct IncidentChanged {
  uint32_t id = 0;
  std::string json;
};
struct IncidentClosed {
  uint32_t id = 0;
  std::string why;
};
struct VerdictGiven {
  std::string verdict;  ///< running, finished, crashed, stalled, interrupted, unknown
};

// ---- supervision: what midwatch knows of a command that it started, and what it decided -----------------------------
struct WatchBegan {       ///< a midwatch began to watch, or another one went on
  std::string build;      ///< its version
  std::string knowledge;  ///< digest of dialects, signatures and causes in force (KnowledgeBase::digest())
  std::string settings;   ///< digest of midwatch.toml; "": there is none
};
struct AttemptStarted {  ///< by the keeper's record
  int64_t attempt = 0;   ///< from 1
  int64_t pid = 0;
  std::string boot;
};
struct AttemptExited {  ///< likewise
  int64_t attempt = 0;
  bool known = false;   ///< false: nobody received the exit status; code and signal mean nothing
  int64_t code = 0;     ///< exit status; -1 when a signal ended it
  int64_t signal = 0;   ///< 0: none
  std::string failure;  ///< why it could not be started; "": it was
};
struct Requested {   ///< a person, or a signal to midwatch, wants something done
  std::string what;  ///< "pause", "resume", "stop", "kill", "cleanup", "approve"
  std::string who;   ///< "mira@node7"; "midwatch" for a signal or itself; kByComponent
};
struct Asked {  ///< midwatch asks a person whether it may
  int64_t attempt = 0;
  std::string action;  ///< "break" or "restart"
  std::string text;    ///< one sentence: what it would do
};
struct Answered {  ///< the answer, or that the reason to ask is gone
  int64_t attempt = 0;
  std::string action;  ///< as of Asked
  std::string answer;  ///< "yes", "no", "withdrawn", and those of core/supervise/supervision.h
};
struct Decided {  ///< what follows the end of an attempt
  int64_t attempt = 0;
  bool restart = false;
  double wait_s = 0;  ///< before the restart
  std::string why;    ///< one sentence for people
  std::string
      facts;  ///< what core/supervise/policy.h decided on and what it said, as JSON (core/supervise/outcome_json.h)
  bool asks = false;  ///< the restart waits for approval
  std::string plan;   ///< what is quarantined before it and what it resumes from, as JSON (act/supervise/judgement.h)
};
struct Tripped {  ///< the circuit breaker ends an attempt: for the incident as it stood then
  int64_t attempt = 0;
  std::string kind, cause, reaction, summary;
  int64_t step = kNoStep;  ///< the onset; the last step that was seen by then
  uint32_t source = 0;     ///< of the onset
  uint64_t line = 0;
};
struct MembersSeen {  ///< processes of an attempt that do not carry its marker; replaces what was seen before
  int64_t attempt = 0;
  std::string boot;       ///< the numbers mean something in this boot only
  std::string processes;  ///< "pid:start pid:start": start in clock ticks since boot, proc(5)
};

// ---- people and actions ---------------------------------------------------------------------------------------------
struct Note {  ///< a person's note, for whoever reads the record later
  std::string who;
  std::string text;
};
/// An attempt of a supervised run found something changed since the one before: a package, a line of a script, a
/// variable.
struct Changed {
  int64_t attempt = 0;  ///< the later one, from 1
  std::string what;  ///< "environment", "package", "file", "code", …; "nothing": the two were compared, and are alike
  std::string name;  ///< of the variable, the package, the file
  std::string before, after;  ///< "": it is not there
};
/// midwatch is about to do something. It is in the journal, durably, before that; without an Acted of the same number
/// after a restart it is in doubt, and core/supervise/action_kind.h says what becomes of it.
struct Intended {
  uint32_t id = 0;  ///< counts up within the run
  std::string
      action;  ///< "restart", "stop", "break", "pause", "resume", "notify", "hook", "quarantine", "cleanup", ...
  std::string target;     ///< on what: an attempt, a component, a channel, a path
  uint32_t incident = 0;  ///< because of which; 0: none
  std::string why;        ///< one sentence for people
};
struct Acted {  ///< how an intent came out
  uint32_t id = 0;
  bool ok = true;
  std::string text;  ///< what came of it, or what went wrong
  double seconds = 0;
  bool begun = true;  ///< false: the intent could not be recorded, and so nothing was done
};

}  // namespace event

/// All that an event can be.
using AnyBody =
    std::variant<event::SourceOpened, event::SourceProblem, event::SourceEnded, event::Recognised, event::SourceHead,
                 event::ReadAs, event::ClockLacks, event::Configured, event::AttemptBegan, event::Resumed,
                 event::Planned, event::StepBegan, event::PhaseBegan, event::PhaseEnded, event::Progressed,
                 event::Measured, event::CheckpointSaved, event::CheckpointSeen, event::CheckpointRead,
                 event::PointerSeen, event::SavesAs, event::WeightsSynced, event::Ended, event::Matched,
                 event::TraceSeen, event::Logged, event::FormatJudged, event::ToolCalled, event::ComponentSaw,
                 event::Ticked, event::Closed, event::IncidentOpened, event::IncidentChanged, event::IncidentClosed,
                 event::VerdictGiven, event::Note, event::Changed, event::Intended, event::Acted, event::WatchBegan,
                 event::AttemptStarted, event::AttemptExited, event::Requested, event::Asked, event::Answered,
                 event::Decided, event::Tripped, event::MembersSeen, event::Counted>;

template <typename One, typename Bodies>
inline constexpr bool kIsOneOf = false;
template <typename One, typename... Bodies>
inline constexpr bool kIsOneOf<One, std::variant<Bodies...>> = (std::is_same_v<One, Bodies> || ...);

/// One of them. All that makes, copies and destroys it is out of line: for a variant of so many that is much code to
/// compile, in hundreds of files.
struct EventBody : AnyBody {
  EventBody();
  template <typename One>
  requires kIsOneOf<One, AnyBody> EventBody(One one);
  EventBody(const EventBody& other);
  EventBody(EventBody&& other) noexcept;
  EventBody& operator=(const EventBody& other);
  EventBody& operator=(EventBody&& other) noexcept;
  ~EventBody();
};

struct Event {
  using Body = EventBody;

  Event();
  Event(Time at, Where where, Body body, Time received = {});
  Event(const Event& other);
  Event(Event&& other) noexcept;
  Event& operator=(const Event& other);
  Event& operator=(Event&& other) noexcept;
  ~Event();

  Time at;  ///< when it happened by the run's own clock; unknown when its files do not say
  Where where;
  Body body;
  Time received;  ///< when midwatch learnt of it, by the machine's clock; unknown in a replay of files
};

/// What an executor writes down of a run that midwatch supervises.
using SupervisionEvent =
    std::variant<event::WatchBegan, event::AttemptStarted, event::AttemptExited, event::Requested, event::Asked,
                 event::Answered, event::Decided, event::Tripped, event::MembersSeen>;

/// Where sources put what they saw.
class EventSink {
 public:
  virtual ~EventSink() = default;
  virtual void put(Event&& event) = 0;
};

}  // namespace mw
