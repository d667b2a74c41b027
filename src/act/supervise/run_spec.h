// The files by which a supervised run is known to the next midwatch: what to hold, and how each attempt was judged.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/mode.h"
#include "core/policy.h"
#include "platform/disk.h"
#include "sense/checkpoints/quarantine.h"

namespace mw {

/// What to hold, and how. Written when the run begins; a later midwatch reads it from there.
struct RunSpec {
  std::vector<std::string> command;
  std::string folder;                              ///< working directory of the command
  std::map<std::string, std::string> environment;  ///< on top of what midwatch was started with
  std::string config;                              ///< file of settings, "": none; whom to tell is read from there
  std::vector<std::string> also;                   ///< further files and folders of the run to read
  std::vector<std::string> checkpoints;            ///< folders that hold the run's; none = as its files tell
  std::vector<std::string> resume;                 ///< for {resume} in the command; none = as its dialect says
  bool from_scratch = false;                       ///< a later attempt may begin from nothing
  RestartLimits limits;
  Duration grace = Duration::seconds(30);  ///< from asking the command to end to killing it
  uint64_t rotate_bytes = 256ULL << 20;    ///< beyond it the output's file is set aside and a new one begins
  bool breaker = true;                     ///< look for poisoned data that an attempt trains on
  Mode breaking = Mode::kAct;              ///< ending such an attempt, as a part that it needs is proven dead
  Mode breaking_learning = Mode::kAsk;     ///< ending one of which only the figures say that they are poisoned
  Mode restarting = Mode::kAct;            ///< beginning the next one
  bool dry = false;                        ///< nothing is deleted either
  /// Random, of this run alone: in what midwatch writes for itself to read again, and in its processes' environment.
  /// "" in a run that an older midwatch began.
  std::string nonce, mark;
};

/// Names within a run's folder.
inline constexpr std::string_view kRunSpecFile = "run.json";
inline constexpr std::string_view kOldRunSpecFile = "charge.json";  ///< of midwatch 0.1; still read
inline constexpr std::string_view kAttemptsFolder = "attempts";  ///< attempts/1, attempts/2, …: a keeper's folder each
inline constexpr std::string_view kJudgementFile = "judgement.json";  ///< in an attempt's folder, once it was judged
inline constexpr std::string_view kTripFile = "trip.json";  ///< in an attempt's folder: for what the breaker ends it
inline constexpr std::string_view kOutputFile = "output/train.log";  ///< of all attempts, one after another
inline constexpr std::string_view kStopFile = "stop";  ///< it is there: the run is to end, whoever watches
inline constexpr std::string_view kMembersFile =
    "members";                                            ///< in an attempt's folder: what came from it without a mark
inline constexpr std::string_view kPauseFile = "paused";  ///< it is there: the command is held still, whoever watches

/// Where the specification of the run in `run_folder` lies, under its present or its old name; "": nowhere.
std::string run_spec_path(Disk& disk, const std::string& run_folder);
/// Its text.
Result<std::string> read_run_spec(Disk& disk, const std::string& run_folder);
std::string run_spec_text(const RunSpec& spec);
Result<RunSpec> parse_run_spec(std::string_view text);

/// For what the breaker ends an attempt, as it stood then: afterwards the incident may look different.
struct Trip {
  std::string nonce;                           ///< the run's
  std::string kind, cause, reaction, summary;  ///< of the incident
  int64_t step = kNoStep;                      ///< its onset; the last step that was seen by then
  Where where;                                 ///< of the onset
};
std::string trip_text(const Trip& trip);
Result<Trip> parse_trip(std::string_view text);

/// Which checkpoints are set aside before the next attempt.
struct Rollback {
  std::vector<std::string> roots;     ///< folders; empty: none are
  int64_t from = kNoStep;             ///< this step's and all later ones
  std::string why;                    ///< one sentence
  std::vector<QuarantinePlan> plans;  ///< exactly what, of each folder where there is something to do
};

/// What the next attempt is told to resume from, where the command leaves that to midwatch; act/supervise/resume.h.
struct Resume {
  int64_t step = kNoStep;          ///< kNoStep: from the beginning, or from whatever the trainer finds
  std::string path;                ///< of that checkpoint; "": not known
  std::vector<std::string> words;  ///< in place of {resume}
};

/// How an attempt ended and what was decided then; the intent of a restart, durable before it is done.
struct Judgement {
  std::string nonce;  ///< the run's
  AttemptOutcome outcome;
  RestartDecision decision;
  std::string framework;  ///< whose layout the checkpoints have
  Rollback back;
  Resume resume;
  bool asks = false;  ///< the restart waits for a person's approval
  std::string facts;  ///< core/outcome_json.h: what core/policy.h was asked, and what it said
};
std::string judgement_text(const Judgement& judgement);
Result<Judgement> parse_judgement(std::string_view text);

}  // namespace mw
