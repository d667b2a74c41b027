// Two runs that write to one log or metrics file at once: its step counter goes to and fro between two chains, each of
// which rises, and where both have been at a step their figures differ. Ranks of one run do a step together; what comes
// late, or several times a step, makes no two chains.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/text.h"
#include "core/detect/detector.h"
#include "core/detect/tools/track.h"
#include "core/mixed_runs.h"

namespace mw::detect {
namespace {

constexpr Knob kTurns{"turns", 10, "times", "The counter goes back to the lower chain", "own"};
constexpr Knob kBack{"back", 3, "steps", "Records of one run may come out of turn by fewer",
                     "kStepSlack, core/attempts.h"};
constexpr Knob kShared{"shared", 5, "steps", "That both chains have been at", "own"};
constexpr Knob kDiffer{"differ", 0.8, "ratio", "Of those, by more than console and file round", "core/mixed_runs.cc"};
constexpr Knob kStray{"stray", 0.05, "ratio", "Of the records, that are of neither chain", "own"};
constexpr Knob kSignals{"signals", 2, "signals", "Which differ so, of those that tell runs apart", "own"};
constexpr Knob kKnobs[] = {kTurns, kBack, kShared, kDiffer, kStray, kSignals};

/// One series, cut into the two chains.
class Chains {
 public:
  /// The point at which it is shown that there are two; nullptr: it is not shown.
  const Point* read(const Series& series) {
    for (const Point& point : series.points()) {
      if (point.step == kNoStep || !std::isfinite(point.value)) continue;
      add(point);
      if (shown()) return &point;
    }
    return nullptr;
  }
  const Point* onset() const { return onset_; }  ///< the first record of the second chain
  /// The last steps of both, the higher one first.
  std::pair<int64_t, int64_t> heads() const {
    return {std::max(chains_[0].head, chains_[1].head), std::min(chains_[0].head, chains_[1].head)};
  }

 private:
  struct Chain {
    int64_t head = kNoStep;
    std::unordered_map<int64_t, double> values;  // by step
  };

  /// The record is of the chain that it lies closest above.
  void add(const Point& point) {
    ++records_;
    const size_t other = 1 - last_;
    const bool here = chains_[last_].head < point.step, there = chains_[other].head < point.step;
    if (!here && (!there || chains_[other].head == kNoStep)) return second(point);
    const bool closer = there && chains_[other].head > chains_[last_].head;
    if (here && !closer) return take(last_, point);
    if (chains_[last_].head - point.step >= std::llround(kBack.value)) ++turns_;
    take(other, point);
  }

  /// A record that lies above neither: a chain begins with it, unless there are two that take turns. Of attempts that
  /// follow each other the newest two are compared.
  void second(const Point& point) {
    if (turns_ > 1) {
      ++stray_;
      return;
    }
    if (last_ == 1) std::swap(chains_[0], chains_[1]);
    chains_[1] = {};
    records_ = 1;
    shared_ = differ_ = turns_ = stray_ = 0;
    onset_ = &point;
    take(1, point);
  }

  void take(size_t chain, const Point& point) {
    last_ = chain;
    chains_[chain].head = point.step;
    chains_[chain].values[point.step] = point.value;
    const Chain& other = chains_[1 - chain];
    const auto same = other.values.find(point.step);
    if (same == other.values.end()) return;
    ++shared_;
    if (figures_differ(same->second, point.value)) ++differ_;
  }

  bool shown() const {
    const auto share = [](size_t part, size_t of) { return static_cast<double>(part) / static_cast<double>(of); };
    return turns_ >= points_of(kTurns) && shared_ >= points_of(kShared) && share(differ_, shared_) >= kDiffer.value &&
           share(stray_, records_) <= kStray.value;
  }

  std::array<Chain, 2> chains_;
  size_t last_ = 0;  // the chain of the last record
  size_t records_ = 0, stray_ = 0, turns_ = 0, shared_ = 0, differ_ = 0;
  const Point* onset_ = nullptr;
};

/// A counter that hardly ever goes back: of most series that is all there is to see.
bool rises(const Series& series) {
  const auto& parts = series.parts();
  return parts.size() < points_of(kTurns) &&
         std::all_of(parts.begin(), parts.end(), [](const Series::Part& part) { return part.in_order; });
}

/// What the series of one file show.
struct Shown {
  size_t signals = 0;
  Point onset, detected;
  std::pair<int64_t, int64_t> heads;
  std::string names;

  void add(const Chains& chains, const Point& at, std::string_view signal) {
    if (++signals > points_of(kSignals)) return;
    names += cat(names.empty() ? "" : ", ", signal);
    if (signals == 1) onset = *chains.onset();
    if (signals > 1 && at.where.line < detected.where.line) return;
    detected = at;
    heads = chains.heads();
  }
};

Finding finding_of(const State& state, uint32_t source, const Shown& shown) {
  const std::string file =
      source < state.sources.size() ? std::string(basename(state.sources[source].path)) : "one file";
  Finding finding = make_finding(
      "interleaved-runs", "interleaved-runs", Severity::kWarning, shown.onset, shown.detected,
      cat("Two runs write to ", file, " at once: its steps go to and fro (by then between ", shown.heads.second,
          " and ", shown.heads.first, "), and the same steps have two sets of figures (", shown.names,
          "); what is said here of the run is put together from both"));
  finding.suggests.push_back({"two-writers-same-output", 0.8, "steps that interleave"});
  return finding;
}

void judge(const State& state, const Knowledge&, std::vector<Finding>& out) {
  std::map<uint32_t, Shown> files;
  for (const std::string_view signal : kTellingSignals) {
    for (const Series& series : state.series) {
      if (series.signal != signal || series.empty() || rises(series)) continue;
      Chains chains;
      const Point* const at = chains.read(series);
      if (at != nullptr) files[series.source].add(chains, *at, signal);
    }
  }
  for (const auto& [source, shown] : files) {
    if (shown.signals >= points_of(kSignals)) out.push_back(finding_of(state, source, shown));
  }
}

}  // namespace

extern const Detector interleaved_runs;
const Detector interleaved_runs{
    "interleaved-runs", "Two runs write to one log or metrics file at once.", {"interleaved-runs"}, kKnobs, judge};

}  // namespace mw::detect
