#include "app/services.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <thread>
#include <utility>

#include "act/cleanup/cleanup_result.h"
#include "act/notify/notifier.h"
#include "act/supervise/adopt.h"
#include "act/supervise/inbox.h"
#include "act/supervise/run_files.h"
#include "act/supervise/stop_watchdog.h"
#include "api/exit.h"
#include "app/attach.h"
#include "app/attach_name.h"
#include "app/await_paths.h"
#include "app/checkpoints.h"
#include "app/cleanup_by_hand.h"
#include "app/config/rule_settings.h"
#include "app/config/settings.h"
#include "app/config/signal_settings.h"
#include "app/drill.h"
#include "app/fleet.h"
#include "app/note_by_hand.h"
#include "app/notifications.h"
#include "app/onstart.h"
#include "app/preflight.h"
#include "app/read_run.h"
#include "app/restore.h"
#include "app/rule_watch.h"
#include "app/run.h"
#include "app/run_history.h"
#include "app/run_of_folder.h"
#include "app/run_status.h"
#include "app/ship.h"
#include "app/tasks.h"
#include "app/this_user.h"
#include "app/verify.h"
#include "base/text.h"
#include "core/save_interval.h"
#include "platform/clock.h"
#include "platform/durable.h"
#include "platform/large_pages.h"
#include "platform/lock.h"
#include "platform/private_folder.h"
#include "platform/real/posix_disk.h"
#include "platform/watch.h"
#include "read/folder_runs.h"
#include "read/recorder.h"
#include "read/run_reader.h"
#include "sense/processes/known_environment.h"

namespace mw {
namespace {

constexpr int kFoldersDeep = 4;  // in which runs lie below the folder that was given: project, name, day, time
constexpr Duration kTaken = Duration::seconds(5);  // within which a living midwatch takes what is asked

/// Of the process that is asked for: what it writes is put into `request`, and where that is recorded.
Result<std::unique_ptr<Adoption>> adoption_of(Processes& processes, Clock& clock, const Knowledge& knowledge,
                                              AttachRequest& request) {
  auto adopted = adopt(processes, request.pid, request.paths);
  if (!adopted.ok()) return adopted.error();
  request.paths = adopted->paths;
  adopted->allow = request.allow;
  const std::string word = adopted->command.empty() ? "process" : std::string(basename(adopted->command.front()));
  if (request.run.empty()) request.run = cat(word, "-", request.pid, "-", adopted->id.start);
  return std::make_unique<Adoption>(processes, clock, knowledge, std::move(*adopted), request.say);
}

/// Where the run writes, as far as its watcher knows.
std::vector<std::string> folders_of(Disk& disk, const AttachRequest& request) {
  std::vector<std::string> folders;
  for (const std::string& path : request.paths) {
    const auto info = disk.info(path);
    const bool folder = info.ok() && info->kind == FileInfo::Kind::kFolder;
    folders.push_back(folder ? path : folder_of(path));
  }
  if (!request.home.empty()) folders.push_back(request.home);
  return folders;
}

/// The folder that was given, or that holds all that was given (a shell made them of "runs/*"); "": one file was, or
/// they lie in several.
std::string folder_of_all(Disk& disk, const std::vector<std::string>& paths) {
  if (paths.size() == 1) {
    const auto info = disk.info(paths.front());
    return info.ok() && info->kind == FileInfo::Kind::kFolder ? paths.front() : "";
  }
  const std::string folder(folder_of(paths.front()));
  const bool all = std::all_of(paths.begin(), paths.end(), [&](const auto& path) { return folder_of(path) == folder; });
  return all ? folder : "";
}

/// Of several runs in what was given, the folders or files of each; empty where it is one run.
std::vector<std::vector<std::string>> runs_below(Disk& disk, const std::vector<std::string>& paths,
                                                 const State& state) {
  const std::string root = folder_of_all(disk, paths);
  if (paths.size() == 1 && root.empty()) return {};
  std::vector<std::string> files;
  for (const SourceState& source : state.sources) files.push_back(source.path);
  auto runs =
      root.empty() ? std::vector<std::vector<std::string>>() : runs_in_folders(state, folders_like_runs(root, files));
  return runs.empty() ? runs_in_files(state) : runs;
}

}  // namespace

DaemonServices::DaemonServices() : disk_(make_posix_disk()) {}
DaemonServices::~DaemonServices() = default;

Result<void> DaemonServices::learn(const std::vector<std::string>& folders) {
  if (knowledge_ != nullptr) return {};
  auto loaded = KnowledgeBase::load(folders, read_user_rules);
  if (!loaded.ok()) return loaded.error();
  knowledge_ = std::move(*loaded);
  knowledge_->known().learn_environment(environ);
  return {};
}

/// What the file says, whose rules hold from here on; "" says nothing, and the defaults hold.
Result<Config> DaemonServices::settings(const std::string& file) {
  if (file.empty()) return Config::parse("", "");
  auto loaded = load_config(*disk_, file);
  if (!loaded.ok()) return loaded.error();
  MW_TRY(loaded->check());
  learn_settings(*loaded, *knowledge_);
  return loaded;
}

const Knowledge& DaemonServices::knowledge() { return learn({}).ok() ? knowledge_->knowledge() : none_; }

Result<std::unique_ptr<Replayed>> DaemonServices::replay(const ReplayRequest& request) {
  const auto began = std::chrono::steady_clock::now();
  if (knowledge_ == nullptr) (void)grow_heap_in_large_pages();  // the first of the process
  MW_TRY(learn(request.knowledge));
  // Of a supervised run the journal knows more than its files.
  if (const std::string& path = request.paths.front();
      request.paths.size() == 1 && is_run_folder(*disk_, path) && !run_spec_path(*disk_, path).empty()) {
    return recorded_in(path, request.heard);
  }
  if (const auto rules = settings(request.config); !rules.ok()) return rules.error();
  auto result = read_run(*disk_, *knowledge_, request, request.paths);
  if (!result.ok()) return result;
  auto runs = runs_of(request, request.paths, (*result)->state, kFoldersDeep);
  if (!runs.ok()) return runs.error();
  if (!runs->empty()) (*result)->notes.clear();  // they were of all the files as one run
  for (const FolderRun& run : *runs)
    for (const std::string& note : run.replayed.notes) (*result)->notes.push_back(note);
  (*result)->runs = std::move(*runs);
  (*result)->input.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  return result;
}

/// Of several runs below the one folder that was given, each read on its own; empty where it is one run. `state`: of
/// all of them, read as one.
Result<std::vector<FolderRun>> DaemonServices::runs_of(const ReplayRequest& request,
                                                       const std::vector<std::string>& paths, const State& state,
                                                       int deep) {
  std::vector<FolderRun> out;
  const bool is_found = deep < kFoldersDeep;  // the files of one run, as the call before found them
  if (deep == 0 || (is_found && paths.size() > 1)) return out;
  for (const auto& folders : runs_below(*disk_, paths, state)) {
    ReplayRequest alone = request;
    alone.heard = {};  // what was heard is of all of them, read as one
    auto one = read_run(*disk_, *knowledge_, alone, folders);
    if (!one.ok()) return one.error();
    if ((*one)->unknown) continue;
    auto below = runs_of(request, folders, (*one)->state, deep - 1);
    if (!below.ok()) return below;
    if (below->empty()) out.push_back({folders, std::move(**one)});
    std::move(below->begin(), below->end(), std::back_inserter(out));
  }
  return out;
}

Result<std::unique_ptr<Replayed>> DaemonServices::attach(const AttachRequest& asked) {
  MW_TRY(learn(asked.knowledge));
  const auto config = settings(asked.config);
  if (!config.ok()) return config.error();
  auto watch = Watch::make();
  if (!watch.ok()) return watch.error();
  const auto clock = make_posix_clock();
  const auto locks = make_posix_locks();
  const auto processes = make_posix_processes();
  const Doors doors{*disk_, *clock, **watch, *locks, &knowledge_->known()};
  MW_TRY(can_see_processes(*processes));
  StopWatchdog watchdog(**watch, *processes, *clock, static_cast<int>(Exit::kFailed));
  AttachRequest request = asked;
  std::unique_ptr<Adoption> adoption;
  if (asked.pid > 0) {
    auto made = adoption_of(*processes, *clock, knowledge_->knowledge(), request);
    if (!made.ok()) return made.error();
    adoption = std::move(*made);
    learn_environment_of(*make_posix_system(), asked.pid, knowledge_->known());
  }
  MW_TRY(check_attach_name(*disk_, request));
  if (asked.pid == 0) MW_TRY(await_paths(doors, request));
  auto notifications = Notifications::make(doors, request.config, request.say);
  if (!notifications.ok()) return notifications.error();
  auto loop = AttachLoop::open(doors, *knowledge_, request);
  if (!loop.ok()) return loop.error();
  (*loop)->when_full(nullptr, request.say);
  make_private((*loop)->folder());  // also one that an earlier midwatch made
  (*notifications)->watches((*loop)->folder());
  MW_TRY(sign_watch(*disk_, *processes, (*loop)->folder()));
  if (adoption != nullptr) {
    const std::string text = adopted_text(adoption->adopted(), processes->boot());
    MW_TRY(write_durably(*disk_, cat((*loop)->folder(), "/", kAdoptedFile), text));
  }
  TaskContext context{doors, *processes, *knowledge_, *config, (*loop)->folder(), request.say};
  context.host = request.host;
  context.stacks = request.stacks && !request.allow.empty();
  context.cost_per_hour = request.cost_per_hour;
  context.notifier = (*notifications)->task();
  context.live = request.live;
  context.adoption = adoption.get();
  context.pid = request.pid;
  context.folders = folders_of(*disk_, request);
  const Tasks tasks = make_tasks(context);
  for (Task* task : tasks.all) (*loop)->accompany(*task);
  while ((*loop)->turn()) {
  }
  return (*loop)->take();
}

Result<RunResult> DaemonServices::run(const RunRequest& request) {
  MW_TRY(learn(request.knowledge));
  auto watch = Watch::make();
  if (!watch.ok()) return watch.error();
  const auto clock = make_posix_clock();
  const auto locks = make_posix_locks();
  const auto processes = make_posix_processes();
  return supervise_run({*disk_, *clock, **watch, *locks, &knowledge_->known()}, *processes, *knowledge_, request);
}

namespace {

template <typename Request>
Result<void> configure_request(Disk& disk, const std::string& file, Request& request) {
  const auto config = load_config(disk, file);
  if (!config.ok()) return config.error();
  MW_TRY(config->check());
  apply(*config, request);
  return {};
}

}  // namespace

Result<void> DaemonServices::configure(const std::string& file, RunRequest& request) {
  return configure_request(*disk_, file, request);
}

Result<void> DaemonServices::configure(const std::string& file, AttachRequest& request) {
  return configure_request(*disk_, file, request);
}

Result<ConfigAnswer> DaemonServices::config(const std::string& file) {
  const auto config = load_config(*disk_, file);
  if (!config.ok()) return config.error();
  ConfigAnswer answer = config_answer(*disk_, *config);
  if (answer.problems.empty())
    add_knowledge_problem(*config, learn(config->texts("run.knowledge")), knowledge_, answer);
  return answer;
}

Result<std::vector<NotifyResult>> DaemonServices::notify_test(const std::string& file, const std::string& channel) {
  const auto config = load_config(*disk_, file);
  if (!config.ok()) return config.error();
  return test_channels(*disk_, *make_posix_clock(), *config, channel);
}

std::string DaemonServices::config_reference(bool json) { return json ? config_reference_json() : config_page(); }

Result<std::unique_ptr<Replayed>> DaemonServices::recorded(const std::string& home, const std::string& run,
                                                           const Heard& heard) {
  const auto folder = find(home, run, Purpose::kReading);
  return folder.ok() ? recorded_in(*folder, heard) : Result<std::unique_ptr<Replayed>>(folder.error());
}

/// As the journal in that folder has it.
Result<std::unique_ptr<Replayed>> DaemonServices::recorded_in(const std::string& run_folder, const Heard& heard) {
  auto result = std::make_unique<Replayed>();
  if (read_state_ != nullptr && read_folder_ == run_folder && !heard) {
    result->state = std::move(*std::exchange(read_state_, nullptr));
  } else {
    auto state = read_recorded(*disk_, run_folder, heard);
    if (!state.ok()) return state.error();
    result->state = std::move(*state);
  }
  for (const SourceState& source : result->state.sources) {
    if (source.kind == kHostKind) continue;
    ++result->input.files;
    result->input.bytes += source.bytes;
    result->input.lines += source.lines;
  }
  return result;
}

Result<VerifyAnswer> DaemonServices::verify(const std::string& home, const std::string& run) {
  MW_TRY(learn({}));
  if (!run.empty() && is_run_folder(*disk_, run)) return verify_run(*disk_, *knowledge_, absolute_path(run));
  const auto folder = find(home, run, Purpose::kReading);
  if (!folder.ok()) return folder.error();
  return verify_run(*disk_, *knowledge_, *folder);
}

Result<std::string> DaemonServices::find(const std::string& home, const std::string& run, Purpose purpose) {
  return find_run(*disk_, *make_posix_processes(), make_posix_clock()->now(), {home, run}, purpose);
}

Result<std::string> DaemonServices::choose(const std::string& home, const std::string& run) {
  return find(home, run, Purpose::kActing);
}

Result<RunsAnswer> DaemonServices::runs(const RunsRequest& request) {
  return list_runs(*disk_, *make_posix_processes(), make_posix_clock()->now(), request);
}

Result<RunsAnswer::Run> DaemonServices::record(const std::string& home, const std::string& run) {
  const auto folder = find(home, run, Purpose::kReading);
  if (!folder.ok()) return folder.error();
  return one_run(*disk_, *make_posix_processes(), make_posix_clock()->now(), *folder);
}

Result<RunStatus> DaemonServices::status(const std::string& home, const std::string& run) {
  const auto folder = find(home, run, Purpose::kReading);
  if (!folder.ok()) return folder.error();
  auto state = read_recorded(*disk_, *folder);
  read_folder_ = *folder;
  read_state_ = state.ok() ? std::make_unique<State>(std::move(*state)) : nullptr;
  const Supervision none;
  auto how =
      run_status(*disk_, *make_posix_processes(), *folder, read_state_ == nullptr ? none : read_state_->supervision);
  if (!how.ok()) return how;
  how->now = make_posix_clock()->now();
  if (read_state_ != nullptr) {
    add_ages(*disk_, *read_state_, *how);
    if (!save_advice(*read_state_).empty()) how->save_setting = save_setting(read_state_->framework);
  }
  if (run.empty()) {
    how->others = live_runs(*disk_, *make_posix_processes(), how->now, home);
    std::erase(how->others, how->name);
  }
  return how;
}

Result<Asked> DaemonServices::ask(const std::string& home, const std::string& run, const RunAsk& ask) {
  const auto folder = choose(home, run);
  if (!folder.ok()) return folder.error();
  const auto how = status("", *folder);
  if (!how.ok()) return how.error();
  Asked asked;
  asked.run = how->name;
  asked.watched = is_watched_here(*how) || how->elsewhere;
  asked.stopped = how->watcher_stopped ? how->watcher : 0;
  RunAsk put = ask;
  const auto clock = make_posix_clock();
  if (!put.at.known()) put.at = clock->now();
  if (put.who.empty()) put.who = this_user(*disk_);
  // What people learn of a run they mostly write down when it is over.
  if (put.what == RunAsk::What::kTell && !asked.watched && asked.stopped == 0 &&
      note_by_hand(*disk_, how->folder, put).ok()) {
    asked.taken = true;
    return asked;
  }
  const auto path = put_ask(*disk_, how->folder, put, getpid());
  if (!path.ok()) return path.error();
  const Duration until{clock->steady().ns + (asked.watched ? kTaken.ns : 0)};
  for (;;) {
    asked.taken = !disk_->info(*path).ok();
    if (asked.taken || clock->steady().ns >= until.ns) return asked;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

Result<CleanupAnswer> DaemonServices::could_clean_up(const CleanupRequest& asked) {
  const auto request = with_run_of_folder(*disk_, asked);
  if (!request.ok()) return request.error();
  const auto chosen = of_chosen(*request);
  if (!chosen.ok()) return chosen.error();
  MW_TRY(learn({}));
  return plan_by_hand(*disk_, *knowledge_, *chosen);
}

Result<CleanupAnswer> DaemonServices::clean_up(const CleanupRequest& request) {
  const auto chosen = of_chosen(request);
  if (!chosen.ok()) return chosen.error();
  const auto how = status("", chosen->run);
  if (!how.ok()) return how.error();
  if (how->watcher == 0 && !how->elsewhere) {
    MW_TRY(learn({}));
    return cleanup_by_hand(*disk_, *knowledge_, *chosen, this_user(*disk_));
  }
  if (how->watcher_stopped) return Error{Error::Code::kInvalid, stopped_watcher(how->watcher), ""};
  RunAsk ask;
  ask.what = RunAsk::What::kCleanup;
  ask.at = make_posix_clock()->now();
  ask.text = cleanup_ask_text({request.what, request.paths, request.retention});
  const auto asked = this->ask("", chosen->run, ask);
  if (!asked.ok()) return asked.error();
  return wait_for_cleanup(*disk_, *make_posix_clock(), how->folder, ask.at);
}

Result<RestoreAnswer> DaemonServices::could_restore(const RestoreRequest& request) {
  if (!request.checkpoints.empty()) return mw::could_restore(*disk_, request);
  const auto chosen = of_chosen(request);
  if (!chosen.ok()) return chosen.error();
  return mw::could_restore(*disk_, *chosen);
}

Result<RestoreAnswer> DaemonServices::restore(const RestoreRequest& request) {
  if (!request.checkpoints.empty()) return restore_by_hand(*disk_, *make_posix_processes(), request, this_user(*disk_));
  const auto chosen = of_chosen(request);
  if (!chosen.ok()) return chosen.error();
  return restore_by_hand(*disk_, *make_posix_processes(), *chosen, this_user(*disk_));
}

Result<CheckpointsAnswer> DaemonServices::checkpoints(const CheckpointsRequest& request) {
  const Time now = make_posix_clock()->now();
  if (!request.paths.empty()) {
    auto answer = checkpoints_at(*disk_, request, request.paths, now);
    if (answer.ok() && needs_words(*answer) && learn({}).ok()) say_how_to_resume(*knowledge_, *answer);
    return answer;
  }
  const auto folder = find(request.home, request.run, Purpose::kReading);
  if (!folder.ok()) return folder.error();
  MW_TRY(learn({}));
  auto answer = checkpoints_of_run(*disk_, *knowledge_, *folder, request, now);
  if (answer.ok()) say_what_would_go(*disk_, *knowledge_, *folder, *answer);
  return answer;
}

Result<TensorsAnswer> DaemonServices::compare_tensors(const std::string& before, const std::string& after,
                                                      const std::function<void(int64_t, int64_t)>& progress) {
  return tensors_of(*disk_, absolute_path(before), absolute_path(after), progress);
}

Result<PushAnswer> DaemonServices::push_checkpoint(const PushRequest& request) {
  MW_TRY(learn({}));
  return ship_checkpoint(*disk_, *knowledge_, request);
}

Result<PullAnswer> DaemonServices::pull_checkpoint(const PullRequest& request) {
  return fetch_checkpoint(*disk_, request);
}

Result<StartAnswer> DaemonServices::prepare_start(const StartRequest& request) {
  MW_TRY(learn(request.knowledge));
  return mw::prepare_start(*disk_, *make_posix_processes(), *knowledge_, request, start_hold_);
}

Result<LogsAnswer> DaemonServices::shipped_logs(const LogsRequest& request) { return fetch_logs(*disk_, request); }

Result<RunHistory> DaemonServices::history(const StoreAddress& store) { return history_of(*disk_, store); }

Result<FleetAnswer> DaemonServices::fleet(const FleetRequest& request) { return manage_fleet(*disk_, request); }

Result<RemoteAnswer> DaemonServices::remote_checkpoints(const RemoteRequest& request) {
  return shipped_checkpoints(*disk_, request);
}

Result<DrillResult> DaemonServices::drill(const DrillRequest& request) {
  return run_drill(*disk_, *make_posix_clock(), *make_posix_processes(), request);
}

Result<PreflightAnswer> DaemonServices::preflight(const PreflightRequest& request) {
  if (request.like.empty()) return run_preflight(request, nullptr);
  std::unique_ptr<Replayed> measured;
  if (disk_->info(request.like).ok() && !is_run_folder(*disk_, request.like)) {
    ReplayRequest files;
    files.paths = {request.like};
    auto replayed = replay(files);
    if (!replayed.ok()) return replayed.error();
    measured = std::move(*replayed);
  } else {
    auto run = recorded(request.home, request.like, {});
    if (!run.ok()) return run.error();
    measured = std::move(*run);
  }
  return run_preflight(request, &measured->state);
}

Result<void> DaemonServices::write_file(const std::string& path, std::string_view text) {
  return write_durably(*disk_, path, text);
}

}  // namespace mw
