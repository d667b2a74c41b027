#include "core/exit_status.h"

#include <algorithm>
#include <array>

#include "base/numbers.h"
#include "base/text.h"
#include "core/checkpoint_trust.h"
#include "core/detect/support/closing.h"
#include "core/detect/support/failure_chain.h"

namespace mw {
namespace {

constexpr double kDoneShare = 0.9;      // so much of a plan may be all of it by the run's own rules (died_silently.cc)
constexpr double kEpochsShort = 0.02;   // epochs by which the last record lags behind the end of the last epoch
constexpr double kIntervalMost = 0.25;  // epochs between two records; a run that logs so seldom shows little by it
constexpr Duration kAtOnce = Duration::seconds(2);  // in which signals that were sent together are taken
constexpr int64_t kSigInt = 2, kSigTerm = 15;
constexpr int64_t kSignalBase = 128;                     // a shell reports death by signal n as 128 + n (POSIX)
constexpr std::string_view kSaysDone = "died-silently";  // what a word of being done would be mistaken for

int64_t total_of(const State& state, const AttemptState& attempt) {
  return attempt.total_steps > 0 ? attempt.total_steps : state.total_steps;
}

bool has_bar(const State& state, int64_t total, bool full) {
  return std::any_of(state.progress.begin(), state.progress.end(), [&](const auto& named) {
    return named.second.total == total && (!full || named.second.done >= total);
  });
}

/// Where epochs are planned beside the steps, whichever comes first ends the run, and nobody said which that is.
bool only_a_limit(const State& state, int64_t total) {
  const auto set = state.config.find("total_steps");
  if (set == state.config.end() || parse_int(set->second) != total) return false;
  return state.config.count("epochs") > 0 && !has_bar(state, total, false);
}

/// Was a step of training recorded in the attempt after `moment`?
bool trained_after(const State& state, const Moment& moment) {
  for (const Series& series : state.series) {
    const auto& points = series.points();
    for (size_t i = points.size(); i-- > 0;) {
      const Point& point = points[i];
      if (point.attempt > moment.attempt) continue;
      if (point.attempt < moment.attempt) break;
      if (point.where.source == moment.where.source && point.where.line != 0 && moment.where.line != 0) {
        if (point.where.line > moment.where.line) return true;
      } else if (point.at.known() && moment.at.known() && point.at > moment.at) {
        return true;
      }
      break;
    }
  }
  return false;
}

bool failed_by_its_word(const State& state, const AttemptState& attempt) {
  using How = event::Ended::How;
  if (!attempt.ended || trained_after(state, attempt.ended_at)) return false;
  return attempt.ended->how == How::kFailed || (attempt.ended->how == How::kExit && attempt.ended->code != 0);
}

}  // namespace

bool status_stands(const AttemptState& attempt, const Event& word) {
  const Moment& over = attempt.ended_at;
  const bool failed = attempt.ended->how == event::Ended::How::kExit && attempt.ended->code != 0;
  const bool later = word.at.known() && over.at.known() && word.at > over.at;
  return failed && word.where.source != over.where.source && !later;
}

bool epochs_done(const State& state) {
  const auto planned = state.config.find("epochs");
  const auto epochs = planned == state.config.end() ? std::nullopt : parse_double(planned->second);
  if (!epochs || *epochs <= 0) return false;
  return std::any_of(state.series.begin(), state.series.end(), [&epochs](const Series& series) {
    const bool counts = series.raw == "epoch" || series.raw.ends_with("/epoch");
    if (!counts || series.empty()) return false;
    const auto& points = series.points();
    const double last = points.back().value;
    const double before = points.size() > 1 ? points[points.size() - 2].value : last;
    const double interval = std::clamp(last - before, kEpochsShort, kIntervalMost);
    return last + interval > *epochs || last >= *epochs - kEpochsShort;
  });
}

bool ended_by_status(const AttemptState& attempt) {
  return attempt.ended && attempt.ended->how == event::Ended::How::kExit && attempt.ended->code == 0;
}

std::optional<OpenPlan> open_plan(const State& state, size_t number) {
  if (number >= state.attempts.size()) return std::nullopt;
  const AttemptState& attempt = state.attempts[number];
  const int64_t total = total_of(state, attempt);
  const detect::Done steps = detect::done_in(state, number);
  if (total <= 1 || steps.last == kNoStep || steps.last < 1 || steps.last + 1 >= total) return std::nullopt;
  const auto enough = [total](int64_t done) {
    return static_cast<double>(done) >= kDoneShare * static_cast<double>(total);
  };
  if (enough(steps.last)) return std::nullopt;
  if (attempt.resumed_at > 0 && enough(attempt.resumed_at + steps.last - steps.first + 1)) return std::nullopt;
  // A run whose log fell silent saves on: what it was seen to save shows how far it came.
  const bool saved = std::any_of(state.checkpoint_scans.begin(), state.checkpoint_scans.end(), [&](const auto& scan) {
    return scan.first.attempt == number && scan.second.how != event::CheckpointSeen::How::kBroken &&
           !is_gone(scan.second) && scan.second.step != kNoStep && enough(scan.second.step);
  });
  if (saved) return std::nullopt;
  // Bars and epochs are those of the attempt that came last: they say nothing of one that midwatch started again.
  const bool own = number + 1 == state.attempts.size() || state.supervision.attempts.empty();
  if (own && (has_bar(state, total, true) || epochs_done(state))) return std::nullopt;
  if (only_a_limit(state, total)) return std::nullopt;
  return OpenPlan{steps.last, total};
}

namespace {

bool is_word_of_done(const Signature& one) { return one.role == Role::kBenign && one.kind == kSaysDone; }
bool is_word_of_stop(const Signature& one) { return one.role == Role::kRoot && one.kind == "interrupted"; }

/// The first line that was said after the last step of the attempt, whose signature is `such` a one and whose text is
/// one of `these`; nullptr: there is none.
template <typename Such, typename These>
const std::string* find_word(const State& state, const Knowledge& knowledge, size_t number, Such&& such,
                             These&& these) {
  for (const SignatureState& seen : state.signatures) {
    const Signature* signature = seen.sample ? nullptr : knowledge.find(seen.id);
    if (signature == nullptr || !such(*signature)) continue;
    for (const SignatureState::Match& match : seen.matches) {
      if (match.moment.attempt == number && these(match.text) && !trained_after(state, match.moment))
        return &match.text;
    }
  }
  return nullptr;
}

bool any_text(std::string_view) { return true; }

/// Did something fail, and end the log of the attempt?
bool failed_in_its_log(const State& state, const Knowledge& knowledge, size_t number) {
  for (const detect::FailureChain& chain : detect::fatal_chains(state, detect::symptoms_of(state, knowledge))) {
    const bool from_outside = chain.kind == "interrupted" || chain.kind == "preempted";
    if (chain.attempt == number && chain.ended && !from_outside) return true;
  }
  return false;
}

}  // namespace

bool said_done(const State& state, const Knowledge& knowledge, size_t number) {
  return find_word(state, knowledge, number, is_word_of_done, any_text) != nullptr;
}

bool stop_was_requested(const State& state, size_t number) {
  const SupervisedAttempt* attempt = state.supervision.attempt(static_cast<int64_t>(number) + 1);
  if (attempt == nullptr) return false;
  const auto& requests = state.supervision.requests;
  // systemd, Slurm and a shut terminal signal the command and midwatch at once: the command may be the first to end.
  const bool signalled = attempt->signal == kSigInt || attempt->signal == kSigTerm;
  const Duration at_once = signalled ? kAtOnce : Duration();
  return std::any_of(requests.begin(), requests.end(), [attempt, at_once](const Supervision::Request& one) {
    const bool ends = one.what == "stop" || one.what == "kill";
    return ends && one.received >= attempt->started_at &&
           (!attempt->exited || one.received <= attempt->exited_at + at_once);
  });
}

bool broken_off(const State& state, size_t number) {
  const SupervisedAttempt* attempt = state.supervision.attempt(static_cast<int64_t>(number) + 1);
  return attempt != nullptr && attempt->trip.has_value();
}

WordOfEnd word_of_end(const State& state, const Knowledge& knowledge, size_t number) {
  if (number >= state.attempts.size() || !open_plan(state, number)) return {};
  if (failed_in_its_log(state, knowledge, number)) return {};
  if (const std::string* own = find_word(state, knowledge, number, is_word_of_done, any_text)) return {*own, false};
  const AttemptState& attempt = state.attempts[number];
  const bool recorded = attempt.ended && attempt.ended->how == event::Ended::How::kInterrupted;
  if (recorded && !attempt.ended->text.empty()) return {attempt.ended->text, true};
  const std::string* outside = find_word(state, knowledge, number, is_word_of_stop, any_text);
  return outside == nullptr ? WordOfEnd{} : WordOfEnd{*outside, true};
}

bool says_training_over(std::string_view line) {
  constexpr std::array<std::string_view, 8> kParts = {"epoch", "step",  "iter",  "stage",
                                                      "phase", "batch", "round", "warm"};
  if (contains(line, "train_runtime")) return true;  // a trainer's summary names epochs and steps, too
  return contains_folded(line, "train") &&
         std::none_of(kParts.begin(), kParts.end(), [line](std::string_view p) { return contains_folded(line, p); });
}

bool finished_by_its_word(const State& state, const Knowledge& knowledge) {
  if (!state.closed || state.attempts.empty()) return false;
  const size_t number = state.attempts.size() - 1;
  if (state.attempts[number].ended || state.attempts[number].last_step == kNoStep || open_plan(state, number))
    return false;
  return find_word(state, knowledge, number, is_word_of_done, says_training_over) != nullptr;
}

std::optional<OpenPlan> fell_short(const State& state, const Knowledge& knowledge, size_t number) {
  if (number >= state.attempts.size() || !ended_by_status(state.attempts[number])) return std::nullopt;
  const auto open = open_plan(state, number);
  return open && !said_done(state, knowledge, number) ? open : std::nullopt;
}

bool belies_status(const State& state, const Knowledge& knowledge) {
  if (state.attempts.empty()) return false;
  const size_t last = state.attempts.size() - 1;
  if (fell_short(state, knowledge, last)) return true;
  const bool by_status = ended_by_status(state.attempts[last]);
  if (!by_status && !failed_by_its_word(state, state.attempts[last])) return false;
  if (!by_status && open_plan(state, last)) return true;
  if (!by_status && total_of(state, state.attempts[last]) > 0) return false;
  return failed_in_its_log(state, knowledge, last);
}

namespace {

/// Words that a program says when its work is done and it puts the result away.
bool says_farewell(std::string_view text) {
  constexpr std::array<std::string_view, 15> kWords = {
      "saving model", "model saved", "saved model",     "saved to",      "saved in",
      "saving final", "final model", "total time",      "training time", "completed",
      "finished",     "all done",    "upload complete", "view run at",   "dropping the following result"};
  return std::any_of(kWords.begin(), kWords.end(),
                     [text](std::string_view word) { return contains_folded(text, word); });
}

}  // namespace

bool said_farewell(const State& state, const AttemptState& attempt) {
  const uint32_t number = attempt.last.where.source;
  return number < state.sources.size() && says_farewell(state.sources[number].last_text);
}

namespace {

constexpr std::string_view kNotKnown =
    "how is not known";  // as unseen_end() and knowledge/dialects/midwatch.toml say it

}  // namespace

bool is_unseen(const event::Ended& ended) {
  return ended.how == event::Ended::How::kFailed && ended.code == 0 && contains(ended.text, kNotKnown);
}

UnseenEnd unseen_end(const State& state, const Knowledge& knowledge, const std::string& who) {
  UnseenEnd end;
  end.ended.how = event::Ended::How::kFailed;
  end.ended.text = cat(who, " has ended; ", kNotKnown, ", as midwatch did not start it");
  if (state.attempts.empty()) return end;
  const size_t number = state.attempts.size() - 1;
  const AttemptState& last = state.attempts[number];
  const bool steps_done = state.total_steps > 0 && last.last_step >= state.total_steps;
  const bool says_so = said_done(state, knowledge, number) || (!open_plan(state, number) && said_farewell(state, last));
  if (steps_done || says_so) end.ended.how = event::Ended::How::kComplete;
  end.log_says = last.ended.has_value();
  return end;
}

bool ended_after_its_word(const State& state, const Knowledge& knowledge) {
  if (state.attempts.empty() || !state.attempts.back().ended) return false;
  const AttemptState& last = state.attempts.back();
  const event::Ended& end = *last.ended;
  // A status that a log states; what a supervised command ended with is decided on.
  const bool by_signal = end.how == event::Ended::How::kExit && (end.code < 0 || end.code > kSignalBase) &&
                         state.supervision.attempts.empty();
  const bool failed = end.how == event::Ended::How::kFailed && end.code == 0 && !is_unseen(end);
  if (!failed && !by_signal && end.how != event::Ended::How::kInterrupted) return false;
  if (stop_was_requested(state, state.attempts.size() - 1)) return false;
  return detect::Closing(state, knowledge).complete_at(last.ended_at);
}

namespace {

/// Is it midwatch's note that an attempt goes on in what it left? `attempt`: of this one, as "attempt 1"; "": of any.
bool has_note(const State& state, std::string_view attempt) {
  const std::string words = cat(attempt, kGoesOn);
  return std::any_of(state.notes.begin(), state.notes.end(), [&words](const auto& note) {
    return note.second.who == "midwatch" && contains(note.second.text, words);
  });
}

}  // namespace

bool leaves_training_behind(const State& state) { return has_note(state, ""); }

bool goes_on_behind(const State& state, size_t number) {
  const SupervisedAttempt* known = state.supervision.attempt(static_cast<int64_t>(number) + 1);
  if (known == nullptr || known->decided) return false;
  return has_note(state, cat("attempt ", number + 1));
}

}  // namespace mw
