#include "core/fleet/verdict.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace mw::fleet {
namespace {

using Kind = Verdict::Kind;
using Says = Heartbeat::Phase;

/// A run's process reports to W&B every 15 to 30 s, and after five minutes of silence W&B itself calls it crashed.
constexpr Duration kWandbFresh = Duration::seconds(120);
constexpr int64_t kMissed = 4;  // heartbeats that must be missing before it is silence
/// Of a machine that its provider lists as stopped or ended. That is a word of its own; otherwise "gone" is only what a
/// list leaves out.
constexpr int64_t kMissedStopped = 2;

std::string age_text(Duration age) { return format_duration({std::max<int64_t>(age.ns, 0)}); }

std::string provider_text(const Witnesses& seen) {
  if (!seen.provider) {
    return seen.provider_says.empty() ? "the provider was not asked"
                                      : cat("the provider was not heard: ", seen.provider_says);
  }
  return cat("the provider says ", word_of(*seen.provider),
             seen.provider_says.empty() ? "" : cat(" (", seen.provider_says, ")"));
}

void add_wandb(const Witnesses& seen, Verdict& out) {
  if (!seen.wandb) {
    if (!seen.wandb_silent.empty()) out.reasons.push_back(cat("W&B was not heard: ", seen.wandb_silent));
    return;
  }
  const WandbWord& word = *seen.wandb;
  std::string text = cat("W&B says ", word.state);
  if (word.step != kNoStep) text += cat(", last step ", word.step);
  if (word.step_age) text += cat(", logged ", age_text(*word.step_age), " ago");
  out.reasons.push_back(std::move(text));
}

/// Does W&B hear from the run's process now? By its own clock; a step's time is by the trainer's, and proves nothing.
bool wandb_hears(const Witnesses& seen) {
  return seen.wandb && seen.wandb->state == "running" && seen.wandb->heard && *seen.wandb->heard <= kWandbFresh;
}

bool is_away(const Witnesses& seen) {
  return seen.provider == InstanceState::kGone || seen.provider == InstanceState::kStopped;
}

/// What the machine says of its own end needs no second witness: it is the one that knows.
bool judge_own_words(const Heartbeat& beat, Verdict& out) {
  const auto says = [&](Kind kind, bool replace, std::string_view what) {
    out.kind = kind;
    out.replace = replace;
    std::string_view why = beat.reason;
    if (why.ends_with('.')) why.remove_suffix(1);  // other witnesses follow in the same sentence
    out.reasons.insert(out.reasons.begin(), cat("the machine says that ", what, why.empty() ? "" : cat(": ", why)));
    return true;
  };
  switch (beat.phase) {
    case Says::kFinished:
      return says(Kind::kFinished, false, "the run is finished");
    case Says::kFailed:
      return says(Kind::kFailed, false, "the run failed");
    case Says::kStopped:
      return says(Kind::kFailed, false, "the run was stopped there");
    case Says::kUnfit:
      return says(Kind::kUnfit, true, "it is not fit for the run");
    case Says::kPreempted:
      return says(Kind::kPreempted, true, "it is being taken away");
    case Says::kFenced:
      return says(Kind::kLost, true, "it was fenced off and trains no more");
    default:
      return false;
  }
}

/// No heartbeat came since it was rented.
void judge_unheard(const Patience& patience, const Rental& rental, const Witnesses& seen, Verdict& out) {
  const Duration age = seen.now - rental.since();
  out.reasons.push_back(cat("no heartbeat came in the ", age_text(age), " since it was rented"));
  out.reasons.push_back(provider_text(seen));
  out.kind = Kind::kStarting;
  // A provider may list late what it rented out: only after that time does its "gone" count.
  if (is_away(seen) && (age > patience.settle || seen.ended)) {
    out.kind = Kind::kLost;
    out.replace = true;
  } else if (age > patience.start) {
    out.kind = Kind::kUnfit;
    out.replace = true;
    out.reasons.push_back(cat("it did not begin within ", age_text(patience.start)));
  }
}

bool is_starting(const Heartbeat& beat) {
  return beat.phase == Says::kStarting || beat.phase == Says::kReceiving || beat.phase == Says::kWaiting;
}

std::string received_text(const Heartbeat& beat) {
  if (beat.phase != Says::kReceiving || beat.total <= 0) return "";
  return cat(" its checkpoint (", format_bytes(static_cast<double>(beat.received)), " of ",
             format_bytes(static_cast<double>(beat.total)), ")");
}

void judge_living(const Patience& patience, const Rental& rental, const Witnesses& seen, Verdict& out) {
  const Heartbeat& beat = *seen.beat;
  out.reasons.push_back(cat("the machine says ", word_of(beat.phase),
                            beat.step == kNoStep ? "" : cat(" at step ", beat.step), received_text(beat),
                            beat.health.empty() ? "" : cat(": ", beat.health)));
  out.kind = is_starting(beat) ? Kind::kStarting : beat.phase == Says::kStalled ? Kind::kStalled : Kind::kHealthy;
  // A checkpoint of 100 GB takes the time that it takes: while bytes of it come, the time to the first step stands
  // still.
  const Duration age{(seen.now - rental.may_begin()).ns - beat.receiving.ns};
  if (out.kind == Kind::kStarting && !rental.began.known() && age > patience.start) {
    out.kind = Kind::kUnfit;
    out.replace = true;
    out.reasons.push_back(cat("it did not begin within ", age_text(patience.start)));
  }
}

void judge_heard(const Patience& patience, const Rental& rental, const Witnesses& seen, Verdict& out) {
  const Heartbeat& beat = *seen.beat;
  const Duration age = seen.now - seen.beat_changed;
  out.reasons.push_back(age.ns < -beat.every.ns ? cat("its last heartbeat is ", age_text({-age.ns}),
                                                      " ahead of this store's clock: clocks differ")
                                                : cat("its last heartbeat came ", age_text(age), " ago"));
  out.reasons.push_back(provider_text(seen));
  if (judge_own_words(beat, out)) return;
  const bool stopped = seen.provider == InstanceState::kStopped || seen.ended;
  if (age.ns <= (stopped ? kMissedStopped : kMissed) * beat.every.ns) return judge_living(patience, rental, seen, out);
  out.kind = Kind::kUnknown;
  if (is_away(seen)) {
    out.kind = Kind::kLost;
    out.replace = true;
  } else if (seen.provider == InstanceState::kRunning && wandb_hears(seen)) {
    out.person = age > patience.silence;
    out.reasons.emplace_back("no heartbeat comes, but W&B hears from the run: it is not given up for that");
  } else if (age > patience.silence) {
    out.kind = Kind::kLost;
    out.replace = out.by_silence = true;
    out.reasons.push_back(cat("it has been silent for more than ", age_text(patience.silence),
                              ": its network, its midwatch or the machine itself is gone"));
  } else {
    out.reasons.push_back(cat("silence counts after ", age_text(patience.silence)));
  }
  out.by_age = out.replace;
}

}  // namespace

std::string_view word_of(InstanceState state) {
  constexpr std::array<std::string_view, 5> kWords = {"provisioning", "running", "stopped", "lost", "gone"};
  return kWords.at(static_cast<size_t>(state));
}

std::string_view word_of(Kind kind) {
  constexpr std::array<std::string_view, 10> kWords = {"none",     "starting",  "healthy", "stalled", "failed",
                                                       "finished", "preempted", "lost",    "unfit",   "unknown"};
  return kWords.at(static_cast<size_t>(kind));
}

Verdict judge(const Patience& patience, const Control& control, const Witnesses& seen) {
  Verdict out;
  const Rental* const rental = control.current();
  if (rental == nullptr) return out;
  if (seen.beat) {
    judge_heard(patience, *rental, seen, out);
  } else {
    judge_unheard(patience, *rental, seen, out);
  }
  add_wandb(seen, out);
  return out;
}

}  // namespace mw::fleet
