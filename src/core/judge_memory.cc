#include "core/judge_memory.h"

#include <functional>

namespace mw {
namespace {

bool holds(const std::vector<Series>& all, const Series* one) {
  const std::less_equal<const Series*> not_after;
  return !all.empty() && not_after(all.data(), one) && not_after(one, &all.back());
}

}  // namespace

void JudgeMemory::begin() {
  has_symptoms_ = has_chains_ = false;
  symptoms_.clear();
  chains_.clear();
}

std::deque<detect::KeptTrack>& JudgeMemory::tracks(const State& state, const Series* series) {
  if (series == nullptr) return none_;
  Key key;
  if (holds(state.series, series)) {
    key = {0, static_cast<size_t>(series - state.series.data())};
  } else if (holds(state.eval, series)) {
    key = {1, static_cast<size_t>(series - state.eval.data())};
  } else {
    key = {2, reinterpret_cast<size_t>(series)};  // State keeps it at its place
  }
  return tracks_[key].up_to_date(*series);
}

const std::vector<detect::Symptom>& JudgeMemory::symptoms(const State& state, const Knowledge& knowledge) {
  if (!has_symptoms_) symptoms_ = detect::symptoms_of(state, knowledge);
  has_symptoms_ = true;
  return symptoms_;
}

const std::vector<detect::FailureChain>& JudgeMemory::chains(const State& state, const Knowledge& knowledge) {
  if (!has_chains_) chains_ = detect::fatal_chains(state, symptoms(state, knowledge));
  has_chains_ = true;
  return chains_;
}

}  // namespace mw
