#include "core/overwrites.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/json.h"
#include "base/text.h"
#include "core/checkpoint_trust.h"

namespace mw {
namespace {

/// Last parts of the names of figures that count all that a run trained, over its restarts.
constexpr std::array<std::string_view, 6> kCounters = {"epoch",       "num_tokens",       "num_input_tokens_seen",
                                                       "global_step", "consumed_samples", "total_tokens"};
/// The first record of an attempt that began from nothing counts about what the run's very first one did: one batch.
constexpr double kOneBatch = 1.5;

bool counts_all(std::string_view raw) {
  const size_t cut = raw.find_last_of("/.");
  const std::string_view name = cut == std::string_view::npos ? raw : raw.substr(cut + 1);
  return std::find(kCounters.begin(), kCounters.end(), name) != kCounters.end();
}

/// Does a counter go on in the attempt where the run's first one began it far lower?
bool counter_goes_on(const State& state, size_t attempt) {
  return std::any_of(state.series.begin(), state.series.end(), [attempt](const Series& series) {
    if (!counts_all(series.raw)) return false;
    const Point *first = nullptr, *now = nullptr;
    for (const Series::Part& part : series.parts()) {
      if (part.begin == part.end) continue;
      const Point& point = series.points()[part.begin];
      if (part.attempt == attempt) {
        now = now == nullptr ? &point : now;
      } else if (part.attempt < attempt) {
        first = first == nullptr ? &point : first;
      }
    }
    return first != nullptr && now != nullptr && now->value > 0 && now->value > kOneBatch * first->value;
  });
}

/// Do the checkpoints of earlier attempts lie in what was said to be their folder? Some settings name another output.
bool is_where_they_lie(const State& state, size_t attempt, std::string_view folder) {
  while (folder.starts_with("./")) folder.remove_prefix(2);
  while (folder.ends_with('/')) folder.remove_suffix(1);
  const std::string within = cat(folder, "/");
  const auto lies = [&](const auto& one) { return one.first.attempt < attempt && contains(one.second.path, within); };
  return std::any_of(state.checkpoints.begin(), state.checkpoints.end(), lies) ||
         std::any_of(state.checkpoint_scans.begin(), state.checkpoint_scans.end(), lies);
}

/// Did it say that it saves to another folder than the attempts before, whose saves lie where they said?
bool saves_elsewhere(const State& state, size_t attempt) {
  const std::string& folder = state.attempts[attempt].save_folder;
  for (size_t i = attempt; i-- > 0;) {
    const std::string& before = state.attempts[i].save_folder;
    if (!folder.empty() && !before.empty()) return folder != before && is_where_they_lie(state, attempt, before);
  }
  return false;
}

/// What midwatch decided after the attempt of this number, counted from 1, on what the next one finds.
struct Next {
  int64_t quarantined_from = kNoStep;
  bool from_scratch = false;
};
Next next_after(const SupervisedAttempt& attempt) {
  Next next;
  const auto plan = Json::parse(attempt.plan);
  if (!plan.ok() || !plan->is_object()) return next;
  next.from_scratch = plan->boolean_or("from_scratch", false);
  const Json* moves = plan->find("quarantine");
  const Json* plans = moves != nullptr && moves->is_object() ? moves->find("plans") : nullptr;
  if (plans != nullptr && plans->is_array() && !plans->items().empty())
    next.quarantined_from = moves->integer_or("from", kNoStep);
  return next;
}

}  // namespace

bool would_overwrite(const State& state, size_t attempt) {
  if (attempt == 0 || attempt >= state.attempts.size()) return false;
  const AttemptState& now = state.attempts[attempt];
  if (now.resumed_at != kNoStep || (now.resumed && !state.attempts.front().resumed)) return false;
  if (!left_whole(state, attempt) || saves_elsewhere(state, attempt) || counter_goes_on(state, attempt)) return false;
  std::vector<std::pair<int64_t, int64_t>> moved;  // number of the attempt after which, and from which step on
  bool allowed = false;
  for (const SupervisedAttempt& before : state.supervision.attempts) {
    if (!before.decided || before.number > static_cast<int64_t>(attempt)) continue;
    const Next next = next_after(before);
    allowed = next.from_scratch;
    if (next.quarantined_from != kNoStep) moved.emplace_back(before.number, next.quarantined_from);
  }
  if (allowed) return false;
  return moved.empty() || left_whole(state, attempt, kNoStep, [&moved](size_t by, int64_t step) {
           return std::any_of(moved.begin(), moved.end(), [&](const auto& one) {
             return static_cast<int64_t>(by) < one.first && step != kNoStep && step >= one.second;
           });
         });
}

}  // namespace mw
