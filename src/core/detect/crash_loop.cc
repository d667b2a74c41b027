// The same end again and again: a supervisor restarts what cannot work.
#include "base/text.h"
#include "core/detect/detector.h"
#include "core/detect/support/story.h"

namespace mw::detect {
namespace {

constexpr Knob kKnobs[] = {
    {"attempts", 3, "attempts", "Two equal failures may be chance, three in a row without a new step are a loop",
     "failure catalogue, matching rule 7"},
};

void judge(const State& state, const Knowledge& knowledge, std::vector<Finding>& out) {
  const std::vector<Mark> marks = marks_of(state, knowledge);
  const std::vector<Story> stories = fatal_stories(marks);
  size_t begin = 0;
  for (size_t i = 1; i <= stories.size(); ++i) {
    const bool same = i < stories.size() && cause_of(stories[i].lead) == cause_of(stories[begin].lead) &&
                      stories[i].attempt == stories[i - 1].attempt + 1;
    if (same) continue;
    const size_t times = i - begin;
    if (static_cast<double>(times) >= kKnobs[0].value && stories[begin].kind != "interrupted") {
      const Story& second = stories[begin + 1];
      Finding finding;
      finding.kind = "crash";
      finding.detector = "crash-loop";
      finding.severity = Severity::kCritical;
      finding.onset = second.lead.moment;
      finding.detected = stories[begin + static_cast<size_t>(kKnobs[0].value) - 1].lead.moment;
      finding.summary = cat(times, " attempts in a row ended of the same failure (", cause_of(second.lead),
                            "): it is restarted without being repaired");
      finding.evidence.push_back({second.lead.moment.where, second.lead.text, "", kNoStep, 0});
      finding.suggests.push_back({"autoretry-crash-loop", 0.85, cat(times, " equal failures in a row")});
      finding.suggests.push_back({cause_of(second.lead), 0.5, "what each attempt ended of"});
      out.push_back(std::move(finding));
    }
    begin = i;
  }
}

}  // namespace

extern const Detector crash_loop;
const Detector crash_loop{"crash-loop", "Three attempts in a row ended of the same failure.", {"crash"}, kKnobs, judge};

}  // namespace mw::detect
