#include "app/run.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <csignal>
#include <cstdlib>

#include "act/cleanup/cleanup_task.h"
#include "act/cleanup/reserve.h"
#include "act/keeper/keep.h"
#include "act/keeper/launch.h"
#include "act/keeper/pending_output.h"
#include "act/supervise/resume_probe.h"
#include "act/supervise/stop_watchdog.h"
#include "act/supervise/supervised_components.h"
#include "act/supervise/supervisor.h"
#include "app/attach.h"
#include "app/begin_run.h"
#include "app/config/component_settings.h"
#include "app/config/rule_settings.h"
#include "app/config/settings.h"
#include "app/config/signal_settings.h"
#include "app/fleet_beat.h"
#include "app/fleet_machine.h"
#include "app/harbour.h"
#include "app/notifications.h"
#include "app/run_status.h"
#include "app/ship_beside.h"
#include "app/start_fence.h"
#include "app/tasks.h"
#include "base/text.h"
#include "core/supervise/program_on_input.h"
#include "platform/durable.h"
#include "platform/orphans.h"
#include "platform/private_folder.h"
#include "platform/real/posix_disk.h"
#include "platform/standard_input.h"
#include "platform/tail.h"
#include "sense/processes/known_environment.h"
#include "sense/processes/port_owner.h"

namespace mw {
namespace {

constexpr size_t kShownAtOnce = 256U << 10;          // bytes of output passed on per read
constexpr Duration kShowing = Duration::millis(50);  // per turn: output that comes as fast as it is shown never ends
constexpr int kOwnFailure = 125;                     // exit status, where the watch hangs and nothing was killed
constexpr std::string_view kProgram = "/proc/self/exe";

/// Passes on what the command writes.
class Passing {
 public:
  Passing(Disk& disk, const std::string& path, const RunRequest& request)
      : disk_(disk), tail_(disk, path), output_(request.output), takes_(request.takes_output) {}
  /// From now on; what was written before has been shown.
  void skip() {
    const auto now = disk_.info(tail_.path());
    while (now.ok() && tail_.offset() < static_cast<uint64_t>(now->size) && next()) {
    }
  }
  void show() {
    while (output_ && next()) output_(bytes_);
  }
  /// What can be shown in about so long. False when there may be more, or the terminal takes no more now.
  bool show_some(Clock& clock, Duration longest) {
    const Duration until{clock.steady().ns + longest.ns};
    while (output_) {
      if (clock.steady() >= until || (takes_ && !takes_())) return false;
      if (!next()) break;
      output_(bytes_);
    }
    return true;
  }

 private:
  bool next() {
    const auto news = tail_.read(kShownAtOnce, bytes_);
    return news.ok() && (*news == Tail::News::kBytes || *news == Tail::News::kBeganAnew);
  }

  Disk& disk_;
  Tail tail_;
  const std::function<void(std::string_view)>& output_;
  const std::function<bool()>& takes_;
  std::string bytes_;
};

/// The supervisor, and the command's output on its way to the terminal, beside the watch.
class SupervisorTask final : public Task {
 public:
  SupervisorTask(const Doors& doors, Processes& processes, const RunRequest& request, Supervisor& supervisor,
                 Passing& passing, const SupervisedComponents& components, StopWatchdog& watchdog)
      : doors_(doors),
        request_(request),
        supervisor_(supervisor),
        passing_(passing),
        components_(components),
        watchdog_(watchdog),
        orphans_(processes, doors.clock) {
    guard();
  }

  /// Asked, again and again, once the supervisor is done: may the watch end? `stops`: how often a stop came.
  void may_end(std::function<bool(const State& state, int stops)> may) { may_end_ = std::move(may); }

  std::optional<Duration> turn(const State& state, bool quiet, EventWriter& writer) override {
    // Whoever reads our output may stop, and this loop with it: before that the watchdog has to know the command.
    const bool shown = supervisor_.awaits_command() || passing_.show_some(doors_.clock, kShowing);
    orphans_.reap();
    const auto on = over_ ? Result<bool>(false) : supervisor_.turn(state, quiet, writer);
    guard();
    if (!on.ok() && on.error().what != trouble_) request_.say(trouble_ = on.error().what);
    if (on.ok() && !*on) {
      over_ = true;
      return may_end_ && !may_end_(state, stops_) ? std::optional(kShowing) : std::nullopt;
    }
    if (supervisor_.attempt() > 0) {
      doors_.watch.add(supervisor_.attempt_folder());
      doors_.watch.add(cat(supervisor_.attempt_folder(), "/", kRecordFolder));
    }
    return shown ? supervisor_.patience() : std::min(kShowing, supervisor_.patience());
  }

  bool stop_requested() override {
    ++stops_;
    request_.say("a stop was requested");
    supervisor_.stop(supervisor_.stopping(), doors_.watch.stop_signal());
    return true;
  }

 private:
  /// Whom the watchdog is to end, should this loop hang.
  void guard() {
    std::vector<StopWatchdog::Guarded> guarded = {{supervisor_.keeper(), supervisor_.command()}};
    for (const auto& [keeper, process] : components_.processes()) guarded.push_back({keeper, process});
    watchdog_.guard(std::move(guarded), supervisor_.spec().grace);
  }

  const Doors& doors_;
  const RunRequest& request_;
  Supervisor& supervisor_;
  Passing& passing_;
  const SupervisedComponents& components_;
  StopWatchdog& watchdog_;
  Orphans orphans_;
  std::string trouble_;
  std::function<bool(const State& state, int stops)> may_end_;
  bool over_ = false;  ///< the supervisor is done
  int stops_ = 0;
};

/// The declared components and rules. A run is supervised whatever is wrong with the settings.
Config declared_components(const Doors& doors, const RunRequest& request, const RunSpec& spec) {
  const std::string& path = request.spec.config.empty() ? spec.config : request.spec.config;
  auto loaded = path.empty() ? Result<Config>(Config::parse("", "")) : load_config(doors.disk, path);
  if (loaded.ok() && loaded->check().ok()) return std::move(*loaded);
  request.say("the declared components and rules are not watched: the settings cannot be used");
  return {};
}

AttachRequest watch_of(const RunRequest& request, const RunSpec& spec, const std::string& folder,
                       const std::string& output) {
  AttachRequest watching;
  watching.paths = {output};
  watching.paths.insert(watching.paths.end(), spec.also.begin(), spec.also.end());
  watching.framework = request.framework;
  watching.timezone = request.timezone;
  watching.knowledge = request.knowledge;
  watching.config = request.spec.config.empty() ? spec.config : request.spec.config;
  watching.home = folder_of(folder_of(folder));
  watching.run = basename(folder);
  watching.decided = request.decided;
  watching.keeper_nonce = spec.nonce;
  return watching;
}

/// Those of this machine say whose an address is.
ComponentDoors with_listeners(ComponentDoors doors) {
  const std::shared_ptr<System> system = make_posix_system();
  doors.listening = [system](const std::string& address) { return components::listeners_at(*system, address); };
  doors.holders = [system](uint64_t socket) { return components::holders_of(*system, socket); };
  return doors;
}

/// The components that midwatch starts itself; what they write is read, too.
Result<std::unique_ptr<SupervisedComponents>> own_components(const ComponentDoors& component_doors, Watch& watch,
                                                             const Config& declared, Supervisor& supervisor,
                                                             const std::string& run_folder, AttachRequest& watching) {
  auto specs = component_specs(declared, supervisor.spec().folder, cat(run_folder, "/output"));
  for (ComponentSpec& spec : specs) {
    spec.dry = supervisor.spec().dry;
    const std::string& marker = supervisor.spec().marker;
    spec.marker = marker.empty() ? "" : cat(marker, "-", spec.name);
    const auto log = component_doors.disk.open_append(spec.output);  // so that there is something to follow
    if (log.ok()) watching.paths.push_back(spec.output);
  }
  auto opened = SupervisedComponents::open(component_doors, watch, std::move(specs), run_folder);
  if (opened.ok()) (*opened)->serve(supervisor);
  return opened;
}

/// Notifications of a reattached run, which is supervised whatever is wrong with the settings.
std::unique_ptr<Notifications> reattached_notifications(const Doors& doors, const RunRequest& request,
                                                        const RunSpec& spec) {
  const std::string& config = request.spec.config.empty() ? spec.config : request.spec.config;
  auto notifications = Notifications::make(doors, config, request.say);
  if (notifications.ok()) return std::move(*notifications);
  request.say(cat("nobody is notified: ", notifications.error().what));
  return *Notifications::make(doors, "", request.say);
}

/// How it came out, for whoever began it.
void add_end(const Supervisor& supervisor, const Watch& watch, RunResult& result) {
  result.why = supervisor.why_over();
  result.attempts = supervisor.attempt();
  result.started = supervisor.could_start();
  result.unfinished = supervisor.unfinished();
  if (const auto& ending = supervisor.ending(); ending) {
    result.code = ending->code;
    result.signal = ending->signal;
  } else if (result.attempts == 0 && supervisor.stopping() && !result.unfinished) {
    result.signal = watch.stop_signal() != 0 ? watch.stop_signal() : SIGINT;  // `midwatch stop` asks by that one, too
  }
}

Result<void> write_somehow(Disk& disk, const std::string& path, std::string_view text,
                           const std::function<bool()>& make_room) {
  auto written = write_privately(disk, path, text);  // the environment is in some of them, whole
  if (written.ok() || written.error().code != Error::Code::kFull || !make_room()) return written;
  return write_privately(disk, path, text);
}

bool release(Reserve& reserve, const RunRequest& request) {
  const bool made = reserve.release();
  if (made) request.say("the disk of the run's record is full: released the space that was reserved there");
  return made;
}

/// The files that the run is to write itself: what is in them as it begins is not of it.
std::unique_ptr<NewContent> new_content(Disk& disk, const RunRequest& request, const RunSpec& spec,
                                        const std::string& folder, const WriteFile& write) {
  auto content = std::make_unique<NewContent>(disk);
  const std::string path = cat(folder, "/", kFilesBeforeFile);
  if (!request.reattach.empty()) {
    if (const auto text = read_small(disk, path); text.ok()) content->restore(*text);
    return content;
  }
  content->leave_out(spec.also);
  if (const auto kept = write(path, content->text()); !kept.ok()) request.say(kept.error().what);
  return content;
}

/// For whoever asks for its status.
void sign(const Doors& doors, Processes& processes, const std::string& folder, const RunRequest& request) {
  if (const auto done = sign_watch(doors.disk, processes, folder); !done.ok()) request.say(done.error().what);
}

/// Turn by turn to its end, and what was written last; what was seen.
std::unique_ptr<Replayed> go_through(AttachLoop& loop, const std::vector<Task*>& tasks, Passing& passing) {
  for (Task* task : tasks) loop.accompany(*task);
  while (loop.turn()) {
  }
  passing.show();
  return loop.take();
}

/// What is to be known before anything is read: what was declared, and secret values.
Config learn_of(const Doors& doors, const RunRequest& request, const Supervisor& supervisor, KnowledgeBase& knowledge) {
  for (const auto& [variable, value] : supervisor.spec().environment) knowledge.known().learn(variable, value);
  learn_environment_of(*make_posix_system(), supervisor.command_pid(), knowledge.known());
  Config declared = declared_components(doors, request, supervisor.spec());
  learn_settings(declared, knowledge);
  return declared;
}

/// Is the store's address one, can it take files, and are there credentials for it? It itself is not asked.
Result<void> check_store(const Doors& doors, const RunRequest& request) {
  if (!request.reattach.empty() || !is_shipped(request.spec)) return {};
  const auto way = open_harbour(doors.disk, store_of(request.spec));
  return way.ok() ? must_take_files(doors.disk, request.spec.store) : way.error();
}

/// Asked before anything of the run is made.
Result<void> may_begin(const Doors& doors, const RunRequest& request) {
  MW_TRY(check_store(doors, request));
  return admit_machine(doors.disk, request.receiving);
}

/// The watch goes on after the command until its checkpoints are looked at and shipped, and old ones gone.
void stay_for(const TaskContext& context, SupervisorTask& supervision) {
  if (context.final_scan == nullptr) return;
  supervision.may_end([scans = context.final_scan, shipping = context.shipping, cleanup = context.cleanup](
                          const State& state, int stops) {
    const bool scanned = scans->may_end(state, stops);
    const bool done = (shipping == nullptr || shipping->may_end(state, stops)) && scanned;
    return done && (cleanup == nullptr || cleanup->may_end(state, stops));
  });
}

Result<void> start(const std::string& place) { return start_keeper(place, std::string(kProgram)); }

/// `supervision` gives the supervisor its turns.
TaskContext context_of(TaskContext context, const RunRequest& request, Supervisor& supervisor,
                       SupervisedComponents& components, Task& supervision) {
  context.host = request.host;
  context.receiving = request.receiving;
  context.stacks = request.stacks;
  context.cost_per_hour = request.cost_per_hour;
  context.live = request.live;
  context.supervisor = &supervisor;
  context.components = &components;
  context.supervision = &supervision;
  context.folders = {context.folder, supervisor.spec().folder};
  return context;
}

/// What the command of a new run is given as its standard input: what midwatch itself got, as far as every attempt can
/// get the same.
Result<std::string> input_for(const Doors& doors, const RunRequest& request) {
  if (!request.reattach.empty()) return std::string();
  const bool needed = reads_program_from_input(request.spec.command);
  auto given = given_input(STDIN_FILENO, needed, [&doors] { return doors.watch.stop_came(); });
  if (!given.ok()) return given.error();
  if (given->open) {
    request.say(
        "the command's standard input is empty: midwatch gives every attempt the same input, and what comes through "
        "this pipe has not ended; write it into a file and give that as < FILE");
  }
  return std::move(given->text);
}

/// Begins the run, or finds the one to reattach to, and warns of another that lives in its folder of checkpoints: two
/// trainers there take each other's for their own.
Result<std::string> begin_and_warn(const Doors& doors, Processes& processes, const RunRequest& request) {
  const auto input = input_for(doors, request);
  if (!input.ok()) return input.error();
  auto folder = begin_or_find(doors, processes, request, *input);
  const auto spec = folder.ok() ? load_run_spec(doors.disk, *folder) : Result<RunSpec>(folder.error());
  if (!spec.ok()) return folder;
  const auto [name, root] = live_run_beside(doors.disk, processes, request.home, *folder, *spec);
  if (!name.empty()) {
    request.say(cat("run ", name, " lives and keeps its checkpoints in ", root,
                    ", too: neither trainer may find its own there, and [retention] removes nothing that both can "
                    "have written"));
  }
  return folder;
}

}  // namespace

Result<RunResult> supervise_run(const Doors& doors, Processes& real, KnowledgeBase& base, const RunRequest& request) {
  for (const int gone : {SIGHUP, SIGPIPE}) std::signal(gone, SIG_IGN);  // the terminal, and who reads our output
  MW_TRY(can_see_processes(real));
  InterruptOnce processes(real);
  StopWatchdog watchdog(doors.watch, processes, doors.clock, kOwnFailure, note_of_taken_away());
  // Before anything is begun, so that what is wrong is known at once.
  auto notifications = Notifications::make(doors, request.reattach.empty() ? request.spec.config : "", request.say);
  if (!notifications.ok()) return notifications.error();
  MW_TRY(may_begin(doors, request));
  auto folder = begin_and_warn(doors, processes, request);
  if (!folder.ok()) return folder.error();
  RunResult result{.folder = std::move(*folder)};
  make_private(result.folder);  // an earlier midwatch may have left it open
  const std::string output = cat(result.folder, "/", kOutputFile);
  Reserve reserve(doors.disk, result.folder);
  const auto make_room = [&reserve, &request] { return release(reserve, request); };
  const auto write = [&doors, make_room](const std::string& path, std::string_view text) {
    return write_somehow(doors.disk, path, text, make_room);
  };
  ResumeProbe way(doors.clock, make_posix_disk(), make_posix_system(), request.say);
  std::unique_ptr<SupervisedComponents> components;
  auto supervised = Supervisor::open({doors.disk, doors.clock, processes, start, write,
                                      [&base](const std::string& framework) { return base.checkpoints_of(framework); },
                                      request.say, way.door(), [&components] { return components->ready(); }},
                                     base.knowledge(), result.folder);
  if (!supervised.ok()) return supervised.error();
  Supervisor& supervisor = **supervised;
  const Config declared = learn_of(doors, request, supervisor, base);
  WithPendingOutput files(doors.disk, output, [&supervisor] { return supervisor.keeper_pid(); });
  const auto content = new_content(files, request, supervisor.spec(), result.folder, write);
  AttachRequest watching = watch_of(request, supervisor.spec(), result.folder, output);
  auto opened = own_components(with_listeners({doors.disk, doors.clock, processes, start, write, request.say}),
                               doors.watch, declared, supervisor, result.folder, watching);
  if (!opened.ok()) return opened.error();
  components = std::move(*opened);
  Passing passing(files, output, request);
  if (!request.reattach.empty()) {
    passing.skip();
    notifications = reattached_notifications(doors, request, supervisor.spec());
  }
  (*notifications)->supervises(result.folder, supervisor.spec());
  SupervisorTask supervision(doors, processes, request, supervisor, passing, *components, watchdog);
  // Takes the run's lock, so that the supervisor's first turn is nobody else's.
  auto loop = AttachLoop::open(doors, base, watching, content.get());
  if (!loop.ok()) return loop.error();
  (*loop)->when_full(make_room, request.say);
  reserve.take();
  sign(doors, processes, result.folder, request);
  TaskContext context = context_of({doors, processes, base, declared, result.folder, request.say}, request, supervisor,
                                   *components, supervision);
  context.notifier = (*notifications)->task();
  context.write = write;
  context.content = content.get();
  const Tasks tasks = make_tasks(context);
  stay_for(context, supervision);
  result.replayed = go_through(**loop, tasks.all, passing);
  (void)reserve.release();
  add_end(supervisor, doors.watch, result);
  return result;
}

}  // namespace mw
