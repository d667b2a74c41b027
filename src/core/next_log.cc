#include "core/next_log.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "base/text.h"

namespace mw {
namespace {

constexpr Duration kSilent = Duration::seconds(120);  // a log that goes on, at its own pace, may be as slow as this
constexpr int64_t kSilentSteps = 3;                   // likewise, by the time that a step of it takes
// Longer than an evaluation or a save, at which a log may be rotated.
constexpr Duration kLongSilent = Duration::seconds(1200);
constexpr int64_t kLongSilentSteps = 20;
constexpr int64_t kEarlyShare = 10;  // the first tenth of the other's steps

/// "train_old.log", "train.log.bak" and "train.log.20261120" as "train.log", "slurm-7701.out" as "slurm.out": without
/// what a log is called by when it makes place for the next one.
std::string without_age(std::string_view path) {
  constexpr std::array<std::string_view, 9> kOld = {"old",      "bak",  "backup", "prev", "previous",
                                                    "original", "orig", "last",   "#"};
  const std::string name = without_numbers(path);
  std::string out(folder_of(name));
  out += '/';
  const size_t stem = out.size();
  for (std::string_view rest = basename(name); !rest.empty();) {
    const size_t end = std::min(rest.find_first_of("._-~ ()"), rest.size());
    const std::string_view word = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const bool old = std::find(kOld.begin(), kOld.end(), word) != kOld.end();
    if (!word.empty() && (!old || out.size() == stem)) out.append(word).append(".");
  }
  return out;
}

/// By their names, but for their numbers and ages, or those of the folders beside each other that they lie in; those of
/// ranks and workers are alike, too.
bool called_alike(std::string_view a, std::string_view b) {
  const std::string folder_a = folder_of(a), folder_b = folder_of(b);
  const bool beside = folder_a != folder_b && basename(a) == basename(b) && folder_of(folder_a) == folder_of(folder_b);
  const auto of_process = [](std::string_view path) { return contains(path, "rank") || contains(path, "worker"); };
  return (beside || without_age(a) == without_age(b)) && !of_process(a) && !of_process(b);
}

/// The log of `attempt` which did the steps before `step`: of several the furthest.
std::optional<uint32_t> log_before(const State& state, const NewLog& fresh) {
  std::optional<uint32_t> found;
  for (uint32_t i = 0; i < state.sources.size(); ++i) {
    const SourceState& log = state.sources[i];
    if (i == fresh.source || log.kind != "text" || log.attempt != static_cast<int32_t>(fresh.attempt)) continue;
    if (log.step == kNoStep || !log.names_steps || log.steps.first() >= fresh.step) continue;
    if (fresh.step > log.step + steps_between_records(log)) continue;
    if (!found || state.sources[*found].step < log.step) found = i;
  }
  return found;
}

/// Did the log speak, behind its last step, of its end?
bool spoke_of_end(const State& state, uint32_t source) {
  const SourceState& log = state.sources[source];
  const AttemptState& attempt = state.attempts[static_cast<size_t>(log.attempt)];
  if (attempt.ended && attempt.ended_at.where.source == source && attempt.ended->how != event::Ended::How::kComplete)
    return true;
  return std::any_of(state.traces.begin(), state.traces.end(), [&](const TraceState& seen) {
    return !seen.trace.sample && seen.moment.where.source == source && seen.moment.step >= log.step &&
           seen.moment.attempt == log.attempt;
  });
}

/// Has it been silent for longer than its own steps take when `now` came?
bool was_silent(const SourceState& log, Time now, Duration least, int64_t least_steps) {
  const int64_t steps = log.last_step - log.first_step;
  const int64_t spent = log.last_at.ns - log.first_at.ns;
  const int64_t usual = steps > 0 ? spent / steps * steps_between_records(log) : 0;
  return now.ns - log.last_at.ns > std::max(least.ns, least_steps * usual);
}

}  // namespace

int64_t steps_between_records(const SourceState& log) {
  const int64_t records = log.steps.count();
  return records < 2 ? 1 : std::max<int64_t>(1, (log.steps.last() - log.steps.first()) / (records - 1));
}

int64_t resumed_before(const State& state, const SourceState& source, int64_t step) {
  const AttemptState& attempt = state.attempts[static_cast<size_t>(source.attempt)];
  const bool just_before = attempt.resumed_at == step || attempt.resumed_at == step - 1;
  const bool within = attempt.first_step == kNoStep || attempt.first_step < attempt.resumed_at;
  return attempt.resumed && just_before && within ? attempt.resumed_at : kNoStep;
}

std::optional<LogBoundary> boundary_before(const State& state, const NewLog& fresh) {
  const SourceState& own = state.sources[fresh.source];
  if (own.kind != "text" || fresh.step <= 1) return std::nullopt;
  const auto before = log_before(state, fresh);
  if (!before) return std::nullopt;
  const SourceState& log = state.sources[*before];
  const bool clocks = fresh.at.known() && log.last_at.known();
  if (clocks && fresh.at <= log.last_at) return std::nullopt;
  LogBoundary boundary{*before, fresh.source, log.step, fresh.step, {}};
  if (clocks) boundary.at = {log.last_at.ns + (fresh.at.ns - log.last_at.ns) / 2};
  if (fresh.begun) return boundary;
  const bool over = spoke_of_end(state, *before), again = fresh.step <= log.step;
  const int64_t first = log.steps.first();
  // Another run's log may begin with its tenth step.
  const bool early = (fresh.step - first) * kEarlyShare <= log.step - first;
  if (again && early && !fresh.resumes) return std::nullopt;
  const auto& ended = state.attempts[fresh.attempt].ended;
  const bool complete = ended && ended->how == event::Ended::How::kComplete;
  if (complete && !fresh.resumes) return std::nullopt;  // what looks at its steps later is no training
  if (over && (clocks || !again || fresh.resumes || called_alike(own.path, log.path))) return boundary;
  if (!clocks) return fresh.resumes && !again ? std::optional(boundary) : std::nullopt;
  const bool silent = was_silent(log, fresh.at, kSilent, kSilentSteps) && (fresh.resumes || again);
  const bool long_silent = called_alike(own.path, log.path) && was_silent(log, fresh.at, kLongSilent, kLongSilentSteps);
  return silent || long_silent ? std::optional(boundary) : std::nullopt;
}

}  // namespace mw
