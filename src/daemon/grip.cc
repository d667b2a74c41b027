#include "daemon/grip.h"

#include <algorithm>
#include <csignal>

#include "base/text.h"

namespace mw {
namespace {

constexpr Duration kLeftoverGrace = Duration::seconds(5);  // for what a command leaves behind, to end by itself

}  // namespace

void Grip::take(int attempt) {
  attempt_ = attempt;
  keeper_ = child_ = {};
  asked_for_ = cleared_ = 0;
}

std::vector<ProcessInfo> Grip::family() const {
  const auto all = processes_.all();
  std::vector<ProcessInfo> family;
  const auto add = [&family](const ProcessInfo& process) {
    const auto same = [&process](const ProcessInfo& known) { return known.id == process.id; };
    if (std::none_of(family.begin(), family.end(), same)) family.push_back(process);
  };
  // A keeper that took over from a killed one is nobody's parent: what is left then is known by the command's session,
  // whose number the system gives to nobody else while one of it lives.
  if (keeper_.known()) {
    for (const ProcessInfo& process : descendants(all, keeper_.pid)) add(process);
  }
  if (!child_.known()) return family;
  const auto leader = processes_.info(child_.pid);
  if (leader.ok() && leader->id != child_) return family;  // all of it is gone, and somebody else has its number
  for (const ProcessInfo& process : all) {
    if (process.session == child_.pid) add(process);
  }
  if (leader.ok()) {
    for (const ProcessInfo& process : descendants(all, child_.pid)) add(process);
  }
  return family;
}

bool Grip::leftovers() const {
  const auto left = family();
  return std::any_of(left.begin(), left.end(), [](const ProcessInfo& process) { return process.state != 'Z'; });
}

void Grip::ask_to_end(Duration grace, bool now) {
  if (asked_for_ == 0) asked_ = clock_.steady();
  const int64_t spent = clock_.steady().ns - asked_.ns;
  const int due = now || spent >= grace.ns ? 3 : spent >= grace.ns / 2 ? 2 : 1;
  if (due <= asked_for_) return;
  asked_for_ = due;
  const int signal = due == 1 ? SIGINT : due == 2 ? SIGTERM : SIGKILL;
  say_(cat("asking attempt ", attempt_, " to end by ", due == 1 ? "SIGINT" : due == 2 ? "SIGTERM" : "SIGKILL"));
  for (const ProcessInfo& process : processes_.all()) {
    if (process.session != child_.pid || process.id.pid == keeper_.pid) continue;
    (void)processes_.signal(process.id, signal).ok();                             // gone meanwhile is well
    if (process.state == 'T') (void)processes_.signal(process.id, SIGCONT).ok();  // held still, it would never see it
  }
  if (due == 3) kill();
}

void Grip::kill() {
  for (const ProcessInfo& process : family()) (void)processes_.signal(process.id, SIGKILL).ok();
}

/// What a command leaves behind (engines, workers) holds the GPUs and ports that the next attempt needs.
void Grip::clear_leftovers(Duration ago) {
  if (ago < kLeftoverGrace) return;
  const int due = ago.ns > 2 * kLeftoverGrace.ns ? 2 : 1;
  if (due <= cleared_) return;
  const auto left = family();
  if (left.empty()) return;
  cleared_ = due;
  say_(cat("attempt ", attempt_, " left ", left.size(), left.size() == 1 ? " process" : " processes", " behind (",
           left.front().name, left.size() > 1 ? ", …" : "", "); ending ", left.size() == 1 ? "it" : "them", " by ",
           due == 2 ? "SIGKILL" : "SIGTERM"));
  for (const ProcessInfo& process : left) (void)processes_.signal(process.id, due == 2 ? SIGKILL : SIGTERM).ok();
}

size_t Grip::hold_still() {
  const auto all = family();
  for (const ProcessInfo& process : all) {
    if (process.state != 'T' && process.state != 'Z') (void)processes_.signal(process.id, SIGSTOP).ok();
  }
  return all.size();
}

size_t Grip::let_go_on() {
  const auto all = family();
  for (const ProcessInfo& process : all) {
    if (process.state == 'T') (void)processes_.signal(process.id, SIGCONT).ok();
  }
  return all.size();
}

}  // namespace mw
