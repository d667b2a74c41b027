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
  has_marks_ = has_stories_ = false;
  marks_.clear();
  stories_.clear();
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

const std::vector<detect::Mark>& JudgeMemory::marks(const State& state, const Knowledge& knowledge) {
  if (!has_marks_) marks_ = detect::marks_of(state, knowledge);
  has_marks_ = true;
  return marks_;
}

const std::vector<detect::Story>& JudgeMemory::stories(const State& state, const Knowledge& knowledge) {
  if (!has_stories_) stories_ = detect::fatal_stories(state, marks(state, knowledge));
  has_stories_ = true;
  return stories_;
}

}  // namespace mw
