#include "app/drill.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <set>
#include <thread>

#include "act/supervise/run_files.h"
#include "app/find_run.h"
#include "app/run_status.h"
#include "base/text.h"
#include "platform/system.h"
#include "read/recorder.h"
#include "sense/processes/recognise.h"

namespace mw {
namespace {

using Target = DrillInfo::Target;

constexpr Duration kPoll = Duration::millis(100);
constexpr Duration kReady = Duration::seconds(60);   // within which the practice run has saved a checkpoint
constexpr Duration kLimit = Duration::seconds(180);  // after the fault
constexpr int64_t kReadyStep = 10;

Result<std::string> practice_program(const std::string& given) {
  if (!given.empty()) {
    if (access(given.c_str(), X_OK) == 0) return given;
    return Error{Error::Code::kNotFound, cat("there is no program ", given), ""};
  }
  const auto self = make_posix_system()->real("/proc/self/exe");
  const std::string here = self.ok() ? folder_of(*self) : ".";
  for (const char* place : {"/practice/practice_run", "/practice_run"}) {
    if (access((here + place).c_str(), X_OK) == 0) return here + place;
  }
  return Error{Error::Code::kNotFound,
               cat("the practice run is not beside midwatch (", here, "/practice/practice_run)"),
               "Build it (cmake --build build --target practice_run), or say where it is: --practice PATH."};
}

/// midwatch run over the practice run, as a person would start it.
class Practice {
 public:
  ~Practice() {
    if (pid_ <= 0 || ended_) return;
    kill(pid_, SIGTERM);
    waitpid(pid_, nullptr, 0);
  }

  std::string settings() const { return cat(base_, "/midwatch.toml"); }

  Result<void> start(const std::string& program, const DrillInfo& drill) {
    const char* scratch = std::getenv("TMPDIR");
    base_ = cat(scratch == nullptr || *scratch == '\0' ? "/tmp" : scratch, "/midwatch-drill-XXXXXX");
    if (mkdtemp(base_.data()) == nullptr)
      return Error{Error::Code::kIo, cat(base_, ": no folder can be made there"), ""};
    // Nobody is there to be asked.
    std::ofstream(settings()) << "[actions]\nbreak_learning = \"act\"\n";
    words_ = {"midwatch",
              "run",
              "--home",
              home(),
              "--config",
              settings(),
              "--quiet",
              "--first-wait",
              "0.2",
              "--grace",
              "5",
              "--",
              program,
              "--out",
              "-",
              "--steps",
              "40",
              "--save-every",
              "5",
              "--checkpoints",
              base_ + "/checkpoints"};
    for (const std::string_view word : split(drill.options, ' ')) words_.emplace_back(word);
    std::vector<char*> argv;
    for (std::string& word : words_) argv.push_back(word.data());
    argv.push_back(nullptr);
    const std::string log = base_ + "/midwatch.log";
    pid_ = fork();
    if (pid_ == 0) {
      const int file = open(log.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
      dup2(file, STDOUT_FILENO);
      dup2(file, STDERR_FILENO);
      setenv("XDG_STATE_HOME", base_.c_str(), 1);  // its home is gone soon: nothing remembers it
      if (chdir(base_.c_str()) == 0) execv("/proc/self/exe", argv.data());
      _exit(127);
    }
    return pid_ > 0 ? Result<void>() : Result<void>(Error{Error::Code::kIo, "no process can be started", ""});
  }

  std::string home() const { return base_ + "/home"; }
  /// Has midwatch ended? `code` gets its exit status then.
  bool over(int* code) {
    int status = 0;
    if (!ended_ && waitpid(pid_, &status, WNOHANG) == pid_) {
      ended_ = true;
      code_ = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }
    *code = code_;
    return ended_;
  }

 private:
  std::string base_;
  std::vector<std::string> words_;
  pid_t pid_ = -1;
  bool ended_ = false;
  int code_ = -1;
};

/// Is it an inference engine, by its name or the first words of its command? (The practice run is its own.)
bool is_engine(const ProcessInfo& process) {
  const auto command = make_posix_system()->read(cat("/proc/", process.id.pid, "/cmdline"), 4096);
  const auto words = components::words_of(command.ok() ? *command : std::string());
  return components::recognise(process.name, words).kind == "engine" || contains(process.name, "practice_run");
}

class Drill {
 public:
  Drill(Disk& disk, Clock& clock, Processes& processes, const DrillInfo& info, const DrillRequest& request)
      : disk_(disk), clock_(clock), processes_(processes), info_(info), request_(request) {}

  Result<DrillResult> on_practice() {
    const auto program = practice_program(request_.practice);
    if (!program.ok()) return program.error();
    Practice practice;
    MW_TRY(practice.start(*program, info_));
    request_.say(cat(info_.name, ": ", info_.does));
    int code = -1;
    for (const Duration from = now(); !ready(practice.home());) {
      if (practice.over(&code) || since(from).ns > kReady.ns) {
        return Error{Error::Code::kIo, "the practice run did not get far enough to be hit",
                     cat("See ", practice.home(), "/..")};
      }
      rest();
    }
    if (info_.target != Target::kNone) MW_TRY(hit());
    began_ = now();
    while (!practice.over(&code)) {
      (void)look();
      if (since(began_).ns > kLimit.ns)
        return Error{Error::Code::kIo, "it did not end within three minutes", "See " + folder_};
      rest();
    }
    (void)look();
    DrillResult result;
    result.folder = folder_;
    result.what = cat("midwatch run ended with exit status ", code, " after ", state_attempts_,
                      state_attempts_ == 1 ? " attempt" : " attempts");
    result.as_stated = (code == 0) == info_.trains_on && expected_after_ >= 0 &&
                       (info_.within_s <= 0 || expected_after_ <= info_.within_s);
    if (expected_after_ < 0) result.what += cat("; no ", info_.incident, " was reported");
    if (info_.within_s > 0 && expected_after_ > info_.within_s) {
      result.what += cat("; ", info_.incident, " took longer than ", info_.within_s, " s");
    }
    return result;
  }

  Result<DrillResult> on_own() {
    const auto folder = find_run(disk_, processes_, clock_.now(), {request_.home, request_.run}, Purpose::kActing);
    if (!folder.ok()) return folder.error();
    folder_ = *folder;
    const auto status = status_now();
    if (!status.ok()) return status.error();
    if (!status->supervised || status->pid == 0 || status->watcher == 0) {
      return Error{Error::Code::kInvalid, cat("run ", status->name, " is not running under midwatch run here"),
                   "A drill needs a supervised run: midwatch run -- …"};
    }
    if (info_.target == Target::kNone) {
      return Error{Error::Code::kInvalid, cat(info_.name, " is for the practice run only"), "Leave --yes out."};
    }
    request_.say(cat(info_.name, " on run ", status->name, ": ", info_.does));
    before();
    MW_TRY(hit());
    began_ = now();
    const size_t attempts = state_attempts_;
    DrillResult result;
    result.folder = folder_;
    result.what = "nothing more within three minutes";
    for (; since(began_).ns < kLimit.ns; rest()) {
      const State state = look();
      const auto stands = run_status(disk_, processes_, folder_, state.supervision);
      if (stands.ok() && stands->phase == RunStatus::Phase::kOver) {
        result.what = cat("the run is over: ", stands->why);
        return result;
      }
      if (state.attempts.size() > attempts && state.attempts.back().last_step != kNoStep) {
        result.what = cat(
            "attempt ", state.attempts.size(), " trains again, ", seconds(), " after the fault",
            state.attempts.back().resumed_at == kNoStep ? "" : cat(", from step ", state.attempts.back().resumed_at));
        return result;
      }
    }
    return result;
  }

 private:
  Duration now() { return clock_.steady(); }
  Duration since(Duration then) { return {now().ns - then.ns}; }
  std::string seconds() { return cat(format_short(since(began_).seconds(), 2), " s"); }
  static void rest() { std::this_thread::sleep_for(std::chrono::nanoseconds(kPoll.ns)); }

  Result<RunStatus> status_now() {
    const auto state = read_recorded(disk_, folder_);
    return run_status(disk_, processes_, folder_, state.ok() ? state->supervision : Supervision());
  }

  /// A checkpoint is there to come back to; a fault of the practice run's own needs no waiting.
  bool ready(const std::string& home) {
    const std::vector<std::string> runs = recorded_runs(disk_, home);
    if (runs.empty()) return false;
    folder_ = runs.front();
    if (info_.target == Target::kNone) return true;
    const auto state = read_recorded(disk_, folder_);
    return state.ok() && !state->attempts.empty() && state->attempts.back().last_step >= kReadyStep &&
           !state->checkpoints.empty();
  }

  Result<void> hit() {
    const auto status = status_now();
    if (!status.ok()) return status.error();
    std::vector<ProcessInfo> family = descendants(processes_.all(), status->pid);
    const auto trainer = processes_.info(status->pid);
    if (!trainer.ok()) return trainer.error();
    ProcessInfo victim = *trainer;
    if (request_.process > 0) {
      family.push_back(*trainer);
      const auto one = std::find_if(family.begin(), family.end(),
                                    [this](const auto& process) { return process.id.pid == request_.process; });
      if (one == family.end()) {
        return Error{Error::Code::kInvalid, cat("process ", request_.process, " is none of the run's"),
                     cat("The command is process ", status->pid, "; pstree -p ", status->pid, " shows the others.")};
      }
      victim = *one;
    } else if (info_.target == Target::kEngine) {
      const auto engine = std::find_if(family.begin(), family.end(), is_engine);
      if (engine == family.end()) {
        return Error{Error::Code::kNotFound, "no inference engine is known among the run's processes",
                     "Name it: --process PID."};
      }
      victim = *engine;
    }
    MW_TRY(processes_.signal(victim.id, info_.signal));
    request_.say(cat("  0 s  signal ", info_.signal, " to process ", victim.id.pid, " (", victim.name, ")"));
    return {};
  }

  /// What was reported and done before the fault is not because of it.
  void before() {
    const auto state = read_recorded(disk_, folder_);
    if (!state.ok()) return;
    for (const Incident& incident : state->incidents) incidents_.insert(incident.id);
    actions_ = state->last_action;
    state_attempts_ = state->attempts.size();
  }

  /// Reports what is new in the run's record.
  State look() {
    auto state = read_recorded(disk_, folder_);
    if (!state.ok()) return State();
    for (const Incident& incident : state->incidents) {
      if (incident.severity == Severity::kInfo || !incidents_.insert(incident.id).second) continue;
      if (incident.kind == info_.incident && expected_after_ < 0) expected_after_ = since(began_).seconds();
      request_.say(cat("  ", seconds(), "  #", incident.id, " ", incident.kind, ", ", severity_name(incident.severity),
                       ": ", incident.summary));
    }
    for (const ActionState& action : state->actions) {
      if (action.intent.id <= actions_) continue;
      actions_ = action.intent.id;
      request_.say(cat("  ", seconds(), "  midwatch: ", action.intent.action, " ", action.intent.target, ": ",
                       action.intent.why));
    }
    state_attempts_ = state->attempts.size();
    return std::move(*state);
  }

  Disk& disk_;
  Clock& clock_;
  Processes& processes_;
  const DrillInfo& info_;
  const DrillRequest& request_;
  std::string folder_;
  Duration began_;
  std::set<uint32_t> incidents_;
  uint32_t actions_ = 0;
  size_t state_attempts_ = 0;
  double expected_after_ = -1;  // seconds from the fault to the incident that must be reported
};

}  // namespace

Result<DrillResult> run_drill(Disk& disk, Clock& clock, Processes& processes, const DrillRequest& request) {
  for (const DrillInfo& info : all_drills()) {
    if (info.name != request.name) continue;
    Drill drill(disk, clock, processes, info, request);
    return request.own ? drill.on_own() : drill.on_practice();
  }
  return Error{Error::Code::kInvalid, cat("there is no drill called ", request.name),
               "midwatch drill --list shows them."};
}

}  // namespace mw
