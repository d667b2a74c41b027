#include "ui/view/decisions.h"

#include <algorithm>

#include "base/numbers.h"
#include "base/text.h"
#include "base/time.h"
#include "ui/view/overview.h"

namespace mw {
namespace {

std::string how_it_exited(const SupervisedAttempt& one) {
  if (!one.failure.empty()) return cat("could not be started: ", one.failure);
  if (!one.exited) return "";
  const std::string at = one.exited_at.known() ? cat(", exited ", when(one.exited_at)) : ", exited";
  if (!one.known) return cat(at, ", how is not known");
  return one.signal != 0 ? cat(at, " by signal ", one.signal) : cat(at, " with status ", one.code);
}

std::string approval(std::string_view action, const Approval& of) {
  if (!of.asked && of.answer == Approval::Answer::kNone) return "";
  const std::string_view answer = of.answer == Approval::Answer::kYes  ? "approved"
                                  : of.answer == Approval::Answer::kNo ? "refused"
                                                                       : "waits for approval";
  return cat("; ", action, " ", answer);
}

}  // namespace

std::string decision_text(const SupervisedAttempt& attempt) {
  const std::string decision =
      attempt.restart ? cat("restart after ", format_duration(Duration::seconds(attempt.wait_s))) : "no restart";
  return cat(decision, ". ", attempt.why);
}

std::vector<std::string> decision_lines(const State& state, size_t limit) {
  const auto& all = state.supervision.attempts;
  std::vector<std::string> lines;
  for (size_t i = all.size() > limit ? all.size() - limit : 0; i < all.size(); ++i) {
    const SupervisedAttempt& one = all[i];
    std::string line = cat("attempt ", one.number);
    if (one.started) {
      line += one.started_at.known() ? cat(", started ", when(one.started_at)) : ", started";
      line += cat(", process ", one.pid);
    }
    line += how_it_exited(one) + approval("stopping it", one.breaking) + approval("restart", one.restarting);
    lines.push_back(std::move(line));
    if (!one.decided) continue;
    lines.push_back(cat("  decided: ", decision_text(one)));
  }
  return lines;
}

}  // namespace mw
