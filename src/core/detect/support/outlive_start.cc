#include "core/detect/support/outlive_start.h"

#include <algorithm>

#include "core/detect/support/lead_rank.h"

namespace mw::detect {
namespace {

// The tracebacks of one crash stand closer to each other than the lines of a start-up are many.
constexpr uint64_t kStartUpLines = 100;
constexpr uint64_t kFirstLines = 20;  // of a file: nothing of the trainer's start stands before it

/// It keeps a program from beginning at all.
bool keeps_from_beginning(const Symptom& symptom) {
  if (symptom.survived || symptom.teardown || symptom.moment.at.known() || !is_root(symptom)) return false;
  return (symptom.trace != nullptr || symptom.within != nullptr) && is_of_a_start(kind_of(symptom));
}

/// Of a file without steps, of an attempt that did some.
bool beside_steps(const State& state, const Progress& progress, const Symptom& symptom) {
  const uint32_t number = symptom.moment.where.source;
  if (number >= state.sources.size() || state.sources[number].kind != "text") return false;
  return state.sources[number].first_step == kNoStep && progress.last_step(symptom.moment.attempt) > 0;
}

/// What follows a symptom in its file and attempt, as far as that is known.
struct Following {
  uint64_t quiet = 0;         ///< lines without a symptom, behind it and what failed beside it for the same reason
  bool another_ends = false;  ///< a later one ends a process by itself
};

Following following(const State& state, const std::vector<Symptom>& symptoms, const Symptom& symptom) {
  const SourceState& source = state.sources[symptom.moment.where.source];
  uint64_t next = std::max(source.last_line, static_cast<uint64_t>(std::max<int64_t>(source.lines, 0)));
  uint64_t edge = symptom.last_line;
  for (const Symptom& other : symptoms) {  // those of one file are in the order of their lines
    const Where& at = other.moment.where;
    const bool same = at.source == symptom.moment.where.source && other.moment.attempt == symptom.moment.attempt;
    if (!same || at.line <= symptom.last_line) continue;
    if (at.line < edge + kStartUpLines && is_of_a_start(kind_of(other))) {
      edge = std::max(edge, other.last_line);
      continue;
    }
    next = std::min(next, at.line);
    const bool ends = is_root(other) && ends_a_process(other);
    if (ends && !other.survived && !other.teardown) return {next - std::min(next, edge), true};
  }
  return {next - std::min(next, edge), false};
}

}  // namespace

void outlive_start(const State& state, const Progress& progress, std::vector<Symptom>& symptoms) {
  for (Symptom& symptom : symptoms) {
    if (!keeps_from_beginning(symptom) || !beside_steps(state, progress, symptom)) continue;
    const Following behind = following(state, symptoms, symptom);
    const bool first = symptom.moment.where.line <= kFirstLines;
    symptom.survived = behind.quiet >= kStartUpLines && (behind.another_ends || first);
  }
}

}  // namespace mw::detect
