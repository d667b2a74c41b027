// The log says of update after update that it is skipped: a guard of the trainer's own throws away what it should learn
// from.
#include <algorithm>
#include <array>

#include "base/text.h"
#include "core/detect/detector.h"
#include "core/detect/tools/track.h"

namespace mw::detect {
namespace {

constexpr Knob kTimes{"times", 10, "messages", "Single batches are skipped in healthy runs",
                      "a loss scale that is found by halving takes about so many"};
constexpr Knob kShare{"share", 0.5, "ratio", "Of the steps since the first such message, where steps are seen", "own"};
constexpr Knob kKnobs[] = {kTimes, kShare};

/// "Gradient norm too large: 3824, skipping update". What a resume passes over, an evaluation or a download is none.
bool says_skipped(const TemplateState& message) {
  constexpr std::array<std::string_view, 7> kWhat = {"update",    "batch", "optimizer", "gradient step",
                                                     "this step", "step.", "backward"};
  constexpr std::array<std::string_view, 10> kOther = {"already", "resum",  "eval",   "valid batch", "download",
                                                       "first",   "warmup", "profil", "checkpoint",  "weight update"};
  if (message.level < event::Logged::Level::kWarning || !contains_folded(message.text, "skip")) return false;
  const auto says = [&message](std::string_view word) { return contains_folded(message.text, word); };
  return std::any_of(kWhat.begin(), kWhat.end(), says) && std::none_of(kOther.begin(), kOther.end(), says);
}

/// Steps that the run did since a message came first; 0: none are seen.
int64_t steps_since(const State& state, const TemplateState& message) {
  const State::Span steps = state.steps();
  if (steps.count == 0) return 0;
  const int64_t from = message.first.step == kNoStep ? steps.first : std::max(message.first.step, steps.first);
  return steps.last - from + 1;
}

void judge(const State& state, const Knowledge&, std::vector<Finding>& out) {
  const TemplateState* most = nullptr;
  for (const TemplateState& message : state.templates) {
    if (says_skipped(message) && (most == nullptr || message.count > most->count)) most = &message;
  }
  if (most == nullptr || static_cast<double>(most->count) < kTimes.value) return;
  const int64_t steps = steps_since(state, *most);
  if (static_cast<double>(most->count) < kShare.value * static_cast<double>(steps)) return;
  Finding finding;
  finding.kind = "no-learning";
  finding.detector = "updates-skipped";
  finding.onset = most->first;
  finding.detected = most->last;
  finding.summary = cat("The trainer skips updates, ", most->count, " times",
                        steps > 0 ? cat(" in ", steps, steps == 1 ? " step" : " steps") : std::string(), ": \"",
                        clip(most->text, 160), "\"");
  finding.evidence.push_back({most->first.where, clip(most->text, kTextLimit), "", kNoStep, 0});
  finding.suggests.push_back({"weights-not-updating", 0.6, cat("the log says so ", most->count, " times")});
  const bool gradient = contains_folded(most->text, "grad");
  if (gradient) finding.suggests.push_back({"grad-norm-spike", 0.4, "gradients are larger than it takes"});
  out.push_back(std::move(finding));
}

}  // namespace

extern const Detector updates_skipped;
const Detector updates_skipped{
    "updates-skipped", "The log says of update after update that it is skipped.", {"no-learning"}, kKnobs, judge};

}  // namespace mw::detect
