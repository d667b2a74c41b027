#include "app/run.h"

#include <algorithm>
#include <cctype>
#include <csignal>
#include <cstdlib>

#include "act/cleanup/ballast.h"
#include "act/cleanup/belongings_watch.h"
#include "act/cleanup/housekeeping.h"
#include "act/keeper/keep.h"
#include "act/keeper/launch.h"
#include "act/supervise/fingerprint_scope.h"
#include "act/supervise/held_components.h"
#include "act/supervise/inbox.h"
#include "act/supervise/seal.h"
#include "act/supervise/stop_watchdog.h"
#include "act/supervise/supervisor.h"
#include "act/supervise/way_back.h"
#include "app/attach.h"
#include "app/config/component_settings.h"
#include "app/config/free_settings.h"
#include "app/config/rule_settings.h"
#include "app/config/scrape_settings.h"
#include "app/config/settings.h"
#include "app/rule_watch.h"
#include "app/standing.h"
#include "app/telling.h"
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

/// The newest run under `home` that a midwatch held (attached runs have no charge).
Result<std::string> newest_held(Disk& disk, const std::string& home) {
  auto names = disk.list(cat(home, "/runs"));
  std::string newest;
  Time newest_at;
  for (const std::string& name : names.ok() ? *names : std::vector<std::string>()) {
    const auto info = disk.info(cat(home, "/runs/", name, "/", kChargeFile));
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
  if (disk.info(cat(folder, "/", kChargeFile)).ok()) {
    return Error{Error::Code::kInvalid, cat("there is a run called ", name, " already"),
                 cat("Go on with it: midwatch run --take-up ", name, "; or give another --name.")};
  }
  Charge charge;
  charge.command = request.command;
  charge.folder = absolute_path("");
  if (std::getenv("PYTHONUNBUFFERED") == nullptr) charge.environment.emplace("PYTHONUNBUFFERED", "1");
  charge.config = request.config;
  for (const std::string& path : request.also) charge.also.push_back(absolute_path(path));
  for (const std::string& path : request.checkpoints) charge.checkpoints.push_back(absolute_path(path));
  charge.resume = request.resume;
  charge.from_scratch = request.from_scratch;
  charge.limits.restarts = request.restarts;
  charge.limits.first_wait = Duration::seconds(request.first_wait_s);
  charge.limits.longest_wait = Duration::seconds(request.longest_wait_s);
  charge.breaker = request.breaker;
  charge.breaking = mode_of(request.breaking);
  charge.breaking_learning = mode_of(request.breaking_learning);
  charge.restarting = mode_of(request.restarting);
  charge.dry = request.dry;
  charge.grace = Duration::seconds(request.grace_s);
  charge.rotate_bytes = static_cast<uint64_t>(request.rotate_bytes);
  MW_TRY(disk.make_folders(folder));
  make_private(folder);  // before anything is in it
  charge.nonce = random_nonce();
  charge.mark = random_nonce();
  MW_TRY(disk.make_folders(cat(folder, "/output")));
  auto output = disk.open_append(cat(folder, "/", kOutputFile));  // so that there is something to follow
  if (!output.ok()) return output.error();
  MW_TRY(write_privately(disk, cat(folder, "/", kChargeFile), charge_text(charge)));
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
          const HeldComponents& parts, StopWatchdog& watchdog)
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

  bool told_to_stop() override {
    request_.say("told to stop");
    if (const auto done = supervisor_.stop(supervisor_.stopping()); !done.ok()) request_.say(done.error().what);
    return true;
  }

 private:
  /// Whom the watchdog is to end, should this loop hang.
  void guard() {
    std::vector<StopWatchdog::Tree> trees = {{supervisor_.keeper(), supervisor_.command()}};
    for (const auto& [keeper, process] : parts_.processes()) trees.push_back({keeper, process});
    watchdog_.guard(std::move(trees), supervisor_.charge().grace);
  }

  const Doors& doors_;
  const RunRequest& request_;
  Supervisor& supervisor_;
  Passing& passing_;
  const HeldComponents& parts_;
  StopWatchdog& watchdog_;
  Orphans orphans_;
  std::string trouble_;
};

Result<void> do_as_asked(Supervisor& supervisor, Housekeeping& house, const RunAsk& ask) {
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
    case RunAsk::What::kFree:
      house.free_now(ask);
      return {};
  }
  return {};
}

/// What was declared of the run's parts. A run is held whatever is wrong with the settings.
Config declared_parts(const Doors& doors, const RunRequest& request, const Charge& charge) {
  const std::string& path = request.config.empty() ? charge.config : request.config;
  auto loaded = path.empty() ? Result<Config>(Config()) : load_config(doors.disk, path);
  if (loaded.ok() && loaded->check().ok()) return std::move(*loaded);
  request.say("the components and rules that were declared are not looked after: the settings cannot be used");
  return {};
}

std::unique_ptr<ComponentWatch> parts_of(const Doors& doors, const Language& language, const RunRequest& request,
                                         const Config& config, Supervisor& supervisor,
                                         const HeldComponents& held_parts) {
  const auto held = [&supervisor] { return ComponentWatch::Held{supervisor.keeper_pid(), supervisor.command_pid()}; };
  const auto process_of = [&held_parts](const std::string& name) { return held_parts.pid_of(name); };
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
  scope.held = [&supervisor] { return EvidenceScope::Held{supervisor.keeper_pid(), supervisor.command_pid(), false}; };
  scope.folder = folder;
  scope.known = &known;
  scope.stacks = stacks;
  return scope;
}

using WriteFile = std::function<Result<void>(const std::string& path, std::string_view text)>;

using Watches = std::vector<std::unique_ptr<Task>>;

auto layouts_of(const Language& language) {
  return [&language](const std::string& framework) { return language.checkpoints_of(framework); };
}

/// What people ask, and what is watched of the machine under the run.
Watches watches_of(const Doors& doors, Processes& processes, const Language& language, const RunRequest& request,
                   Supervisor& supervisor, const Config& declared, HeldComponents& held_parts,
                   const std::string& folder, const WriteFile& write) {
  Watches watches;
  watches.push_back(std::make_unique<RuleWatch>(doors.clock, language.knowledge(), request.say));
  if (auto scrapes = watch_endpoints(doors.clock, endpoints_of(declared)); scrapes)
    watches.push_back(std::move(scrapes));
  if (request.host || !declared.names("component").empty()) {
    watches.push_back(parts_of(doors, language, request, declared, supervisor, held_parts));
  }
  const Charge& charge = supervisor.charge();
  const auto layout = layouts_of(language);
  const auto holds = [&supervisor] { return supervisor.keeper_pid() != 0; };
  const FreeSettings may_go = free_settings(declared, charge.dry);
  if (auto seen = watch_belongings(doors.clock, folder, may_go, holds, write); seen) watches.push_back(std::move(seen));
  auto house = keep_house(doors.clock, charge, {folder, charge.folder, charge.checkpoints}, may_go, layout, request.say,
                          holds, write);
  watches.insert(watches.begin(),
                 std::make_unique<Inbox>(doors, folder, [&supervisor, keeper = house.get()](const RunAsk& ask) {
                   return do_as_asked(supervisor, *keeper, ask);
                 }));
  supervisor.when_space_is_wanted([keeper = house.get()](const State& state) { return keeper->made_room(state); });
  watches.push_back(std::move(house));
  if (!request.host) return watches;
  const auto root = [&supervisor] { return supervisor.keeper_pid(); };
  watches.push_back(watch_machine(doors.clock, language, {folder, charge.folder}, root));
  watches.push_back(watch_checkpoints(doors.clock, layout, charge.folder, charge.checkpoints, folder));
  // Behind those who see that the run is stuck, and before those who do something about it.
  auto evidence = std::make_unique<EvidenceTaker>(doors.disk, doors.clock, processes,
                                                  evidence_of(supervisor, folder, request.stacks, language.known()));
  held_parts.spare_while([taker = evidence.get()](int64_t pid) { return taker->reads(pid); });
  supervisor.spare_while([taker = evidence.get()] { return taker->reads(); });
  watches.push_back(std::move(evidence));
  return watches;
}

AttachRequest watch_of(const RunRequest& request, const Charge& charge, const std::string& home,
                       const std::string& name, const std::string& output) {
  AttachRequest watching;
  watching.paths = {output};
  watching.paths.insert(watching.paths.end(), charge.also.begin(), charge.also.end());
  watching.framework = request.framework;
  watching.knowledge = request.knowledge;
  watching.home = home;
  watching.run = name;
  watching.decided = request.decided;
  watching.keeper_nonce = charge.nonce;
  return watching;
}

/// The parts of the run that midwatch starts itself; what they write is read, too.
Result<std::unique_ptr<HeldComponents>> hold_parts(const ComponentDoors& hands, Watch& watch, const Config& declared,
                                                   Supervisor& supervisor, const std::string& run_folder,
                                                   AttachRequest& watching) {
  auto charges = component_charges(declared, supervisor.charge().folder, cat(run_folder, "/output"));
  for (ComponentCharge& charge : charges) {
    charge.dry = supervisor.charge().dry;
    const std::string& mark = supervisor.charge().mark;
    charge.mark = mark.empty() ? "" : cat(mark, "-", charge.name);
    const auto log = hands.disk.open_append(charge.output);  // so that there is something to follow
    if (log.ok()) watching.paths.push_back(charge.output);
  }
  auto opened = HeldComponents::open(hands, watch, std::move(charges), run_folder, supervisor.charge().nonce);
  if (opened.ok()) (*opened)->serve(supervisor);
  return opened;
}

/// Whom to tell of a run that is taken up. The run is held whatever is wrong with the settings.
std::unique_ptr<Telling> taken_up_telling(const Doors& doors, const Language& language, const RunRequest& request,
                                          const Charge& charge) {
  const std::string& config = request.config.empty() ? charge.config : request.config;
  auto telling = Telling::make(doors, language.knowledge(), config, request.say);
  if (telling.ok()) return std::move(*telling);
  request.say(cat("nobody is told anything: ", telling.error().what));
  return *Telling::make(doors, language.knowledge(), "", request.say);
}

/// The name of the run that is begun, or taken up.
Result<std::string> begin_or_find(const Doors& doors, const std::string& home, const RunRequest& request) {
  auto name = request.take_up.empty()       ? begin_run(doors.disk, doors.clock.now(), home, request)
              : request.take_up == "newest" ? newest_held(doors.disk, home)
                                            : Result<std::string>(request.take_up);
  if (name.ok() && !good_name(*name)) return bad_name(*name);
  return name;
}

/// How it came out, for whoever began it.
void tell_end(const Supervisor& supervisor, RunTold& told) {
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

bool let_go(Ballast& ballast, const RunRequest& request) {
  const bool made = ballast.release();
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
Config learn_of(const Doors& doors, const RunRequest& request, const Supervisor& supervisor, Language& language) {
  for (const auto& [variable, value] : supervisor.charge().environment) language.known().learn(variable, value);
  learn_environment_of(*make_posix_system(), supervisor.command_pid(), language.known());
  Config declared = declared_parts(doors, request, supervisor.charge());
  language.add(user_rules(declared));
  return declared;
}

/// Writes files without the values that nobody may be told.
WriteFile hiding(const Language& language, WriteFile write) {
  return [&language, write = std::move(write)](const std::string& path, std::string_view text) {
    return write(path, language.known().hide(text));
  };
}

Result<void> start(const std::string& place) { return start_keeper(place, std::string(kProgram)); }

}  // namespace

Result<RunTold> hold_run(const Doors& doors, Processes& real, Language& language, const RunRequest& request) {
  for (const int gone : {SIGHUP, SIGPIPE}) std::signal(gone, SIG_IGN);  // the terminal, and who reads our output
  MW_TRY(can_see_processes(real));
  InterruptOnce processes(real);
  StopWatchdog watchdog(doors.watch, processes, doors.clock, kOwnFailure);
  const std::string home = absolute_path(home_of(request.home, "."));
  // Before anything is begun, so that what is wrong is known at once.
  auto telling = Telling::make(doors, language.knowledge(), request.take_up.empty() ? request.config : "", request.say);
  if (!telling.ok()) return telling.error();
  const auto name = begin_or_find(doors, home, request);
  if (!name.ok()) return name.error();
  RunTold told;
  told.folder = cat(home, "/runs/", *name);
  make_private(told.folder);  // an earlier midwatch may have left it open
  const std::string output = cat(told.folder, "/", kOutputFile);
  Ballast ballast(doors.disk, cat(told.folder, "/", kBallastFile));
  const auto make_room = [&ballast, &request] { return let_go(ballast, request); };
  const auto write = [&doors, make_room](const std::string& path, std::string_view text) {
    return write_somehow(doors.disk, path, text, make_room);
  };
  WayBack way(doors.clock, make_posix_disk());
  std::unique_ptr<HeldComponents> held_parts;
  const auto may_begin = [&held_parts] { return held_parts->ready(); };
  auto held = Supervisor::open(
      {doors.disk, doors.clock, processes, start, write, layouts_of(language), request.say, way.door(), may_begin},
      language.knowledge(), told.folder);
  if (!held.ok()) return held.error();
  Supervisor& supervisor = **held;
  const Config declared = learn_of(doors, request, supervisor, language);
  AttachRequest watching = watch_of(request, supervisor.charge(), home, *name, output);
  auto opened = hold_parts({doors.disk, doors.clock, processes, start, write, request.say}, doors.watch, declared,
                           supervisor, told.folder, watching);
  if (!opened.ok()) return opened.error();
  held_parts = std::move(*opened);
  Passing passing(doors.disk, output, request.output);
  if (!request.take_up.empty()) {
    passing.skip();
    telling = taken_up_telling(doors, language, request, supervisor.charge());
  }
  (*telling)->holds(told.folder, supervisor.charge());
  Holding holding(doors, processes, request, supervisor, passing, *held_parts, watchdog);
  // Takes the run's lock, so that the supervisor's first turn is nobody else's.
  auto loop = AttachLoop::open(doors, language, watching);
  if (!loop.ok()) return loop.error();
  (*loop)->when_full(make_room);
  ballast.take();
  sign(doors, processes, told.folder, request);
  const Watches watches =
      watches_of(doors, processes, language, request, supervisor, declared, *held_parts, told.folder, write);
  Fingerprinting fingerprints(doors.disk, doors.clock,
                              fingerprints_of(doors.disk, supervisor, hiding(language, write), request.say));
  std::vector<Task*> beside;
  for (const auto& watch : watches) beside.push_back(watch.get());
  beside.insert(beside.end(), {held_parts.get(), &holding, &fingerprints, (*telling)->task()});
  go_through(**loop, beside, passing);
  told.replayed = (*loop)->take();
  (void)ballast.release();
  tell_end(supervisor, told);
  return told;
}

}  // namespace mw
