#include "act/cleanup/cleanup_task.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "act/cleanup/disk_share.h"
#include "act/cleanup/quarantine_room.h"
#include "act/cleanup/remove_item.h"
#include "act/cleanup/stale_resources.h"
#include "act/supervise/run_ownership.h"
#include "base/numbers.h"
#include "base/text.h"
#include "core/retention_facts.h"
#include "core/shipments.h"
#include "platform/real/posix_disk.h"

namespace mw {
namespace {

constexpr Duration kRarely = Duration::seconds(3600);  // between two tries to go on with a deletion that failed
constexpr Duration kPatience = Duration::millis(50), kUsual = Duration::seconds(5);

/// What is short by the open incidents of the last attempt.
struct Want {
  uint32_t incident = 0;  ///< the latest of them; 0: nothing is short
  bool disk = false, shared = false;
};

Want want_of_space(const State& state) {
  Want want;
  for (const Incident& incident : state.incidents) {
    if (!incident.open || incident.latest.attempt + 1U != state.attempts.size()) continue;
    const bool disk = incident.kind == "disk-full" || incident.kind == "disk-pressure";
    const bool shared = incident.kind == "shm-exhausted";
    want.disk = want.disk || disk;
    want.shared = want.shared || shared;
    if (disk || shared) want.incident = std::max(want.incident, incident.id);
  }
  return want;
}

/// Another number: another checkpoint may go, as one was saved or came into the store.
size_t retention_news(const State& state) {
  const auto shipped = std::count_if(state.actions.begin(), state.actions.end(),
                                     [](const ActionState& action) { return action.done && is_ship(action); });
  return state.checkpoint_scans.size() + static_cast<size_t>(shipped);
}

/// How much of what a plan by [retention] needs is known: that the run came to some step, and the figures of its best.
int known_of(const State& state, const std::string& keep_best) {
  const bool steps = std::any_of(state.attempts.begin(), state.attempts.end(),
                                 [](const AttemptState& one) { return one.last_step != kNoStep; });
  return (steps ? 1 : 0) + (keep_best.empty() || retention_facts(state, keep_best, false).scores.empty() ? 0 : 1);
}

/// Steps of checkpoints that are not in the store yet and are to come there.
std::set<int64_t> due_in_store(const State& state) {
  std::set<int64_t> due;
  for (const Shipment& one : shipments(state)) {
    using How = Shipment::How;
    if (one.how == How::kWaiting || one.how == How::kSending || one.how == How::kFailed) due.insert(one.step);
  }
  return due;
}

/// A deletion is in doubt, or failed: some of it may be left.
bool any_failed(const State& state) {
  return std::any_of(state.actions.begin(), state.actions.end(), [](const ActionState& action) {
    return action.intent.action == kCleanupAction && !(action.done && action.ok);
  });
}

std::string bytes_text(int64_t bytes) { return format_bytes(static_cast<double>(bytes)); }

}  // namespace

/// What may be deleted and helps: shared memory frees no disk, and files on a disk free no shared memory.
std::vector<std::string> CleanupTask::words_for(const State& state) const {
  const Want want = want_of_space(state);
  std::vector<std::string> words;
  for (const std::string& word : scope_.settings.what) {
    const bool shared = word == kSharedMemory;
    if (want.incident == 0 || (shared ? want.shared : want.disk)) words.push_back(word);
  }
  return words;
}

std::vector<std::string> CleanupTask::words_of_disks() const {
  std::vector<std::string> words = scope_.settings.what;
  std::erase(words, kSharedMemory);
  return words;
}

void CleanupTask::begin_plan(const State& state, For what, std::vector<std::string> words) {
  CleanupScope places;
  static_cast<CleanupPlaces&>(places) = scope_.places;
  places.layout = scope_.layout(state.saver());
  places.now = clock_.now();
  places.removals = removals_of(state);
  if (scope_.own) places.own = scope_.own(*scope_.disk, state, places.layout);
  CleanupSettings settings = scope_.settings;
  settings.what = std::move(words);
  if (what == For::kPerson) use_rules(parse_cleanup_ask(asks_.front().text).retention, settings);
  places.facts = retention_facts(state, settings.keep_best, scope_.has_store);
  if (what == For::kHope) {
    for (const int64_t step : due_in_store(state)) places.facts.shipped.insert(step);
    places.facts.sending.clear();
  } else {
    places.in_store = scope_.in_store;
  }
  if (scope_.settings.mode == Mode::kAct && (what == For::kSpace || what == For::kShare))
    places.asks = what == For::kSpace ? CleanupFor::kSpace : CleanupFor::kShare;
  for_ = what;
  if (what == For::kRetention) {
    retention_waits_ = false;
    retention_known_ = known_of(state, settings.keep_best);
  }
  planned_ = clock_.steady();
  planning_.start([disk = scope_.disk, system = scope_.system, processes = scope_.processes, unheld = scope_.unheld,
                   user = scope_.user, places = std::move(places), settings = std::move(settings),
                   by_share = what == For::kShare] {
    const double share = settings.disk_share;
    if (by_share && !is_above_share(*system, places.roots, share)) return std::make_unique<CleanupPlan>();
    auto plan =
        std::make_unique<CleanupPlan>(plan_cleanup(*disk, {*system, *processes, unheld, user}, places, settings));
    if (by_share) keep_what_share_needs(*disk, *system, places.roots, share, *plan);
    return plan;
  });
}

void CleanupTask::take_plan(CleanupPlan plan, EventWriter& writer) {
  if (for_ == For::kHope) {
    hope_ = Hope{plan.items.size(), 0};
    for (const CleanupItem& item : plan.items) hope_->bytes += item.bytes;
    return;
  }
  if (for_ == For::kRetention) retention_waits_ = plan.waits;
  if (for_ == For::kUnfinished && plan.unsure) try_again();
  const bool by_share = for_ == For::kShare;
  if (by_share) share_due_ = {clock_.steady().ns + (plan.above_share && plan.items.empty() ? kFutile : kAgain).ns};
  for (const std::string& note : plan.notes) {
    if (std::find(notes_.begin(), notes_.end(), note) == notes_.end()) scope_.say(note);  // once, not after each save
  }
  if (!plan.notes.empty()) notes_ = plan.notes;
  if ((for_ != For::kSpace && !by_share) || scope_.settings.mode == Mode::kAct) {
    const bool person = for_ == For::kPerson;
    plan_ =
        person ? asked_of(std::move(plan.items), parse_cleanup_ask(asks_.front().text).paths) : std::move(plan.items);
    std::reverse(plan_.begin(), plan_.end());  // taken from the end
    if (person && plan_.empty()) finish_ask();
  } else {
    report_plan(plan, writer);
  }
}

void CleanupTask::report_plan(const CleanupPlan& plan, EventWriter& writer) {
  if (scope_.settings.mode == Mode::kWatch || plan.items.empty()) return;
  if (for_ == For::kShare ? std::exchange(share_said_, true) : std::exchange(reported_, incident_) == incident_) return;
  int64_t bytes = 0;
  std::string things;
  for (const CleanupItem& item : plan.items) {
    bytes += item.bytes;
    things += cat("; ", path_of(item), " (", bytes_text(item.bytes), ", ", item.why, ")");
  }
  const std::string words =
      cat(bytes_text(bytes), " could be freed (midwatch cleanup, or mode = \"act\" of [cleanup], does it)", things);
  scope_.say(words);
  (void)writer.note({"midwatch", clip(words, kTextLimit)}, clock_.now()).ok();
}

/// Records the next deletion and starts it. False when nothing is left to delete, or it cannot be recorded.
bool CleanupTask::remove_next(EventWriter& writer) {
  if (plan_.empty()) return false;
  const auto action = intend_to_remove(writer, plan_.back(), for_ == For::kSpace ? incident_ : 0);
  if (!action.ok()) return false;
  item_ = std::move(plan_.back());
  plan_.pop_back();
  action_ = *action;
  removing_.start([remove = scope_.remove, system = scope_.system, item = item_] { return remove(*system, item); });
  if (!removing_.started()) take_removed(Error{Error::Code::kIo, "no thread could be started", ""}, writer);
  return true;
}

void CleanupTask::drop_plan() {
  plan_.clear();
  planned_.reset();
  stale_due_ = stale_due_ || for_ == For::kStale;
  unfinished_due_ = unfinished_due_ || for_ == For::kUnfinished;
  retention_due_ = retention_due_ || for_ == For::kRetention;
}

/// What was left in the middle is gone on with, ever more rarely.
void CleanupTask::try_again() {
  failed_ = clock_.steady();
  retry_ = for_ == For::kUnfinished ? Duration{std::min(2 * retry_.ns, kRarely.ns)} : kAgain;
}

void CleanupTask::take_removed(const Result<Removed>& removed, EventWriter& writer) {
  if (removed.ok() && (for_ == For::kSpace || for_ == For::kPerson)) freed_bytes_ += removed->bytes;
  if (!removed.ok()) try_again();
  if (removed.ok() && for_ == For::kRetention) retained_bytes_ += removed->bytes;
  const CleanupResult::Item done = record_removal(writer, std::exchange(action_, 0), item_, removed);
  scope_.say(cat(done.ok ? "removed " : "could not remove ", done.path, ": ", done.text));
  if (for_ != For::kPerson) return;
  result_.items.push_back(done);
  if (plan_.empty()) finish_ask();
}

/// Writes the result for the person that requested the cleanup.
void CleanupTask::finish_ask() {
  result_.asked = asks_.front().at;
  asks_.erase(asks_.begin());
  const CleanupResult result = std::exchange(result_, CleanupResult());
  if (scope_.write)
    (void)scope_.write(cat(scope_.places.run_folder, "/", kCleanupResultFile), cleanup_result_text(result)).ok();
}

std::optional<Duration> CleanupTask::turn(const State& state, bool quiet, EventWriter& writer) {
  if (!std::exchange(doubts_settled_, true)) {
    unfinished_due_ = any_failed(state);
    settle_removals(*scope_.disk, state, writer);
  }
  if (auto removed = removing_.take()) take_removed(*removed, writer);
  if (removing_.started()) return kPatience;
  if (remove_next(writer)) return kPatience;
  if (!plan_.empty()) {  // it could not be recorded: planned anew later, as by then other things hold
    drop_plan();
    return kUsual;
  }
  if (auto plan = planning_.take()) {
    take_plan(std::move(**plan), writer);
    if (!plan_.empty()) return kPatience;
  }
  if (planning_.started() || begin_next(state, quiet)) return kPatience;
  return kUsual;
}

/// Begins the most urgent plan that is due. False when none is.
bool CleanupTask::begin_next(const State& state, bool quiet) {
  const bool again_now = failed_ && clock_.steady().ns - failed_->ns >= retry_.ns;
  if (std::exchange(unfinished_due_, false) || again_now) {
    failed_.reset();
    begin_plan(state, For::kUnfinished, {std::string(kUnfinished)});
    return true;
  }
  if (!asks_.empty()) {
    const auto words = parse_cleanup_ask(asks_.front().text).words;
    begin_plan(state, For::kPerson, words.empty() ? scope_.settings.what : words);
    return true;
  }
  const Duration now = clock_.steady();
  const Want want = want_of_space(state);
  const bool fresh = want.incident != 0 && want.incident != incident_;
  const bool again = !planned_ || now.ns - planned_->ns >= kAgain.ns;
  if (want.incident != 0 && quiet && (fresh || again) && scope_.settings.mode != Mode::kWatch) {
    incident_ = want.incident;
    begin_plan(state, For::kSpace, words_for(state));
    asked_done_ = asked_.has_value();
    return true;
  }
  // Shared memory that an ended attempt left is freed before the next attempt finds it full.
  const bool holds = scope_.holds();
  stale_due_ = stale_due_ || (held_ && !holds);
  held_ = holds;
  const auto& what = scope_.settings.what;
  if (stale_due_ && scope_.settings.mode == Mode::kAct &&
      std::find(what.begin(), what.end(), kSharedMemory) != what.end()) {
    stale_due_ = false;
    begin_plan(state, For::kStale, {std::string(kSharedMemory)});
    return true;
  }
  retention_due_ = retention_due_ || learnt_more(state);
  if (const size_t news = retention_news(state);
      scope_.settings.keep_last > 0 && (retention_due_ || news != retention_seen_)) {
    retention_seen_ = news;
    // With one more in the store another may go, whatever was saved last.
    const size_t shipped = news - state.checkpoint_scans.size();
    const bool arrived = std::exchange(shipped_seen_, shipped) != shipped;
    if (retention_due_ || arrived ||
        (!state.checkpoint_scans.empty() &&
         state.checkpoint_scans.back().second.how == event::CheckpointSeen::How::kWhole)) {
      retention_due_ = false;
      begin_plan(state, For::kRetention, {std::string(kOldCheckpoints)});
      return true;
    }
  }
  return begin_by_share(state, quiet);
}

/// Of what the last plan by [retention] waited for something is known by now.
bool CleanupTask::learnt_more(const State& state) const {
  const std::string& best = scope_.settings.keep_best;
  const int most = best.empty() ? 1 : 2;  // then there is nothing left to learn
  return retention_waits_ && retention_known_ < most && known_of(state, best) > retention_known_;
}

/// Before the disk is short: what may go by the rules, as long as that brings its use below the share.
bool CleanupTask::begin_by_share(const State& state, bool quiet) {
  const CleanupSettings& settings = scope_.settings;
  const Duration now = clock_.steady();
  const bool on = settings.disk_share > 0 && settings.disk_share < 1 && settings.mode != Mode::kWatch;
  if (!on || !quiet || now < share_due_ || scope_.places.roots.empty()) return false;
  if (settings.mode == Mode::kAsk && share_said_) return false;
  share_due_ = {now.ns + kAgain.ns};
  begin_plan(state, For::kShare, words_of_disks());
  return true;
}

bool CleanupTask::may_end(const State& state, int stops) {
  if (!ended_) ended_ = clock_.steady();
  const Duration most = stops > 0 || state.supervision.stop ? kAtStop : kAtEnd;
  if (stops > 1 || clock_.steady().ns - ended_->ns >= most.ns) return true;
  if (busy()) return false;
  if (scope_.settings.keep_last <= 0) return true;
  // Its last records come behind its last save.
  if (retention_waits_ && !std::exchange(retention_last_, true)) retention_due_ = true;
  return !retention_due_ && !learnt_more(state) && retention_news(state) == retention_seen_;
}

std::optional<bool> CleanupTask::room_by_cleanup(const State& state) {
  if (scope_.settings.mode != Mode::kAct) return false;
  const Duration now = clock_.steady();
  if (!asked_) {
    asked_ = now;
    // Space that was freed for this attempt's incident counts; if there is none, a plan is made now.
    asked_done_ = freed_bytes_ > 0;
  }
  const bool late = now.ns - asked_->ns >= kLongest.ns;
  if (!asked_done_ && !busy() && !late) {
    begin_plan(state, For::kSpace, words_for(state));
    asked_done_ = true;
    return std::nullopt;
  }
  if (busy() && !late) return std::nullopt;
  return freed_bytes_ > 0;
}

/// Old checkpoints stay until newer ones are in the store. Where some would go then, a restart waits for it.
std::optional<bool> CleanupTask::room_by_shipping(const State& state, EventWriter& writer) {
  if (!scope_.has_store || scope_.settings.keep_last <= 0) return false;
  if (retained_bytes_ > 0 && !busy()) return true;
  if (clock_.steady().ns - hoped_->ns >= scope_.store_wait.ns) return false;
  if (busy()) return std::nullopt;
  if (!hope_) {
    begin_plan(state, For::kHope, {std::string(kOldCheckpoints)});
    if (!planning_.started()) return false;
    return std::nullopt;
  }
  if (hope_->bytes == 0) return false;
  if (!std::exchange(hope_said_, true)) say_hope(state, writer);
  if (due_in_store(state).empty() && retention_news(state) == retention_seen_) return false;
  return std::nullopt;
}

void CleanupTask::say_hope(const State& state, EventWriter& writer) {
  const std::set<int64_t> due = due_in_store(state);
  const std::string then = cat(hope_->checkpoints == 1 ? "an old checkpoint goes" : "old checkpoints go",
                               ", which frees ", bytes_text(hope_->bytes));
  const std::string text =
      due.empty() ? cat("the disk is full: ", then, " before the next attempt")
                  : cat("the disk is full: the next attempt waits for step ", *due.rbegin(), " to be in the store, ",
                        format_duration(scope_.store_wait), " at most; then ", then);
  scope_.say(text);
  (void)writer.note({"midwatch", text}, clock_.now()).ok();
}

/// For whoever has to make the room.
void CleanupTask::say_what_to_free(const State& state) const {
  if (!want_of_space(state).disk) return;
  int64_t bytes = 0;  // of a save
  std::string where;
  for (const auto& [moment, seen] : state.checkpoint_scans) {
    if (seen.how != event::CheckpointSeen::How::kWhole) continue;
    bytes = seen.bytes;
    where = folder_of(seen.path);
  }
  if (bytes == 0) return;
  std::vector<std::string> roots = scope_.places.roots;
  if (std::find(roots.begin(), roots.end(), where) == roots.end()) roots.push_back(where);
  const std::string own = quarantine_words(quarantine_room(*scope_.disk, roots, where), bytes);
  scope_.say(cat("nothing made room: free at least ", bytes_text(bytes), ", which a save takes, on the disk of ", where,
                 " (midwatch cleanup says what could go), and run the command again", own.empty() ? "" : "; ", own));
}

std::optional<bool> CleanupTask::made_room(const State& state, EventWriter& writer) {
  if (!hoped_) {
    hoped_ = clock_.steady();
    retained_bytes_ = 0;
    hope_.reset();
    hope_said_ = false;
  }
  auto room = cleaned_ ? cleaned_ : (cleaned_ = room_by_cleanup(state));
  if (room == false) room = room_by_shipping(state, writer);
  if (!room) return std::nullopt;
  if (!*room) say_what_to_free(state);
  asked_.reset();
  hoped_.reset();
  cleaned_.reset();
  asked_done_ = false;
  freed_bytes_ = 0;
  return room;
}

std::unique_ptr<CleanupTask> watch_space(
    Clock& clock, const RunSpec& spec, CleanupPlaces places, CleanupSettings settings,
    std::function<CheckpointLayout(const std::string& framework)> layout,
    std::function<void(const std::string& sentence)> say, std::function<bool()> holds,
    std::function<Result<void>(const std::string& path, std::string_view text)> write,
    std::function<Result<StoreSteps>()> in_store) {
  const auto own = [spec, run_folder = places.run_folder](Disk& disk, const State& state, const CheckpointLayout& of) {
    auto found = ownership_of(disk, run_folder, spec, state, of);
    return found.ok() ? std::move(*found) : Ownership();
  };
  CleanupTaskScope scope{make_posix_disk(),
                         make_posix_system(),
                         make_posix_processes(),
                         static_cast<int64_t>(geteuid()),
                         std::move(places),
                         std::move(settings),
                         std::move(layout),
                         nobody_holds,
                         [](System& system, const CleanupItem& item) { return remove_item(system, item); },
                         std::move(say),
                         std::move(holds),
                         std::move(write),
                         own,
                         !spec.store.empty() && !spec.dry,
                         spec.store_wait,
                         std::move(in_store)};
  return std::make_unique<CleanupTask>(clock, std::move(scope));
}

}  // namespace mw
