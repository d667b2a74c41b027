// Which failure ended an attempt: the lead among its marks.
#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "base/text.h"
#include "core/detect/support/story.h"

namespace mw::detect {
namespace {

constexpr double kSilenceSeconds = 1800;  // as long as no start-up, save or evaluation says nothing
constexpr size_t kOthersKept = 24;
// What a failure of the same moment says of itself: the ranks of one crash and the links of one chain come this close.
constexpr uint64_t kNearLines = 300;
constexpr double kNearSeconds = 120;

/// Is this a mark after which a process normally does nothing more?
bool ends_a_process(const Mark& mark) {
  if (mark.within != nullptr) return true;
  // What needs a figure or a host sign beside the text decides nothing by the text alone (matching rule 3).
  if (mark.signature != nullptr && !mark.signature->fatal && !mark.signature->metric_rule.empty()) return false;
  return mark.trace != nullptr || mark.signature->fatal || mark.signature->severity == Severity::kCritical;
}

/// Is this a mark that ends the process which says it?
bool ends_for_sure(const Mark& mark) {
  return mark.trace != nullptr || mark.within != nullptr || mark.signature->fatal;
}

/// How much a mark deserves to lead: 0 not at all. A mark that only says "crash" says less than one that says of what.
int lead_rank(const Mark& mark, bool came_to_nothing) {
  if (!ends_a_process(mark)) return came_to_nothing && is_root(mark) ? 2 : 0;
  if (is_root(mark)) return 4;
  if (mark.signature != nullptr && mark.signature->role == Role::kConfirmation) return 1;
  if (mark.signature != nullptr && mark.signature->role == Role::kCascade) return 1;
  return kind_of(mark) == "crash" ? 2 : 3;
}

/// Does a root that ends a process come at `begin` or later in the same attempt?
bool a_root_ends(const std::vector<Mark>& marks, size_t begin) {
  for (size_t i = begin; i < marks.size() && marks[i].moment.attempt == marks[begin].moment.attempt; ++i) {
    if (is_root(marks[i]) && ends_a_process(marks[i]) && !marks[i].survived) return true;
  }
  return false;
}

/// The end of the episode that begins at `begin`: the next attempt, or a long silence in an attempt that never did a
/// step (two starts in one log whose beginnings no dialect knows).
size_t end_of_episode(const State& state, const std::vector<Mark>& marks, size_t begin) {
  const uint16_t attempt = marks[begin].moment.attempt;
  const bool trained = attempt < state.attempts.size() && state.attempts[attempt].last_step != kNoStep;
  Time last = marks[begin].moment.at;
  size_t end = begin + 1;
  for (; end < marks.size() && marks[end].moment.attempt == attempt; ++end) {
    const Time at = marks[end].moment.at;
    if (!at.known()) continue;
    const bool silence = last.known() && (at - last).seconds() > kSilenceSeconds;
    if (!trained && silence && a_root_ends(marks, end)) break;
    last = std::max(last, at);
  }
  return end;
}

/// Did the two marks come at the same moment, as far as their places and times tell?
bool near_to(const Mark& lead, const Mark& other) {
  if (lead.moment.where.source == other.moment.where.source) {
    const uint64_t line = other.moment.where.line;
    if (line > lead.last_line + kNearLines || line + kNearLines < lead.moment.where.line) return false;
  }
  if (!lead.moment.at.known() || !other.moment.at.known()) return true;
  const double apart = (other.moment.at - lead.moment.at).seconds();
  return apart <= kNearSeconds && apart >= -kNearSeconds;
}

/// Kinds that are never the echo of a program's own exception, so that what says them knows more than it.
bool is_resource(std::string_view kind) {
  constexpr std::array<std::string_view, 6> kResources = {"gpu-out-of-memory", "host-out-of-memory", "gpu-fault",
                                                          "shm-exhausted",     "disk-full",          "resource-limit"};
  return std::find(kResources.begin(), kResources.end(), kind) != kResources.end();
}

/// The launcher's word that a task had failed of itself before its step was taken down with it.
const Mark* failed_before(const Mark& lead, const Mark* first, const Mark* last) {
  if (lead.signature == nullptr || kind_of(lead) != "interrupted") return nullptr;
  for (const Mark* mark = first; mark != last; ++mark) {
    if (mark->survived || mark->teardown || mark->signature == nullptr || mark->order >= lead.order) continue;
    const bool signalled = contains(mark->text, "Terminated") || contains(mark->text, "Killed") ||
                           contains(mark->text, "code 143") || contains(mark->text, "code 130");
    if (mark->signature->id == "slurm-task-failed" && !signalled && near_to(lead, *mark)) return mark;
  }
  return nullptr;
}

/// A mark of the same moment that says of what the process died, where the lead only says that it did.
const Mark* more_telling(const Mark& lead, const Mark* first, const Mark* last) {
  const std::string kind = kind_of(lead);
  if (kind != "crash" && kind != "checkpoint-failed") return nullptr;
  for (const Mark* mark = first; mark != last; ++mark) {
    if (mark->survived || mark->teardown || !is_root(*mark) || !ends_a_process(*mark)) continue;
    if (is_resource(kind_of(*mark)) && near_to(lead, *mark)) return mark;
  }
  return nullptr;
}

}  // namespace

std::vector<Story> fatal_stories(const State& state, const std::vector<Mark>& marks) {
  std::vector<Story> stories;
  for (size_t begin = 0, end = 0; begin < marks.size(); begin = end) {
    end = end_of_episode(state, marks, begin);
    const Mark* lead = nullptr;
    int best = 0;
    const bool barren = came_to_nothing(state, marks[begin].moment.attempt);
    for (size_t i = begin; i < end; ++i) {
      if (marks[i].survived || marks[i].teardown) continue;
      const int rank = lead_rank(marks[i], barren);
      if (rank > best) {
        best = rank;
        lead = &marks[i];
      }
    }
    if (lead == nullptr) continue;
    Story story;
    story.attempt = lead->moment.attempt;
    story.lead = *lead;
    if (const Mark* telling = more_telling(*lead, &marks[begin], marks.data() + end)) {
      story.lead = *telling;
      story.lead.moment = lead->moment;
      story.lead.order = std::min(story.lead.order, lead->order);
      lead = telling;
    }
    if (const Mark* failed = failed_before(*lead, &marks[begin], marks.data() + end)) {
      story.lead = *failed;
      lead = failed;
    }
    story.kind = kind_of(story.lead);
    story.ended = barren || ends_for_sure(*lead);
    for (size_t i = begin; i < end; ++i) {
      if (&marks[i] == lead || marks[i].survived || marks[i].teardown) continue;
      story.ended = story.ended || (is_root(marks[i]) && ends_for_sure(marks[i]));
      if (story.others.size() < kOthersKept) story.others.push_back(marks[i]);
    }
    stories.push_back(std::move(story));
  }
  return stories;
}

void describe(const Story& story, Finding& finding) {
  constexpr size_t kEvidenceKept = 6;
  finding.kind = story.kind;
  finding.onset = story.lead.moment;
  finding.detected = story.lead.moment;
  finding.detected.where.line = std::max(finding.detected.where.line, story.lead.last_line);
  finding.evidence.push_back({story.lead.moment.where, clip(story.lead.text, kTextLimit), "", kNoStep, 0});
  std::map<std::string, bool> said;
  const std::string own = cause_of(story.lead);
  said[own] = true;
  finding.suggests.push_back({own, is_root(story.lead) ? 0.8 : 0.55, cat("seen first: ", clip(story.lead.text, 160))});
  double weight = 0.45;
  for (const Mark& mark : story.others) {
    const std::string cause = cause_of(mark);
    if (std::exchange(said[cause], true)) continue;
    const bool before = mark.order < story.lead.order;
    const bool root = is_root(mark);
    const double own_weight = root ? weight : 0.5 * weight;
    finding.suggests.push_back(
        {cause, own_weight, cat(before ? "seen before it: " : "seen with it: ", clip(mark.text, 160))});
    if (root) weight *= 0.8;
    if (finding.evidence.size() < kEvidenceKept) {
      finding.evidence.push_back({mark.moment.where, clip(mark.text, kTextLimit), "", kNoStep, 0});
    }
  }
}

}  // namespace mw::detect
