// The trainer is given the same data step after step: rollouts, or prompts, whose figures repeat to the last digit
// while the training goes on. A record that a sink repeats as a whole, several updates on the rollouts of one step,
// figures at a bound and a batch that is the whole data set look alike and are none.
#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "core/detect/tools/track.h"
#include "core/judge_memory.h"

namespace mw::detect {
namespace {

constexpr Knob kRollouts{"rollouts", 5, "points",
                         "Mean length and reward the same: by chance this does not happen twice",
                         "failure catalogue, metric-flatline-frozen (5 steps)"};
constexpr Knob kRolloutsAtStart{
    "rollouts_at_start", 40, "points",
    "Likewise where nothing else was seen before: so many updates on one batch are not meant",
    "own; PPO has 4 epochs of up to 8 minibatches"};
constexpr Knob kPrompts{"prompts", 10, "points", "The mean prompt length the same", "own"};
constexpr Knob kLonger{"longer", 3, "x", "Than any repetition before: several updates on one batch repeat its figures",
                       "own"};
constexpr Knob kFrozen{"frozen", 0.01, "nats",
                       "Entropy below which the policy gives the same answer to the same prompt", "own"};
constexpr Knob kWholeEpoch{"whole_epoch", 0.9, "epochs", "In one step: the batch is the whole data set", "own"};
constexpr Knob kKnobs[] = {kRollouts, kRolloutsAtStart, kPrompts, kLonger, kFrozen, kWholeEpoch};

/// Values in a row that are the same to the last digit, where they are more than the run's own course explains.
struct Repeats {
  static constexpr size_t kLimit = 16;
  struct Sight {
    size_t first = 0, at = 0;
  };
  size_t later = 0, at_start = 0;  ///< values in a row
  size_t first = 0, longest = 0;
  std::vector<Sight> sights = {};

  void step(const Track& track, size_t i) {
    if (i > 0 && (track.values[i] != track.values[i - 1] || track.points[i].attempt != track.points[i - 1].attempt)) {
      longest = std::max(longest, i - first);
      first = i;
    }
    const auto usual = static_cast<size_t>(kLonger.value * static_cast<double>(longest)) + 1;
    const size_t need = longest == 0 ? at_start : std::max(later, usual);
    // The mean of whole numbers is whole where all are alike: by nature, or at a bound.
    const bool telling = track.values[i] != std::floor(track.values[i]);
    if (telling && i + 1 - first == need && sights.size() < kLimit) sights.push_back({first, i});
  }
};

/// Steps of one attempt in which something repeated.
struct Stretch {
  Point first, now;
  size_t records = 0;

  std::vector<double> of(const State& state, std::string_view signal) const {
    const Series* series = state.find(signal);
    return series == nullptr ? std::vector<double>()
                             : last_values(*series, now.attempt, first.step, now.step, series->points().size());
  }
  /// Has each record (nearly) a value, and are all the same?
  bool same(const std::vector<double>& values) const {
    return values.size() + 1 >= records &&
           std::count(values.begin(), values.end(), values.front()) == static_cast<std::ptrdiff_t>(values.size());
  }
  /// Are most values other than the one before?
  bool moves(const std::vector<double>& values) const {
    size_t moved = 0;
    for (size_t i = 1; i < values.size(); ++i) moved += values[i] != values[i - 1] ? 1 : 0;
    return 2 * (values.size() + 1) >= records && values.size() > 2 && 2 * moved > values.size() - 1;
  }
};

bool trains(const State& state, const Stretch& stretch) {
  for (const std::string_view signal : {"grad_norm", "loss.policy", "loss.total", "kl.step", "kl.ref", "entropy"}) {
    if (stretch.moves(stretch.of(state, signal))) return true;
  }
  return false;
}

bool frozen(const State& state, const Stretch& stretch) {
  const std::vector<double> entropy = stretch.of(state, "entropy");
  return !entropy.empty() && *std::max_element(entropy.begin(), entropy.end()) < kFrozen.value;
}

/// The reward repeats as well, and not because it is at a bound.
bool same_reward(const State& state, const Stretch& stretch) {
  const Series* series = reward_series(state);
  if (series == nullptr) return false;
  const std::vector<double> values =
      last_values(*series, stretch.now.attempt, stretch.first.step, stretch.now.step, series->points().size());
  if (!stretch.same(values)) return false;
  const double value = values.front();
  if (value == std::floor(value)) return false;
  double least = value, most = value;
  for (const Point& point : series->points()) {
    if (point.attempt > stretch.now.attempt || point.step > stretch.now.step) continue;
    least = std::min(least, point.value);
    most = std::max(most, point.value);
  }
  return least == most || (least < value && value < most);
}

Finding finding_of(const Track& track, const Repeats::Sight& sight, Severity severity, std::string summary,
                   std::string reason) {
  Finding finding = make_finding("stuck-batch", "repeated-data", severity, track.points[sight.first],
                                 track.points[sight.at], std::move(summary));
  add_figures(finding, track, sight.first, sight.at, 4);
  finding.suggests.push_back({"data-iterator-stuck", 0.6, std::move(reason)});
  return finding;
}

void judge_rollouts(const State& state, JudgeMemory& memory, std::vector<Finding>& out) {
  const Repeats fresh{points_of(kRollouts), points_of(kRolloutsAtStart)};
  for (KeptTrack& track : memory.tracks(state, state.find("response.length"))) {
    for (const Repeats::Sight& sight : track.follow("stuck-batch", fresh).sights) {
      const Stretch stretch{track.points[sight.first], track.points[sight.at], sight.at + 1 - sight.first};
      if (!same_reward(state, stretch) || frozen(state, stretch) || !trains(state, stretch)) continue;
      Finding finding =
          finding_of(track, sight, Severity::kWarning,
                     cat("The same rollouts since step ", stretch.first.step, ": mean length (",
                         format_short(stretch.now.value, 6), " tokens) and reward repeat to the last digit over ",
                         stretch.records, " records while the training goes on"),
                     "rollouts with the same figures, step after step");
      for (const double reward : stretch.of(state, reward_series(state)->signal)) {
        add_figure(finding, reward_series(state)->signal, stretch.now.step, reward);
        break;
      }
      out.push_back(std::move(finding));
      break;
    }
  }
}

/// How many epochs pass in a step there; negative: not known.
double epochs_a_step(const State& state, const Stretch& stretch) {
  const std::vector<double> epochs = stretch.of(state, "epoch");
  const auto steps = static_cast<double>(stretch.now.step - stretch.first.step);
  return epochs.size() < 2 || steps <= 0 ? -1 : (epochs.back() - epochs.front()) / steps;
}

void judge_prompts(const State& state, JudgeMemory& memory, std::vector<Finding>& out) {
  const Repeats fresh{points_of(kPrompts), points_of(kPrompts)};
  for (KeptTrack& track : memory.tracks(state, state.find("prompt.length"))) {
    for (const Repeats::Sight& sight : track.follow("stuck-batch", fresh).sights) {
      const Stretch stretch{track.points[sight.first], track.points[sight.at], sight.at + 1 - sight.first};
      const double epochs = epochs_a_step(state, stretch);
      // With the rollouts the whole record repeats, or it is the other finding.
      if (epochs >= kWholeEpoch.value || !stretch.moves(stretch.of(state, "response.length"))) continue;
      const bool certain = sight.first > 0 || epochs >= 0;
      out.push_back(finding_of(
          track, sight, certain ? Severity::kWarning : Severity::kInfo,
          cat("The same prompts since step ", stretch.first.step, ": their mean length (",
              format_short(stretch.now.value, 6), " tokens) repeats to the last digit over ", stretch.records,
              " records while the answers differ", certain ? "" : ", unless a batch is the whole data set"),
          "prompts with the same figures, step after step"));
      break;
    }
  }
}

void judge(const State& state, const Knowledge&, JudgeMemory& memory, std::vector<Finding>& out) {
  judge_rollouts(state, memory, out);
  judge_prompts(state, memory, out);
}

}  // namespace

extern const Detector stuck_batch;
const Detector stuck_batch{"stuck-batch",
                           "The trainer is given the same prompts or rollouts step after step.",
                           {"repeated-data"},
                           kKnobs,
                           judge};

}  // namespace mw::detect
