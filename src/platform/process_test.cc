#include "platform/process.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace mw {
namespace {

TEST_CASE("a stat line, whatever the name holds") {
  const auto info = parse_process_stat(
      "4711 (tmux: (a) b) S 12 4700 4600 34816 4711 4194304 1 2 3 4 5 6 7 8 20 0 1 0 987654 1000 2 184467\n");
  REQUIRE(info.ok());
  CHECK(info->id == ProcessId{4711, 987654});
  CHECK(info->name == "tmux: (a) b");
  CHECK(info->state == 'S');
  CHECK(info->parent == 12);
  CHECK(info->group == 4700);
  CHECK(info->session == 4600);
  for (const char* bad : {"", "4711", "4711 (x", "4711 (x) S 1 2", "x (y) S 1 2 3 4 5 6 7 8 9 1 2 3 4 5 6 7 8 9 1 2",
                          "-1 (y) S 1 2 3 4 5 6 7 8 9 1 2 3 4 5 6 7 8 9 1 2 3 4"}) {
    CHECK_FALSE(parse_process_stat(bad).ok());
  }
}

TEST_CASE("descendants, also with numbers that wrapped around, and never the root") {
  const auto process = [](int64_t pid, int64_t parent) {
    ProcessInfo info;
    info.id.pid = pid;
    info.parent = parent;
    return info;
  };
  const std::vector<ProcessInfo> all{process(1, 0), process(2, 90), process(50, 1), process(60, 50), process(90, 60)};
  const auto found = descendants(all, 50);
  REQUIRE(found.size() == 3);
  CHECK(found[0].id.pid == 60);
  CHECK(found[1].id.pid == 90);
  CHECK(found[2].id.pid == 2);
  CHECK(descendants({process(7, 7)}, 7).empty());  // nonsense from /proc does not loop
  CHECK(descendants({process(7, 8), process(8, 7)}, 9).empty());
}

TEST_CASE("the markers in an environment") {
  const std::string name = kMarkerVariable;
  const std::string environment = std::string("HOME=/root\0X", 12) + name + "=a\n" + std::string(1, '\0') + name +
                                  "=ab:cd-1:ef" + std::string(1, '\0') + "Z=" + name + "=zz" + std::string(1, '\0');
  for (const char* marker : {"ab", "cd-1", "ef"}) CHECK(environment_carries(environment, marker));
  for (const char* marker : {"a", "cd", "cd-11", "zz", ""}) CHECK_FALSE(environment_carries(environment, marker));
  CHECK(environment_carries_further(environment, "ab"));
  CHECK(environment_carries_further(environment, "cd-1"));
  for (const char* marker : {"ef", "a", "zz", ""}) CHECK_FALSE(environment_carries_further(environment, marker));
  CHECK_FALSE(environment_carries("", "ab"));
  CHECK_FALSE(environment_carries(std::string(100, '\0'), "ab"));
}

TEST_CASE("the same start of the machine, and the same numbering") {
  CHECK(same_boot("b/40/7", "b/40/7"));
  CHECK_FALSE(same_boot("b/40/7", "b/40/900"));
  CHECK_FALSE(same_boot("b/40/7", "c/40/7"));
  CHECK(same_boot("b", "b/40/7"));  // as an older midwatch wrote it
  CHECK_FALSE(same_boot("c", "b/40/7"));
}

TEST_CASE("a real child: found, signalled, and not mistaken for another") {
  const auto processes = make_posix_processes();
  const pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  REQUIRE(child > 0);
  const auto info = processes->info(child);
  REQUIRE(info.ok());
  CHECK(info->parent == getpid());
  bool listed = false;
  for (const ProcessInfo& one : descendants(processes->all(), getpid())) listed = listed || one.id == info->id;
  CHECK(listed);

  ProcessId other = info->id;
  other.start += 1;  // the same number, another process
  CHECK(processes->signal(other, SIGKILL).error().code == Error::Code::kNotFound);
  CHECK(processes->info(child).ok());

  REQUIRE(processes->signal(info->id, SIGTERM).ok());
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGTERM);
  CHECK(processes->info(child).error().code == Error::Code::kNotFound);
  CHECK(processes->signal(info->id, SIGTERM).error().code == Error::Code::kNotFound);
  CHECK_FALSE(processes->boot().empty());
}

}  // namespace
}  // namespace mw
