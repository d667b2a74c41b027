// A run for tests: events folded into a state, and services that hand it out.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "core/state.h"
#include "ui/cli/verb.h"

namespace mw {

/// Text that tries everything: terminal escapes, C1, bidi, newlines, Markdown, HTML, table bars, broken UTF-8, links.
inline const std::string kHostile =
    "\x1b[31mred\x1b]0;title\x07 \xc2\x9b"
    "5m \xe2\x80\xae"
    "evil | **bold** `code` <script>alert(1)</script> [x](http://evil.example) www.evil.example \r\n# head\x7f\xff "
    "--> <!--";

struct FakeRun {
  State state;
  uint64_t line = 0;
  Time at{};

  FakeRun() { say(event::SourceOpened{0, "logs/train.log", "text", 1000}); }
  FakeRun& say(decltype(Event::body) body) {
    fold(state, {at, {0, ++line}, std::move(body)});
    return *this;
  }
  FakeRun& measure(int64_t step, double value, const char* signal = "reward.mean", const char* raw = "reward") {
    return say(event::Measured{step, false, {{signal, raw, value}}});
  }
  /// An incident at `step` that says `summary` and quotes `text`.
  Incident& incident(std::string kind, Severity severity, int64_t step, std::string summary, std::string text) {
    Incident i;
    i.id = static_cast<uint32_t>(state.incidents.size() + 1);
    i.kind = std::move(kind);
    i.severity = severity;
    i.onset.step = i.detected.step = step;
    i.onset.where = i.detected.where = {0, 7};
    i.latest = i.onset;
    i.summary = std::move(summary);
    i.evidence.push_back({{0, 7}, text, "", kNoStep, 0});
    i.evidence.push_back({{}, "", "reward.mean", kNoStep, 0.5});
    i.causes.push_back({"some-cause", "", 0.8, {text}, {text}, text, text});
    state.incidents.push_back(std::move(i));
    return state.incidents.back();
  }
};

class FakeServices : public Services {
 public:
  explicit FakeServices(State state) : state_(std::move(state)) {}
  Result<std::unique_ptr<Replayed>> replay(const ReplayRequest& request) override {
    asked = request.paths;
    if (!request.paths.empty() && request.paths.front() == missing) return Error{Error::Code::kNotFound, "no file", ""};
    auto replayed = std::make_unique<Replayed>();
    replayed->state = state_;
    return replayed;
  }
  Result<RunResult> run(const RunRequest& request) override {
    ran = request;
    RunResult result;
    result.replayed = std::make_unique<Replayed>();
    result.replayed->state = state_;
    result.code = 3;
    return result;
  }
  Result<std::unique_ptr<Replayed>> attach(const AttachRequest& request) override {
    ReplayRequest same;
    same.paths = request.paths;
    return replay(same);
  }
  Result<void> configure(const std::string& file, RunRequest& request) override {
    request.spec.config = file;
    request.spec.limits.restarts = 7;  // as if a file said so
    return {};
  }
  Result<void> configure(const std::string& file, AttachRequest& request) override {
    request.config = file;
    return {};
  }
  Result<ConfigAnswer> config(const std::string& file) override {
    settings.file = file;
    return settings;
  }
  Result<std::vector<NotifyResult>> notify_test(const std::string&, const std::string& channel) override {
    return std::vector<NotifyResult>{{channel, "webhook", channel != "broken", "HTTP 200", 0.1}};
  }
  std::string config_reference(bool json) override { return json ? "{}" : "# keys"; }
  Result<std::unique_ptr<Replayed>> recorded(const std::string&, const std::string& run, const Heard&) override {
    shown = run;
    return replay({});
  }
  Result<RunStatus> status(const std::string&, const std::string& run) override {
    if (run != how.folder) chosen = run;
    return how;
  }
  Result<std::string> choose(const std::string&, const std::string& run) override {
    chosen = run;
    if (run.empty() && known.runs.size() > 1) return Error{Error::Code::kInvalid, "2 runs are live: a, b", ""};
    return how.folder;
  }
  Result<RunsAnswer> runs(const RunsRequest& request) override {
    runs_wanted = request;
    RunsAnswer answer = known;
    if (answer.runs.size() > request.limit) {
      answer.left_out = answer.runs.size() - request.limit;
      answer.runs.resize(request.limit);
    }
    return answer;
  }
  Result<RunsAnswer::Run> record(const std::string&, const std::string&) override {
    if (known.runs.empty()) return Error{Error::Code::kNotFound, "no run is recorded", ""};
    return known.runs.front();
  }
  RunsRequest runs_wanted;
  RunsAnswer known;
  Result<VerifyAnswer> verify(const std::string&, const std::string&) override { return verified; }
  VerifyAnswer verified;
  Result<RestoreAnswer> could_restore(const RestoreRequest&) override {
    RestoreAnswer answer;
    answer.run = "one";
    answer.things.push_back({"/ck/quarantine/step_5", "/ck/step_5", "it was tainted", 1, {}, false, true, false, ""});
    return answer;
  }
  Result<RestoreAnswer> restore(const RestoreRequest& request) override {
    auto answer = could_restore(request);
    answer->things[0].done = true;
    ++restores;
    return answer;
  }
  int restores = 0;
  Result<CleanupAnswer> could_clean_up(const CleanupRequest& request) override {
    to_free = request;
    return freed;
  }
  Result<CleanupAnswer> clean_up(const CleanupRequest& request) override {
    to_free = request;
    ++frees;
    return freed;
  }
  Result<CheckpointsAnswer> checkpoints(const CheckpointsRequest& request) override {
    checkpoints_asked = request;
    return checkpoints_found;
  }
  Result<TensorsAnswer> compare_tensors(const std::string& before, const std::string& after,
                                        const std::function<void(int64_t, int64_t)>&) override {
    asked = {before, after};
    return tensors_found;
  }
  CheckpointsRequest checkpoints_asked;
  CheckpointsAnswer checkpoints_found;
  TensorsAnswer tensors_found;
  Result<PushAnswer> push_checkpoint(const PushRequest& request) override {
    pushed = request;
    if (request.store.place == "s3://broken/run") return Error{Error::Code::kInvalid, "the checkpoint is broken", ""};
    return push_answer;
  }
  PushRequest pushed;
  PushAnswer push_answer;
  Result<PullAnswer> pull_checkpoint(const PullRequest& request) override {
    pulled = request;
    return pull_answer;
  }
  PullRequest pulled;
  PullAnswer pull_answer;
  Result<StartAnswer> prepare_start(const StartRequest& request) override {
    starts = request;
    return start_answer;
  }
  StartRequest starts;
  StartAnswer start_answer;
  Result<LogsAnswer> shipped_logs(const LogsRequest&) override { return LogsAnswer{{{"one", "logs/one", 2, 10}}}; }
  Result<RemoteAnswer> remote_checkpoints(const RemoteRequest&) override { return remote; }
  RemoteAnswer remote;
  Result<FleetAnswer> fleet(const FleetRequest& request) override {
    fleet_asked = request;
    if (request.file == "broken.toml") return Error{Error::Code::kInvalid, "broken.toml:1: it is broken", ""};
    return fleet_answer;
  }
  FleetRequest fleet_asked;
  Result<RunHistory> history(const StoreAddress& store) override {
    history_asked = store;
    return std::move(history_answer);
  }
  StoreAddress history_asked;
  RunHistory history_answer;
  FleetAnswer fleet_answer;
  Result<DrillResult> drill(const DrillRequest&) override { return DrillResult{true, "it went on", "run"}; }
  Result<PreflightAnswer> preflight(const PreflightRequest& request) override {
    looked_at = request;
    if (request.command.empty() && request.files.empty()) return Error{Error::Code::kInvalid, "no command", ""};
    return preflight_answer;
  }
  PreflightRequest looked_at;
  PreflightAnswer preflight_answer;
  Result<Asked> ask(const std::string&, const std::string&, const RunAsk& ask) override {
    put = ask;
    const bool watched = is_watched_here(how);
    return Asked{how.name, watched, watched, how.watcher_stopped ? how.watcher : 0};
  }
  const Knowledge& knowledge() override { return knowledge_; }
  Result<void> write_file(const std::string&, std::string_view text) override {
    written = text;
    return {};
  }
  std::vector<std::string> asked;
  std::string missing;        ///< a path that is not there
  std::string chosen, shown;  ///< the run that was named last, and the one whose record was read
  RunRequest ran;
  ConfigAnswer settings;
  RunStatus how;
  RunAsk put;
  CleanupRequest to_free;
  CleanupAnswer freed;
  int frees = 0;
  std::string written;

 private:
  State state_;
  Knowledge knowledge_;
};

}  // namespace mw
