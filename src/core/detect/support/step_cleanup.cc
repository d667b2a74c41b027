#include "core/detect/support/step_cleanup.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/text.h"

namespace mw::detect {
namespace {

constexpr uint64_t kNearLines = 300;     // from a failure to what srun makes of it, the words of other tasks between
constexpr double kNearSeconds = 120;     // srun waits a while for the other tasks
constexpr uint64_t kBufferedLines = 60;  // a failure's own words may come out behind slurmstepd's, which has no buffer

/// A task's end that the launcher itself brought about.
bool signalled(std::string_view text) {
  return contains(text, "Terminated") || contains(text, "Killed") || contains(text, "code 143") ||
         contains(text, "code 130") || contains(text, "code 137");
}

/// Did something fail by it, rather than be ended from outside?
bool is_failure(const Symptom& symptom) {
  if (symptom.survived) return false;
  const std::string kind = kind_of(symptom);
  if (kind == "interrupted" || kind == "preempted") return false;
  if (symptom.signature == nullptr || symptom.within != nullptr) return true;
  if (symptom.signature->id == "slurm-task-failed") return !signalled(symptom.text);
  return symptom.signature->fatal || symptom.signature->severity == Severity::kCritical;
}

/// A fault that no signal brings about: of the program, its data, its settings, a memory.
bool comes_of_itself(const Symptom& symptom) {
  static constexpr std::array<std::string_view, 9> kKinds = {"code-error",        "data-error",         "config-error",
                                                             "dependency-broken", "gpu-out-of-memory",  "gpu-fault",
                                                             "disk-full",         "host-out-of-memory", "non-finite"};
  const bool of_values =
      symptom.signature == nullptr && (symptom.type.cause == "value-error" || symptom.type.cause == "assertion-error");
  return is_root(symptom) && (of_values || std::find(kKinds.begin(), kKinds.end(), kind_of(symptom)) != kKinds.end());
}

/// Are two lines of one file so far apart in time as the clocks of other zones, or of other years, are?
bool other_clocks(double apart) {
  constexpr double kMost = 14 * 3600;
  constexpr int64_t kZone = 1800, kNear = static_cast<int64_t>(kNearSeconds);
  if (apart > kMost || apart < -kNearSeconds) return true;
  const int64_t off = static_cast<int64_t>(apart) % kZone;
  return apart > kNearSeconds && (off <= kNear || off >= kZone - kNear);
}

/// Did `failure` come before `end`, or so shortly behind it that only a buffer put it there?
bool led_to(const Symptom& failure, const Symptom& end) {
  const Where &at = failure.moment.where, &over = end.moment.where;
  const bool same = at.source == over.source && at.line != 0 && over.line != 0;
  const bool clocked = failure.moment.at.known() && end.moment.at.known();
  if (same && at.line > over.line) return at.line <= over.line + kBufferedLines && comes_of_itself(failure);
  if (same && over.line > failure.last_line + kNearLines) return false;
  const double apart = clocked ? (end.moment.at - failure.moment.at).seconds() : 0;
  const bool next_to_it = over.line <= failure.last_line + kBufferedLines;
  if (same) return !clocked || apart <= kNearSeconds || (next_to_it && other_clocks(apart));
  return clocked && apart <= kNearSeconds && (apart >= 0 || (apart >= -kNearSeconds && comes_of_itself(failure)));
}

}  // namespace

bool ends_step(std::string_view text) {
  if (contains(text, "CANCELLED AT")) {
    const bool reason = contains(text, " DUE TO ") && !contains(text, "DUE TO task failure");
    return contains(text, "STEP ") && !contains(text, "JOB ") && !reason;
  }
  return contains(text, "srun: Job step aborted") || contains(text, "srun: Force Terminated") ||
         (contains(text, "srun: error: ") && contains(text, "Terminated"));
}

void follow_failures(std::vector<Symptom>& symptoms) {
  for (Symptom& end : symptoms) {
    if (end.survived || end.teardown || end.signature == nullptr || !is_root(end)) continue;
    if (kind_of(end) != "interrupted" || !ends_step(end.text)) continue;
    bool open = false;
    for (const Symptom& other : symptoms) {
      if (&other == &end || other.moment.attempt != end.moment.attempt) continue;
      if (!is_failure(other) || !led_to(other, end)) continue;
      end.consequence = true;
      open = open || !other.teardown;
    }
    end.teardown = end.consequence && !open;  // what came of a failure that ended nothing ends nothing either
  }
}

}  // namespace mw::detect
