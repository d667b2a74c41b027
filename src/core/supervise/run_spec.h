// What a supervised run is to do, and its text in run.json.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "core/supervise/mode.h"
#include "core/supervise/policy.h"

namespace mw {

/// What a supervised run is to do. Written when it begins; a later midwatch reads it from there.
struct RunSpec {
  std::vector<std::string> command;
  std::string folder;                              ///< working directory of the command
  std::string input;                               ///< file that is the standard input of each attempt; "": none
  std::map<std::string, std::string> environment;  ///< on top of what midwatch was started with
  std::string config;                              ///< file of settings, "": none; whom to notify is read from there
  std::vector<std::string> also;                   ///< further files and folders of the run to read
  std::vector<std::string> notices = {"auto"};     ///< who may give notice that the machine is taken away
  std::vector<std::string> checkpoints;            ///< folders that hold the run's; none = as its files report
  std::vector<std::string> resume;                 ///< for {resume} in the command; none = as its dialect says
  bool from_scratch = false;                       ///< a later attempt may begin from nothing
  RestartLimits limits;
  Duration grace = Duration::seconds(30);  ///< from asking the command to end to killing it
  uint64_t rotate_bytes = 256ULL << 20;    ///< beyond it the output goes on in a new file
  bool breaker = true;                     ///< look for poisoned data that an attempt trains on
  Mode breaking = Mode::kAct;              ///< ending such an attempt, as a component that it needs is proven dead
  Mode breaking_learning = Mode::kAsk;     ///< ending one of which only the figures say that they are poisoned
  Mode breaking_hang = Mode::kAsk;         ///< ending one that does nothing any more
  Duration hang_patience = Duration::seconds(600);     ///< from the critical stall to that
  Duration answer_patience = Duration::seconds(1800);  ///< from asking whether to end it to ending it; 0: for ever
  Mode restarting = Mode::kAct;                        ///< beginning the next one
  bool unattended = false;                             ///< nobody is there to ask: what would ask acts
  std::string store;  ///< its checkpoints are shipped there: "s3://BUCKET/RUN", or a folder; "": nowhere
  std::string store_endpoint, store_region, store_profile, store_addressing = "auto";  ///< how an S3 store is reached
  int store_parallel = 4;                                                              ///< requests at once
  uint64_t store_limit = 0;                                                            ///< bytes a second; 0: no limit
  Duration store_wait = Duration::seconds(600);  ///< at most, when the run is over, for what is not shipped yet
  uint64_t first_step = 0;                       ///< what the first attempt resumes from; 0: from nothing
  std::vector<std::string> first_words;          ///< for {resume} in its command
  std::string first_root;                        ///< the folder that holds it; "": as `checkpoints` says
  bool first_shipped = false;                    ///< it came from the store, or was compared with what is there
  /// The command without the secret values that midwatch knew when the run began; none where it holds none.
  std::vector<std::string> shown_command;
  bool dry = false;  ///< nothing is done to the run or to its files, only reported
  /// Random, of this run alone: in what midwatch writes for itself to read again, and in its processes' environment.
  /// "" in a run that an older midwatch began.
  std::string nonce, marker;
};

/// Nobody is there to ask (RunSpec::unattended): every mode that asks acts. What only watches stays so.
void answer_for_itself(RunSpec& spec);

/// One member of RunSpec in its written forms. run.json is written and read from these rows, and what midwatch.toml
/// says reaches a RunSpec through them: a new setting is a member, a row here, and a row in app/config/config_table.cc.
struct RunSetting {
  using Member = std::variant<bool*, int*, uint64_t*, Duration*, Mode*, std::string*, std::vector<std::string>*,
                              std::map<std::string, std::string>*>;
  std::string_view json;    ///< its key in run.json; a Duration is in nanoseconds there
  std::string_view config;  ///< its key in midwatch.toml; "": it is no setting of a person
  Member (*member)(RunSpec& spec);
};
std::span<const RunSetting> run_settings();

/// run.json.
std::string run_spec_text(const RunSpec& spec);
/// Fails where there is no command or no folder; what is missing otherwise has its default.
Result<RunSpec> parse_run_spec(std::string_view text);

}  // namespace mw
