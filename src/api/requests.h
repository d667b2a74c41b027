// What is asked of the program and what it answers, whoever asks: the command line, later others.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/registry.h"
#include "core/input_figures.h"
#include "core/retention.h"
#include "core/state.h"
#include "core/supervise/run_ask.h"
#include "core/supervise/run_spec.h"

namespace mw {

/// Called with every event of a run, in order, once it is folded into the state. Where the files show in the end that
/// they have to be read otherwise, it is called with all of them once more: State::events begins anew.
using Heard = std::function<void(const State&, const Event&)>;

struct ReplayRequest {
  std::vector<std::string> paths;
  std::string framework;               ///< "" or the dialect to use whatever is recognised
  std::vector<std::string> knowledge;  ///< folders with the user's own dialects, signatures, rules
  std::string config;                  ///< a file of settings, whose rules hold; "": none
  /// Called now and then with bytes done and bytes in all.
  std::function<void(int64_t, int64_t)> progress;
  std::string timezone;  ///< of clocks that name none, as TimeZone::parse() has it; "": UTC
  Heard heard;           ///< may be empty; not called for the runs that lie in one folder
  std::string arm;       ///< of several arms of an experiment in one file; "": the one in the worst state
};

struct FolderRun;

struct Replayed {
  /// Where the folder that was given holds several runs: each of them, in byte order of their folders. What follows is
  /// then of no run.
  std::vector<FolderRun> runs;
  State state;
  InputFigures input;
  std::vector<std::string> notes;  ///< for the reader, in words: skipped files, mixed runs, unreadable parts
  bool partial = false;            ///< something could not be read
  std::vector<std::string> arms;   ///< of an experiment, that a file holds: this is of one of them; empty: one run
  bool unknown = false;            ///< nothing in it is what a run writes, as far as midwatch knows
};

/// One of several runs in a folder.
struct FolderRun {
  std::vector<std::string> paths;  ///< its folders: several where it was resumed in another one; or its files
  Replayed replayed;
};

/// Settings as `midwatch config` shows them.
struct ConfigAnswer {
  struct Remark {
    uint32_t line = 0;
    std::string what, hint;
  };
  struct Value {
    std::string key, value;
    uint32_t line = 0;  ///< of the file; 0: the default
  };
  std::string file;              ///< "": there is none
  std::vector<Remark> problems;  ///< for which the file is refused
  std::vector<Remark> warnings;  ///< what it names is not there
  std::vector<Value> values;
};

/// What came of a test message.
struct NotifyResult {
  std::string name, kind;  ///< of the channel
  bool ok = false;
  std::string said;  ///< by the receiver, or what went wrong
  double seconds = 0;
};

/// What a live view needs besides the state: times by the clock of the machine that watches, while it watches.
struct LiveFacts {
  Time now;
  Time stepped;          ///< when the last step was seen; unknown: none was
  double usual_s = 0;    ///< between two such moments; 0: not known
  double longest_s = 0;  ///< likewise, the longest of the last ones
  Time saved;            ///< when the newest checkpoint was seen; unknown: before the watch began
};
/// Called a few times a second at most, also while nothing comes. It may not wait for anybody.
using ShowLive = std::function<void(const State&, const LiveFacts&)>;

struct AttachRequest {
  std::string config;  ///< the file of settings; "": none
  std::vector<std::string> paths;
  std::string framework;
  std::vector<std::string> knowledge;
  std::string home;                         ///< "" = $MIDWATCH_HOME, or .midwatch beside the run
  std::string run;                          ///< its folder's name there; "" = made from the paths
  std::string timezone;                     ///< of clocks that name none; "": as the files that are written show
  double poll_s = 1.0;                      ///< how often to look where inotify does not reach
  double exit_after_idle_s = 0;             ///< stop when nothing new came for so long (0: never)
  std::optional<std::string> keeper_nonce;  ///< of a supervised run: a keeper's line without it is the trainer's own
  bool host = true;                         ///< watch the machine, too
  bool stacks = true;                       ///< ask for the stacks of a process that is stuck
  double cost_per_hour = 0;                 ///< of its machines; 0: not known
  int64_t pid = 0;                          ///< adopt this process: what it writes is read, too
  std::vector<std::string> allow;           ///< what may be done to it: "pause", "stop"
  std::function<void(const State&, const Event&)> decided;  ///< an incident opened, changed, closed; a verdict
  std::function<void(const std::string&)> say;              ///< what midwatch does beside, a sentence each
  ShowLive live;                                            ///< unset: nobody looks
};

struct RunRequest {
  /// Its command as typed behind "--"; folder, environment, nonce and marker are filled in when the run begins.
  RunSpec spec;
  std::string home;      ///< as of AttachRequest; .midwatch in the working directory
  std::string name;      ///< of the run; "" = made from the time and the command
  std::string reattach;  ///< instead of a command: a run that another midwatch began, or "newest"
  std::string framework;
  std::string timezone;  ///< as of AttachRequest
  std::vector<std::string> knowledge;
  std::string goes_on_from;  ///< the fingerprint of the run that it goes on with, elsewhere; "": of none, or not known
  Duration receiving;        ///< that onstart spent on its checkpoint, of the heartbeats
  bool host = true;          ///< watch the machine, too
  bool stacks = true;        ///< ask for the stacks of a process that is stuck
  double cost_per_hour = 0;  ///< of its machines; 0: not known
  std::function<void(std::string_view)> output;             ///< what the command writes, as it comes
  std::function<bool()> takes_output;                       ///< false: not now; unset: always, though it may wait
  std::function<void(const std::string&)> say;              ///< what midwatch does, a sentence each
  std::function<void(const State&, const Event&)> decided;  ///< as of AttachRequest
  ShowLive live;                                            ///< likewise
};

struct RunResult {
  std::unique_ptr<Replayed> replayed;
  std::string folder;  ///< of the run
  std::string why;     ///< it is over
  int attempts = 0;
  bool started = true;      ///< false: the command could not be started
  bool unfinished = false;  ///< its status is 0, and it was not done: short of its plan, or ended by an error
  int code = -1;            ///< exit status of the last attempt; -1: a signal, or not known
  int signal = 0;           ///< that ended it; of a run that was stopped before its first attempt, that stopped it
};

struct Asked {
  std::string run;       ///< its name
  bool taken = false;    ///< by the run's midwatch; else it lies there until one comes
  bool watched = false;  ///< a midwatch lives that will take it
  int64_t stopped = 0;   ///< process of the one that would, and is stopped itself; 0: none is
};

/// How a recorded run stands now, apart from what its files report.
struct RunStatus {
  enum class Phase { kUnknown, kStarting, kRunning, kPaused, kEnded, kWaiting, kOver };
  std::string name, folder;
  std::string store;                 ///< where its checkpoints are shipped; "": nowhere
  bool supervised = false;           ///< begun by `midwatch run`; else only what `attach` reads
  bool adopted = false;              ///< not supervised, but its process is known (`attach --pid`)
  std::vector<std::string> allow;    ///< of an adopted run: what may be done to it, "pause" and "stop"
  std::vector<std::string> command;  ///< of a supervised run
  Phase phase = Phase::kUnknown;     ///< of a supervised run
  int attempt = 0;
  int64_t pid = 0;      ///< the command's; 0: it does not run
  Time began;           ///< this attempt
  Time due;             ///< kWaiting: when the next one begins
  std::string why;      ///< the last decision between attempts
  std::string asks;     ///< for what midwatch asks a person's approval: "break", "restart"; "": nothing
  int64_t watcher = 0;  ///< process of the midwatch that watches now; 0: none does, or it is on another machine
  bool watcher_stopped = false;  ///< by SIGSTOP or Ctrl-Z: it sees and does nothing until it is continued
  bool elsewhere = false;        ///< it watches from another machine or container: whether it lives cannot be seen here
  Time heard;                    ///< when the journal was last written
  Time output;                   ///< when a file of the run was last written
  Time stepped;  ///< when the last step was seen, by the clock of the machine that watched (within 10 s)
  Time now;      ///< when all this was looked at
  std::string
      save_setting;  ///< what its framework calls the steps between saves; "" where another interval is no advice
  std::vector<std::string> others;  ///< names of further live runs, where none was asked for by name
};

/// A midwatch of this machine watches it, and does not only live.
inline bool is_watched_here(const RunStatus& status) { return status.watcher != 0 && !status.watcher_stopped; }

/// "midwatch process 4711 is stopped …", and what continues it.
inline std::string stopped_watcher(int64_t process) {
  const std::string number = std::to_string(process);
  return "midwatch process " + number + " is stopped (Ctrl-Z or SIGSTOP): fg in its terminal, or kill -CONT " + number +
         ", continues it";
}

/// What is known of recorded runs.
struct RunsAnswer {
  struct Run {
    RunStatus status;
    bool live = false;  ///< somebody watches it, or its command lives
    Time began;
    RunRecord record;
    std::string trouble;  ///< its journal cannot be read, and there is no record; "": it can
    /// Where it was asked for: the run that began before it, and what this one has other (settings, command, code,
    /// packages, machine); "" and empty where there is none.
    std::string before;
    std::vector<RunRecord::Change> differs;
  };
  std::vector<Run> runs;
  size_t left_out = 0;  ///< beyond the limit
};

/// Which recorded runs are wanted.
struct RunsRequest {
  std::string home;
  RunFilter filter;
  size_t limit = SIZE_MAX;
  bool differences = false;  ///< from the run before each
};

/// Of which run space is to be freed.
struct CleanupRequest {
  std::string home, run;
  std::vector<std::string> what;            ///< words of cleanup.what; none = those of the run's settings
  std::vector<std::string> paths;           ///< of could_clean_up(), to which somebody said yes; nothing else goes
  std::optional<RetentionRules> retention;  ///< for old checkpoints, in place of those of the run's settings
  std::string below = {};                   ///< of could_clean_up(): only what lies in this folder, or is it; "": all
};
/// What could be freed, or what came of it.
struct CleanupAnswer {
  struct Thing {
    std::string what, path, why;
    int64_t bytes = 0;
    bool done = false;    ///< it is gone
    std::string outcome;  ///< what came of it; "" before
  };
  std::string run;     ///< its name
  std::string folder;  ///< the run's
  std::vector<Thing> things;
  std::vector<Thing> left;              ///< what looks like it, too, and is not proven to be of no use; only reported
  bool pending = false;                 ///< the run's midwatch was asked and has not said yet what came of it
  bool names_known = true;              ///< how the run's framework names its checkpoints
  std::vector<std::string> notes = {};  ///< one sentence each, without a full stop
};

/// Of which run quarantined checkpoints are to be put back.
struct RestoreRequest {
  std::string home, run;
  std::string checkpoints;  ///< instead of a run: what was moved in this folder before a run that never began; ""
};
/// What was quarantined, or what came of putting it back.
struct RestoreAnswer {
  struct Thing {
    std::string from, path;  ///< where it lies, and where it was; of a pointer `from` is its text
    std::string why;         ///< it was moved
    int attempt = 0;         ///< before the one after this
    Time at;                 ///< when
    bool pointer = false;
    bool may = false;   ///< it can be put back
    bool done = false;  ///< it is back
    std::string outcome;
    std::string after = {};  ///< what midwatch put into a link; "": it is no link
    bool there = false;      ///< it was back already
  };
  std::string run;     ///< its name
  std::string folder;  ///< the run's
  std::vector<Thing> things;
};

/// Which checkpoints are to be looked at.
struct CheckpointsRequest {
  std::string home, run;
  std::vector<std::string> paths;  ///< of checkpoints, or of folders that hold some; none: those of the run
  bool deep = false;               ///< read every byte
  /// Called now and then with the path, bytes done and bytes in all.
  std::function<void(const std::string&, int64_t, int64_t)> progress;
  std::function<void(size_t, size_t)>
      counted;  ///< called for each with how many were looked at, and how many there are
};
/// What their files show.
struct CheckpointsAnswer {
  struct Problem {
    std::string trouble, depth;  ///< words: "missing", "structural"
    std::string path, what;      ///< within the checkpoint; one sentence
    bool breaks = true;          ///< false: worth knowing, and no reason not to resume from it
  };
  struct Deep {
    uint64_t bytes = 0, tensors = 0, numbers = 0, not_finite = 0, zero_tensors = 0;
    double norm = 0;
    uint64_t unjudged_bytes = 0;  ///< of weights whose numbers are not looked at one by one; 0: hardly any
  };
  struct Counted {
    int64_t files = 0, steps = 0;
  };
  struct Checkpoint {
    std::string path, state;  ///< "whole", "writing", "partial", "corrupt", "suspect", "unknown", "foreign"
    std::string resumable;    ///< "yes", "no", "unknown"
    int64_t step = kNoStep;
    std::string framework;
    std::vector<std::string> layouts;
    std::string depth;  ///< the deepest that was reached now: "structural", "sane"
    std::vector<Problem> problems;
    uint64_t problems_in_all = 0;
    std::vector<std::string> notes, there, lacks;  ///< what a trainer needs to resume: there; missing
    int64_t files = 0, bytes = 0;
    Time newest;                      ///< when the latest of its files was written
    Deep deep;                        ///< only with `deep`
    std::string manifest;             ///< that was written now; "": none
    Time verified_at;                 ///< when every byte was last read, before now
    std::string verified_state;       ///< what that said
    bool compared = false;            ///< its files are compared with what was recorded then
    std::vector<std::string> beside;  ///< checkpoints beside it with whose files samples of its own were compared
    Counted counted;                  ///< files of an optimizer that count as many steps; 0: no two were compared
    std::string shipped;              ///< word_of(Shipment::How); "": it is not to be shipped
    Time shipped_at;                  ///< of "shipped"
    std::string store;                ///< where `shipped` is said of, s3://BUCKET/RUN or a folder
    bool tainted = false;             ///< saved since the onset of an open failure of learning, by the run's journal
    bool unresumable = false;         ///< it is the newest, lacks what a resume needs, and an older one has it all
    bool unnamed = false;             ///< it is the newest, and its framework's pointer names nothing that is there
    std::string removable;            ///< by the run's [retention], and why; "": it stays, or nothing is said there
    std::string stays = {};           ///< whatever [retention] says, and why; "": nothing is said there
    double seconds = 0;               ///< that it took
  };
  std::string run;  ///< its name, where it was asked for
  std::vector<Checkpoint> checkpoints;
  Checkpoint resume_from;  ///< the newest whole one beside one that is not; its path is "" where nothing is found
  std::vector<Checkpoint> resume_with;  ///< what belongs to that in other trees: weights, an orchestrator's state
};

/// How the tensors of two checkpoints differ.
struct TensorsAnswer {
  struct Tensor {
    std::string name;
    std::string dtype[2], shape[2];  ///< "" where it is not in that one
    double norm[2] = {0, 0};
    uint64_t not_finite[2] = {0, 0};
    uint64_t numbers = 0, changed = 0;  ///< of those in both
    double change = 0, largest = 0;     ///< L2 norm of the difference; the largest difference of one number
    bool compared = false;              ///< of the same kind and shape in both
  };
  std::string paths[2];
  std::vector<Tensor> tensors;      ///< in byte order of their names
  std::vector<std::string> unread;  ///< files of either whose tensors cannot be read, and why
  std::vector<std::string> notes;
  uint64_t same = 0, changed = 0, only[2] = {0, 0}, reshaped = 0, not_finite[2] = {0, 0};
};

/// What came of folding a run's journal again and making its decisions anew.
struct VerifyAnswer {
  std::string run, folder;
  uint64_t events = 0;
  uint64_t judgements = 0;     ///< after which an incident or the verdict changed
  uint64_t decisions = 0;      ///< between attempts
  bool same_knowledge = true;  ///< it was watched by this build, with this knowledge
  uint64_t differing = 0;
  std::vector<std::string> differences;  ///< the first of them, one sentence each
  std::vector<std::string> damage;       ///< of the journal's files
};

}  // namespace mw
