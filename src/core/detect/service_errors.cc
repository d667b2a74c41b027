// The log repeats an error of a judge, a reward model, a verifier or a sandbox since the step at which the reward fell:
// a trainer that scores what it could not have judged with 0 learns from an outage. Or calls time out by the dozen, and
// not one step is done.
#include <algorithm>
#include <array>
#include <optional>

#include "base/text.h"
#include "core/detect/support/exception_words.h"
#include "core/detect/support/service_words.h"
#include "core/detect/tools/track.h"
#include "core/judge_memory.h"

namespace mw::detect {
namespace {

constexpr Knob kTimes{"times", 5, "messages", "Single errors are tried again and harm nothing", "own"};
constexpr Knob kAfter{"after", 4, "points", "Records with the errors, before the reward is compared", "own"};
constexpr Knob kReach{"reach", 30, "points", "An outage shows in the rewards at once: what fell later has other causes",
                      "own"};
constexpr Knob kFell{"fell", 0.4, "ratio", "Of what the reward had to lose", "own"};
constexpr Knob kFromStart{"from_start", 10, "points", "Records on the floor, with errors from the first step on",
                          "as zero-reward, from_start"};
constexpr Knob kEach{"each", 3, "messages",
                     "A record, where the reward was never above zero but is not the same each time: rollouts by the "
                     "dozen fail, not one now and then",
                     "own"};
constexpr Knob kBack{"recovered", 3, "points", "Records in a row with half of what was lost", "hysteresis"};
constexpr Knob kWaiting{"waiting", 50, "messages",
                        "Of calls that timed out before the first step: where others are answered, a step is done",
                        "own"};
constexpr Knob kKnobs[] = {kBack, kTimes, kAfter, kReach, kFell, kFromStart, kEach, kWaiting};

/// The record at which the errors have cost the reward, and where it began to: indices of `track`.
struct Harm {
  size_t onset = 0, detected = 0;
  Outcome outcome;
};

/// `first`: the first record that ends after the first message.
std::optional<Harm> harm_after(const State& state, const Track& track, size_t first) {
  const size_t end = std::min(track.size(), first + points_of(kReach));
  for (size_t i = first + points_of(kAfter); i < end; ++i) {
    const auto outcome = outcome_of(state, track.points[first], track.points[i]);
    if (outcome && outcome->fell(kFell.value)) return Harm{first, i, *outcome};
  }
  return std::nullopt;
}

/// From the first record on every one lies on the floor; or none was above zero, and calls fail in all of them.
std::optional<Harm> harm_from_start(const Track& track, size_t first, uint64_t messages) {
  const size_t least = points_of(kFromStart);
  if (first > 1 || track.size() < least) return std::nullopt;
  const double floor = track.values[0];
  const auto head = track.slice(0, least);
  if (floor > 0) return std::nullopt;
  const bool same = std::all_of(head.begin(), head.end(), [&](double value) { return value == floor; });
  const bool often = static_cast<double>(messages) >= kEach.value * static_cast<double>(track.size());
  const bool above = std::any_of(track.values.begin(), track.values.end(), [](double value) { return value > 0; });
  if (!same && (above || !often)) return std::nullopt;
  return Harm{0, least - 1, {}};
}

/// The reward is back: the record at which three in a row had regained half of what was lost.
std::optional<size_t> regained_at(const Track& track, const Harm& harm) {
  const double floor = harm.outcome.range > 0 ? (harm.outcome.before + harm.outcome.after) / 2 : track.values[0];
  size_t streak = 0;
  for (size_t i = harm.detected + 1; i < track.size(); ++i) {
    streak = track.values[i] > floor ? streak + 1 : 0;
    if (streak == points_of(kBack)) return i;
  }
  return std::nullopt;
}

Finding finding_of(const TemplateState& message, const Service& service, const Track& track, const Harm& harm) {
  const Point& onset = track.points[harm.onset];
  const bool from_start = harm.outcome.range <= 0;
  const std::string after = format_short(from_start ? track.values[harm.detected] : harm.outcome.after, 3);
  const std::string fall =
      from_start ? cat("the reward is ", after, " ever since")
                 : cat("the reward fell from ", format_short(harm.outcome.before, 3), " to ", after, " with it");
  // A warning by itself: the run goes on, and what it learns from such rewards is reported as that.
  Finding finding =
      make_finding("service-errors", "environment-fault", Severity::kWarning, onset, track.points[harm.detected],
                   cat("Calls of ", service.name, " fail since step ", onset.step, ", ", message.count, " times \"",
                       clip(message.text, 160), "\"; ", fall));
  finding.evidence.push_back({message.first.where, clip(message.text, kTextLimit), "", kNoStep, 0});
  add_figures(finding, track, harm.onset > 0 ? harm.onset - 1 : 0, harm.detected, 4);
  if (const auto back = regained_at(track, harm)) resolve(finding, track.points[*back]);
  const auto words = class_by_words("", message.text);
  const bool named = words && words->kind == "environment-fault" && !words->cause.empty();
  finding.suggests.push_back({named ? std::string(words->cause) : std::string(service.cause), 0.7,
                              cat("the log says so ", message.count, " times")});
  return finding;
}

/// What the message cost the reward, in the first track that shows it; null: nothing.
std::optional<Finding> harm_of(const State& state, const TemplateState& message, const Service& service,
                               JudgeMemory& memory) {
  for (const Track& track : memory.tracks(state, reward_series(state))) {
    const auto after = std::find_if(track.points.begin(), track.points.end(), [&](const Point& point) {
      return point.attempt == message.first.attempt &&
             (message.first.step == kNoStep || point.step > message.first.step);
    });
    if (after == track.points.end()) continue;
    const auto first = static_cast<size_t>(after - track.points.begin());
    auto harm = harm_from_start(track, first, message.count);
    if (!harm) harm = harm_after(state, track, first);
    if (harm) return finding_of(message, service, track, *harm);
  }
  return std::nullopt;
}

/// Messages of one kind about calls that were not answered in time.
struct Unanswered {
  uint64_t times = 0;
  Moment first, last;
  std::string_view text, cause;
};

/// The most frequent of them, of those that began before any step. Attempts are not distinguished: where a step is done
/// in one of them, calls are answered.
Unanswered most_unanswered(const State& state, const Knowledge& knowledge) {
  Unanswered most;
  for (const TemplateState& message : state.templates) {
    const bool late = contains_folded(message.text, "timeout") || contains_folded(message.text, "timed out");
    if (message.level < event::Logged::Level::kWarning || !late || message.count <= most.times) continue;
    if (is_store(message.text)) continue;
    most = {message.count, message.first, message.last, message.text, "remote-read-timeout"};
  }
  for (const SignatureState& seen : state.signatures) {
    const Signature* const signature = knowledge.find(seen.id);
    const bool late = signature != nullptr && signature->id.ends_with("-timeout") &&
                      (signature->kind == "network" || signature->kind == "environment-fault");
    if (!late || seen.sample || seen.count <= most.times || is_store(seen.text)) continue;
    most = {seen.count, seen.first, seen.last, seen.text, signature->id};
  }
  return most;
}

/// Calls time out again and again, and no step is done.
void judge_waiting(const State& state, const Knowledge& knowledge, std::vector<Finding>& out) {
  if (state.steps().count > 0 || has_reward(state) || knowledge.is_engine(state.framework)) return;
  const Unanswered most = most_unanswered(state, knowledge);
  if (static_cast<double>(most.times) < kWaiting.value) return;
  Finding finding;
  finding.kind = "environment-fault";
  finding.detector = "service-errors";
  finding.onset = most.first;
  finding.detected = most.last;
  finding.summary =
      cat("Calls time out, ", most.times, " times so far, and no step is done: \"", clip(most.text, 160), "\"");
  finding.evidence.push_back({most.first.where, clip(most.text, kTextLimit), "", kNoStep, 0});
  finding.suggests.push_back({std::string(most.cause), 0.7, cat("the log says so ", most.times, " times")});
  out.push_back(std::move(finding));
}

void judge(const State& state, const Knowledge& knowledge, JudgeMemory& memory, std::vector<Finding>& out) {
  judge_waiting(state, knowledge, out);
  std::optional<Finding> worst;
  uint64_t most = 0;
  for (const TemplateState& message : state.templates) {
    if (message.level < event::Logged::Level::kWarning || message.count <= most) continue;
    if (static_cast<double>(message.count) < kTimes.value) continue;
    const Service* const service = service_of(message.text);
    if (service == nullptr) continue;
    auto harm = harm_of(state, message, *service, memory);
    if (!harm) continue;
    worst = std::move(harm);
    most = message.count;
  }
  if (worst) out.push_back(std::move(*worst));
}

}  // namespace

extern const Detector service_errors;
const Detector service_errors{"service-errors",
                              "The log repeats an error of a judge, a reward model or a sandbox since the reward fell, "
                              "or calls time out and no step is done.",
                              {"environment-fault"},
                              kKnobs,
                              judge};

}  // namespace mw::detect
