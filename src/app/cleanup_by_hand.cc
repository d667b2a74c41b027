#include "app/cleanup_by_hand.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <thread>

#include "act/cleanup/cleanup_plan.h"
#include "act/cleanup/cleanup_result.h"
#include "act/cleanup/remove_item.h"
#include "act/supervise/run_files.h"
#include "act/supervise/run_ownership.h"
#include "app/config/cleanup_settings.h"
#include "app/config/settings.h"
#include "app/journal_pages.h"
#include "app/run_of_folder.h"
#include "app/run_status.h"
#include "app/ship.h"
#include "base/text.h"
#include "core/retention_facts.h"
#include "platform/durable.h"
#include "platform/lock.h"
#include "platform/paths.h"
#include "platform/real/posix_disk.h"
#include "read/recorder.h"

namespace mw {
namespace {

constexpr Duration kWaits = Duration::seconds(60);  // for the run's midwatch to have freed what it was asked to

/// A run and its settings, as a plan needs them.
struct SupervisedRun {
  std::string folder;
  RunSpec spec;
  CleanupScope scope;
  CleanupSettings settings;
  std::string pattern;  ///< [checkpoints] pattern of its configuration
};

Result<SupervisedRun> supervised_run(Disk& disk, const CleanupRequest& request) {
  SupervisedRun run;
  run.folder = absolute_path(request.run);
  const auto text = read_run_spec(disk, run.folder);
  if (!text.ok()) {
    return Error{Error::Code::kInvalid,
                 cat("run ", basename(run.folder), " is only read: midwatch deletes nothing of it"),
                 "midwatch deletes only what a run left that 'midwatch run' started."};
  }
  const auto spec = parse_run_spec(*text);
  if (!spec.ok()) return spec.error();
  static_cast<CleanupPlaces&>(run.scope) = {run.folder, spec->folder, spec->checkpoints};
  run.spec = *spec;
  const auto config = spec->config.empty() ? Result<Config>(Config::parse("", "")) : load_config(disk, spec->config);
  if (!config.ok()) return config.error();
  MW_TRY(config->check());
  run.settings = cleanup_settings(*config);
  run.pattern = config->text("checkpoints.pattern");
  const auto known = cleanup_words();
  for (const std::string& word : request.what) {
    if (std::find(known.begin(), known.end(), word) != known.end()) continue;
    std::string all;
    for (const std::string_view one : known) all += cat(all.empty() ? "" : ", ", one);
    return Error{Error::Code::kInvalid, cat("there is nothing called '", word, "' to free"), cat("There are: ", all)};
  }
  if (!run.spec.store.empty()) run.scope.in_store = steps_in_store(store_of(run.spec));
  if (!request.what.empty()) run.settings.what = request.what;
  use_rules(request.retention, run.settings);
  run.settings.explain = request.retention.has_value();
  return run;
}

CleanupAnswer::Thing thing_of(const CleanupItem& item) {
  return {item.what, path_of(item), cat("It is ", item.why), item.bytes, false, ""};
}

/// The machine as this process sees it.
struct Machine {
  std::unique_ptr<System> system = make_posix_system();
  std::unique_ptr<Processes> processes = make_posix_processes();
  std::unique_ptr<Clock> clock = make_posix_clock();

  CleanupPlan plan(Disk& disk, const KnowledgeBase& knowledge, SupervisedRun& run, const State& state) {
    run.scope.layout = knowledge.checkpoints_of(state.saver(), run.pattern);
    run.scope.now = clock->now();
    run.scope.removals = removals_of(state);
    // Where the disk does not answer nothing is proven, and nothing goes.
    auto own = ownership_of(disk, run.folder, run.spec, state, run.scope.layout);
    run.scope.facts = retention_facts(state, run.settings.keep_best, !run.spec.store.empty());
    run.scope.own = own.ok() ? std::move(*own) : Ownership();
    return plan_cleanup(disk, {*system, *processes, nobody_holds, static_cast<int64_t>(geteuid())}, run.scope,
                        run.settings);
  }
};

/// Of a run without [retention] no checkpoint is removed but by a person, who may not know of the command; "": none
/// could go. Changes the settings in `run`.
std::string what_prune_frees(Disk& disk, const KnowledgeBase& knowledge, SupervisedRun& run, const State& state) {
  constexpr int64_t kKept = 2;  // what `checkpoint prune` keeps where it is not asked for more
  run.settings.what = {"old-checkpoints"};
  use_rules(RetentionRules{kKept, 0, ""}, run.settings);
  run.settings.explain = false;
  run.scope.in_store = nullptr;  // a hint does not wait for a store
  int64_t bytes = 0;
  size_t count = 0;
  for (const CleanupItem& item : Machine().plan(disk, knowledge, run, state).items) {
    bytes += item.bytes;
    ++count;
  }
  if (count == 0) return "";
  return cat("Old checkpoints stay, as there is no [retention]: midwatch checkpoint prune ", basename(run.folder),
             " --keep-last ", kKept, " would remove ", count, " of them and free ",
             format_bytes(static_cast<double>(bytes)));
}

}  // namespace

Result<CleanupAnswer> plan_by_hand(Disk& disk, const KnowledgeBase& knowledge, const CleanupRequest& request) {
  auto run = supervised_run(disk, request);
  if (!run.ok()) return run.error();
  const auto state = read_recorded(disk, run->folder);
  if (!state.ok()) return state.error();
  const CleanupPlan plan = Machine().plan(disk, knowledge, *run, *state);
  CleanupAnswer answer;
  answer.run = basename(run->folder);
  answer.folder = run->folder;
  answer.notes = plan.notes;
  answer.names_known = !run->scope.layout.folder.empty();
  const auto is_meant = [below = request.below.empty() ? "" : real_path(request.below)](const CleanupItem& item) {
    return below.empty() || is_within(real_path(path_of(item)), below);
  };
  for (const CleanupItem& item : plan.items) {
    if (is_meant(item)) answer.things.push_back(thing_of(item));
  }
  for (const CleanupItem& item : plan.left) {
    if (is_meant(item)) answer.left.push_back({item.what, path_of(item), item.why, item.bytes, false, ""});
  }
  const bool all = request.what.empty() && request.below.empty() && !request.retention;
  if (std::string note = all && run->settings.keep_last <= 0 ? what_prune_frees(disk, knowledge, *run, *state) : "";
      !note.empty())
    answer.notes.push_back(std::move(note));
  return answer;
}

void say_what_would_go(Disk& disk, const KnowledgeBase& knowledge, const std::string& run_folder,
                       CheckpointsAnswer& answer) {
  CleanupRequest request;
  request.run = run_folder;
  request.what = {"old-checkpoints"};
  auto run = supervised_run(disk, request);
  if (!run.ok() || run->settings.keep_last <= 0) return;
  const auto state = read_recorded(disk, run->folder);
  if (!state.ok()) return;
  run->scope.in_store = nullptr;  // a list does not wait for a store
  run->settings.explain = true;
  const CleanupPlan plan = Machine().plan(disk, knowledge, *run, *state);
  std::map<std::string, std::string> goes, stays;  // why, by path: a path is followed once, not for each checkpoint
  for (const CleanupItem& item : plan.items) goes[real_path(path_of(item))] = cat("it is ", item.why);
  for (const CleanupItem& item : plan.left) {
    if (item.advised) stays[real_path(path_of(item))] = item.why;
  }
  for (CheckpointsAnswer::Checkpoint& one : answer.checkpoints) {
    const std::string path = real_path(one.path);
    if (const auto found = goes.find(path); found != goes.end()) one.removable = found->second;
    if (const auto found = stays.find(path); found != stays.end()) one.stays = found->second;
  }
}

Result<CleanupAnswer> cleanup_by_hand(Disk& disk, const KnowledgeBase& knowledge, const CleanupRequest& request,
                                      const std::string& who) {
  auto run = supervised_run(disk, request);
  if (!run.ok()) return run.error();
  const auto locks = make_posix_locks();
  CleanupAnswer answer;
  answer.run = basename(run->folder);
  const std::string home = folder_of(folder_of(run->folder));
  auto recorder = Recorder::open(disk, *locks, home, answer.run, {run->folder});
  if (!recorder.ok()) return recorder.error();
  State state;
  MW_TRY((*recorder)->replay_into(state));
  Machine machine;
  JournalPages pages(**recorder, *machine.clock, state);
  settle_removals(disk, state, pages);
  MW_TRY(pages.record(event::Requested{"cleanup", who}));
  for (const CleanupItem& item : asked_of(machine.plan(disk, knowledge, *run, state).items, request.paths)) {
    CleanupAnswer::Thing thing = thing_of(item);
    const auto action = intend_to_remove(pages, item, 0);
    if (!action.ok()) return action.error();
    const CleanupResult::Item done = record_removal(pages, *action, item, remove_item(*machine.system, item));
    thing.bytes = done.bytes;
    thing.done = done.ok;
    thing.outcome = done.text;
    answer.things.push_back(std::move(thing));
  }
  MW_TRY((*recorder)->sync());
  return answer;
}

Result<CleanupAnswer> wait_for_cleanup(Disk& disk, Clock& clock, const std::string& run_folder, Time asked) {
  CleanupAnswer answer;
  answer.run = basename(run_folder);
  const Duration until{clock.steady().ns + kWaits.ns};
  while (clock.steady().ns < until.ns) {
    const auto text = read_small(disk, cat(run_folder, "/", kCleanupResultFile));
    const auto freed = text.ok() ? parse_cleanup_result(*text) : Result<CleanupResult>(text.error());
    if (freed.ok() && freed->asked == asked) {
      for (const CleanupResult::Item& item : freed->items) {
        answer.things.push_back({"", item.path, "", item.bytes, item.ok, item.text});
      }
      return answer;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  answer.pending = true;
  return answer;
}

}  // namespace mw
