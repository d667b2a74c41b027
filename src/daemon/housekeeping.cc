#include "daemon/housekeeping.h"

#include <algorithm>
#include <utility>

#include "base/numbers.h"
#include "base/text.h"

namespace mw {
namespace {

constexpr std::string_view kDeed = "free-space", kOldCheckpoints = "old-checkpoints";
constexpr Duration kPatience = Duration::millis(50), kUsual = Duration::seconds(5);

/// The open incident for which space is wanted; nullptr when there is none.
const Incident* want_of_space(const State& state) {
  for (const Incident& incident : state.incidents) {
    if (incident.open && incident.latest.attempt + 1U == state.attempts.size() &&
        (incident.kind == "disk-full" || incident.kind == "disk-pressure")) {
      return &incident;
    }
  }
  return nullptr;
}

std::string bytes_text(int64_t bytes) { return format_bytes(static_cast<double>(bytes)); }

}  // namespace

Housekeeping::~Housekeeping() {
  if (planning_.busy()) (void)scope_.disk.release();  // a call that never came back still looks through it
}

/// Whether a deletion that nobody saw the end of was done: what is gone is gone, and the rest is planned anew.
void Housekeeping::settle_doubts(const State& state, Notebook& notebook) {
  doubts_settled_ = true;
  std::vector<event::Acted> outcomes;
  for (const ActionState& action : state.actions) {
    if (action.done || action.intent.action != kDeed) continue;
    const bool gone = !scope_.disk->info(action.intent.target).ok();
    outcomes.push_back({action.intent.id, gone, gone ? "it is gone" : "not done, or not all of it", 0});
  }
  for (event::Acted& outcome : outcomes) notebook.acted(std::move(outcome));
}

void Housekeeping::begin_plan(const State& state, bool space) {
  FreeScope places = scope_.places;
  places.layout = scope_.layout(state.framework);
  FreeSettings settings = scope_.settings;
  if (!space) settings.what = {std::string(kOldCheckpoints)};
  for_space_ = space;
  planned_ = clock_.steady();
  planning_.start([&disk = *scope_.disk, places = std::move(places), settings = std::move(settings)] {
    return std::make_unique<Plan>(plan_free(disk, places, settings));
  });
}

void Housekeeping::take_plan(Plan plan, Notebook& notebook) {
  if (!for_space_ || scope_.settings.mode == FreeSettings::Mode::kAct) {
    plan_ = std::move(plan);
    std::reverse(plan_.begin(), plan_.end());  // taken from the end
    return;
  }
  if (scope_.settings.mode == FreeSettings::Mode::kWatch || told_of_ == incident_) return;
  told_of_ = incident_;
  int64_t bytes = 0;
  std::string things;
  for (const FreeItem& item : plan) {
    bytes += item.bytes;
    things += cat("; ", item.root, "/", item.name, " (", bytes_text(item.bytes), ", ", item.why, ")");
  }
  if (plan.empty()) return;
  const std::string words = cat(bytes_text(bytes), " could be freed (mode = \"act\" of [free-space] does it)", things);
  scope_.say(words);
  (void)notebook.told({"midwatch", clip(words, kTextLimit)}, clock_.now()).ok();
}

/// Writes down what goes next and begins to delete it. False when nothing is left to go, or it cannot be written down.
bool Housekeeping::remove_next(Notebook& notebook) {
  if (plan_.empty()) return false;
  const FreeItem item = plan_.back();
  path_ = cat(item.root, "/", item.name);
  const auto deed = notebook.intend({0, std::string(kDeed), path_, for_space_ ? incident_ : 0,
                                     cat("It is ", item.why, "; ", bytes_text(item.bytes), ".")});
  if (!deed.ok()) return false;
  plan_.pop_back();
  deed_ = *deed;
  removing_.start([remove = scope_.remove, root = item.root, name = item.name] { return remove(root, name); });
  if (!removing_.started()) take_removed(Error{Error::Code::kIo, "no thread could be started", ""}, notebook);
  return true;
}

void Housekeeping::take_removed(const Result<Removed>& removed, Notebook& notebook) {
  if (removed.ok()) freed_ += removed->bytes;
  const std::string text = removed.ok() ? cat(bytes_text(removed->bytes), " freed") : removed.error().what;
  notebook.acted({std::exchange(deed_, 0), removed.ok(), text, 0});
  scope_.say(removed.ok() ? cat("removed ", path_, ": ", text) : cat("could not remove ", path_, ": ", text));
}

std::optional<Duration> Housekeeping::turn(const State& state, bool quiet, Notebook& notebook) {
  if (!doubts_settled_) settle_doubts(state, notebook);
  if (auto removed = removing_.take()) take_removed(*removed, notebook);
  if (removing_.started()) return kPatience;
  if (remove_next(notebook)) return kPatience;
  if (auto plan = planning_.take()) {
    take_plan(std::move(**plan), notebook);
    if (!plan_.empty()) return kPatience;
  }
  if (planning_.started()) return kPatience;
  const Duration now = clock_.steady();
  const Incident* trouble = want_of_space(state);
  const bool fresh = trouble != nullptr && trouble->id != incident_;
  const bool again = !planned_ || now.ns - planned_->ns >= kAgain.ns;
  if (trouble != nullptr && quiet && (fresh || again) && scope_.settings.mode != FreeSettings::Mode::kWatch) {
    incident_ = trouble->id;
    begin_plan(state, true);
    asked_done_ = asked_.has_value();
    return kPatience;
  }
  if (scope_.settings.keep_last > 0 && state.looks.size() != whole_seen_) {
    whole_seen_ = state.looks.size();
    if (state.looks.back().second.how == event::CheckpointSeen::How::kWhole) {
      begin_plan(state, false);
      return kPatience;
    }
  }
  return kUsual;
}

std::optional<bool> Housekeeping::made_room(const State& state) {
  if (scope_.settings.mode != FreeSettings::Mode::kAct) return false;
  const Duration now = clock_.steady();
  if (!asked_) {
    asked_ = now;
    // What went for this attempt's trouble already counts; else it is planned now.
    asked_done_ = freed_ > 0;
  }
  const bool busy = planning_.started() || removing_.started() || !plan_.empty();
  const bool late = now.ns - asked_->ns >= kLongest.ns;
  if (!asked_done_ && !busy && !late) {
    begin_plan(state, true);
    asked_done_ = true;
    return std::nullopt;
  }
  if (busy && !late) return std::nullopt;
  asked_.reset();
  asked_done_ = false;
  return std::exchange(freed_, 0) > 0;
}

}  // namespace mw
