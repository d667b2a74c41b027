#include "core/retention_facts.h"

#include <cmath>

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

}  // namespace

RetentionFacts retention_facts(const State& state, const std::string& keep_best, bool has_store) {
  RetentionFacts facts;
  facts.has_store = has_store;
  for (const Shipment& one : has_store ? shipments(state) : std::vector<Shipment>()) {
    if (one.how == Shipment::How::kShipped) facts.shipped.insert(one.step);
    if (one.how == Shipment::How::kSending) facts.sending.insert(one.step);
  }
  if (!keep_best.empty()) add_scores(state, keep_best, facts);
  return facts;
}

}  // namespace mw
