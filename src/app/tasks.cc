#include "app/tasks.h"

#include <unistd.h>

#include <utility>

#include "act/cleanup/broken_room.h"
#include "act/cleanup/remove_item.h"
#include "act/cleanup/resource_watch.h"
#include "act/supervise/fingerprint_scope.h"
#include "act/supervise/inbox.h"
#include "act/supervise/run_files.h"
#include "app/config/cleanup_settings.h"
#include "app/config/component_settings.h"
#include "app/config/scrape_settings.h"
#include "app/fleet_beat.h"
#include "app/harbour.h"
#include "app/live_view.h"
#include "app/price_task.h"
#include "app/rule_watch.h"
#include "app/ship.h"
#include "app/ship_beside.h"
#include "base/text.h"
#include "platform/paths.h"
#include "platform/real/last_state.h"
#include "platform/real/posix_disk.h"
#include "sense/checkpoints/checkpoint_watch.h"
#include "sense/checkpoints/deep_watch.h"
#include "sense/checkpoints/saves_where.h"
#include "sense/checkpoints/strange_names.h"
#include "sense/fingerprint/fingerprinting.h"
#include "sense/host/host_watch.h"
#include "sense/processes/component_watch.h"
#include "sense/processes/evidence.h"
#include "sense/processes/file_writers.h"
#include "sense/processes/scrape_watch.h"
#include "sense/processes/written_logs.h"

namespace mw {
namespace {

using Made = TaskRow::Made;

auto layouts_of(const KnowledgeBase& knowledge) {
  return [&knowledge](const std::string& framework) { return knowledge.checkpoints_of(framework); };
}

/// A pause, a resume and a stop are in the journal by now, where the supervisor finds them.
Result<void> do_as_requested(TaskContext& context, const RunAsk& ask, const State& state, EventWriter& writer) {
  if (context.supervisor == nullptr) return context.adoption == nullptr ? Result<void>() : context.adoption->ask(ask);
  switch (ask.what) {
    case RunAsk::What::kTell:
    case RunAsk::What::kPause:
      return {};
    case RunAsk::What::kResume:
      return context.supervisor->refuse(state, writer);
    case RunAsk::What::kApprove:
      return context.supervisor->approve(state, writer);
    case RunAsk::What::kStop:
    case RunAsk::What::kKill:
      context.supervisor->stop(ask.what == RunAsk::What::kKill);
      return {};
    case RunAsk::What::kCleanup:
      context.cleanup->cleanup_now(ask);
      return {};
  }
  return {};
}

Made inbox(TaskContext& context) {
  return {std::make_unique<Inbox>(context.doors, context.folder,
                                  [&context](const RunAsk& ask, const State& state, EventWriter& writer) {
                                    return do_as_requested(context, ask, state, writer);
                                  })};
}

Made rules(TaskContext& context) {
  return {std::make_unique<RuleWatch>(context.doors.clock, context.knowledge.knowledge(), context.say)};
}

/// What is left out of the files that were found is kept for whoever reattaches the run.
Made written_logs(TaskContext& context) {
  WrittenLogs::Scope scope;
  scope.attempt = [&context] { return context.supervisor->running(); };
  scope.began = [&context] { return context.supervisor->attempt_began(); };
  scope.members = [&context] { return context.supervisor->members(); };
  scope.files = open_files;
  scope.keep = [&context] {
    const std::string path = cat(context.folder, "/", kFilesBeforeFile);
    if (const auto done = context.write(path, context.content->text()); !done.ok()) context.say(done.error().what);
  };
  scope.say = context.say;
  scope.folder = context.folder;
  return {std::make_unique<WrittenLogs>(context.doors.clock, *context.content, std::move(scope))};
}

/// Of a run whose process is not named: whether those live who write what is read.
Made file_writers(TaskContext& context) {
  if (!context.host || context.adoption != nullptr) return {};
  FileWriters::Scope scope{context.knowledge.knowledge(), {}, {}, {}, {}, {}, getpid()};
  scope.all = [&context] { return context.processes.all(); };
  scope.info = [&context](int64_t pid) { return context.processes.info(pid); };
  scope.files = open_files;
  scope.real = real_path;
  scope.say = context.say;
  return {std::make_unique<FileWriters>(context.doors.clock, std::move(scope))};
}

Made scrapes(TaskContext& context) { return {watch_endpoints(context.doors.clock, endpoints_of(context.config))}; }

Made components(TaskContext& context) {
  if (!context.host && context.config.names("component").empty()) return {};
  Supervisor& supervisor = *context.supervisor;
  const auto pids = [&supervisor] {
    return ComponentWatch::RunProcesses{supervisor.keeper_pid(), supervisor.command_pid()};
  };
  const auto process_of = [&context](const std::string& name) { return context.components->asked_pid_of(name); };
  const auto hold = [](const ProcessId& id) {
    return [process = std::make_shared<LastState>(id)] { return process->status(); };
  };
  auto watch = std::make_unique<ComponentWatch>(
      context.doors.clock, context.knowledge.knowledge(),
      ComponentWatch::Scope{make_posix_system(), make_http(), component_targets(context.config), pids, process_of,
                            context.say, hold});
  supervisor.when_servers_are_wanted(
      [seen = watch.get()](const State& state, EventWriter& writer) { return seen->servers_answer(state, writer); });
  return {std::move(watch)};
}

CleanupSettings cleanup_of(const TaskContext& context) {
  const RunSpec& spec = context.supervisor->spec();
  return cleanup_settings(context.config, spec.dry, spec.unattended);
}

Made resources(TaskContext& context) {
  return {watch_resources(
      context.doors.clock, context.folder, cleanup_of(context),
      [&context] { return context.supervisor->keeper_pid() != 0; }, context.write)};
}

Made machine(TaskContext& context) {
  if (!context.host) return {};
  const auto root = [&context] {
    return context.supervisor == nullptr ? context.pid : context.supervisor->keeper_pid();
  };
  return {watch_machine(context.doors.clock, context.knowledge, context.folders, root)};
}

/// What a run that midwatch started saves is the run's own, and not the machine's: it is looked at with --no-host, too.
bool sees_checkpoints(const TaskContext& context) { return context.host || context.supervisor != nullptr; }

/// The run's own processes, by their numbers.
std::function<std::vector<int64_t>()> members_of(const TaskContext& context) {
  return [supervisor = context.supervisor] {
    std::vector<int64_t> pids;
    for (const ProcessInfo& one : supervisor->members()) pids.push_back(one.id.pid);
    return pids;
  };
}

/// A pattern says how checkpoints are called, and where they lie shows only once some were saved in time.
void say_where_is_missing(const TaskContext& context) {
  const std::string pattern = context.config.text("checkpoints.pattern");
  if (pattern.empty() || !context.supervisor->spec().checkpoints.empty() || context.supervisor->attempt() > 0) return;
  context.say(cat("where the checkpoints ", pattern,
                  " lie is not said: until the run's files name one, or two were seen "
                  "to be saved, a restart may take a broken one; --checkpoints DIR says it"));
}

Made checkpoints(TaskContext& context) {
  if (!sees_checkpoints(context)) return {};
  if (context.supervisor != nullptr) say_where_is_missing(context);
  const auto layout = layouts_of(context.knowledge);
  if (context.supervisor == nullptr) return {watch_checkpoints(context.doors.clock, layout, "", {}, nullptr)};
  const RunSpec& spec = context.supervisor->spec();
  return {watch_checkpoints(context.doors.clock, layout, spec.folder, spec.checkpoints, members_of(context),
                            context.folder)};
}

Made strange_names(TaskContext& context) {
  StrangeNamesScope scope{make_posix_disk(),
                          make_posix_system(),
                          context.supervisor->spec().checkpoints,
                          context.supervisor->spec().folder,
                          context.folder,
                          layouts_of(context.knowledge),
                          {},
                          members_of(context),
                          context.say};
  const bool declared = context.knowledge.checkpoints_of("").known();
  for (const std::string& one : declared ? std::vector<std::string>() : context.knowledge.savers())
    scope.savers.push_back({one, context.knowledge.checkpoints_of(one)});
  return {std::make_unique<StrangeNamesTask>(context.doors.clock, std::move(scope))};
}

Made saves_where(TaskContext& context) {
  const RunSpec& spec = context.supervisor->spec();
  return {std::make_unique<SavesWhereTask>(
      context.doors.clock,
      SavesWhereScope{make_posix_disk(), spec.checkpoints, spec.folder, layouts_of(context.knowledge), context.say})};
}

/// What the run saved last is judged once it has ended: beside it that takes a while.
Made scans_at_the_end(TaskContext& context) {
  const RunSpec& spec = context.supervisor->spec();
  auto task = final_scan(context.doors.clock, spec, context.folder,
                         is_shipped(spec) ? spec.store_wait : FinalScan::kAlone, layouts_of(context.knowledge));
  context.final_scan = task.get();
  return {std::move(task)};
}

/// Where the manifests of checkpoints are kept: beside the runs.
Made deep_reads(TaskContext& context) {
  if (!sees_checkpoints(context) || !context.config.boolean("checkpoints.deep")) return {};
  DeepScope scope;
  scope.home = folder_of(folder_of(context.folder));
  scope.share = context.config.real("checkpoints.deep_share");
  scope.read = [disk = std::shared_ptr<Disk>(make_posix_disk())](const DeepJob& job, const std::atomic<bool>& stop) {
    return read_deeply(*disk, job, stop);
  };
  return {std::make_unique<DeepWatch>(context.doors.clock, std::move(scope))};
}

/// Of a process that is only read, nothing that could stop it.
EvidenceScope evidence_scope(const TaskContext& context) {
  EvidenceScope scope;
  scope.system = make_posix_system();
  if (const Supervisor* supervisor = context.supervisor; supervisor != nullptr) {
    scope.processes = [supervisor] {
      return EvidenceScope::RunProcesses{supervisor->keeper_pid(), supervisor->command_pid(), false};
    };
  } else {
    scope.processes = [pid = context.pid] { return EvidenceScope::RunProcesses{pid, 0, true}; };
  }
  scope.folder = context.folder;
  scope.known = &context.knowledge.known();
  scope.stacks = context.stacks;
  return scope;
}

Made evidence(TaskContext& context) {
  if (!context.host || (context.supervisor == nullptr && context.pid == 0)) return {};
  auto taker = std::make_unique<EvidenceTaker>(context.doors.disk, context.doors.clock, context.processes,
                                               evidence_scope(context));
  if (context.supervisor != nullptr) {
    context.components->spare_while([seen = taker.get()](int64_t pid) { return seen->reads(pid); });
    context.supervisor->spare_while([seen = taker.get()] { return seen->reads(); });
  }
  return {std::move(taker)};
}

Made cleanup(TaskContext& context) {
  const RunSpec& spec = context.supervisor->spec();
  if (const std::string doubt = doubt_of_rules(cleanup_of(context)); !doubt.empty()) context.say(doubt);
  if (cleanup_of(context).keep_last > 0 && spec.checkpoints.empty())
    context.say("[retention] removes no checkpoint, as neither [run] checkpoints nor --checkpoints names a folder");
  auto task = watch_space(
      context.doors.clock, spec, {context.folder, spec.folder, spec.checkpoints}, cleanup_of(context),
      layouts_of(context.knowledge), context.say, [&context] { return context.supervisor->keeper_pid() != 0; },
      context.write, is_shipped(spec) ? steps_in_store(store_of(spec)) : nullptr);
  context.cleanup = task.get();
  context.supervisor->when_space_is_wanted(
      [made = task.get()](const State& state, EventWriter& writer) { return made->made_room(state, writer); });
  context.supervisor->when_rollback_needs_space(
      [settings = cleanup_of(context), say = context.say](const CheckpointLayout& layout, const QuarantinePlan& plan,
                                                          EventWriter& writer) {
        const auto disk = make_posix_disk();
        const auto system = make_posix_system();
        const auto remove = [&system](const CleanupItem& item) { return remove_item(*system, item); };
        return remove_broken({*disk, settings, remove, say}, layout, plan, writer);
      });
  return {std::move(task)};
}

Made shipping(TaskContext& context) {
  const RunSpec& spec = context.supervisor->spec();
  if (!is_shipped(spec)) return {};
  auto task = ship_beside(context.doors, spec, context.folder, layouts_of(context.knowledge), context.say);
  context.shipping = task.get();
  return {std::move(task)};
}

/// A run without a store would only lose what it can still train.
Made notices(TaskContext& context) {
  const RunSpec& spec = context.supervisor->spec();
  const auto sources = notice_sources(
      {make_posix_disk(), make_http(), [](const std::string& name) { return variable(name); }}, spec.notices);
  if (!sources.ok()) {
    context.say(cat("nobody gives notice of the machine's end: ", sources.error().what));
    return {};
  }
  auto task = notice_task(context.doors, *context.supervisor, *sources, is_shipped(spec), context.say);
  context.notices = task.get();
  return {std::move(task)};
}

Made heartbeat(TaskContext& context) {
  const auto taken_away = [notices = context.notices] { return notices == nullptr ? "" : notices->taken_away(); };
  const auto leaves = [notices = context.notices] {
    return notices == nullptr ? std::optional<Duration>() : notices->leaves();
  };
  return {fleet_beat(context.doors, *context.supervisor,
                     {context.say, std::string(basename(context.folder)), context.receiving, taken_away, leaves})};
}

Made notifier(TaskContext& context) {
  if (context.notifier != nullptr) {
    context.notifier->meanwhile(
        [disk = std::shared_ptr<Disk>(make_posix_disk()), folder = context.folder](
            const State& state, EventWriter& writer) { take_notes(*disk, folder, state, writer); });
  }
  return {nullptr, context.notifier};
}

Made live_view(TaskContext& context) {
  if (!context.live) return {};
  return {std::make_unique<LiveView>(context.doors.clock, context.live)};
}

/// Writes files without secret values.
WriteFile hiding(const KnowledgeBase& knowledge, WriteFile write) {
  return [&knowledge, write = std::move(write)](const std::string& path, std::string_view text) {
    return write(path, knowledge.known().hide(text));
  };
}

Made fingerprints(TaskContext& context) {
  return {std::make_unique<Fingerprinting>(
      context.doors.disk, context.doors.clock,
      fingerprints_of(context.doors.disk, *context.supervisor, hiding(context.knowledge, context.write), context.say))};
}

Made price(TaskContext& context) {
  if (context.cost_per_hour <= 0) return {};
  return {std::make_unique<PriceTask>(context.cost_per_hour)};
}

using enum TaskPhase;
using Of = TaskRow::Of;

constexpr TaskRow kTasks[] = {
    {"inbox", kRequests, Of::kAny, "takes what people request", inbox},
    {"rules", kSense, Of::kAny, "reports rules of the user's whose figure never comes", rules},
    {"written logs", kSense, Of::kSupervised, "finds the files in which the run keeps its log", written_logs},
    {"file writers", kSense, Of::kAttached, "notices that those who write the run's files are gone", file_writers},
    {"scrapes", kSense, Of::kAny, "reads figures of servers that the user named", scrapes},
    {"components", kSense, Of::kSupervised, "asks engines and servers whether they work", components},
    {"resources", kSense, Of::kSupervised, "records what the run's processes hold outside of its folders", resources},
    {"price", kSense, Of::kAny, "records what the run's machines cost", price},
    {"machine", kSense, Of::kAny, "reads figures of the machine", machine},
    {"checkpoints", kSense, Of::kAny, "scans what was saved", checkpoints},
    {"checkpoint names", kSense, Of::kSupervised, "learns or says where what is saved has names that nobody looks for",
     strange_names},
    {"checkpoint folder", kSense, Of::kSupervised, "says where the run saves, where that is not the declared folder",
     saves_where},
    {"final scan", kSense, Of::kSupervised, "scans, when the run is over, what was saved last", scans_at_the_end},
    {"deep reads", kSense, Of::kAny, "reads all bytes of what was saved", deep_reads},
    // Behind those who see that the run is stuck, and before those who do something about it.
    {"evidence", kEvidence, Of::kAny, "collects what the processes of a run in trouble do", evidence},
    {"cleanup", kAct, Of::kSupervised, "deletes stale resources", cleanup},
    {"own components", kAct, Of::kSupervised, "starts and restarts components",
     [](TaskContext& context) {
       return Made{nullptr, context.components};
     }},
    {"supervisor", kAct, Of::kSupervised, "starts, pauses, ends and restarts the command",
     [](TaskContext& context) {
       return Made{nullptr, context.supervision};
     }},
    {"notices", kAct, Of::kSupervised, "ends the command in time where the machine is about to be taken away", notices},
    // Behind the supervisor: what it quarantined in this turn is not shipped.
    {"shipping", kAct, Of::kSupervised, "ships checkpoints, the journal and logs to the run's store", shipping},
    // Behind the shipping: at the end it says what is in the store.
    {"heartbeat", kAct, Of::kSupervised, "of a rented machine: beats to its store, and ends where another one goes on",
     heartbeat},
    {"adoption", kAct, Of::kAttached, "pauses and ends a process where that is allowed",
     [](TaskContext& context) {
       return Made{nullptr, context.adoption};
     }},
    {"fingerprints", kAct, Of::kSupervised, "takes the fingerprint of each attempt as it begins", fingerprints},
    {"notifier", kNotify, Of::kAny, "notifies people", notifier},
    {"live view", kNotify, Of::kAny, "shows how the run stands, where somebody looks", live_view},
};

}  // namespace

std::span<const TaskRow> task_table() { return kTasks; }

Tasks make_tasks(TaskContext& context) {
  Tasks tasks;
  const Of unwanted = context.supervisor == nullptr ? Of::kSupervised : Of::kAttached;
  for (const TaskRow& row : kTasks) {
    if (row.of == unwanted) continue;
    Made made = row.make(context);
    Task* task = made.own ? made.own.get() : made.other;
    if (task == nullptr) continue;
    tasks.all.push_back(task);
    if (made.own) tasks.own.push_back(std::move(made.own));
  }
  return tasks;
}

}  // namespace mw
