#include "core/retention_facts.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/text.h"
#include "core/shipments.h"
#include "core/signal.h"

namespace mw {
namespace {

const Series* evaluated(const State& state, const std::string& name) {
  for (const Series& one : state.eval) {
    if (one.signal == name || one.raw == name) return &one;
  }
  const Series* series = state.find(name);
  return series != nullptr ? series : state.find_raw(name);
}

void add_scores(const State& state, const std::string& signal, RetentionFacts& into) {
  const Series* series = evaluated(state, signal);
  if (series == nullptr) return;
  const SignalRow* row = find_signal(series->signal);
  const double sign = row != nullptr && row->worse == Worse::kUp ? -1 : 1;
  for (const Point& point : series->points()) {  // what a later attempt says of a step holds
    if (point.step != kNoStep && std::isfinite(point.value)) into.scores[point.step] = sign * point.value;
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

}  // namespace

RetentionFacts retention_facts(const State& state, const std::string& keep_best, bool has_store) {
  RetentionFacts facts;
  facts.has_store = has_store;
  for (const Shipment& one : has_store ? shipments(state) : std::vector<Shipment>()) {
    if (one.how == Shipment::How::kShipped) facts.shipped.insert(one.step);
    if (one.how == Shipment::How::kSending) facts.sending.insert(one.step);
  }
  if (!keep_best.empty()) add_scores(state, keep_best, facts);
  if (!keep_best.empty() && facts.scores.empty()) facts.known = known_scores(state);
  return facts;
}

}  // namespace mw
