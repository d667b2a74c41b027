#include "app/run.h"

#include <algorithm>
#include <cctype>
#include <csignal>
#include <cstdlib>

#include "act/cleanup/cleanup_task.h"
#include "act/cleanup/reserve.h"
#include "act/cleanup/resource_watch.h"
#include "act/keeper/keep.h"
#include "act/keeper/launch.h"
#include "act/supervise/fingerprint_scope.h"
#include "act/supervise/inbox.h"
#include "act/supervise/resume_probe.h"
#include "act/supervise/seal.h"
#include "act/supervise/stop_watchdog.h"
#include "act/supervise/supervised_components.h"
#include "act/supervise/supervisor.h"
#include "app/attach.h"
#include "app/config/cleanup_settings.h"
#include "app/config/component_settings.h"
#include "app/config/rule_settings.h"
#include "app/config/scrape_settings.h"
#include "app/config/settings.h"
#include "app/notifications.h"
#include "app/rule_watch.h"
#include "app/run_status.h"
#include "base/text.h"
#include "platform/durable.h"
#include "platform/orphans.h"
#include "platform/private_folder.h"
#include "platform/real/posix_disk.h"
#include "platform/tail.h"
#include "sense/checkpoints/checkpoint_watch.h"
#include "sense/fingerprint/fingerprinting.h"
#include "sense/host/host_watch.h"
#include "sense/processes/component_watch.h"
#include "sense/processes/evidence.h"
#include "sense/processes/known_environment.h"
#include "sense/processes/scrape_watch.h"

namespace mw {
namespace {

constexpr size_t kShownAtOnce = 256U << 10;          // bytes of output passed on per read
constexpr Duration kShowing = Duration::millis(50);  // per turn: output that comes as fast as it is shown never ends
constexpr int kOwnFailure = 125;                     // exit status, where the watch hangs and nothing was killed
constexpr std::string_view kProgram = "/proc/self/exe";

/// "20260219-090811-train", of letters that no shell and no path minds.
std::string name_of(Time now, const std::vector<std::string>& command) {
  std::string stamp;
  for (const char c : format_utc(now).substr(0, 19))
    stamp += c == 'T' ? "-" : c == '-' || c == ':' ? "" : std::string(1, c);
  // The script says more than the interpreter in front of it.
  std::string_view word = command.front();
  for (size_t i = 1; i < command.size() && i < 4; ++i) {
    const std::string_view next = command[i];
    if (next.size() > 3 && (next.substr(next.size() - 3) == ".py" || next.substr(next.size() - 3) == ".sh"))
      word = next;
  }
  std::string name;
  for (const char c : basename(word).substr(0, 40)) {
    const bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
    name += plain ? c : '-';
  }
  return cat(stamp, "-", name);
}

Error bad_name(const std::string& name) {
  return {Error::Code::kInvalid, cat("a run cannot be called '", name, "'"), "Use letters, digits, dots and dashes."};
}

bool good_name(std::string_view name) {
  return !name.empty() && name.front() != '.' && name.size() <= 200 &&
         std::all_of(name.begin(), name.end(),
                     [](unsigned char c) { return std::isalnum(c) || c == '.' || c == '-' || c == '_'; });
}

/// The newest run under `home` that a midwatch held (attached runs have no run.json).
Result<std::string> newest_held(Disk& disk, const std::string& home) {
  auto names = disk.list(cat(home, "/runs"));
  std::string newest;
  Time newest_at;
  for (const std::string& name : names.ok() ? *names : std::vector<std::string>()) {
    const auto info = disk.info(run_spec_path(disk, cat(home, "/runs/", name)));
    if (!info.ok() || (!newest.empty() && info->changed <= newest_at)) continue;
    newest = name;
    newest_at = info->changed;
  }
  if (!newest.empty()) return newest;
  return Error{Error::Code::kNotFound, cat("no run was begun by 'midwatch run' under ", home),
               "Say where with --home."};
}

Result<std::string> begin_run(Disk& disk, Time now, const std::string& home, const RunRequest& request) {
  const std::string name = request.name.empty() ? name_of(now, request.command) : request.name;
  if (!good_name(name)) return bad_name(name);
  const std::string folder = cat(home, "/runs/", name);
  if (!run_spec_path(disk, folder).empty()) {
    return Error{Error::Code::kInvalid, cat("there is a run called ", name, " already"),
                 cat("Go on with it: midwatch run --reattach ", name, "; or give another --name.")};
  }
  RunSpec spec;
  spec.command = request.command;
  spec.folder = absolute_path("");
  if (std::getenv("PYTHONUNBUFFERED") == nullptr) spec.environment.emplace("PYTHONUNBUFFERED", "1");
  spec.config = request.config;
  for (const std::string& path : request.also) spec.also.push_back(absolute_path(path));
  for (const std::string& path : request.checkpoints) spec.checkpoints.push_back(absolute_path(path));
  spec.resume = request.resume;
  spec.from_scratch = request.from_scratch;
  spec.limits.restarts = request.restarts;
  spec.limits.first_wait = Duration::seconds(request.first_wait_s);
  spec.limits.longest_wait = Duration::seconds(request.longest_wait_s);
  spec.breaker = request.breaker;
  spec.breaking = mode_of(request.breaking);
  spec.breaking_learning = mode_of(request.breaking_learning);
  spec.restarting = mode_of(request.restarting);
  spec.dry = request.dry;
  spec.grace = Duration::seconds(request.grace_s);
  spec.rotate_bytes = static_cast<uint64_t>(request.rotate_bytes);
  MW_TRY(disk.make_folders(folder));
  make_private(folder);  // before anything is in it
  spec.nonce = random_nonce();
  spec.mark = random_nonce();
  MW_TRY(disk.make_folders(cat(folder, "/output")));
  auto output = disk.open_append(cat(folder, "/", kOutputFile));  // so that there is something to follow
  if (!output.ok()) return output.error();
  MW_TRY(write_privately(disk, cat(folder, "/", kRunSpecFile), run_spec_text(spec)));
  return name;
}

/// Passes on what the command writes.
class Passing {
 public:
  Passing(Disk& disk, const std::string& path, const std::function<void(std::string_view)>& output)
      : disk_(disk), tail_(disk, path), output_(output) {}
  /// From now on; what was written before has been shown.
  void skip() {
    const auto now = disk_.info(tail_.path());
    while (now.ok() && tail_.offset() < static_cast<uint64_t>(now->size) && next()) {
    }
  }
  void show() {
    while (output_ && next()) output_(bytes_);
  }
  /// What can be shown in about so long.
  void show_some(Clock& clock, Duration longest) {
    const Duration until{clock.steady().ns + longest.ns};
    while (output_ && clock.steady() < until && next()) output_(bytes_);
  }

 private:
  bool next() {
    const auto news = tail_.read(kShownAtOnce, bytes_);
    return news.ok() && (*news == Tail::News::kBytes || *news == Tail::News::kBeganAnew);
  }

  Disk& disk_;
  Tail tail_;
  const std::function<void(std::string_view)>& output_;
  std::string bytes_;
};

/// The supervisor, and the command's output on its way to the terminal, beside the watch.
class Holding final : public Task {
 public:
  Holding(const Doors& doors, Processes& processes, const RunRequest& request, Supervisor& supervisor, Passing& passing,
          const SupervisedComponents& parts, StopWatchdog& watchdog)
      : doors_(doors),
        request_(request),
        supervisor_(supervisor),
        passing_(passing),
        parts_(parts),
        watchdog_(watchdog),
        orphans_(processes, doors.clock) {
    guard();
  }

  std::optional<Duration> turn(const State& state, bool quiet, EventWriter& writer) override {
    passing_.show_some(doors_.clock, kShowing);
    orphans_.reap();
    const auto on = supervisor_.turn(state, quiet, writer);
    guard();
    if (!on.ok() && on.error().what != trouble_) request_.say(trouble_ = on.error().what);
    if (on.ok() && !*on) return std::nullopt;
    if (supervisor_.attempt() > 0) {
      doors_.watch.add(supervisor_.attempt_folder());
      doors_.watch.add(cat(supervisor_.attempt_folder(), "/", kRecordFolder));
    }
    return supervisor_.patience();
  }

  bool stop_requested() override {
    request_.say("told to stop");
    if (const auto done = supervisor_.stop(supervisor_.stopping()); !done.ok()) request_.say(done.error().what);
    return true;
  }

 private:
  /// Whom the watchdog is to end, should this loop hang.
  void guard() {
    std::vector<StopWatchdog::Guarded> guarded = {{supervisor_.keeper(), supervisor_.command()}};
    for (const auto& [keeper, process] : parts_.processes()) guarded.push_back({keeper, process});
    watchdog_.guard(std::move(guarded), supervisor_.spec().grace);
  }

  const Doors& doors_;
  const RunRequest& request_;
  Supervisor& supervisor_;
  Passing& passing_;
  const SupervisedComponents& parts_;
  StopWatchdog& watchdog_;
  Orphans orphans_;
  std::string trouble_;
};

Result<void> do_as_asked(Supervisor& supervisor, CleanupTask& house, const RunAsk& ask) {
  switch (ask.what) {
    case RunAsk::What::kTell:
      return {};
    case RunAsk::What::kPause:
      return supervisor.pause();
    case RunAsk::What::kResume:
      MW_TRY(supervisor.refuse());
      return supervisor.resume();
    case RunAsk::What::kApprove:
      return supervisor.approve();
    case RunAsk::What::kStop:
      return supervisor.stop(false);
    case RunAsk::What::kKill:
      return supervisor.stop(true);
    case RunAsk::What::kCleanup:
      house.cleanup_now(ask);
      return {};
  }
  return {};
}

/// What was declared of the run's parts. A run is held whatever is wrong with the settings.
Config declared_parts(const Doors& doors, const RunRequest& request, const RunSpec& spec) {
  const std::string& path = request.config.empty() ? spec.config : request.config;
  auto loaded = path.empty() ? Result<Config>(Config()) : load_config(doors.disk, path);
  if (loaded.ok() && loaded->check().ok()) return std::move(*loaded);
  request.say("the components and rules that were declared are not looked after: the settings cannot be used");
  return {};
}

std::unique_ptr<ComponentWatch> parts_of(const Doors& doors, const KnowledgeBase& language, const RunRequest& request,
                                         const Config& config, Supervisor& supervisor,
                                         const SupervisedComponents& supervised_components) {
  const auto held = [&supervisor] {
    return ComponentWatch::RunProcesses{supervisor.keeper_pid(), supervisor.command_pid()};
  };
  const auto process_of = [&supervised_components](const std::string& name) {
    return supervised_components.pid_of(name);
  };
  ComponentWatch::Scope scope{make_posix_system(), make_http(), component_targets(config), held,
                              process_of,          request.say};
  auto watch = std::make_unique<ComponentWatch>(doors.clock, language.knowledge(), std::move(scope));
  supervisor.when_servers_are_wanted(
      [parts = watch.get()](const State& state, EventWriter& writer) { return parts->servers_answer(state, writer); });
  return watch;
}

EvidenceScope evidence_of(const Supervisor& supervisor, const std::string& folder, bool stacks,
                          const KnownSecrets& known) {
  EvidenceScope scope;
  scope.system = make_posix_system();
  scope.processes = [&supervisor] {
    return EvidenceScope::RunProcesses{supervisor.keeper_pid(), supervisor.command_pid(), false};
  };
  scope.folder = folder;
  scope.known = &known;
  scope.stacks = stacks;
  return scope;
}

using WriteFile = std::function<Result<void>(const std::string& path, std::string_view text)>;

using Watches = std::vector<std::unique_ptr<Task>>;

auto layouts_of(const KnowledgeBase& language) {
  return [&language](const std::string& framework) { return language.checkpoints_of(framework); };
}

/// What people ask, and what is watched of the machine under the run.
Watches watches_of(const Doors& doors, Processes& processes, const KnowledgeBase& language, const RunRequest& request,
                   Supervisor& supervisor, const Config& declared, SupervisedComponents& supervised_components,
                   const std::string& folder, const WriteFile& write) {
  Watches watches;
  watches.push_back(std::make_unique<RuleWatch>(doors.clock, language.knowledge(), request.say));
  if (auto scrapes = watch_endpoints(doors.clock, endpoints_of(declared)); scrapes)
    watches.push_back(std::move(scrapes));
  if (request.host || !declared.names("component").empty()) {
    watches.push_back(parts_of(doors, language, request, declared, supervisor, supervised_components));
  }
  const RunSpec& spec = supervisor.spec();
  const auto layout = layouts_of(language);
  const auto holds = [&supervisor] { return supervisor.keeper_pid() != 0; };
  const CleanupSettings may_go = cleanup_settings(declared, spec.dry);
  if (auto seen = watch_resources(doors.clock, folder, may_go, holds, write); seen) watches.push_back(std::move(seen));
  auto house =
      keep_house(doors.clock, spec, {folder, spec.folder, spec.checkpoints}, may_go, layout, request.say, holds, write);
  watches.insert(watches.begin(),
                 std::make_unique<Inbox>(doors, folder, [&supervisor, keeper = house.get()](const RunAsk& ask) {
                   return do_as_asked(supervisor, *keeper, ask);
                 }));
  supervisor.when_space_is_wanted([keeper = house.get()](const State& state) { return keeper->made_room(state); });
  watches.push_back(std::move(house));
  if (!request.host) return watches;
  const auto root = [&supervisor] { return supervisor.keeper_pid(); };
  watches.push_back(watch_machine(doors.clock, language, {folder, spec.folder}, root));
  watches.push_back(watch_checkpoints(doors.clock, layout, spec.folder, spec.checkpoints, folder));
  // Behind those who see that the run is stuck, and before those who do something about it.
  auto evidence = std::make_unique<EvidenceTaker>(doors.disk, doors.clock, processes,
                                                  evidence_of(supervisor, folder, request.stacks, language.known()));
  supervised_components.spare_while([taker = evidence.get()](int64_t pid) { return taker->reads(pid); });
  supervisor.spare_while([taker = evidence.get()] { return taker->reads(); });
  watches.push_back(std::move(evidence));
  return watches;
}

AttachRequest watch_of(const RunRequest& request, const RunSpec& spec, const std::string& home, const std::string& name,
                       const std::string& output) {
  AttachRequest watching;
  watching.paths = {output};
  watching.paths.insert(watching.paths.end(), spec.also.begin(), spec.also.end());
  watching.framework = request.framework;
  watching.knowledge = request.knowledge;
  watching.config = request.config.empty() ? spec.config : request.config;
  watching.home = home;
  watching.run = name;
  watching.decided = request.decided;
  watching.keeper_nonce = spec.nonce;
  return watching;
}

/// The parts of the run that midwatch starts itself; what they write is read, too.
Result<std::unique_ptr<SupervisedComponents>> hold_parts(const ComponentDoors& hands, Watch& watch,
                                                         const Config& declared, Supervisor& supervisor,
                                                         const std::string& run_folder, AttachRequest& watching) {
  auto specs = component_specs(declared, supervisor.spec().folder, cat(run_folder, "/output"));
  for (ComponentSpec& spec : specs) {
    spec.dry = supervisor.spec().dry;
    const std::string& mark = supervisor.spec().mark;
    spec.mark = mark.empty() ? "" : cat(mark, "-", spec.name);
    const auto log = hands.disk.open_append(spec.output);  // so that there is something to follow
    if (log.ok()) watching.paths.push_back(spec.output);
  }
  auto opened = SupervisedComponents::open(hands, watch, std::move(specs), run_folder, supervisor.spec().nonce);
  if (opened.ok()) (*opened)->serve(supervisor);
  return opened;
}

/// Whom to tell of a run that is taken up. The run is held whatever is wrong with the settings.
std::unique_ptr<Notifications> taken_up_telling(const Doors& doors, const KnowledgeBase& language,
                                                const RunRequest& request, const RunSpec& spec) {
  const std::string& config = request.config.empty() ? spec.config : request.config;
  auto telling = Notifications::make(doors, language.knowledge(), config, request.say);
  if (telling.ok()) return std::move(*telling);
  request.say(cat("nobody is told anything: ", telling.error().what));
  return *Notifications::make(doors, language.knowledge(), "", request.say);
}

/// The name of the run that is begun, or taken up.
Result<std::string> begin_or_find(const Doors& doors, const std::string& home, const RunRequest& request) {
  auto name = request.reattach.empty()       ? begin_run(doors.disk, doors.clock.now(), home, request)
              : request.reattach == "newest" ? newest_held(doors.disk, home)
                                             : Result<std::string>(request.reattach);
  if (name.ok() && !good_name(*name)) return bad_name(*name);
  return name;
}

/// How it came out, for whoever began it.
void tell_end(const Supervisor& supervisor, RunResult& told) {
  told.why = supervisor.why_over();
  told.attempts = supervisor.attempt();
  told.started = supervisor.could_start();
  told.unfinished = supervisor.unfinished();
  if (const auto& ending = supervisor.ending(); ending) {
    told.code = ending->code;
    told.signal = ending->signal;
  }
}

Result<void> write_somehow(Disk& disk, const std::string& path, std::string_view text,
                           const std::function<bool()>& make_room) {
  auto written = write_privately(disk, path, text);  // the environment is in some of them, whole
  if (written.ok() || written.error().code != Error::Code::kFull || !make_room()) return written;
  return write_privately(disk, path, text);
}

bool let_go(Reserve& reserve, const RunRequest& request) {
  const bool made = reserve.release();
  if (made) request.say("the disk of the run's record is full: let go of the space that was held back there");
  return made;
}

/// For whoever asks for its status.
void sign(const Doors& doors, Processes& processes, const std::string& folder, const RunRequest& request) {
  if (const auto done = sign_watch(doors.disk, processes, folder); !done.ok()) request.say(done.error().what);
}

/// Turn by turn to its end, and what was written last; of the tasks nullptr is none.
void go_through(AttachLoop& loop, const std::vector<Task*>& beside, Passing& passing) {
  for (Task* task : beside) {
    if (task != nullptr) loop.accompany(*task);
  }
  while (loop.turn()) {
  }
  passing.show();
}

/// What is to be known before anything is read: what was declared, and the values that nobody may be told.
Config learn_of(const Doors& doors, const RunRequest& request, const Supervisor& supervisor, KnowledgeBase& language) {
  for (const auto& [variable, value] : supervisor.spec().environment) language.known().learn(variable, value);
  learn_environment_of(*make_posix_system(), supervisor.command_pid(), language.known());
  Config declared = declared_parts(doors, request, supervisor.spec());
  language.add(user_rules(declared));
  return declared;
}

/// Writes files without the values that nobody may be told.
WriteFile hiding(const KnowledgeBase& language, WriteFile write) {
  return [&language, write = std::move(write)](const std::string& path, std::string_view text) {
    return write(path, language.known().hide(text));
  };
}

Result<void> start(const std::string& place) { return start_keeper(place, std::string(kProgram)); }

}  // namespace

Result<RunResult> hold_run(const Doors& doors, Processes& real, KnowledgeBase& language, const RunRequest& request) {
  for (const int gone : {SIGHUP, SIGPIPE}) std::signal(gone, SIG_IGN);  // the terminal, and who reads our output
  MW_TRY(can_see_processes(real));
  InterruptOnce processes(real);
  StopWatchdog watchdog(doors.watch, processes, doors.clock, kOwnFailure);
  const std::string home = absolute_path(home_of(request.home, "."));
  // Before anything is begun, so that what is wrong is known at once.
  auto telling =
      Notifications::make(doors, language.knowledge(), request.reattach.empty() ? request.config : "", request.say);
  if (!telling.ok()) return telling.error();
  const auto name = begin_or_find(doors, home, request);
  if (!name.ok()) return name.error();
  RunResult told;
  told.folder = cat(home, "/runs/", *name);
  make_private(told.folder);  // an earlier midwatch may have left it open
  const std::string output = cat(told.folder, "/", kOutputFile);
  Reserve reserve(doors.disk, told.folder);
  const auto make_room = [&reserve, &request] { return let_go(reserve, request); };
  const auto write = [&doors, make_room](const std::string& path, std::string_view text) {
    return write_somehow(doors.disk, path, text, make_room);
  };
  ResumeProbe way(doors.clock, make_posix_disk());
  std::unique_ptr<SupervisedComponents> components;
  auto held = Supervisor::open({doors.disk, doors.clock, processes, start, write, layouts_of(language), request.say,
                                way.door(), [&components] { return components->ready(); }},
                               language.knowledge(), told.folder);
  if (!held.ok()) return held.error();
  Supervisor& supervisor = **held;
  const Config declared = learn_of(doors, request, supervisor, language);
  AttachRequest watching = watch_of(request, supervisor.spec(), home, *name, output);
  auto opened = hold_parts({doors.disk, doors.clock, processes, start, write, request.say}, doors.watch, declared,
                           supervisor, told.folder, watching);
  if (!opened.ok()) return opened.error();
  components = std::move(*opened);
  Passing passing(doors.disk, output, request.output);
  if (!request.reattach.empty()) {
    passing.skip();
    telling = taken_up_telling(doors, language, request, supervisor.spec());
  }
  (*telling)->holds(told.folder, supervisor.spec());
  Holding holding(doors, processes, request, supervisor, passing, *components, watchdog);
  // Takes the run's lock, so that the supervisor's first turn is nobody else's.
  auto loop = AttachLoop::open(doors, language, watching);
  if (!loop.ok()) return loop.error();
  (*loop)->when_full(make_room);
  reserve.take();
  sign(doors, processes, told.folder, request);
  const Watches watches =
      watches_of(doors, processes, language, request, supervisor, declared, *components, told.folder, write);
  Fingerprinting fingerprints(doors.disk, doors.clock,
                              fingerprints_of(doors.disk, supervisor, hiding(language, write), request.say));
  std::vector<Task*> beside;
  for (const auto& watch : watches) beside.push_back(watch.get());
  beside.insert(beside.end(), {components.get(), &holding, &fingerprints, (*telling)->task()});
  go_through(**loop, beside, passing);
  told.replayed = (*loop)->take();
  (void)reserve.release();
  tell_end(supervisor, told);
  return told;
}

}  // namespace mw
