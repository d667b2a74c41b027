// Gradient norms far above the run's own level. A lone spike that heals is information; one that is enormous,
// or comes again and again, is a warning.
#include <algorithm>
#include <cmath>
#include <optional>

#include "base/numbers.h"
#include "base/text.h"
#include "core/detect/support/without_spread.h"
#include "core/detect/tools/further.h"
#include "core/detect/tools/stats.h"
#include "core/detect/tools/track.h"
#include "core/judge_memory.h"

namespace mw::detect {
namespace {

constexpr Knob kHistory{"history", 20, "points", "Warm-up: the first gradients are large in healthy runs",
                        "field guide 4.1 (10-20 steps)"};
constexpr Knob kShort{"short_history", 8, "points",
                      "Runs that log every few steps have few records; large first gradients raise the baseline",
                      "own"};
constexpr Knob kWith{"corroborated", 10, "x",
                     "A lone spike of this size is a warning when loss or KL jump as far in the same record",
                     "failure catalogue, grad-norm-spike"};
constexpr Knob kAway{"away", 2, "nats",
                     "KL to the reference of the same record, at which a lone spike of this size is no bad batch",
                     "rldoctor: KL of 2 with no progress"};
constexpr Knob kWindow{"window", 50, "points", "Baseline window", "field guide 4.3 rule 11"};
constexpr Knob kNotable{"notable", 6, "x", "Times the upper tenth of the window: worth a line",
                        "field guide 4.3 rule 11 (10 x median), above the spread of small batches"};
constexpr Knob kGrave{"grave", 50, "x", "Times the upper tenth of the window: worth a warning even when it heals",
                      "isolated spikes of 10-40 x heal by themselves in real runs"};
constexpr Knob kAgain{"again", 3, "spikes", "So many spikes of `large` within the window are no accident",
                      "field guide 4.3 rule 11 (3 in 10 steps)"};
constexpr Knob kLarge{"large", 10, "x", "Size of spikes that are counted", "field guide 4.3 rule 11"};
constexpr Knob kLevel{"tail", 0.9, "quantile",
                      "The window's upper tenth, so that zero gradients of uniform groups do not lower the baseline",
                      "own"};
constexpr Knob kRise{"rise", 4, "x", "Times its level, for good: an unstable run rather than a bad batch",
                     "field guide 4.3 rule 11 (monotone x5)"};
constexpr Knob kPersist{"persist", 3, "points", "It stays", "own"};
constexpr Knob kHarm{"reward_loss", 0.15, "ratio", "Fall of the reward that makes a risen level a warning", "own"};
constexpr Knob kNews{"news", 3, "x", "Later spikes are warned of again when they are so many times larger", "own"};
constexpr Knob kFaded{"faded", 0.05, "of its highest level",
                      "When the task is learnt gradients all but vanish, and what is left jumps by any factor", "own"};
constexpr Knob kAbsurd{"absurd", 1e6, "1", "No baseline is needed to judge it",
                       "the largest of a healthy run seen is 92"};
constexpr Knob kEarly{"early", 2, "points",
                      "So many before a spike of `grave` times the largest of them and `early_least`", "own"};
constexpr Knob kEarlyLeast{"early_least", 10, "1", "First gradients of small models are small", "own"};
constexpr Knob kAlone{"alone", 100, "x",
                      "Times the median of its neighbours: of a run of few records, where the loss or the KL of the "
                      "same record stands out of them as well",
                      "isolated spikes of 10-40 x heal by themselves in real runs"};
constexpr Knob kBeside{"beside", 5, "points", "Neighbours after it, and before it where there are as many", "own"};
constexpr Knob kLossAlone{"loss_alone", 1.25, "x", "Times the loss of the record before it and of the one after",
                          "own"};
constexpr Knob kClip{"clip", 1, "1",
                     "A norm that clipping lets through as it is moves the weights no further than any other; this, "
                     "where the run does not say at which it clips",
                     "max_grad_norm of most trainers"};
constexpr Knob kOften{"often", 0.05, "ratio",
                      "Of the records from the first of `many` spikes of `grave` on: they are the rule, and one matter",
                      "own"};
constexpr Knob kMany{"many", 10, "spikes", "See `often`", "own"};
constexpr Knob kLive{"live", 0.05, "norm",
                     "As the median beside such spikes: below it the others are records without a gradient",
                     "zero-advantage, alive"};
constexpr Knob kStays{"stays", 10, "points", "So many in a row are a level, and no spikes", "own"};
constexpr Knob kKnobs[] = {kOften,  kMany,    kLive,  kAlone, kBeside, kLossAlone, kStays, kClip,      kHistory,
                           kWindow, kNotable, kGrave, kAgain, kLarge,  kLevel,     kRise,  kPersist,   kHarm,
                           kNews,   kShort,   kWith,  kAway,  kFaded,  kAbsurd,    kEarly, kEarlyLeast};

struct Spike {
  size_t index;
  double ratio, base;
};

struct SpikeWalk {
  std::vector<Spike> spikes;
  SortedWindow window{points_of(kWindow)};
  double highest = 0;  ///< level after the warm-up

  void step(const Track& track, size_t i) {
    if (i >= points_of(kShort) && is_spike(track, i)) return;  // a spike does not raise its own baseline
    window.push(std::abs(track.values[i]));
  }

  bool is_spike(const Track& track, size_t i) {
    const double level = window.quantile(kLevel.value);
    if (i >= points_of(kHistory)) highest = std::max(highest, level);
    const double base = level > 0 ? std::max(level, kFaded.value * highest) : 0;
    // where most groups are uniform most gradients are zero: then the largest before is what there is to compare with
    const double most = base > 0 ? 0 : std::max(window.largest(), kFaded.value * highest);
    if (i >= points_of(kHistory) && most > 0 && track.values[i] > kGrave.value * most) {
      spikes.push_back({i, track.values[i] / most, most});
      return true;
    }
    const bool warm = i >= points_of(kHistory) || window.quantile(0.5) > 0;  // not one gradient among zeros
    if (!warm || !(base > 0) || !(track.values[i] > kNotable.value * base)) return false;
    spikes.push_back({i, track.values[i] / base, base});
    return true;
  }
};

const Spike& worst_of(const std::vector<Spike>& spikes, size_t from, size_t to) {
  return *std::max_element(spikes.begin() + static_cast<std::ptrdiff_t>(from),
                           spikes.begin() + static_cast<std::ptrdiff_t>(to) + 1,
                           [](const Spike& a, const Spike& b) { return a.ratio < b.ratio; });
}

/// So many in a row that they are the new level.
bool stays(const std::vector<Spike>& spikes, size_t from, size_t to) {
  const size_t last = from + points_of(kStays) - 1;
  return last <= to && spikes[last].index == spikes[from].index + points_of(kStays) - 1;
}

/// The median of the first norms of a level.
double middle_of(const Track& track, const std::vector<Spike>& spikes, size_t from) {
  const auto values = track.slice(spikes[from].index, spikes[from].index + points_of(kStays));
  return median({values.begin(), values.end()});
}

void add_finding(const State& state, const Track& track, const std::vector<Spike>& spikes, size_t from, size_t to,
                 Severity severity, std::vector<Finding>& out) {
  const Spike& worst = worst_of(spikes, from, to);
  const Point& onset = track.points[spikes[from].index];
  Finding finding =
      make_finding("gradient-spike", "gradient-spike", severity, onset, track.points[spikes[to].index],
                   cat("Gradient norm ", track.values[worst.index], " at step ", track.points[worst.index].step, ", ",
                       format_short(worst.ratio, 3), " times its usual upper range of ", worst.base));
  if (stays(spikes, from, to)) {
    finding.detected = moment_of(track.points[spikes[from + points_of(kStays) - 1].index]);
    finding.summary =
        cat("Gradient norms rose to about ", format_short(middle_of(track, spikes, from), 3), " at step ", onset.step,
            " from a usual upper range of ", format_short(spikes[from].base, 3), " and stay there");
  }
  for (size_t k = from; k <= to && k < from + 5; ++k) add_figure(finding, track, spikes[k].index);
  finding.suggests.push_back({"grad-norm-spike", 0.6, cat(to - from + 1, " gradient spike(s)")});
  const Point& now = track.points[spikes[to].index];
  if (const auto kl = value_at(state.find("kl.ref"), now); kl && *kl > 1) {
    finding.suggests.push_back({"kl-explosion", 0.3, cat("KL to the reference is ", *kl, " at the same step")});
    add_figure(finding, "kl.ref", now.step, *kl);
  }
  if (spikes[to].index + 1 < track.size()) resolve(finding, track.points[spikes[to].index + 1]);
  out.push_back(std::move(finding));
}

/// The norm from which on the run clips, as it says.
double clip_of(const State& state) {
  for (const auto& [key, text] : state.config) {
    if (!key.ends_with("max_grad_norm") && !key.ends_with("grad_clip")) continue;
    const auto value = parse_double(text);
    if (value && *value > 0 && std::isfinite(*value)) return *value;
  }
  return kClip.value;
}

/// Whether a loss or a KL of the same record lies as far above its own upper range.
bool jumps_too(const State& state, const Point& at) {
  for (const std::string_view name : {"kl.ref", "kl.step", "loss.total", "loss.policy", "loss.value"}) {
    const Series* series = state.find(name);
    if (series == nullptr || at.step == kNoStep) continue;
    std::vector<double> before = last_values(*series, at.attempt, kNoStep, at.step - 1, points_of(kWindow));
    for (double& value : before) value = std::abs(value);
    const std::vector<double> same = last_values(*series, at.attempt, at.step, at.step, 1);
    const double now = same.empty() ? 0 : std::abs(same.front());
    if (before.size() < points_of(kShort)) continue;
    const double base = quantile(before, kLevel.value);
    if (base > 0 && now > kWith.value * base) return true;
  }
  return false;
}

/// The policy had left its reference far behind.
bool is_away(const State& state, const Point& at) {
  const auto kl = value_at(state.find("kl.ref"), at);
  return kl && *kl >= kAway.value;
}

/// Spikes that are notable but not grave, and follow each other within one window, from `k` on.
size_t last_of_group(const std::vector<Spike>& spikes, size_t k) {
  size_t last = k;
  while (last + 1 < spikes.size() && spikes[last + 1].ratio < kGrave.value &&
         spikes[last + 1].index - spikes[k].index < points_of(kWindow)) {
    ++last;
  }
  return last;
}

/// Spikes of which each is the next record, from `k` on.
size_t last_in_row(const std::vector<Spike>& spikes, size_t k) {
  size_t last = k;
  while (last + 1 < spikes.size() && spikes[last + 1].index == spikes[last].index + 1) ++last;
  return last;
}

constexpr RiseRule kLevelRule{
    points_of(kHistory) / 2, points_of(kHistory) / 2, kRise.value, 0, points_of(kPersist), 0, false};

/// The gradients that are one: zeros are those of uniform groups, not a level.
struct LevelWalk {
  Track alive;                ///< values only
  std::vector<size_t> index;  ///< of each of them in the whole track
  SortedWindow recent{points_of(kHistory)};
  double highest = 0;
  RiseWalk rises{kLevelRule};

  void step(const Track& track, size_t i) {
    const double value = track.values[i];
    if (value <= kFaded.value * highest) return;  // there is no level in what is left when the task is learnt
    if (index.size() >= points_of(kHistory)) highest = std::max(highest, recent.median());
    recent.push(value);
    alive.values.push_back(value);
    index.push_back(i);
    rises.step(alive, index.size() - 1);
  }
};

/// A level that rose and stays up.
void judge_level(const State& state, KeptTrack& track, std::vector<Finding>& out) {
  const LevelWalk& walk = track.follow("gradient-spike, level", LevelWalk{});
  if (walk.rises.found().empty()) return;
  Track alive;
  alive.series = track.series;
  alive.values = walk.alive.values;
  for (const size_t i : walk.index) alive.points.push_back(track.points[i]);
  for (const Rise& rise : walk.rises.found()) {
    const Point& onset = alive.points[rise.onset];
    const auto harmed = harmed_at(state, alive, rise, kHarm.value);
    const Point& now = alive.points[harmed.value_or(rise.detected)];
    const bool worse = harmed.has_value();
    Finding finding =
        make_finding("gradient-spike", "gradient-spike", worse ? Severity::kWarning : Severity::kInfo, onset, now,
                     cat("Gradient norms rose from about ", rise.base, " to ", rise.peak, " since step ", onset.step,
                         and_further(alive, change_of(rise)), worse ? " and the reward fell" : ""));
    add_figures(finding, alive, rise.onset, rise.detected);
    finding.suggests.push_back(
        {"grad-norm-spike", 0.6,
         cat("gradient norms are ", format_short(rise.peak / rise.base, 2), " times their level")});
    if (rise.ended) resolve(finding, alive.points[*rise.ended]);
    out.push_back(std::move(finding));
  }
}

/// `over`: the largest norm at which the finding is over.
void add_early(const Track& track, size_t i, double over, std::string summary, std::vector<Finding>& out) {
  Finding finding = make_finding("gradient-spike", "gradient-spike", Severity::kWarning, track.points[i],
                                 track.points[i], std::move(summary));
  add_figures(finding, track, i > 0 ? i - 1 : 0, i);
  finding.suggests.push_back({"grad-norm-spike", 0.6, "far above what any baseline would be"});
  finding.suggests.push_back(
      {"gradient-scaling-or-unit-bug", 0.4, "a sum in place of a mean, or a missing loss scale"});
  for (size_t next = i + 1; next < track.size(); ++next) {
    if (std::abs(track.values[next]) > over) continue;
    resolve(finding, track.points[next]);
    break;
  }
  out.push_back(std::move(finding));
}

/// What needs no baseline, or has but a few points of it.
void judge_early(const Track& track, std::vector<Finding>& out) {
  double most = 0;
  for (size_t i = 0; i < std::min(track.size(), points_of(kHistory)); ++i) {
    const double value = std::abs(track.values[i]);
    if (value >= kAbsurd.value && (i == 0 || most >= kAbsurd.value)) {
      return add_early(track, i, kAbsurd.value,
                       cat("Gradient norm ", value, " at step ", track.points[i].step, ": no training runs at that"),
                       out);
    }
    const bool far = most > 0 && value >= kGrave.value * most && value >= kEarlyLeast.value;
    if (i >= points_of(kEarly) && i < points_of(kShort) && far) {
      return add_early(track, i, kGrave.value * most,
                       cat("Gradient norm ", value, " at step ", track.points[i].step, ", ",
                           format_short(value / most, 3), " times the largest before"),
                       out);
    }
    most = std::max(most, value);
  }
}

/// The records of a series at the step of a point, and right before and after it.
struct Beside {
  std::optional<double> before, at, after;
};

Beside beside(const Series* series, const Point& point) {
  Beside found;
  if (series == nullptr) return found;
  for (const Point& one : series->points()) {
    if (one.attempt != point.attempt || !std::isfinite(one.value)) continue;
    if (one.step < point.step) found.before = one.value;
    if (one.step == point.step) found.at = one.value;
    if (one.step > point.step) {
      found.after = one.value;
      break;
    }
  }
  return found;
}

/// Whether the loss or the KL of the record stands out of those before and after it. Pairs have no level of a loss that
/// a single record could leave.
bool stands_out_too(const State& state, const Point& at) {
  const Beside kl = beside(state.find("kl.ref"), at);
  if (kl.before && kl.at && kl.after && *kl.at >= kAway.value &&
      *kl.at >= kWith.value * std::max(std::abs(*kl.before), std::abs(*kl.after))) {
    return true;
  }
  if (state.find("margin") != nullptr || has_reward(state)) return false;
  const Beside loss = beside(state.find("loss.total"), at);
  return loss.before && loss.at && loss.after && *loss.before > 0 && *loss.after > 0 &&
         *loss.at >= kLossAlone.value * std::max(*loss.before, *loss.after);
}

/// One record of the first ones, too few for a baseline before it: those after it show the level.
void judge_alone(const State& state, const Track& track, std::vector<Finding>& out) {
  const size_t beside = points_of(kBeside);
  for (size_t i = points_of(kEarly); i + beside < track.size() && i < points_of(kHistory); ++i) {
    if (!(track.values[i] >= kEarlyLeast.value)) continue;
    const auto before = track.slice(i > beside ? i - beside : 0, i), after = track.slice(i + 1, i + 1 + beside);
    std::vector<double> others(before.begin(), before.end());
    others.insert(others.end(), after.begin(), after.end());
    const double level = median(std::move(others)), next = *std::max_element(after.begin(), after.end());
    if (!(level > 0) || track.values[i] < kAlone.value * level || track.values[i] < kLarge.value * next) continue;
    if (!stands_out_too(state, track.points[i])) continue;
    Finding finding =
        make_finding("gradient-spike", "gradient-spike", Severity::kWarning, track.points[i], track.points[i + beside],
                     cat("Gradient norm ", track.values[i], " at step ", track.points[i].step, ", ",
                         format_short(track.values[i] / level, 3), " times that of the records beside it"));
    add_figures(finding, track, i - 1, i + 1);
    finding.suggests.push_back({"grad-norm-spike", 0.6, "one record far above those before and after it"});
    const auto kl = value_at(state.find("kl.ref"), track.points[i]);
    if (kl && *kl > 1) {
      finding.suggests.push_back({"kl-explosion", 0.3, cat("KL to the reference is ", *kl, " at the same step")});
    }
    resolve(finding, track.points[i + 1]);
    return out.push_back(std::move(finding));
  }
}

/// Enormous norms that come again and again, each for a record or a few: one matter, which a clipped norm hides in the
/// loss. They are compared with the median, as they make up the window's upper tenth themselves.
struct OftenWalk {
  size_t first = 0, detected = 0, last = 0;  ///< points
  size_t count = 0;
  double usual = 0;            ///< before the first
  double least = 0, most = 0;  ///< norms

  void step(const Track& track, size_t i) {
    const double value = std::abs(track.values[i]);
    const double level = window_.size() < points_of(kShort) ? 0 : window_.median();
    window_.push(value);
    const bool high = !level_ && level >= kLive.value && value >= kGrave.value * level;
    row_ = high ? row_ + 1 : 0;
    level_ = level_ || row_ >= points_of(kStays);
    if (!high) return;
    if (count++ == 0) {
      first = i;
      usual = level;
      least = value;
    }
    least = std::min(least, value);
    most = std::max(most, value);
    last = i;
    const bool rule =
        count >= points_of(kMany) && static_cast<double>(count) >= kOften.value * static_cast<double>(i + 1 - first);
    if (detected == 0 && rule) detected = i;
  }

 private:
  SortedWindow window_{points_of(kWindow)};
  size_t row_ = 0;
  bool level_ = false;  ///< so many in a row that they are one
};

void add_often(const Track& track, const OftenWalk& often, std::vector<Finding>& out) {
  const size_t over = often.last + points_of(kWindow);
  const bool ended = over < track.size();
  const size_t records = (ended ? often.last + 1 : track.size()) - often.first;
  Finding finding = make_finding(
      "gradient-spike", "gradient-spike", Severity::kWarning, track.points[often.first], track.points[often.detected],
      cat("Gradient norms were ", format_short(often.least, 3), " to ", format_short(often.most, 3), " in ",
          often.count, " of ", records, " records from step ", track.points[often.first].step,
          ended ? " to step " : " on", ended ? cat(track.points[often.last].step) : std::string(), "; ",
          format_short(often.usual, 3), " is usual"));
  add_figures(finding, track, often.first, often.detected);
  finding.suggests.push_back({"grad-norm-spike", 0.6, cat(often.count, " gradient spikes")});
  if (ended) resolve(finding, track.points[over]);
  out.push_back(std::move(finding));
}

/// Spikes that clipping lets through, after the first of them: where most groups are uniform nearly each gradient that
/// is one stands out, and a line for each would say nothing new.
struct Small {
  size_t finding = 0;  ///< of the first, in what was found
  size_t more = 0;     ///< spikes after it
  size_t last = 0;     ///< point of the last of these
};

void add_small(const Track& track, const Small& small, double clip, Finding& finding) {
  if (small.more == 0) return;
  finding.summary += cat("; ", small.more, " more below ", clip, ", the last at step ", track.points[small.last].step);
  finding.resolved = small.last + 1 < track.size();
  if (finding.resolved) resolve(finding, track.points[small.last + 1]);
}

/// Those that there is a level for.
std::vector<Spike> with_a_level(const State& state, const Track& track, std::vector<Spike> spikes) {
  if (spikes.empty() || !some_lacked_spread(state)) return spikes;
  std::erase_if(spikes, [&](const Spike& spike) {
    return std::abs(track.values[spike.index]) < kAbsurd.value &&
           lacks_a_like(state, track, spike.index, points_of(kWindow), points_of(kShort), kNotable.value);
  });
  return spikes;
}

void judge(const State& state, const Knowledge&, JudgeMemory& memory, std::vector<Finding>& out) {
  std::optional<double> clip;  // a run has many settings: asked for where there is a spike
  for (KeptTrack& track : memory.tracks(state, state.find("grad_norm"))) {
    const std::vector<Spike> spikes = with_a_level(state, track, track.follow("gradient-spike", SpikeWalk{}).spikes);
    const OftenWalk& often = track.follow("gradient-spike, often", OftenWalk{});
    if (often.detected != 0 && often.most >= clip_of(state)) {
      add_often(track, often, out);
      continue;
    }
    double reported = 0;  // the largest ratio that was worth a warning
    std::optional<Small> small;
    for (size_t k = 0; k < spikes.size(); ++k) {
      const size_t row = last_in_row(spikes, k);
      const bool level = stays(spikes, k, row);
      const bool grave = worst_of(spikes, k, level ? row : k).ratio >= kGrave.value;
      const size_t last = level ? row : grave ? k : last_of_group(spikes, k);
      const auto large = std::count_if(spikes.begin() + static_cast<std::ptrdiff_t>(k),
                                       spikes.begin() + static_cast<std::ptrdiff_t>(last) + 1,
                                       [](const Spike& spike) { return spike.ratio >= kLarge.value; });
      const Point& at = track.points[spikes[k].index];
      const bool joined = spikes[k].ratio >= kWith.value && (jumps_too(state, at) || is_away(state, at));
      const bool again = joined || large >= static_cast<std::ptrdiff_t>(points_of(kAgain));
      const Spike& worst = worst_of(spikes, k, last);
      const bool news = worst.ratio > kNews.value * reported;  // the same again and again is one chain
      if (!clip) clip = clip_of(state);
      const bool passes = std::abs(track.values[worst.index]) < *clip;
      const bool warns = (again || grave) && news && !passes;
      if (passes && small) {
        ++small->more;
        small->last = spikes[last].index;
      } else {
        if (passes) small = Small{out.size()};
        add_finding(state, track, spikes, k, last, warns ? Severity::kWarning : Severity::kInfo, out);
      }
      if (again || grave) reported = std::max(reported, worst.ratio);
      k = last;
    }
    if (small) add_small(track, *small, *clip, out[small->finding]);
    const size_t before = out.size();
    if (reported == 0) judge_early(track, out);
    if (reported == 0 && out.size() == before) judge_alone(state, track, out);
    if (reported == 0) judge_level(state, track, out);
  }
}

}  // namespace

extern const Detector gradient_spike;
const Detector gradient_spike{
    "gradient-spike", "Gradient norms far above the run's own level.", {"gradient-spike"}, kKnobs, judge};

}  // namespace mw::detect
