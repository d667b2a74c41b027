// Which attempt of the run an event belongs to. Called by fold() only; a file of its own because it is the hardest of
// its rules.
#pragma once

#include <string_view>

#include "core/state.h"

namespace mw {

/// Two sources that say "began" within this much of each other speak of the same attempt.
constexpr Duration kSameBeginning = Duration::seconds(120);

/// A step counter may go back by this much without meaning anything (records of several workers out of order).
constexpr int64_t kStepSlack = 2;

/// A step counter that goes back by more than this means a restart, even where no checkpoint is known to restart from.
constexpr int64_t kStepRewind = 5;

/// A counter that went back and then jumps on from where it had been is a second counter, when it jumps by more than
/// this.
constexpr int64_t kStepJump = 3;

/// Why an attempt began, by the line of midwatch's own keeper (knowledge/dialects/midwatch.toml).
constexpr std::string_view kKeeperBegan = "midwatch started the command";

/// Why an attempt began, where a program has failed and its log goes on with the lines that it began with
/// (read/interpret/first_lines.h).
constexpr std::string_view kSameFirstLines = "the log begins again with its first lines";

/// Why an attempt began, where the log has the lines again in which the program names its environment, behind work that
/// it had only announced (read/interpret/start_banner.h).
constexpr std::string_view kBannerAgain = "the log begins again with its first lines, behind work that was under way";

/// Calls `visit` for the moment of everything that happened within attempts, the attempts' own moments left out.
template <typename Visit>
void for_each_moment(State& state, Visit&& visit) {
  for (SignatureState& seen : state.signatures) {
    visit(seen.first);
    visit(seen.last);
    for (SignatureState::Match& match : seen.matches) visit(match.moment);
  }
  for (TraceState& seen : state.traces) visit(seen.moment);
  for (TemplateState& seen : state.templates) {
    visit(seen.first);
    visit(seen.last);
  }
  for (auto& [saved_at, saved] : state.checkpoints) visit(saved_at);
  for (auto& [seen_at, seen] : state.checkpoint_scans) visit(seen_at);
  for (auto& [read_at, read] : state.checkpoint_reads) visit(read_at);
  for (auto& [seen_at, seen] : state.pointers) visit(seen_at);
  for (ComponentState& component : state.components) {
    visit(component.since);
    for (ComponentState::Trouble& trouble : component.troubles) {
      visit(trouble.began);
      if (trouble.certain) visit(*trouble.certain);
      if (trouble.ended) visit(*trouble.ended);
    }
  }
}

/// The attempt that `event` belongs to; moves the cursor of its source on and makes new attempts where the event says
/// that one began, or where the source's step counter went back. Never negative; at least one attempt exists
/// afterwards.
uint16_t attempt_of(State& state, SourceState& source, const Event& event);

/// The attempt has done its plan and said so: a plan that is announced after that is of the next one.
bool plans_another(const AttemptState& attempt);

/// From `at` on the run was at `step`, as far as its own measurements and announcements show: for State::step_at().
void add_anchor(State& state, Time at, int64_t step);

/// The attempt came to this step, its furthest, with this event: where a shell had only said that some program was
/// killed, it was another one. What is written behind such a word may come late; a few steps more do not.
void come_further(AttemptState& attempt, int64_t step, const Event& event);

/// A sign of life of the attempt, of an idle engine or not. Which is its last one does not depend on the order of
/// reading: a source that logs steps counts more than the others (an engine may log on and on); then time decides,
/// without clocks the step; then the first source.
void show_life(AttemptState& attempt, const Moment& moment, bool idle);

}  // namespace mw
