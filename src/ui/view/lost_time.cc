#include "ui/view/lost_time.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "base/numbers.h"
#include "base/text.h"
#include "core/cost.h"
#include "core/incident_kind.h"
#include "ui/view/attempts.h"

namespace mw {
namespace {

constexpr double kHour = 3600;
constexpr double kWorthSaying = 60;  // seconds

/// The process is there and gets nowhere.
bool is_stuck(std::string_view kind) {
  return kind == "stall" || kind == "collective-timeout" || kind == "engine-dead" || kind == "worker-lost";
}
bool is_poisoned(std::string_view kind) { return taints(kind) && !is_stuck(kind); }

/// GPUs of the machines ("8 x NVIDIA H100, 2 x L4"), else the setting.
int64_t gpus_of(const RunRecord& record) {
  int64_t most = 0;
  for (const RunRecord::Machine& machine : record.machines) {
    int64_t here = 0;
    for (const std::string_view part : split(machine.gpus, ',')) {
      const std::string_view text = trim(part);
      const auto count = parse_int(text.substr(0, text.find(' ')));
      if (count && *count > 0 && contains(text, " x ")) here += *count;
    }
    most = std::max(most, here);
  }
  for (const auto& [key, value] : record.settings) {
    if (most > 0 || key != "num_gpus") continue;
    most = std::max<int64_t>(0, parse_int(trim(value)).value_or(0));
  }
  return most;
}

/// Surely by another process: where nothing but a step counter went back, it may count epochs or evaluations.
bool was_followed(const RunRecord& record, size_t index) {
  return index + 1 < record.attempts.size() &&
         (record.attempts[index].end != kNoEndSeen || record.attempts[index + 1].resumed_at != kNoStep);
}

/// How long it lasted; 0 where nothing shows it.
double lasted(const RunRecord::Attempt& attempt) {
  const double by_clock =
      attempt.began.known() && attempt.last > attempt.began ? (attempt.last - attempt.began).seconds() : 0;
  return std::max(by_clock, attempt.seconds);
}

/// One attempt's time, taken from its end piece by piece.
class Attempt {
 public:
  Attempt(const RunRecord& record, size_t index)
      : record_(record), index_(index), it_(record.attempts[index]), left_s_(lasted(it_)) {}

  void account(LostTime& out) {
    const double all = left_s_;
    const int64_t kept = kept_to();
    if (followed() && (it_.last_step == kNoStep || kept == kNoStep)) {
      out.failed_s += all;
      return;
    }
    const double poisoned = take(since(is_poisoned));
    const double stalled = take(since(is_stuck) - poisoned);
    out.poisoned_s += poisoned;
    out.stalled_s += stalled;
    if (followed() && kept < it_.last_step)
      out.redone_s += take(static_cast<double>(it_.last_step - kept) * record_.step_seconds - poisoned);
  }

 private:
  bool followed() const { return was_followed(record_, index_); }

  /// The last of its steps that a later attempt went on from; kNoStep: none of them. All, where that is not known.
  int64_t kept_to() const {
    if (it_.last_step == kNoStep || it_.end == kEndComplete) return it_.last_step;  // what comes then is another job
    for (size_t i = index_ + 1; i < record_.attempts.size(); ++i) {
      const RunRecord::Attempt& next = record_.attempts[i];
      if (next.resumed_at == kNoStep && next.last_step == kNoStep) continue;  // it did not come so far as to tell
      const int64_t from = next.resumed_at != kNoStep ? next.resumed_at : next.first_step - 1;
      return from < it_.first_step ? kNoStep : std::min(from, it_.last_step);
    }
    return it_.last_step;
  }

  /// Seconds from the first critical incident of such a kind to the attempt's end; 0 where there is none.
  template <typename Is>
  double since(const Is& is) const {
    double most = 0;
    for (const RunRecord::Incident& one : record_.incidents) {
      if (one.attempt != index_ + 1 || !one.at.known() || one.severity != "critical" || !is(one.kind)) continue;
      if (one.at >= it_.began && one.at < it_.last) most = std::max(most, (it_.last - one.at).seconds());
    }
    return most;
  }

  double take(double seconds) {
    const double taken = std::clamp(seconds, 0.0, left_s_);
    left_s_ -= taken;
    return taken;
  }

  const RunRecord& record_;
  size_t index_;
  const RunRecord::Attempt& it_;
  double left_s_;
};

std::string duration(double seconds) { return format_duration(Duration::seconds(seconds)); }

}  // namespace

LostTime lost_time(const RunRecord& record) {
  LostTime out;
  out.gpus = gpus_of(record);
  Time last;
  for (size_t i = 0; i < record.attempts.size(); ++i) {
    const RunRecord::Attempt& one = record.attempts[i];
    const double seconds = lasted(one);
    if (seconds <= 0) continue;
    if (last.known() && one.began.known() && one.began > last && was_followed(record, i - 1))
      out.between_s += (one.began - last).seconds();
    last = std::max(last, one.last);
    out.of_s += seconds;
    Attempt(record, i).account(out);
  }
  return out;
}

std::string lost_time_text(const RunRecord& record) {
  const LostTime lost = lost_time(record);
  std::string text;
  if (lost.seconds() >= kWorthSaying && lost.of_s > 0) {
    const std::pair<double, std::string_view> parts[] = {{lost.failed_s, "attempts without a step that is kept "},
                                                         {lost.redone_s, "steps done again "},
                                                         {lost.stalled_s, "stuck "},
                                                         {lost.poisoned_s, "on poisoned data "}};
    std::string reasons;
    for (const auto& [seconds, words] : parts) {
      if (seconds >= 1) reasons += cat(reasons.empty() ? "" : ", ", words, duration(seconds));
    }
    text = cat(duration(lost.seconds()), " of ", duration(lost.of_s), " (",
               std::llround(100 * lost.seconds() / lost.of_s), " %): ", reasons);
    if (lost.gpus > 0)
      text += cat("; ", format_short(lost.seconds() / kHour * static_cast<double>(lost.gpus), 3), " GPU-hours");
    if (const std::string cost = cost_text(lost.seconds(), record.cost_per_hour); !cost.empty())
      text += cat("; ", cost);
  }
  if (lost.between_s >= kWorthSaying)
    text += cat(text.empty() ? "" : "; besides ", duration(lost.between_s), " between attempts");
  return text;
}

}  // namespace mw
