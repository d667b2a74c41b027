// All that may be asked of the program.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/drill.h"
#include "api/fleet.h"
#include "api/preflight.h"
#include "api/requests.h"
#include "api/run_history.h"
#include "api/shipping.h"
#include "base/result.h"
#include "core/knowledge.h"

namespace mw {

class Services {
 public:
  virtual ~Services() = default;
  virtual Result<std::unique_ptr<Replayed>> replay(const ReplayRequest& request) = 0;
  /// Watches until it gets SIGINT or SIGTERM and returns what was seen.
  virtual Result<std::unique_ptr<Replayed>> attach(const AttachRequest& request) = 0;
  /// Supervises a command until it is over. SIGINT and SIGTERM ask it to end; the second one kills it.
  virtual Result<RunResult> run(const RunRequest& request) = 0;
  /// Puts settings into a request: of `file`, "" is midwatch.toml in the working directory if it is there, "none" none.
  /// An error says which line is wrong.
  virtual Result<void> configure(const std::string& file, RunRequest& request) = 0;
  virtual Result<void> configure(const std::string& file, AttachRequest& request) = 0;
  virtual Result<ConfigAnswer> config(const std::string& file) = 0;
  /// Sends a test message to one channel of a file of settings, or to all.
  virtual Result<std::vector<NotifyResult>> notify_test(const std::string& file, const std::string& channel) = 0;
  /// Every key of a file of settings, as Markdown or JSON.
  virtual std::string config_reference(bool json) = 0;
  /// The folder of the run that is meant where something is to be done to it: `run` is its name, a beginning of it, or
  /// its folder. "" is the only live run, or with none live the one written last; of several live ones, an error that
  /// lists them. Every `run` below may be such a folder, and "" there is the live run that began last.
  virtual Result<std::string> choose(const std::string& home, const std::string& run) = 0;
  /// All recorded runs that the filter lets through, the live ones first; at most `limit`.
  virtual Result<RunsAnswer> runs(const RunsRequest& request) = 0;
  /// One of them, with what differs from the run before it.
  virtual Result<RunsAnswer::Run> record(const std::string& home, const std::string& run) = 0;
  /// The state folded from a recorded run. `heard` may be empty.
  virtual Result<std::unique_ptr<Replayed>> recorded(const std::string& home, const std::string& run,
                                                     const Heard& heard) = 0;
  /// How a run stands.
  virtual Result<RunStatus> status(const std::string& home, const std::string& run) = 0;
  /// Puts it to the run's midwatch and waits a moment for it to be taken.
  virtual Result<Asked> ask(const std::string& home, const std::string& run, const RunAsk& ask) = 0;
  /// What of a supervised run's own resources could be freed.
  virtual Result<CleanupAnswer> could_clean_up(const CleanupRequest& request) = 0;
  /// Frees what of request.paths still may go: the run's midwatch does, or this process where none watches. Answers
  /// only with what it tried to remove.
  virtual Result<CleanupAnswer> clean_up(const CleanupRequest& request) = 0;
  /// Folds the journal of a recorded run again and makes its decisions anew.
  virtual Result<VerifyAnswer> verify(const std::string& home, const std::string& run) = 0;
  /// What midwatch quarantined of a supervised run's checkpoints.
  virtual Result<RestoreAnswer> could_restore(const RestoreRequest& request) = 0;
  /// Puts it back. kDenied: the run is watched, or its command lives.
  virtual Result<RestoreAnswer> restore(const RestoreRequest& request) = 0;
  /// What the files of checkpoints show, and which to resume from. With `deep` a manifest of each is written to the
  /// state folder.
  virtual Result<CheckpointsAnswer> checkpoints(const CheckpointsRequest& request) = 0;
  /// How the tensors of two checkpoints differ. `progress`: of bytes done, and in all.
  virtual Result<TensorsAnswer> compare_tensors(const std::string& before, const std::string& after,
                                                const std::function<void(int64_t, int64_t)>& progress) = 0;
  /// Ships a checkpoint to an object store, and moves `latest` there when all of it is verified.
  virtual Result<PushAnswer> push_checkpoint(const PushRequest& request) = 0;
  /// Receives the newest verified checkpoint, or that of a step, into a folder that is made.
  virtual Result<PullAnswer> pull_checkpoint(const PullRequest& request) = 0;
  /// Puts the newest verified checkpoint of a store where a run will look for it, unless it is there.
  virtual Result<StartAnswer> prepare_start(const StartRequest& request) = 0;
  /// Receives the journals and logs that were shipped beside checkpoints.
  virtual Result<LogsAnswer> shipped_logs(const LogsRequest& request) = 0;
  /// What a run has in an object store.
  virtual Result<RemoteAnswer> remote_checkpoints(const RemoteRequest& request) = 0;
  /// Rents machines for a run, and gives them back. A watch that goes on ends by a signal only.
  virtual Result<FleetAnswer> fleet(const FleetRequest& request) = 0;
  /// What became of the run of a store, over all machines that it lived on. Receives their journals; rents nothing.
  virtual Result<RunHistory> history(const StoreAddress& store) = 0;
  /// Stages a fault, on the practice run or on a supervised one, and waits for what comes of it.
  virtual Result<DrillResult> drill(const DrillRequest& request) = 0;
  /// What is wrong with a command before it begins. Starts and writes nothing.
  virtual Result<PreflightAnswer> preflight(const PreflightRequest& request) = 0;
  virtual const Knowledge& knowledge() = 0;
  virtual Result<void> write_file(const std::string& path, std::string_view text) = 0;
};

}  // namespace mw
