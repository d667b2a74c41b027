// What every Processes promises: run over a real child and over the fake.
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <string>

#include "platform/fake/fake_process.h"
#include "platform/process.h"

namespace mw {
namespace {

constexpr int64_t kNobody = int64_t{1} << 40;  // beyond every kernel's largest number

/// The process `pid` is a child of `parent` and was started with the marker "the-marker". `end` ends and reaps it.
void run_contract(Processes& processes, int64_t pid, int64_t parent, const std::function<void()>& end) {
  const auto info = processes.info(pid);
  REQUIRE(info.ok());
  CHECK(info->id.pid == pid);
  CHECK(info->id.known());
  CHECK(info->parent == parent);
  CHECK(info->name.size() <= 15);
  CHECK_FALSE(processes.between_programs(*info));
  CHECK(processes.carries(*info, "the-marker"));
  CHECK_FALSE(processes.carries(*info, "the-mar"));
  CHECK_FALSE(processes.carries(*info, ""));
  CHECK(processes.boot() == processes.boot());

  const auto all = processes.all();
  CHECK(std::is_sorted(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.id.pid < b.id.pid; }));
  CHECK(std::any_of(all.begin(), all.end(), [&](const auto& one) { return one.id == info->id; }));

  CHECK(processes.info(kNobody).error().code == Error::Code::kNotFound);
  ProcessId another = info->id;  // one of the same number, which ended before
  ++another.start;
  CHECK(processes.signal(another, SIGCONT).error().code == Error::Code::kNotFound);
  CHECK(processes.signal(info->id, SIGCONT).ok());
  CHECK(lives(processes, info->id));
  CHECK_FALSE(lives(processes, another));

  end();
  CHECK(processes.info(pid).error().code == Error::Code::kNotFound);
  CHECK(processes.signal(info->id, SIGCONT).error().code == Error::Code::kNotFound);
  CHECK_FALSE(lives(processes, info->id));
}

TEST_CASE("process contract: fake") {
  FakeProcesses processes;
  processes.add(90, 1, 90);
  processes.add(7, 1, 7);
  processes.add(41, 7, 7);
  processes.markers[41] = "the-marker";
  run_contract(processes, 41, 7, [&processes] { processes.alive.erase(41); });
  CHECK(processes.sent == std::vector<std::pair<int64_t, int>>{{41, SIGCONT}});
}

TEST_CASE("process contract: posix") {
  const auto processes = make_posix_processes();
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    setenv(kMarkerVariable, "the-marker", 1);
    execlp("sleep", "sleep", "600", nullptr);
    _exit(127);
  }
  for (int i = 0; i < 5000; ++i) {  // until it is the other program
    const auto info = processes->info(child);
    if (info.ok() && processes->carries(*info, "the-marker") && !processes->between_programs(*info)) break;
    usleep(1000);
  }
  run_contract(*processes, child, getpid(), [child] {
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  });
}

}  // namespace
}  // namespace mw
