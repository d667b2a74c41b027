#include "act/supervise/process_tree.h"

#include <algorithm>
#include <csignal>
#include <utility>

#include "base/text.h"

namespace mw {
namespace {

constexpr size_t kMostUnmarked = 4096;                      // processes
constexpr Duration kRemainingGrace = Duration::seconds(5);  // within which remaining processes may end by themselves

// An environment changes when a process becomes another program, which it does soon after it began: another name shows
// it later. To read those of all processes on a machine is what a snapshot would cost most of.
constexpr Duration kYoung = Duration::seconds(5);         // since it was asked about first
constexpr Duration kAnswerHolds = Duration::seconds(30);  // of one that is older

}  // namespace

void ProcessTree::take(int attempt, std::string marker) {
  attempt_ = attempt;
  marker_ = std::move(marker);
  keeper_ = child_ = {};
  known_.clear();
  snapshot_.clear();
  answers_.clear();
  unmarked_.clear();
  asked_for_ = cleared_ = 0;
  strangers_.forget();
  said_who_stays_ = false;
}

bool ProcessTree::carries(const ProcessInfo& process) const {
  const Duration now = clock_.steady();
  const auto [at, fresh] = answers_.try_emplace({process.id.pid, process.id.start}, Answer{process.name, now, now});
  Answer& answer = at->second;
  const bool holds = !fresh && answer.name == process.name && now.ns - answer.first.ns >= kYoung.ns &&
                     answer.asked.ns - answer.first.ns >= kYoung.ns && now.ns - answer.asked.ns < kAnswerHolds.ns;
  if (holds) return answer.carries;
  if (answer.name != process.name) answer = {process.name, now, now};
  answer.asked = now;
  answer.carries = processes_.carries(process, marker_);
  answer.further = answer.carries && processes_.carries_further(process, marker_);
  return answer.carries;
}

bool ProcessTree::carries_further(const ProcessInfo& process) const {
  const auto known = answers_.find({process.id.pid, process.id.start});
  if (known != answers_.end()) return known->second.further;  // by what was read in this snapshot
  return carries(process) && answers_.at({process.id.pid, process.id.start}).further;
}

/// Of processes that are gone.
void ProcessTree::forget_answers() {
  const Duration now = clock_.steady();
  for (auto it = answers_.begin(); it != answers_.end();)
    it = now.ns - it->second.asked.ns > 2 * kAnswerHolds.ns ? answers_.erase(it) : std::next(it);
}

/// The numbers of all that came from it, and of its keeper.
std::set<int64_t> ProcessTree::members(const std::vector<ProcessInfo>& all) const {
  const auto one_of = [&all](const ProcessId& id) {
    return id.known() && std::any_of(all.begin(), all.end(), [&id](const ProcessInfo& one) { return one.id == id; });
  };
  const bool child_there = one_of(child_), keeper_there = one_of(keeper_);
  std::set<int64_t> members;  // the keeper, too, so that its children are found
  if (keeper_there) members.insert(keeper_.pid);
  for (const ProcessInfo& process : all) {
    if (process.id == keeper_) continue;
    // Who is older than the command does not come from it.
    const bool proven = process.id == child_ || known_.count({process.id.pid, process.id.start}) != 0 ||
                        (child_there && process.session == child_.pid) ||
                        (process.id.start >= child_.start && carries(process));
    if (proven) members.insert(process.id.pid);
  }
  // Numbers wrap around, so a child may have a smaller one than its parent.
  for (bool more = true; more;) {
    more = false;
    for (const ProcessInfo& process : all) {
      if (members.count(process.parent) != 0) more = members.insert(process.id.pid).second || more;
    }
  }
  return members;
}

Strangers::Among ProcessTree::among(const std::vector<ProcessInfo>& all, const std::set<int64_t>& members) const {
  return {all, members, keeper_, child_, [this](const ProcessInfo& process) { return carries_further(process); }};
}

std::vector<ProcessInfo> ProcessTree::family() const {
  const auto all = processes_.all();
  return own(all, members(all));
}

/// Of the members those that are nobody else's, without the keeper.
std::vector<ProcessInfo> ProcessTree::own(const std::vector<ProcessInfo>& all, const std::set<int64_t>& members) const {
  const std::set<int64_t> others = strangers_.in(among(all, members));
  std::vector<ProcessInfo> family;
  for (const ProcessInfo& process : all) {
    const int64_t pid = process.id.pid;
    if (members.count(pid) != 0 && others.count(pid) == 0 && process.id != keeper_) family.push_back(process);
  }
  return family;
}

std::vector<ProcessInfo> ProcessTree::others() const {
  const auto all = processes_.all();
  const std::set<int64_t> numbers = strangers_.in(among(all, members(all)));
  std::vector<ProcessInfo> others;
  for (const ProcessInfo& process : all) {
    if (numbers.count(process.id.pid) != 0 && process.state != 'Z') others.push_back(process);
  }
  return others;
}

void ProcessTree::say_who_stays() {
  if (std::exchange(said_who_stays_, true)) return;
  const auto staying = others();
  if (staying.empty()) return;
  std::string names;
  for (const ProcessInfo& process : staying) {
    if (&process - staying.data() < 2) names += cat(names.empty() ? "" : ", ", process.name, " (", process.id.pid, ")");
  }
  const bool one = staying.size() == 1;
  say_(
      cat(staying.size(), one ? " process" : " processes", " that came of attempt ", attempt_, " by its environment (",
          names, staying.size() > 2 ? ", …" : "", one ? ") stays" : ") stay",
          ": somebody opened them later in a terminal server that the command had started, or they are another run's"));
}

bool ProcessTree::take_snapshot() {
  std::set<std::pair<int64_t, uint64_t>> now;
  std::vector<ProcessId> unmarked;
  const auto all = processes_.all();
  const std::set<int64_t> came = members(all);
  strangers_.learn(among(all, came));
  snapshot_ = own(all, came);
  forget_answers();
  for (const ProcessInfo& process : snapshot_) {
    const std::pair<int64_t, uint64_t> id(process.id.pid, process.id.start);
    now.insert(id);
    if (process.state == 'Z' || known_.count(id) == 0 || carries(process)) continue;
    if (unmarked.size() < kMostUnmarked) unmarked.push_back(process.id);
  }
  known_ = std::move(now);
  if (unmarked == unmarked_) return false;
  unmarked_ = std::move(unmarked);
  return true;
}

void ProcessTree::remember(const std::vector<ProcessId>& members) {
  for (const ProcessId& id : members) known_.insert({id.pid, id.start});
}

bool ProcessTree::any_alive() const {
  const auto alive = [this] {
    const auto left = family();
    return std::any_of(left.begin(), left.end(), [](const ProcessInfo& process) { return process.state != 'Z'; });
  };
  if (alive()) return true;
  return alive() || becoming();  // again: while the list is read, one may start another and end
}

/// A process that began after the command and whose environment cannot be read just now: it may carry the marker.
bool ProcessTree::becoming() const {
  const auto all = processes_.all();
  return !marker_.empty() && std::any_of(all.begin(), all.end(), [this](const ProcessInfo& process) {
    return process.id.start >= child_.start && processes_.between_programs(process);
  });
}

void ProcessTree::ask_to_end(Duration grace, bool now) {
  if (asked_for_ == 0) asked_ = clock_.steady();
  const int64_t spent = clock_.steady().ns - asked_.ns;
  const int due = now || spent >= grace.ns ? 3 : spent >= grace.ns / 2 || first_ == SIGTERM ? 2 : 1;
  if (due <= asked_for_) return;
  asked_for_ = due;
  const int signal = due == 1 ? SIGINT : due == 2 ? SIGTERM : SIGKILL;
  say_(cat("asking attempt ", attempt_, " to end by ", due == 1 ? "SIGINT" : due == 2 ? "SIGTERM" : "SIGKILL"));
  answers_.clear();
  for (const ProcessInfo& process : family()) {
    if (process.session != child_.pid) continue;
    (void)processes_.signal(process.id, signal).ok();  // gone meanwhile is well
    if (process.state == 'T')
      (void)processes_.signal(process.id, SIGCONT).ok();  // a stopped process would never see it
  }
  if (due == 3) kill();
}

void ProcessTree::kill() {
  answers_.clear();
  for (const ProcessInfo& process : family()) (void)processes_.signal(process.id, SIGKILL).ok();
}

/// Remaining processes (engines, workers) hold the GPUs and ports that the next attempt needs.
void ProcessTree::end_remaining(Duration ago) {
  if (ago < kRemainingGrace) return;
  const int due = ago.ns > 2 * kRemainingGrace.ns ? 2 : 1;
  if (due <= cleared_) return;
  answers_.clear();
  const auto left = family();
  if (left.empty()) return;
  cleared_ = due;
  say_(cat("attempt ", attempt_, " left ", left.size(), left.size() == 1 ? " process" : " processes", " behind (",
           left.front().name, left.size() > 1 ? ", …" : "", "); ending ", left.size() == 1 ? "it" : "them", " by ",
           due == 2 ? "SIGKILL" : "SIGTERM"));
  for (const ProcessInfo& process : left) (void)processes_.signal(process.id, due == 2 ? SIGKILL : SIGTERM).ok();
}

size_t ProcessTree::pause() {
  const auto all = family();
  for (const ProcessInfo& process : all) {
    if (process.state != 'T' && process.state != 'Z') (void)processes_.signal(process.id, SIGSTOP).ok();
  }
  return all.size();
}

size_t ProcessTree::resume() {
  const auto all = family();
  for (const ProcessInfo& process : all) {
    if (process.state == 'T') (void)processes_.signal(process.id, SIGCONT).ok();
  }
  return all.size();
}

}  // namespace mw
