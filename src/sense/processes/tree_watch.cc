#include "sense/processes/tree_watch.h"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <set>
#include <utility>

#include "base/numbers.h"
#include "base/text.h"
#include "sense/processes/addresses.h"
#include "sense/processes/recognise.h"
#include "sense/processes/sockets.h"
#include "sense/processes/stat_field.h"

namespace mw::components {
namespace {

constexpr size_t kMembers = 4096;  // of a run; further processes are not watched
constexpr size_t kNamed = 48;      // engines and servers that are reported in one attempt
constexpr size_t kStatBytes = 4096;
constexpr size_t kStatusField = 52;  // of /proc/PID/stat: how it ended, shown to its own user (proc(5))
constexpr Duration kFullLeast = Duration::seconds(2), kFullMost = Duration::seconds(15);
constexpr Duration kPerProcess =
    Duration::millis(15);  // of waiting for each process that a full scan reads: under 0.1 % of a core
constexpr Duration kKnownAfter = Duration::seconds(1);  // what lives shorter is nobody's server
constexpr Duration kReportAfter = Duration::seconds(3);
constexpr double kPortsFirst = 1;  // seconds of age at which a process is first asked where it listens
constexpr size_t kPorts = 4096;
constexpr Duration kPollCounts = Duration::seconds(1);  // of watching, that one poll adds at most
constexpr Duration kAddressesAgain = Duration::seconds(20);
constexpr double kLongAge = 600;     // seconds; so old, it belongs to the run whatever its steps
constexpr double kSeveralSteps = 5;  // usual steps, likewise
constexpr int64_t kStepsSeen = 3;
constexpr Duration kTogether = Duration::seconds(10);
constexpr Duration kStopReported = Duration::seconds(5);
constexpr Duration kStopLong = Duration::seconds(60);
constexpr Duration kNoRhythm = Duration::seconds(600);      // of waiting, where no usual step is known
constexpr Duration kLeastWait = Duration::seconds(3);       // after a failure
constexpr Duration kUnclearWait = Duration::seconds(1800);  // after an end that somebody may have meant
constexpr Duration kKilledWait =
    Duration::seconds(600);                       // after a signal that does not ask, where none of its kind is left
constexpr double kSteps = 3, kUnclearSteps = 10;  // usual steps without one, likewise

int signal_of(int status) { return status < 0 ? 0 : status & 0x7f; }
int code_of(int status) { return status < 0 ? 0 : (status >> 8) & 0xff; }

/// An end that nobody asked for: not by a signal that asks, nor as a shell reports one.
bool is_failure(int status) {
  if (status < 0) return false;
  const int signal = signal_of(status) != 0 ? signal_of(status) : code_of(status) > 128 ? code_of(status) - 128 : 0;
  if (signal == SIGTERM || signal == SIGINT || signal == SIGHUP || signal == SIGPIPE) return false;
  return signal != 0 || code_of(status) != 0;
}

std::string how(int status) {
  if (status < 0) return "has ended";
  if (signal_of(status) != 0) return cat("was ended by signal ", signal_of(status));
  return cat("has ended with exit status ", code_of(status));
}

}  // namespace

std::string TreeWatch::name_of(const Member& member) {
  return cat(member.label.empty() ? member.info.name : member.label, " (", member.info.id.pid, ")");
}

double TreeWatch::age(const Member& member, Duration at) const {
  return member.age + Duration{at.ns - member.first.ns}.seconds();
}

std::vector<event::ComponentSaw> TreeWatch::poll(const Run& run, const Rhythm& rhythm, Duration now) {
  news_.clear();
  if (run.keeper != keeper_) {
    keeper_ = run.keeper;
    members_.clear();
    next_full_ = {};
    if (run.keeper != 0) {
      for (const int64_t port : Listeners(system_).ports_beside(run.keeper)) {
        if (before_.size() < kPorts) before_.insert(port);
      }
      watched_ = {};
      unclaimed_.clear();
      full_scans_ = 0;
      polled_ = now;
    }
  }
  if (run.keeper == 0) return {};
  watched_.ns += std::min(now.ns - std::exchange(polled_, now).ns, kPollCounts.ns);
  if (now >= next_full_ || !unclaimed_.empty()) {
    find_all(run, now);
  } else {
    poll_known(now);
  }
  Listeners listeners(system_);
  for (auto& [pid, member] : members_) {
    if (run.paused) member.stopped = {};
    if (!member.reaped) get_to_know(member, listeners, now);
    if (member.ended.ns == 0) note_ports(member, listeners, now);
    if (!run.over) judge(member, rhythm, now);
  }
  if (!unclaimed_.empty()) claim_ports(run, listeners);
  settle_replaced();
  for (auto it = members_.begin(); it != members_.end();) {
    const Member& member = it->second;
    const bool done =
        member.ended.ns > 0 && member.reaped && member.kind.empty() && now.ns - member.ended.ns > kTogether.ns;
    it = done ? members_.erase(it) : std::next(it);
  }
  return std::move(news_);
}

/// Everything below the keeper, and what another keeper left to us.
void TreeWatch::find_all(const Run& run, Duration now) {
  const auto names = system_.names("/proc");
  if (!names.ok()) return;
  ++full_scans_;
  next_full_ = {now.ns + std::clamp(static_cast<int64_t>(names->size()) * kPerProcess.ns, kFullLeast.ns, kFullMost.ns)};
  if (const auto text = system_.read("/proc/uptime", 128); text.ok()) {
    uptime_ = parse_double(text->substr(0, text->find(' '))).value_or(0);
  }
  std::map<int64_t, std::string> stats;
  std::vector<ProcessInfo> all;
  for (const std::string& entry : *names) {
    const auto pid = parse_int(entry);
    if (!pid || *pid <= 2) continue;
    auto stat = system_.read(cat("/proc/", *pid, "/stat"), kStatBytes);
    auto info = stat.ok() ? parse_process_stat(*stat) : stat.error();
    if (!info.ok() || info->parent == 2) continue;
    stats[*pid] = std::move(*stat);
    all.push_back(std::move(*info));
  }
  std::set<int64_t> ours;
  for (const ProcessInfo& info : descendants(all, run.keeper)) ours.insert(info.id.pid);
  std::set<int64_t> seen;
  for (const ProcessInfo& info : all) {
    const auto known = members_.find(info.id.pid);
    const bool member = known != members_.end() && known->second.info.id == info.id;
    if (!member && ours.count(info.id.pid) == 0 && (run.command == 0 || info.session != run.command)) continue;
    if (!member && (members_.size() >= kMembers || info.id.pid == run.keeper)) continue;
    take(info, stats[info.id.pid], now);
    seen.insert(info.id.pid);
  }
  for (auto& [pid, member] : members_) {
    if (seen.count(pid) == 0) gone(member, now);
  }
}

void TreeWatch::poll_known(Duration now) {
  for (auto& [pid, member] : members_) {
    if (member.reaped) continue;
    // Data loaders and shells by the dozen: what becomes of one of them is known soon enough.
    const bool helper = member.kind.empty() && member.looked_at && member.ended.ns == 0;
    if (helper && now.ns - member.polled.ns < kHelpers.ns) continue;
    const auto stat = system_.read(cat("/proc/", pid, "/stat"), kStatBytes);
    const auto info = stat.ok() ? parse_process_stat(*stat) : stat.error();
    if (info.ok() && info->id == member.info.id) {
      take(*info, *stat, now);
    } else {
      gone(member, now);
    }
  }
}

void TreeWatch::take(const ProcessInfo& info, std::string_view stat, Duration now) {
  Member& member = members_[info.id.pid];
  if (member.info.id != info.id) {
    static const long ticks = sysconf(_SC_CLK_TCK);
    member = {};
    member.first = now;
    member.age = std::max(0.0, uptime_ - static_cast<double>(info.id.start) / static_cast<double>(ticks));
  }
  member.polled = now;
  const bool renamed = member.info.name != info.name;
  member.info = info;
  if (renamed && member.kind.empty()) member.looked_at = false;
  const bool stopped = info.state == 'T' || info.state == 't';  // by a signal, by a debugger
  if (!stopped) member.stopped = {};
  if (stopped && member.stopped.ns == 0) member.stopped = now;
  if ((info.state == 'Z' || info.state == 'X') && member.ended.ns == 0) {
    member.ended = now;
    member.status = static_cast<int>(stat_field(stat, kStatusField));
  }
}

void TreeWatch::gone(Member& member, Duration now) const {
  if (member.ended.ns == 0) member.ended = now;
  if (member.status < 0 && !member.reaped && member.end_of) member.status = member.end_of().value_or(-1);
  member.reaped = true;
}

/// Processes of which it will be known how they ended.
size_t TreeWatch::held() const {
  return static_cast<size_t>(std::count_if(members_.begin(), members_.end(), [](const auto& one) {
    return one.second.end_of != nullptr && !one.second.reaped;
  }));
}

/// What it is, and where it listens.
void TreeWatch::get_to_know(Member& member, Listeners& listeners, Duration now) {
  const double old = age(member, now);
  if (!member.looked_at && old >= kKnownAfter.seconds()) {
    member.looked_at = true;
    const auto text = system_.read(cat("/proc/", member.info.id.pid, "/cmdline"), kStatBytes);
    const Recognised known = recognise(member.info.name, words_of(text.ok() ? *text : ""));
    member.kind = std::string(known.kind);
    member.label = clip(sanitize_utf8(known.label), 80);
  }
  if (member.kind.empty() || member.ended.ns > 0) return;
  if (hold_ && !member.end_of && held() < kNamed) member.end_of = hold_(member.info.id);
  if (member.addresses.empty() && now >= member.addresses_due) {
    member.addresses = listeners.of(member.info.id.pid);
    member.addresses_due = {now.ns + (old < kAddressesAgain.seconds() ? kReportAfter.ns : kAddressesAgain.ns)};
  }
  if (member.reported || old < kReportAfter.seconds()) return;
  member.reported = true;
  const auto reported = static_cast<size_t>(
      std::count_if(members_.begin(), members_.end(), [](const auto& one) { return one.second.reported; }));
  if (reported <= kNamed) report(member, Health::kWell, false, cat("process ", member.info.id.pid, " of the run"), 0);
}

/// Servers listen soon after they begin, or once a model is loaded: each process is looked at when it is twice as old
/// as the last time, which costs next to nothing in the long run.
void TreeWatch::note_ports(Member& member, Listeners& listeners, Duration now) {
  const double old = age(member, now);
  if (old < std::max(member.ports_age, kPortsFirst)) return;
  member.ports_age = 2 * old;
  for (const std::string& address : listeners.of(member.info.id.pid)) {
    if (ports_.size() < kPorts) ports_.insert(port_of(address));
  }
}

bool TreeWatch::elsewhere(int64_t port) const {
  return watched_ >= kHeardOut && full_scans_ >= 2 && before_.count(port) > 0 && ports_.count(port) == 0;
}

/// Whose are the ports at which servers have begun to answer? All members were read just now.
void TreeWatch::claim_ports(const Run& run, Listeners& listeners) {
  for (const auto& [pid, member] : members_) {
    if (member.ended.ns > 0) continue;
    for (const std::string& address : listeners.of(pid)) {
      if (ports_.size() < kPorts) ports_.insert(port_of(address));
    }
  }
  const std::vector<int64_t> open = listeners.ports_beside(run.keeper);
  for (const int64_t port : std::exchange(unclaimed_, {})) {
    const bool listens = std::find(open.begin(), open.end(), port) != open.end();
    if (listens && ports_.count(port) == 0 && before_.size() < kPorts) before_.insert(port);
  }
}

void TreeWatch::judge(Member& member, const Rhythm& rhythm, Duration now) {
  if (member.ended.ns > 0) {
    if (member.health == Health::kFrozen) report(member, Health::kWell, false, "it is not stopped: it has ended", 0);
    if (!member.certain && !member.replaced && now.ns - member.ended.ns >= kSettles.ns) judge_end(member, rhythm, now);
    return;
  }
  judge_stop(member, rhythm, now);
}

/// Seen to have failed, and nobody has taken note: who ends a helper on purpose takes note of it.
bool TreeWatch::failed(const Member& member) const { return !member.reaped && is_failure(member.status); }

/// Ended by a signal that does not ask. A launcher takes note of every child that ends: whether it was meant is open.
bool TreeWatch::killed(const Member& member) { return is_failure(member.status) && signal_of(member.status) != 0; }

/// Others of the run, no engines or servers, that ended with it speak for an end of everything.
bool TreeWatch::alone(const Member& member) const {
  return std::none_of(members_.begin(), members_.end(), [&](const auto& entry) {
    const Member& other = entry.second;
    const bool with_it = other.ended.ns > 0 && std::abs(other.ended.ns - member.ended.ns) <= kTogether.ns;
    return with_it && &other != &member && other.kind.empty() && !is_shell(other.info.name) &&
           age(other, other.ended) >= age(member, member.ended);
  });
}

/// It lived while steps were done: what a step or an evaluation starts for itself has not.
bool TreeWatch::served(const Member& member, const Rhythm& rhythm, Duration at) const {
  const double lived = age(member, at);
  if (lived >= kLongAge) return true;
  const Duration usual = rhythm.usual();
  return rhythm.steps() >= kStepsSeen && usual.ns > 0 && lived >= kSeveralSteps * usual.seconds();
}

bool TreeWatch::trainer_goes_on(const Member& but) const {
  return std::any_of(members_.begin(), members_.end(), [&but](const auto& entry) {
    const Member& other = entry.second;
    return &other != &but && other.kind.empty() && other.ended.ns == 0 && other.stopped.ns == 0 &&
           !is_shell(other.info.name);
  });
}

/// Of the trainer's processes that are all stopped the oldest is reported.
bool TreeWatch::stands_for_all(const Member& member) const {
  const auto is_trainers = [](const Member& one) {
    return one.kind.empty() && one.ended.ns == 0 && !is_shell(one.info.name);
  };
  const auto born = [](const Member& one) { return std::pair(one.info.id.start, one.info.id.pid); };
  return is_trainers(member) && std::none_of(members_.begin(), members_.end(), [&](const auto& entry) {
           return is_trainers(entry.second) && born(entry.second) < born(member);
         });
}

/// Others of its kind go on beside it: one of several engines may be taken away on purpose.
bool TreeWatch::others_serve(const Member& member) const {
  const auto family = [](std::string label) {  // "VLLM::Engine_7" is one of the family "VLLM::Engine_"
    std::erase_if(label, [](char c) { return c >= '0' && c <= '9'; });
    return label;
  };
  const std::string own = family(member.label);
  return std::any_of(members_.begin(), members_.end(), [&](const auto& entry) {
    const Member& other = entry.second;
    const bool lives = other.ended.ns == 0 && other.stopped.ns == 0 && other.reported;
    const bool related = other.info.parent == member.info.id.pid || member.info.parent == other.info.id.pid;
    return lives && !related && other.kind == member.kind && family(other.label) == own;
  });
}

/// One of several engines was ended by a signal that does not ask, and the others have outlived it: who ends them all
/// ends them together, and who takes one away asks it.
bool TreeWatch::one_was_killed(const Member& member, Duration now) const {
  return killed(member) && others_serve(member) && alone(member) && now.ns - member.ended.ns >= kTogether.ns;
}

void TreeWatch::judge_end(Member& member, const Rhythm& rhythm, Duration now) {
  const bool known = !member.kind.empty();
  const bool failure = failed(member) && alone(member);
  if ((!known && !failure) || !served(member, rhythm, member.ended) || !trainer_goes_on(member)) return;
  const Duration unclear = killed(member) && !others_serve(member) ? kKilledWait : kUnclearWait;
  const bool waits = failure ? rhythm.waits(member.ended, now, kLeastWait, kSteps, kNoRhythm)
                             : rhythm.waits(member.ended, now, unclear, kUnclearSteps, kUnclearWait);
  const bool certain = waits || (known && failure && !others_serve(member));
  const Health health = failure || (known && one_was_killed(member, now)) ? Health::kDead : Health::kGone;
  if (!known && !certain) return;
  if (member.health == health && !certain) return;
  const Duration since{now.ns - std::max(member.ended.ns, rhythm.last().ns)};
  const std::string idle = waits ? cat("; no step was done for ", format_duration(since)) : "";
  report(member, health, certain,
         cat("Process ", member.info.id.pid, " (", member.label.empty() ? member.info.name : member.label,
             ") of the run ", how(member.status), " while the trainer goes on", idle),
         Duration{now.ns - member.ended.ns}.seconds());
}

void TreeWatch::judge_stop(Member& member, const Rhythm& rhythm, Duration now) {
  const bool known = !member.kind.empty();
  if (member.stopped.ns == 0) {
    if (member.health == Health::kFrozen) report(member, Health::kWell, false, "it goes on", 0);
    return;
  }
  const Duration stopped{now.ns - member.stopped.ns};
  if (member.certain || stopped < kStopReported) return;
  const bool all = !trainer_goes_on(member);
  if (all ? !stands_for_all(member) : !known && !served(member, rhythm, now)) return;
  // The trainer may not have come to need it yet.
  const bool waits = known ? rhythm.waits(member.stopped, now, kStopReported, kSteps, kStopLong) ||
                                 (stopped >= kStopLong && rhythm.last() < member.stopped)
                           : rhythm.waits(member.stopped, now, kStopReported, kSteps, kNoRhythm);
  if (!waits && ((!known && !all) || member.health == Health::kFrozen)) return;
  report(member, Health::kFrozen, waits,
         cat("Process ", member.info.id.pid, " (", known ? member.label : member.info.name, ") of the run was stopped ",
             member.info.state == 't' ? "by a debugger" : "(SIGSTOP)", all ? ", and with it all of the trainer's" : "",
             waits ? ", and no step was done since" : ""),
         stopped.seconds());
}

/// A framework that starts its engine anew has seen to it by itself.
void TreeWatch::settle_replaced() {
  for (auto& [pid, member] : members_) {
    if (member.kind.empty() || member.certain || member.ended.ns == 0 || member.health == Health::kWell) continue;
    for (const auto& [other_pid, other] : members_) {
      if (other.kind != member.kind || other.label != member.label || !other.reported || other.ended.ns > 0) continue;
      if (other.first < member.ended) continue;
      member.replaced = true;
      report(member, Health::kWell, false, cat("process ", other_pid, " took its place"), 0);
      break;
    }
  }
}

void TreeWatch::report(Member& member, Health health, bool certain, const std::string& text, double seconds) {
  member.health = health;
  member.certain = certain;
  event::ComponentSaw saw;
  saw.component = name_of(member);
  saw.kind = member.kind.empty() ? "other" : member.kind;
  saw.health = health;
  saw.certain = certain;
  saw.text = sanitize_utf8(text);
  if (!member.addresses.empty()) saw.address = member.addresses.front();
  saw.pid = member.info.id.pid;
  saw.seconds = seconds;
  news_.push_back(std::move(saw));
}

std::vector<TreeWatch::Place> TreeWatch::places() const {
  std::vector<Place> found;
  for (const auto& [pid, member] : members_) {
    if (member.ended.ns > 0 || !member.reported) continue;
    for (const std::string& address : member.addresses) found.push_back({name_of(member), member.kind, address, pid});
  }
  return found;
}

}  // namespace mw::components
