// What the verbs ask for, done.
#pragma once

#include <memory>

#include "api/services.h"
#include "app/config/config.h"
#include "app/find_run.h"
#include "platform/disk.h"
#include "platform/lock.h"
#include "read/books/knowledge_base.h"

namespace mw {

class DaemonServices final : public Services {
 public:
  DaemonServices();
  ~DaemonServices() override;
  Result<std::unique_ptr<Replayed>> replay(const ReplayRequest& request) override;
  Result<std::unique_ptr<Replayed>> attach(const AttachRequest& request) override;
  Result<RunResult> run(const RunRequest& request) override;
  Result<void> configure(const std::string& file, RunRequest& request) override;
  Result<void> configure(const std::string& file, AttachRequest& request) override;
  Result<ConfigAnswer> config(const std::string& file) override;
  Result<std::vector<NotifyResult>> notify_test(const std::string& file, const std::string& channel) override;
  std::string config_reference(bool json) override;
  Result<std::unique_ptr<Replayed>> recorded(const std::string& home, const std::string& run,
                                             const Heard& heard) override;
  Result<std::string> choose(const std::string& home, const std::string& run) override;
  Result<RunsAnswer> runs(const RunsRequest& request) override;
  Result<RunsAnswer::Run> record(const std::string& home, const std::string& run) override;
  Result<RunStatus> status(const std::string& home, const std::string& run) override;
  Result<CleanupAnswer> could_clean_up(const CleanupRequest& request) override;
  Result<CleanupAnswer> clean_up(const CleanupRequest& request) override;
  Result<VerifyAnswer> verify(const std::string& home, const std::string& run) override;
  Result<RestoreAnswer> could_restore(const RestoreRequest& request) override;
  Result<RestoreAnswer> restore(const RestoreRequest& request) override;
  Result<CheckpointsAnswer> checkpoints(const CheckpointsRequest& request) override;
  Result<TensorsAnswer> compare_tensors(const std::string& before, const std::string& after,
                                        const std::function<void(int64_t, int64_t)>& progress) override;
  Result<StartAnswer> prepare_start(const StartRequest& request) override;
  Result<LogsAnswer> shipped_logs(const LogsRequest& request) override;
  Result<PushAnswer> push_checkpoint(const PushRequest& request) override;
  Result<PullAnswer> pull_checkpoint(const PullRequest& request) override;
  Result<RemoteAnswer> remote_checkpoints(const RemoteRequest& request) override;
  Result<RunHistory> history(const StoreAddress& store) override;
  Result<FleetAnswer> fleet(const FleetRequest& request) override;
  Result<DrillResult> drill(const DrillRequest& request) override;
  Result<PreflightAnswer> preflight(const PreflightRequest& request) override;
  Result<Asked> ask(const std::string& home, const std::string& run, const RunAsk& ask) override;
  const Knowledge& knowledge() override;
  Result<void> write_file(const std::string& path, std::string_view text) override;

 private:
  Result<void> learn(const std::vector<std::string>& folders);
  Result<Config> settings(const std::string& file);
  Result<std::vector<FolderRun>> runs_of(const ReplayRequest& request, const std::vector<std::string>& paths,
                                         const State& state, int deep);
  Result<std::string> find(const std::string& home, const std::string& run, Purpose purpose);
  /// The same request with the folder of the run that is meant in place of its name.
  template <typename Request>
  Result<Request> of_chosen(Request request) {
    auto folder = choose(request.home, request.run);
    if (!folder.ok()) return folder.error();
    request.run = std::move(*folder);
    return request;
  }
  Result<std::unique_ptr<Replayed>> recorded_in(const std::string& run_folder, const Heard& heard);
  std::unique_ptr<Disk> disk_;
  std::string read_folder_;            ///< whose journal was read last for its status ...
  std::unique_ptr<State> read_state_;  ///< ... and what it holds: whoever asks for the status asks for that next
  std::unique_ptr<KnowledgeBase> knowledge_;
  std::unique_ptr<Lock> start_hold_;  ///< of prepare_start(): to the end of the run that it began
  Knowledge none_;
};

}  // namespace mw
