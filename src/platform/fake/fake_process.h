// Processes as a test says that they are.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "platform/process.h"

namespace mw {

/// Those in `alive` live; signals are only noted.
class FakeProcesses final : public Processes {
 public:
  Result<ProcessInfo> info(int64_t pid) override {
    const auto found = alive.find(pid);
    if (found == alive.end()) return Error{Error::Code::kNotFound, "", ""};
    return found->second;
  }
  std::vector<ProcessInfo> all() override {
    std::vector<ProcessInfo> out;
    for (const auto& [pid, one] : alive) out.push_back(one);
    return out;
  }
  Result<void> signal(const ProcessId& id, int number) override {
    const auto found = alive.find(id.pid);
    if (found == alive.end() || found->second.id != id) return Error{Error::Code::kNotFound, "", ""};
    sent.emplace_back(id.pid, number);
    return {};
  }
  std::string boot() override { return boot_now; }
  ProcessId add(int64_t pid, int64_t parent, int64_t session) {
    ProcessInfo one;
    one.id = {pid, static_cast<uint64_t>(1000 + pid)};
    one.parent = parent;
    one.session = session;
    one.state = 'S';
    one.name = "python";
    return (alive[pid] = one).id;
  }

  bool between_programs(const ProcessInfo& process) override { return in_exec.count(process.id.pid) != 0; }
  bool carries(const ProcessInfo& process, std::string_view marker) override {
    ++asked_carries[process.id.pid];
    const auto found = markers.find(process.id.pid);
    return found != markers.end() && found->second == marker && !marker.empty();
  }
  bool carries_further(const ProcessInfo& process, std::string_view marker) override {
    const auto found = markers.find(process.id.pid);
    return found != markers.end() && found->second == marker && of_inner_run.count(process.id.pid) != 0;
  }

  std::map<int64_t, ProcessInfo> alive;
  std::map<int64_t, std::string> markers;
  std::map<int64_t, int> asked_carries;  ///< how often each was asked about
  std::set<int64_t> of_inner_run;        ///< that carry another run's marker behind their own
  std::set<int64_t> in_exec;
  std::string boot_now = "boot";
  std::vector<std::pair<int64_t, int>> sent;
};

}  // namespace mw
