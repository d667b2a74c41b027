#include "core/retention_facts.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

#include "base/text.h"
#include "core/checkpoint_trust.h"
#include "core/evaluation_name.h"
#include "core/resume_advice.h"
#include "core/shipments.h"
#include "core/signal.h"
#include "core/trainings.h"

namespace mw {
namespace {

const Series* evaluated(const State& state, const std::string& name) {
  for (const Series& one : state.eval) {
    if (one.signal == name || one.raw == name) return &one;
  }
  const Series* series = state.find(name);
  return series != nullptr ? series : state.find_raw(name);
}

/// Was the run, by these figures, where it saved what it saved? Steps that were only counted, a record each, may not be
/// the run's own.
bool fits_saves(const State& state, const Series& series) {
  constexpr int64_t kGaps = 3;  // between a save and the figure before it, at the most
  const auto& points = series.points();
  int64_t gap = points.empty() ? 1 : std::max<int64_t>(1, points.front().step);
  for (size_t i = 1; i < points.size(); ++i) gap = std::max(gap, points[i].step - points[i - 1].step);
  return std::all_of(state.checkpoints.begin(), state.checkpoints.end(), [&](const auto& one) {
    const auto& [moment, saved] = one;
    const auto before = std::find_if(points.rbegin(), points.rend(), [&where = moment.where](const Point& point) {
      return point.where.source == where.source && point.where.line <= where.line;
    });
    if (saved.step == kNoStep || before == points.rend()) return true;
    return std::max(saved.step, before->step) - std::min(saved.step, before->step) <= kGaps * gap;
  });
}

using Way = BestRule::Way;

/// Names of which less is better, where they are a word of their own.
bool is_divergence(std::string_view name) {
  constexpr std::array<std::string_view, 7> kNames = {"kl", "nll", "wer", "cer", "mse", "mae", "rmse"};
  const std::string lower = to_lower(name);
  size_t begin = 0;
  while (begin < lower.size()) {
    size_t end = begin;
    while (end < lower.size() && std::isalnum(static_cast<unsigned char>(lower[end])) != 0) ++end;
    if (std::find(kNames.begin(), kNames.end(), lower.substr(begin, end - begin)) != kNames.end()) return true;
    begin = end + 1;
  }
  return false;
}

/// By the words of the trainer's own name.
Way way_of_name(std::string_view name) {
  if (is_divergence(name)) return Way::kLowest;
  const EvaluationSense sense = evaluation_sense(name);
  return sense == EvaluationSense::kLower    ? Way::kLowest
         : sense == EvaluationSense::kHigher ? Way::kHighest
                                             : Way::kByName;
}

/// Which way is better. kByName: nothing says it.
Way better_way(const Series& series, bool evaluation) {
  const std::string_view signal = series.signal;
  const SignalRow* row = find_signal(signal);
  if (evaluation || row == nullptr || signal.starts_with("eval.")) return way_of_name(series.raw);
  // A penalty may be logged as a positive number, or as one that is added to the reward.
  if (signal.starts_with("reward.component."))
    return evaluation_sense(series.raw) == EvaluationSense::kNoResult ? Way::kByName : Way::kHighest;
  if (signal.starts_with("loss.") && signal != "loss.entropy") return Way::kLowest;
  // Where trouble shows is not where a model is best: a gradient, a time or a share of clipped tokens may be too small.
  const bool result =
      row->group == "reward" || signal.starts_with("kl.") || signal.starts_with("response.") || row->group == "tools";
  if (!result) return Way::kByName;
  return row->worse == Worse::kUp ? Way::kLowest : row->worse == Worse::kDown ? Way::kHighest : Way::kByName;
}

void add_scores(const State& state, const BestRule& rule, RetentionFacts& into) {
  const std::string& signal = rule.signal;
  const Series* series = evaluated(state, signal);
  if (series == nullptr) return;
  if (!fits_saves(state, *series)) {
    into.doubt = "the steps of its records, which were counted, are not those of the run's saves";
    return;
  }
  const bool evaluation =
      std::any_of(state.eval.begin(), state.eval.end(), [&](const Series& one) { return &one == series; });
  const Way way = rule.way != Way::kByName ? rule.way : better_way(*series, evaluation);
  if (way == Way::kByName) {
    into.doubt = cat("nothing says which way is better: \"max:", signal, "\" or \"min:", signal, "\" does");
    return;
  }
  const double sign = way == Way::kLowest ? -1 : 1;
  for (const Point& point : series->points()) {  // what a later attempt says of a step holds
    if (point.step != kNoStep) into.scores[point.step] = sign * point.value;
  }
}

/// Names of evaluations first, then of the reward.
std::string known_scores(const State& state) {
  constexpr size_t kNamed = 6;
  std::vector<std::string> names;
  for (const Series& one : state.eval) names.push_back(one.raw);
  for (const Series& one : state.series) {
    if (one.signal == "reward.mean" || one.signal == "reward.pass_rate") names.push_back(one.signal);
  }
  std::string out;
  for (size_t i = 0; i < std::min(names.size(), kNamed); ++i) out += cat(i == 0 ? "" : ", ", names[i]);
  return names.size() > kNamed ? out + ", …" : out;
}

/// What speaks for and against going on from what was saved.
void add_grounds(const State& state, RetentionFacts& into) {
  constexpr size_t kWhatShown = 160;  // bytes
  const ResumeGrounds grounds = resume_grounds(state);
  into.onset = grounds.onset;
  into.in_time = grounds.in_time;
  if (grounds.onset != kNoStep) into.trouble = cat(grounds.kind, " began at step ", grounds.onset);
  into.advised = grounds.advised;
  into.turned = grounds.turned;
  if (grounds.turned != kNoStep) into.turn = cat(grounds.turn, ", which began at step ", grounds.turned);
  into.left = grounds.left_behind;
  const std::set<int64_t> unsound = unsound_steps(state);
  for (const auto& [path, read] : unsound_reads(state)) {
    if (unsound.count(read.step) != 0)
      into.unsound[read.step] = cat("reading all its bytes found that ", clip(read.what, kWhatShown));
  }
  into.sane = sane_steps(state);
}

}  // namespace

RetentionFacts retention_facts(const State& state, const std::string& keep_best, bool has_store) {
  RetentionFacts facts;
  facts.has_store = has_store;
  add_grounds(state, facts);
  for (const std::string& folder : EarlierTrainings(state).folders()) facts.earlier[folder];
  for (const Shipment& one : has_store ? shipments(state) : std::vector<Shipment>()) {
    const auto earlier = facts.earlier.find(folder_of(one.path));
    std::set<int64_t>& shipped = earlier == facts.earlier.end() ? facts.shipped : earlier->second;
    if (one.how == Shipment::How::kShipped) shipped.insert(one.step);
    if (one.how == Shipment::How::kSending) facts.sending.insert(one.step);
  }
  if (!keep_best.empty()) add_scores(state, best_rule(keep_best), facts);
  if (!keep_best.empty() && facts.scores.empty() && facts.doubt.empty()) facts.known = known_scores(state);
  return facts;
}

}  // namespace mw
