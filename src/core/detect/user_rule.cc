// A rule of the user's own: a figure that lies out of its bounds for so many points in a row.
#include "core/user_rule.h"

#include <cmath>
#include <iterator>

#include "base/text.h"
#include "core/detect/support/host.h"
#include "core/detect/tools/track.h"

namespace mw::detect {
namespace {

constexpr Knob kInterval{"interval", 10, "s",
                         "What counts as a point of the machine's figures, which are recorded when they change",
                         "sense/host/host_watch.h"};
constexpr Knob kReported{"reported", 20, "times an attempt",
                         "A rule that is broken more often than that says nothing new", "own"};
constexpr Knob kKnobs[] = {kInterval, kReported};

constexpr std::string_view kName = "user-rule";

std::string name_of(const Series& series) { return series.signal.empty() ? series.raw : series.signal; }

std::string bounds_of(const UserRule& rule, double value) {
  const bool low = rule.below && value < *rule.below;
  return low ? cat("below ", format_short(*rule.below)) : cat("above ", format_short(rule.above.value_or(0)));
}

std::string summary_of(const UserRule& rule, std::string_view what, double value, std::string_view lasting) {
  return cat("Rule ", rule.name, ": ", what, " is ", format_short(value), ", ", bounds_of(rule, value), lasting);
}

void suggest(Finding& finding, const UserRule& rule, std::string_view what, double value) {
  finding.suggests.push_back({rule.cause(), 0.9, cat(what, " is ", bounds_of(rule, value))});
}

/// Goes through the points of one series in the order in which they came.
class Walk {
 public:
  Walk(const UserRule& rule, const Series& series, std::vector<Finding>& out)
      : rule_(rule), series_(series), out_(out) {}

  void go() {
    for (const Point& point : series_.points()) {
      if (point.attempt != attempt_ || seen_ == 0) begin_attempt(point.attempt);
      ++seen_;
      const int64_t step = point.step == kNoStep ? static_cast<int64_t>(seen_) : point.step;
      if (step < rule_.after_step || std::isnan(point.value)) continue;
      rule_.bad(point.value) ? bad(point) : good(point);
    }
  }

 private:
  void begin_attempt(uint16_t attempt) {
    attempt_ = attempt;
    seen_ = reported_ = 0;
    bad_.clear();
  }

  void bad(const Point& point) {
    if (bad_.size() >= rule_.points) return;
    bad_.push_back(point);
    if (bad_.size() == rule_.points && reported_ < points_of(kReported)) report();
  }

  void good(const Point& point) {
    bad_.clear();
    for (const size_t one : open_) resolve(out_[one], point);
    open_.clear();
  }

  void report() {
    ++reported_;
    const std::string name = name_of(series_);
    const Point& first = bad_.front();
    const std::string lasting = cat(first.step == kNoStep ? "" : cat(" from step ", first.step, " on"),
                                    bad_.size() > 1 ? cat(", ", bad_.size(), " points in a row") : "");
    Finding finding = make_finding(kName, kUserRule, rule_.severity, first, bad_.back(),
                                   summary_of(rule_, rule_.signal, first.value, lasting));
    constexpr size_t kShown = 6;
    const size_t shown = std::min(bad_.size(), kShown);
    for (size_t k = 0; k < shown; ++k) {
      const Point& point = bad_[shown == 1 ? 0 : k * (bad_.size() - 1) / (shown - 1)];
      add_figure(finding, name, point.step, point.value);
      finding.evidence.back().where = point.where;
    }
    suggest(finding, rule_, rule_.signal, first.value);
    open_.push_back(out_.size());
    out_.push_back(std::move(finding));
  }

  const UserRule& rule_;
  const Series& series_;
  std::vector<Finding>& out_;
  std::vector<Point> bad_;    // in a row
  std::vector<size_t> open_;  // findings that no good point has followed yet
  uint16_t attempt_ = 0;
  size_t seen_ = 0, reported_ = 0;  // in this attempt
};

/// A figure of the machine holds until its next value.
void judge_machine(const State& state, const UserRule& rule, const Series& series, std::vector<Finding>& out) {
  EpisodeRule episode_rule;
  episode_rule.bad = [&](const Point& p) {
    return rule.bad(p.value) && (rule.after_step <= 0 || state.step_at(p.at) >= rule.after_step);
  };
  episode_rule.good = [&](const Point& p) { return !rule.bad(p.value); };
  episode_rule.persist = Duration::seconds(kInterval.value * (rule.points - 1));
  episode_rule.low = rule.below.has_value();
  const std::string what = cat(series.signal, series.raw.empty() ? "" : cat(" of ", series.raw));
  for (const Episode& episode : episodes(state, series, episode_rule)) {
    const std::string lasting = rule.points > 1 ? cat(", for ", format_duration(episode_rule.persist)) : "";
    Finding finding = host_finding(state, kName, kUserRule, rule.severity, episode, series,
                                   summary_of(rule, what, episode.first.value, lasting));
    suggest(finding, rule, what, episode.first.value);
    out.push_back(std::move(finding));
  }
}

void judge(const State& state, const Knowledge& knowledge, std::vector<Finding>& out) {
  for (const UserRule& rule : knowledge.rules) {
    const RuleFigures figures = figures_of(state, rule);
    if (figures.own != nullptr) Walk(rule, *figures.own, out).go();
    for (const Series* series : figures.machine) judge_machine(state, rule, *series, out);
  }
}

}  // namespace

extern const Detector user_rule;
const Detector user_rule{"user-rule",
                         "A rule of the user's own ([rule.NAME] of midwatch.toml): a figure lies out of its bounds.",
                         {kUserRule},
                         kKnobs,
                         judge};

}  // namespace mw::detect
