// The same end again and again: a supervisor restarts what cannot work.
#include <algorithm>

#include "base/text.h"
#include "core/detect/detector.h"
#include "core/detect/support/failure_chain.h"
#include "core/error_face.h"
#include "core/judge_memory.h"

namespace mw::detect {
namespace {

constexpr Knob kKnobs[] = {
    {"attempts", 3, "attempts", "Two equal failures may be chance, three in a row without a new step are a loop",
     "failure catalogue, matching rule 7"},
};

/// One attempt: what it ended of.
struct End {
  std::string cause;    // "" when it ended well or is still going
  bool barren = false;  // it had not done a single step
  int64_t plan = 0;     // steps that it was to do; 0: not known
  Moment at;
  std::string text;
  ErrorFace error;
};

constexpr std::string_view kMute = "no word";

End end_of(const State& state, const std::vector<FailureChain>& chains, size_t attempt) {
  const bool barren = last_done(state, attempt) == kNoStep;
  const int64_t plan = state.attempts[attempt].total_steps;
  for (const FailureChain& chain : chains) {
    if (chain.attempt != attempt) continue;
    const bool stopped = chain.kind == "interrupted" || chain.kind == "preempted";
    return stopped ? End{}
                   : End{cause_of(chain.lead), barren,          plan,
                         chain.lead.moment,    chain.lead.text, error_at(state, chain.kind, chain.lead.moment.where)};
  }
  if (!came_to_nothing(state, attempt)) return {};
  return {std::string(kMute), true, plan, state.attempts[attempt].began, state.attempts[attempt].why, {}};
}

/// Starts that came to nothing are one loop whatever each died of (processes that one start leaves kill the next);
/// attempts that trained must have died of the same. Attempts with other plans are other jobs of one script.
bool same_loop(const End& a, const End& b) {
  if (a.cause.empty() || b.cause.empty() || (a.plan > 0 && b.plan > 0 && a.plan != b.plan)) return false;
  return (a.barren && b.barren) || (a.cause == b.cause && !differ(a.error, b.error));
}

Finding finding_of(const std::vector<End>& ends, size_t begin, size_t times) {
  const End& second = ends[begin + 1];
  Finding finding;
  finding.kind = "crash";
  finding.detector = "crash-loop";
  finding.severity = Severity::kCritical;
  finding.onset = second.at;
  finding.detected = ends[begin + static_cast<size_t>(kKnobs[0].value) - 1].at;
  const auto first = ends.begin() + static_cast<std::ptrdiff_t>(begin);
  const bool same = std::all_of(first, first + static_cast<std::ptrdiff_t>(times),
                                [&second](const End& end) { return end.cause == second.cause; });
  const bool mute = !same || second.cause == kMute;
  finding.summary = !same  ? cat(times, " starts in a row came to nothing, of several failures")
                    : mute ? cat(times, " starts in a row came to nothing: it is restarted without being repaired")
                           : cat(times, " attempts in a row came to the same end (", second.cause,
                                 "): it is restarted without being repaired");
  finding.evidence.push_back({second.at.where, second.text, "", kNoStep, 0});
  finding.suggests.push_back(
      {"autoretry-crash-loop", 0.85, cat(times, same ? " equal failures in a row" : " starts in a row")});
  if (!mute) finding.suggests.push_back({second.cause, 0.5, "what each attempt ended of"});
  return finding;
}

void judge(const State& state, const Knowledge& knowledge, JudgeMemory& memory, std::vector<Finding>& out) {
  const std::vector<FailureChain>& chains = memory.chains(state, knowledge);
  std::vector<End> ends;
  ends.reserve(state.attempts.size());
  for (size_t i = 0; i < state.attempts.size(); ++i) ends.push_back(end_of(state, chains, i));
  for (size_t begin = 0; begin < ends.size();) {
    size_t end = begin + 1;
    while (end < ends.size() && same_loop(ends[end - 1], ends[end])) ++end;
    const size_t times = end - begin;
    if (!ends[begin].cause.empty() && static_cast<double>(times) >= kKnobs[0].value) {
      out.push_back(finding_of(ends, begin, times));
    }
    begin = end;
  }
}

}  // namespace

extern const Detector crash_loop;
const Detector crash_loop{"crash-loop", "Three attempts in a row ended of the same failure.", {"crash"}, kKnobs, judge};

}  // namespace mw::detect
