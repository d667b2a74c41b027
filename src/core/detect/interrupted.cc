// Ended by a person, a scheduler or the provider.
#include "base/text.h"
#include "core/detect/detector.h"
#include "core/detect/support/story.h"
#include "core/judge_memory.h"

namespace mw::detect {
namespace {

bool stops(std::string_view kind) { return kind == "interrupted" || kind == "preempted"; }

/// What had already failed was then stopped by somebody: worth knowing, no more.
bool tell_aftermath(const Story& story, Finding& finding) {
  for (const Mark& mark : story.others) {
    if (!is_root(mark) || !stops(kind_of(mark))) continue;
    finding.kind = kind_of(mark);
    finding.severity = Severity::kInfo;
    finding.onset = mark.moment;
    finding.detected = mark.moment;
    finding.summary = cat("After that the run was stopped from outside: ", clip(mark.text, 200));
    finding.evidence.push_back({mark.moment.where, clip(mark.text, kTextLimit), "", kNoStep, 0});
    finding.suggests.push_back({cause_of(mark), 0.7, cat("seen: ", clip(mark.text, 160))});
    return true;
  }
  return false;
}

void judge(const State& state, const Knowledge& knowledge, JudgeMemory& memory, std::vector<Finding>& out) {
  const std::vector<Story>& stories = memory.stories(state, knowledge);
  for (size_t i = 0; i < state.attempts.size(); ++i) {
    const AttemptState& attempt = state.attempts[i];
    const Story* story = nullptr;
    for (const Story& each : stories) {
      if (each.attempt == i) story = &each;
    }
    Finding finding;
    finding.detector = "interrupted";
    finding.severity = Severity::kWarning;
    if (story != nullptr) {
      if (stops(story->kind)) {
        describe(*story, finding);
        finding.summary = cat("The run was stopped from outside: ", clip(story->lead.text, 200));
      } else if (!tell_aftermath(*story, finding)) {
        continue;
      }
    } else if (attempt.ended && attempt.ended->how == event::Ended::How::kInterrupted) {
      finding.kind = "interrupted";
      finding.onset = attempt.ended_at;
      finding.detected = attempt.ended_at;
      finding.summary = "The run was stopped from outside";
      if (!attempt.ended->text.empty()) {
        finding.evidence.push_back({attempt.ended_at.where, attempt.ended->text, "", kNoStep, 0});
      }
      finding.suggests.push_back({"user-cancelled", 0.6, "an end record that says interrupted"});
    } else {
      continue;
    }
    out.push_back(std::move(finding));
  }
}

}  // namespace

extern const Detector interrupted;
const Detector interrupted{
    "interrupted", "A person, a scheduler or the provider ended an attempt.", {"interrupted", "preempted"}, {}, judge};

}  // namespace mw::detect
