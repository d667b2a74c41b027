// The reward is exactly zero (or lies exactly on its floor) for many steps.
#include <algorithm>
#include <cmath>
#include <optional>

#include "base/text.h"
#include "core/components.h"
#include "core/detect/support/near_floor.h"
#include "core/detect/support/objective_changed.h"
#include "core/detect/support/reward_back.h"
#include "core/detect/support/service_words.h"
#include "core/detect/support/settled.h"
#include "core/detect/support/still_answered.h"
#include "core/detect/support/unread_answers.h"
#include "core/detect/tools/stats.h"
#include "core/detect/tools/track.h"
#include "core/detect/tools/true_measure.h"
#include "core/judge_memory.h"

namespace mw::detect {
namespace {

constexpr Knob kFromStart{"from_start", 10, "steps", "A cold start may give nothing for some steps, and then learn",
                          "real runs that learn begin with up to nine zero steps; circuit breakers stop at 10 to 50"};
constexpr Knob kFromStartPoints{"from_start_points", 4, "points", "The same for runs that log every few steps", "own"};
constexpr Knob kExcerpt{"excerpt", 4, "points", "A log that begins in mid-run has its cold start behind it", "own"};
constexpr Knob kSudden{"sudden", 5, "points", "After a good period, fewer are enough",
                       "failure catalogue, reward-sudden-zero (alert at 3, sure at 5)"};
constexpr Knob kEarlyHours{"early_hours", 1, "h", "Such first records that took so long are worth a person's time",
                           "own"};
constexpr Knob kEarly{"early", 4, "points", "So many from the start on are worth a line, as information",
                      "failure catalogue, reward-sudden-zero (alert at 3)"};
constexpr Knob kOverEarly{"over_early", 8, "points", "The same, where they are all that a run which is over has",
                          "own"};
constexpr Knob kStillPoints{"still_points", 4, "points", "The same, where the loss of each is zero, too", "own"};
constexpr Knob kOver{"over", 0.5, "ratio", "Of the last third on the floor: below it such a start is over", "own"};
constexpr Knob kChance{
    "chance", 1e-4, "probability",
    "With small batches zeros come by chance: the streak must be longer than their share so far explains",
    "geometric run length, p^k"};
constexpr Knob kBefore{"before", 10, "points", "Window of the level right before the streak", "own"};
constexpr Knob kLow{"low", 0.1, "ratio", "Level right before, as a share of the best level, that had collapsed already",
                    "own"};
constexpr Knob kSunk{"sunk", 0.5, "ratio",
                     "Level right before, as a share of the best: below it the reward did not go at once", "own"};
constexpr Knob kAlways{
    "always", 0.1, "ratio",
    "Of a floor below zero: a reward whose best level never lay farther above it had nothing to lose", "own"};
constexpr Knob kLongStart{"long_start", 40, "points", "As `long`, for a cold start, which may take longer", "as above"};
constexpr Knob kFrozen{"frozen", 0.05, "ratio", "Of its first entropy: a policy that always answers the same", "own"};
constexpr Knob kTrouble{"trouble", 3, "steps", "So close to the onset lies what brought it about", "own"};
constexpr Knob kPunished{"punished", 20, "points", "Records of a reward that only punishes while nothing is ever right",
                         "own"};
constexpr Knob kUnreadMost{"unread_most", 0.4, "ratio", "Of the rollouts, that the log says it could not read: named",
                           "own"};
constexpr Knob kUnreadEach{"unread_each", 4, "answers", "A step, where the number of rollouts is not known: named",
                           "own"};
constexpr Knob kKnobs[] = {
    kUnreadMost,   kUnreadEach, kPunished,   kFrozen,  kLong,   kLongStart,    kTrouble, kFromStart, kFromStartPoints,
    kExcerpt,      kSudden,     kChance,     kBack,    kBefore, kLow,          kSunk,    kEarly,     kEarlyHours,
    kNearPoints,   kNearShare,  kNearMean,   kSingles, kSeldom, kSeldomPoints, kOver,    kOverEarly, kStillPoints,
    kScarcePoints, kScarce,     kScarceMost, kAlways,  kHeld,   kHeldShare};

constexpr double kRun = 200;  // records of the run that the chance is meant for

/// Zero, or a negative number that no value so far lies below.
bool on_floor(double value, double lowest) { return value == lowest && value <= 0; }

/// The points before some index: their lowest value, and how many lie exactly there.
struct Before {
  size_t size = 0, at_lowest = 0;
  double lowest = INFINITY;

  void add(double value) {
    ++size;
    if (value < lowest) at_lowest = 0;
    lowest = std::min(lowest, value);
    if (value == lowest) ++at_lowest;
  }
};

size_t needed(const Track& track, size_t first, const Before& before, bool from_start) {
  if (from_start) {
    const int64_t next = track.size() > first + 1 ? track.points[first + 1].step - track.points[first].step : 1;
    const double begin = static_cast<double>(track.points[first].step);
    if (begin >= kFromStart.value && begin > 2 * static_cast<double>(next)) return points_of(kExcerpt);
    const double points = std::ceil(kFromStart.value / static_cast<double>(std::max<int64_t>(1, next)));
    return std::max(points_of(kFromStartPoints), static_cast<size_t>(points));
  }
  const double zeros = before.lowest <= 0 ? static_cast<double>(before.at_lowest) : 0;
  const double share = (zeros + 1) / (static_cast<double>(before.size) + 2);
  // A long run has many records at which such a streak could begin.
  const double chance = kChance.value / std::max(1.0, static_cast<double>(before.size) / kRun);
  const double by_chance = std::ceil(std::log(chance) / std::log(share));
  return std::max(points_of(kSudden), static_cast<size_t>(by_chance));
}

/// Samples that differ within the step speak against "all at the floor".
bool contradicted(const State& state, const Point& from, const Point& to, double floor) {
  const auto most = level_between(state.find("reward.max"), to.attempt, from.step, to.step);
  if (most && *most > floor) return true;
  const auto spread = level_between(state.find("reward.std"), to.attempt, from.step, to.step);
  return spread && *spread > 0;
}

/// A run that is complete and was never given anything but zero has said all that it will, however seldom it logged.
bool is_all_of_it(const State& state, const Track& track, size_t streak) {
  const auto& end = state.attempts.back().ended;
  const bool complete =
      end && (end->how == event::Ended::How::kComplete || (end->how == event::Ended::How::kExit && end->code == 0));
  return complete && streak >= 2 && streak == track.size() && track.values[0] == 0 &&
         static_cast<double>(track.points[streak - 1].step) >= kFromStart.value;
}

bool next_streak(const State& state, const Track& track, size_t from, Streak& found) {
  Before all, before;
  for (size_t i = 0; i < std::min(from, track.size()); ++i) all.add(track.values[i]);
  size_t streak = 0;
  for (size_t i = from; i < track.size(); ++i) {
    const double value = track.values[i];
    if (value < all.lowest) streak = 0;
    streak = on_floor(value, std::min(all.lowest, value)) ? streak + 1 : 0;
    if (streak == 1) before = all;
    all.add(value);
    if (streak == 0) continue;
    const size_t first = i + 1 - streak;
    const bool from_start = first <= 1;
    if (streak < needed(track, first, before, from_start) && !is_all_of_it(state, track, streak)) continue;
    if (contradicted(state, track.points[first], track.points[i], value)) continue;
    found = {first, i, from_start};
    return true;
  }
  return false;
}

/// No answer comes any more: they are empty, or given up.
bool no_answers(const State& state, const Point& onset, const Point& now) {
  const auto length = level_between(state.find("response.length"), now.attempt, onset.step, now.step);
  const auto aborted = level_between(state.find("response.aborted"), now.attempt, onset.step, now.step);
  return (length && *length < 2) || (aborted && *aborted > 0.9);
}

/// A second kind of evidence that answers or their rewards fail: a component is in trouble, or the run's text
/// names a server, an engine or a verifier that fails time and again from the onset on.
bool something_failed(const State& state, const Knowledge& knowledge, const Point& onset, const Point& now) {
  for (const ComponentState& component : state.components) {
    for (const ComponentState::Trouble& trouble : component.troubles) {
      if (trouble.began.attempt == now.attempt && !trouble.ended) return true;
    }
  }
  size_t times = 0;
  for (const SignatureState& seen : state.signatures) {
    const Signature* signature = knowledge.find(seen.id);
    if (seen.sample || signature == nullptr || signature->role == Role::kBenign) continue;
    const bool serves =
        speaks_of_servers(*signature) || signature->kind == "worker-lost" || signature->kind == "environment-fault";
    for (const SignatureState::Match& match : seen.matches) {
      const bool near = match.moment.attempt == now.attempt && match.moment.step != kNoStep &&
                        static_cast<double>(onset.step - match.moment.step) <= kTrouble.value;
      if (!serves || !near) continue;
      if (signature->kind == "engine-dead") {
        if (still_answered(state, now.attempt, match.moment.step)) continue;  // quoted, or started again
        if (signature->role == Role::kRoot) return true;
      }
      ++times;
    }
  }
  return static_cast<double>(times) >= kTrouble.value;
}

/// Behind it many records lie above the floor, if not in a row (each is of few answers), or some above and some below.
bool paid_after(const Track& track, const Streak& streak) {
  const size_t begin = stretch_of(track, streak).last + 1;
  if (begin + points_of(kEarly) > track.size()) return false;
  const double floor = track.values[streak.detected];
  const auto [least, most] = std::ranges::minmax(track.slice(begin, track.size()));
  return (least < floor && most > floor) || share_on(track, begin, track.size(), floor) <= kSeldom.value;
}

/// Something else shows that answers or their rewards fail meanwhile.
bool fails_around(const State& state, const Knowledge& knowledge, const Track& track, const Streak& streak) {
  const Stretch stretch = stretch_of(track, streak);
  const Point& onset = track.points[streak.first];
  return no_answers(state, onset, track.points[streak.detected]) ||
         failing_service(state, onset, kTrouble.value, stretch.on_floor).service != nullptr ||
         something_failed(state, knowledge, onset, track.points[stretch.last]);
}

/// The record at which the streak is grave: nullopt while it is not.
std::optional<size_t> grave_at(const State& state, const Knowledge& knowledge, const Track& track,
                               const Streak& streak) {
  const Stretch stretch = stretch_of(track, streak);
  const size_t last = stretch.last;
  if (fails_around(state, knowledge, track, streak)) return streak.detected;
  const size_t enough = points_of(streak.from_start ? kLongStart : kLong);
  if (stretch.on_floor >= enough) return std::max(streak.detected, stretch.at[enough - 1]);
  const bool at_end = last + 1 == track.size() && is_over(state, track.points[last].attempt);
  return at_end ? std::optional(streak.detected) : std::nullopt;
}

/// The policy's entropy had gone to nothing before: what ends its answers is the policy, and no engine that is dead.
bool frozen_before(const State& state, const Point& onset) {
  const Series* const entropy = state.find("entropy");
  if (entropy == nullptr || entropy->empty()) return false;
  const auto before = last_values(*entropy, onset.attempt, onset.step - 10, onset.step - 1, 10);
  return !before.empty() && median(before) < kFrozen.value * entropy->points().front().value;
}

/// What the reward was before the streak.
enum class Early : uint8_t { kNever, kSeldom, kGood };  // above the floor

/// What cannot be read is scored 0: where that is said of most answers it is why, of many that it may be.
void suggest_unread(const State& state, Finding& finding) {
  const auto unread = unread_answers(state);
  if (!unread) return;
  const bool most = unread->rollouts
                        ? unread->share() >= kUnreadMost.value
                        : static_cast<double>(unread->times) >= kUnreadEach.value * static_cast<double>(unread->steps);
  if (most) finding.suggests.push_back({"reward-parse-failure", 0.75, unread->words()});
}

void suggest(const State& state, Finding& finding, const Point& onset, const Point& now, Early early) {
  const bool empty = no_answers(state, onset, now);
  suggest_unread(state, finding);
  if (const FailingService failing = failing_service(state, onset, kTrouble.value, 0);
      failing.service != nullptr && early != Early::kNever) {
    finding.suggests.push_back(
        {std::string(failing.service->cause), 0.85,
         cat("calls of ", failing.service->name, " fail since then, ", failing.times, " times")});
  }
  if (early == Early::kNever) {
    finding.suggests.push_back(
        {"reward-function-broken-all-zero", 0.65, "no sample was ever rewarded, from the first step on"});
    finding.suggests.push_back({"zero-advantage-all-groups", 0.3, "equal rewards give no gradient"});
  } else if (early == Early::kSeldom) {
    finding.suggests.push_back({"zero-advantage-all-groups", 0.5, "it was seldom above before, too"});
    finding.suggests.push_back({"reward-function-broken-all-zero", 0.4, "hardly a sample was ever rewarded"});
  } else {
    finding.suggests.push_back({"reward-sudden-zero", 0.6, "a good period came before"});
    finding.suggests.push_back({"reward-function-broken-all-zero", 0.25, "no sample is rewarded any more"});
  }
  if (empty && frozen_before(state, onset)) {
    finding.suggests.push_back({"length-collapse", 0.7, "the policy, without entropy, ends its answers at once"});
  } else if (empty) {
    finding.suggests.push_back({"sglang-server-down-zero-reward", 0.7, "responses are empty: nothing is generated"});
  }
  const auto format = level_between(state.find("format.pass_rate"), now.attempt, onset.step, now.step);
  if (format && *format < 0.1)
    finding.suggests.push_back({"format-failures-rising", 0.4, cat("format pass rate is ", *format)});
}

/// The records carry no steps: the places in the track are counted.
bool counts_records(const State& state) { return state.steps().count == 0; }

Finding finding_of(const State& state, const Track& track, const Streak& streak) {
  const Point& onset = track.points[streak.first];
  const Point& now = track.points[streak.detected];
  const bool ever = streak.first > 0 && track.values[0] > now.value;  // the first record was above the floor
  const auto before = track.slice(0, streak.first);
  const auto above = std::count_if(before.begin(), before.end(), [&now](double value) { return value > now.value; });
  const bool good = !streak.from_start && 2 * static_cast<size_t>(above) > before.size();
  const bool from_start = streak.from_start && !ever;
  const std::string unit = counts_records(state) ? "record" : "step";
  const std::string since = from_start ? cat("from the first ", unit, " on") : cat("since ", unit, " ", onset.step);
  const Stretch stretch = stretch_of(track, streak);
  const size_t records = stretch.last + 1 - streak.first;
  Finding finding = make_finding("zero-reward", "zero-reward", Severity::kCritical, onset, now,
                                 cat("Reward is exactly ", now.value, " ", since, ", ",
                                     records == stretch.on_floor ? cat(records, " records in a row")
                                                                 : cat(stretch.on_floor, " of ", records, " records"),
                                     " to ", unit, " ", track.points[stretch.last].step));
  if (!from_start && streak.first > 0) add_figure(finding, track, streak.first - 1);
  add_figures(finding, track, streak.first, streak.detected, 4);
  suggest(state, finding, onset, now, from_start ? Early::kNever : good ? Early::kGood : Early::kSeldom);
  return finding;
}

/// A loss is logged, and it is zero in each record.
bool no_loss(const State& state) {
  bool any = false;
  for (const std::string_view name : {"loss.total", "loss.policy"}) {
    const Series* loss = state.find(name);
    if (loss == nullptr || loss->empty()) continue;
    if (loss->min() != 0 || loss->max() != 0) return false;
    any = true;
  }
  return any;
}

/// The first records lie on the floor, which may be a cold start.
bool judge_early(const State& state, const Track& track, std::vector<Finding>& out) {
  if (track.size() < points_of(kEarly)) return false;
  const auto head = track.slice(0, points_of(kEarly));
  const double floor = head[0];
  if (floor > 0 || std::any_of(head.begin(), head.end(), [floor](double value) { return value != floor; }))
    return false;
  if (contradicted(state, track.points[0], track.points[points_of(kEarly) - 1], floor)) return false;
  const Streak streak{0, points_of(kEarly) - 1, true};
  Finding finding = finding_of(state, track, streak);
  const Time from = track.points[0].at, to = track.points[points_of(kEarly) - 1].at;
  const bool costly = from.known() && to.known() && (to - from).seconds() >= 3600 * kEarlyHours.value;
  // What is over and was never given anything has said all that it will.
  const bool all = track.size() >= points_of(no_loss(state) ? kStillPoints : kOverEarly) &&
                   is_over(state, track.points.back().attempt) && share_on(track, 0, track.size(), floor) >= 1;
  finding.severity = costly || all ? Severity::kWarning : Severity::kInfo;
  for (size_t i = points_of(kEarly); i < track.size(); ++i) {
    if (track.values[i] == floor) continue;
    resolve(finding, track.points[i]);
    break;
  }
  out.push_back(std::move(finding));
  return true;
}

/// That of the record at `detected`; it says how many lie on the floor up to now.
Finding near_finding(const Track& track, double floor, size_t detected) {
  const size_t all = track.size();
  const auto on = static_cast<size_t>(std::count(track.values.begin(), track.values.end(), floor));
  Finding finding =
      make_finding("zero-reward", "zero-reward", Severity::kWarning, track.points[0], track.points[detected],
                   cat("Reward is exactly ", floor, " in ", on, " of ", all,
                       " records: where all answers of a step are worth the same, it teaches nothing"));
  add_figures(finding, track, 0, detected, 6);
  finding.suggests.push_back({"zero-advantage-all-groups", 0.6, "equal rewards give no gradient"});
  finding.suggests.push_back(
      {"task-too-hard", 0.5, cat("an answer was worth more in ", all - on, " of ", all, " records")});
  if (share_on(track, all - all / 3, all, floor) < kOver.value) {  // a cold start that is over
    finding.severity = Severity::kInfo;
    resolve(finding, track.points[all - 1]);
  }
  return finding;
}

/// Most records lie on the floor from the start on.
bool judge_near(const State& state, const Track& track, std::vector<Finding>& out) {
  if (track.size() == 0) return false;
  NearFloor near(track.values[0]);
  for (size_t i = 0; i < track.size() && near.possible(); ++i) {
    if (!near.see(state, track, i)) continue;
    if (contradicted(state, track.points[0], track.points[i], track.values[0])) continue;
    out.push_back(near_finding(track, track.values[0], i));
    return true;
  }
  return false;
}

/// The first record from `from` on in which an answer earned something.
size_t first_paid(const State& state, const Track& track, size_t from) {
  const Series* const best = state.find("reward.max");
  for (size_t i = from; i < track.size(); ++i) {
    const Point& point = track.points[i];
    const auto most = level_between(best, point.attempt, point.step, point.step);
    if (track.values[i] > 0 || (most && *most > 0)) return i;
  }
  return track.size();
}

/// A reward that moves below zero is one of penalties: by itself it may mean anything. Where the run says beside it how
/// much succeeded, and that is nothing from the start on, only what is punished is unlearned.
void judge_punished(const State& state, const Track& track, std::vector<Finding>& out) {
  const size_t least = points_of(kPunished);
  if (track.size() < least) return;
  const size_t paid = first_paid(state, track, 0);
  const Point &first = track.points[0], &detected = track.points[least - 1];
  if (paid < least || !nothing_was_right(state, first.attempt, first.step, detected.step)) return;
  Finding finding = make_finding("zero-reward", "zero-reward", Severity::kWarning, first, detected,
                                 cat("No answer is right and none is rewarded from step ", first.step, " on, in ", paid,
                                     " records: only penalties tell answers apart"));
  add_figures(finding, track, 0, paid - 1, 6);
  finding.suggests.push_back({"task-too-hard", 0.5, "the run's own measure of success is 0"});
  finding.suggests.push_back({"reward-function-broken-all-zero", 0.4, "no sample was ever rewarded"});
  if (paid < track.size()) {
    finding.severity = Severity::kInfo;
    resolve(finding, track.points[paid]);
  }
  out.push_back(std::move(finding));
}

/// The rolling medians that end at each index, and the highest so far.
struct MedianWalk {
  SortedWindow recent{points_of(kBefore)};
  std::vector<double> medians, highest;

  void step(const Track& track, size_t i) {
    recent.push(track.values[i]);
    medians.push_back(recent.median());
    highest.push_back(highest.empty() ? medians.back() : std::max(highest.back(), medians.back()));
  }
};

/// The level right before the streak above its floor, as a share of the best one; 1 where there was none.
double share_before(KeptTrack& track, const Streak& streak) {
  if (streak.from_start) return 1;
  const MedianWalk& walk = track.follow("zero-reward", MedianWalk{});
  const double best = walk.highest[streak.first - 1], last = walk.medians[streak.first - 1];
  const double floor = track.values[streak.detected];
  return best > floor ? (last - floor) / (best - floor) : 1;
}

/// The reward was always next to a floor of penalties, and lies exactly on it for a while: no-learning reports that.
bool always_low(KeptTrack& track, const Streak& streak) {
  const double floor = track.values[streak.detected];
  if (streak.from_start || !(floor < 0)) return false;
  const MedianWalk& walk = track.follow("zero-reward", MedianWalk{});
  return walk.highest[streak.first - 1] - floor <= kAlways.value * -floor;
}

/// A reward that sinks step by step until no answer is worth more than another has not failed at once.
void say_sunk(Finding& finding, double share) {
  const auto sudden = std::find_if(finding.suggests.begin(), finding.suggests.end(),
                                   [](const auto& one) { return one.cause == "reward-sudden-zero"; });
  if (sudden == finding.suggests.end()) return;
  const int64_t percent = std::llround(100 * share);
  *sudden = {"zero-advantage-all-groups", 0.55, cat("the reward had sunk to ", percent, " % of its level before")};
  finding.suggests.push_back({"reward-drop-gradual", 0.5, "the fall took several records"});
}

void judge(const State& state, const Knowledge& knowledge, JudgeMemory& memory, std::vector<Finding>& out) {
  for (KeptTrack& track : memory.tracks(state, reward_series(state))) {
    Streak streak;
    size_t from = 0;
    const size_t before = out.size();
    while (next_streak(state, track, from, streak)) {
      if (streak.from_start && follows_teacher(state)) break;
      const auto grave = grave_at(state, knowledge, track, streak);
      if (grave) streak.detected = *grave;
      Finding finding = finding_of(state, track, streak);
      if (!grave) finding.severity = Severity::kWarning;
      if (grave && !streak.from_start && !fails_around(state, knowledge, track, streak))
        soften_by_objective(state, track, finding);
      const std::optional<size_t> back = back_at(track, streak);
      const bool recovered = back || (streak.from_start && paid_after(track, streak));
      if (recovered) {
        finding.severity = streak.from_start ? Severity::kInfo : Severity::kWarning;  // a cold start that is over
        resolve(finding, track.points[back.value_or(track.size() - 1)]);
      } else {
        finding.summary += not_back_words(track, streak);
      }
      const double share = share_before(track, streak);
      if (share < kSunk.value) say_sunk(finding, share);
      // It had collapsed before: reward-collapse reports that chain.
      if (share < kLow.value && (recovered || !grave || stretch_of(track, streak).on_floor < points_of(kLongStart)))
        finding.severity = Severity::kInfo;
      if (always_low(track, streak)) finding.severity = Severity::kInfo;
      out.push_back(std::move(finding));
      if (!back) break;
      from = *back + 1;
    }
    const bool reported = out.size() > before || follows_teacher(state);
    if (!reported && !judge_near(state, track, out) && !judge_early(state, track, out))
      judge_punished(state, track, out);
  }
}

}  // namespace

extern const Detector zero_reward;
const Detector zero_reward{"zero-reward",
                           "The reward is exactly zero, or exactly on its floor, for many steps.",
                           {"zero-reward"},
                           kKnobs,
                           judge};

}  // namespace mw::detect
