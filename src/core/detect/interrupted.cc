// Ended by a person, a scheduler or the provider.
#include "base/text.h"
#include "core/detect/detector.h"
#include "core/detect/support/story.h"

namespace mw::detect {
namespace {

void judge(const State& state, const Knowledge& knowledge, std::vector<Finding>& out) {
  const std::vector<Story> stories = fatal_stories(state, marks_of(state, knowledge));
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
      if (story->kind != "interrupted" && story->kind != "preempted") continue;
      describe(*story, finding);
      finding.summary = cat("The run was stopped from outside: ", clip(story->lead.text, 200));
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
