#include "core/detect/support/closing.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "core/exit_status.h"
#include "core/plan_bar.h"

namespace mw::detect {
namespace {

constexpr std::string_view kSaysDone = "died-silently";  // the kind of a word of being done

/// "Saving final model to ...": begun, not done.
bool begins_save(std::string_view text) { return contains_folded(text, "saving") && !contains_folded(text, "saved"); }

/// Is `moment` later than `than`, as far as their places and times show?
bool later(const Moment& moment, const Moment& than) {
  if (moment.where.source == than.where.source && moment.where.line != 0 && than.where.line != 0)
    return moment.where.line > than.where.line;
  return moment.at.known() && than.at.known() && moment.at > than.at;
}

/// What the end of processes brings about: a signal, a server or worker that is gone, an abort as a process exits.
bool may_be_shutdown(const Symptom& symptom) {
  static constexpr std::array<std::string_view, 6> kKinds = {"interrupted", "preempted", "engine-dead",
                                                             "worker-lost", "crash",     "collective-timeout"};
  const std::string kind = kind_of(symptom);
  if (symptom.trace != nullptr || symptom.within != nullptr) return kind == "interrupted";
  return std::find(kKinds.begin(), kKinds.end(), kind) != kKinds.end();
}

/// A server for rollouts, which a trainer that has done its steps needs no more and ends.
bool is_servers_end(const Symptom& symptom) {
  if (symptom.trace != nullptr || symptom.within != nullptr) return false;
  return kind_of(symptom) == "engine-dead" || contains(symptom.text, "Draining requests and shutting down");
}

/// A worker that a signal of its owner ends raises SystemExit in its handler.
bool handles_signal(const event::TraceSeen& trace) { return contains_folded(trace.frame, "sigterm"); }

/// A fault of the program's own work, or of what it asks for elsewhere: neither memory, a disk nor a device.
bool is_of_program(std::string_view kind) {
  static constexpr std::array<std::string_view, 7> kKinds = {
      "code-error", "config-error", "data-error", "dependency-broken", "network", "credentials", "crash"};
  return std::find(kKinds.begin(), kKinds.end(), kind) != kKinds.end();
}

/// Did records go on behind it? One or two are late lines, or a summary.
bool recorded_on(const State& state, const Moment& word) {
  constexpr size_t kLate = 3;
  return std::any_of(state.series.begin(), state.series.end(), [&word](const Series& series) {
    const auto& points = series.points();
    size_t after = 0;
    for (size_t i = points.size(); i-- > 0 && after < kLate; ++after) {
      const Point& point = points[i];
      if (point.attempt != word.attempt || point.where.source != word.where.source) break;
      if (point.where.line <= word.where.line) break;
    }
    return after == kLate;
  });
}

/// Another program was started with wrong arguments; the trainer was done.
bool refused_start(const Symptom& symptom) {
  return symptom.signature != nullptr && symptom.within == nullptr && symptom.signature->fatal &&
         symptom.signature->kind == "config-error" && contains(symptom.text, ": error: ");
}

}  // namespace

Closing::Closing(const State& state, const Knowledge& knowledge, const Progress& progress) : state_(state) {
  bool any = false;
  for (size_t i = 0; i < state.attempts.size(); ++i) {
    const AttemptState& attempt = state.attempts[i];
    const int64_t total = attempt.total_steps > 0 ? attempt.total_steps : state.total_steps;
    const bool newest = i + 1 == state.attempts.size();
    const int64_t done = std::max(last_done(state, i), newest ? done_by_bar(state) : kNoStep);
    const bool known = total > 1, trained = done != kNoStep && done > 0;
    plans_.push_back(!trained ? Plan::kOpen : !known ? Plan::kUnknown : done + 1 >= total ? Plan::kDone : Plan::kOpen);
    any = any || plans_.back() != Plan::kOpen;
    if (plans_.back() == Plan::kDone && attempt.ended && attempt.ended->how == event::Ended::How::kComplete)
      add(Says::kDone, attempt.ended_at);
  }
  if (!any) return;
  for (const SignatureState& seen : state.signatures) {
    const Signature* const signature = seen.sample ? nullptr : knowledge.find(seen.id);
    if (signature == nullptr || signature->role != Role::kBenign || signature->kind != kSaysDone) continue;
    add_done(seen, progress);
  }
  add_checkpoints(progress);
}

void Closing::add(Says says, const Moment& moment) { words_.push_back({says, moment}); }

void Closing::add_done(const SignatureState& seen, const Progress& progress) {
  for (const SignatureState::Match& match : seen.matches) {
    const uint16_t attempt = match.moment.attempt;
    if (attempt >= plans_.size() || plans_[attempt] == Plan::kOpen) continue;
    const bool saves = begins_save(match.text);
    // Where no plan says that there is no more to come, the word must be of the training itself.
    if (!saves && plans_[attempt] == Plan::kUnknown && !says_training_over(match.text)) continue;
    if (recorded_on(state_, match.moment)) continue;
    if (!progress.after(match.moment, match.moment.where.line)) add(saves ? Says::kSaves : Says::kDone, match.moment);
  }
}

void Closing::add_checkpoints(const Progress& progress) {
  for (size_t i = state_.checkpoints.size(); i-- > 0;) {
    const auto& [moment, saved] = state_.checkpoints[i];
    if (moment.attempt >= plans_.size() || plans_[moment.attempt] != Plan::kDone) continue;
    if (!progress.after(moment, moment.where.line)) add(saved.complete ? Says::kDone : Says::kSaves, moment);
  }
}

const Closing::Word* Closing::last_before(const Moment& moment) const {
  const Word* last = nullptr;
  for (const Word& word : words_) {
    if (word.moment.attempt != moment.attempt || !later(moment, word.moment)) continue;
    // One line may say both that the save began and that a checkpoint was begun; the later word counts.
    if (last == nullptr || later(word.moment, last->moment)) last = &word;
  }
  return last;
}

bool Closing::complete_at(const Moment& moment) const {
  const Word* const last = last_before(moment);
  return last != nullptr && last->says == Says::kDone;
}

bool Closing::saving_at(const Moment& moment) const {
  const Word* const last = last_before(moment);
  return last != nullptr && last->says == Says::kSaves;
}

bool Closing::shut_down(const Symptom& symptom) const {
  if (is_servers_end(symptom) && saving_at(symptom.moment)) return true;
  return (may_be_shutdown(symptom) || refused_start(symptom)) && complete_at(symptom.moment);
}

bool Closing::failed_afterwards(const Symptom& symptom) const {
  const TraceState* const raised = symptom.trace != nullptr ? symptom.trace : symptom.within;
  if (raised == nullptr || !is_of_program(kind_of(symptom)) || symptom.moment.attempt >= state_.attempts.size())
    return false;
  const uint32_t source = symptom.moment.where.source;
  if (source >= state_.sources.size() || !state_.sources[source].ended) return false;  // its status may follow
  if (state_.attempts[symptom.moment.attempt].ended || contains_folded(raised->trace.frame, "save")) return false;
  return complete_at(symptom.moment);
}

bool Closing::breaks_save(const Symptom& symptom) const {
  if (symptom.trace != nullptr) {
    const event::TraceSeen& trace = symptom.trace->trace;
    const std::string_view message = trim(trace.message);
    if (bare_exception(trace.exception) != "SystemExit" || message.empty() || message == "0") return false;
    if (handles_signal(trace)) return false;
  } else if (kind_of(symptom) != "crash") {
    return false;
  }
  return saving_at(symptom.moment);
}

}  // namespace mw::detect
