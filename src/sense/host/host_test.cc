#include "sense/host/host.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <thread>

#include "base/testing/skip.h"
#include "base/text.h"
#include "platform/fake/borrowed.h"
#include "sense/host/testing/heard.h"

namespace mw::host {
namespace {

const double kPage = static_cast<double>(sysconf(_SC_PAGESIZE));

std::string stat_line(int64_t pid, const std::string& name, char state, int64_t parent, int64_t ticks, int64_t pages) {
  return cat(pid, " (", name, ") ", state, " ", parent, " ", pid, " ", pid, " 0 -1 0 0 0 0 0 ", ticks,
             " 0 0 0 20 0 3 0 5000 1000000 ", pages, " 0 0 0\n");
}

TEST_CASE("values, mounts and cgroups are read out of the kernel's tables") {
  CHECK(value_of("MemTotal:       16 kB\nMemAvailable:   8 kB\n", "MemAvailable") == 8192);
  CHECK(value_of("oom 3\noom_kill 2\n", "oom_kill") == 2);
  CHECK(value_of("oom_kill_disable 0\nunder_oom 0\noom_kill 4", "oom_kill") == 4);
  CHECK(value_of("a b\n", "a") == -1);
  CHECK(value_of("", "a") == -1);
  const std::string mounts = "dev / ext4 rw 0 0\ntmpfs /data tmpfs rw 0 0\nx /my\\040disk nfs rw 0 0\n";
  CHECK(mount_of(mounts, "/data/run") == "/data");
  CHECK(mount_of(mounts, "/database") == "/");
  CHECK(mount_of(mounts, "/my disk/a") == "/my disk");
  CHECK(mount_of("", "/a").empty());
  const std::string groups = "12:pids:/p\n4:cpu,memory:/docker/ab\n0::/system.slice\n";
  CHECK(cgroup_of(groups, "memory") == "/docker/ab");
  CHECK(cgroup_of(groups, "") == "/system.slice");
  CHECK(cgroup_of(groups, "mem").empty());
}

TEST_CASE("only the processes below the root count, with what they used between two rounds") {
  FakeSystem system;
  Seen seen;
  const auto part = make_processes(system, seen);
  system.files["/proc/stat"] = "cpu  100 0 100 800 0 0 0 0 0 0\n";
  system.files["/proc/2/stat"] = stat_line(2, "kthreadd", 'S', 0, 0, 0);
  system.files["/proc/7/stat"] = stat_line(7, "kworker", 'S', 2, 0, 0);
  system.files["/proc/10/stat"] = stat_line(10, "keep", 'S', 1, 100, 10);
  system.files["/proc/11/stat"] = stat_line(11, "python (x) y", 'R', 10, 500, 1000);
  system.files["/proc/12/stat"] = stat_line(12, "stranger", 'R', 1, 500, 1000);
  Heard first = measure(*part, {10, {}, ""}, 100);
  CHECK(first.at("process.count run") == 2);
  CHECK(first.at("process.threads run") == 6);
  CHECK(first.at("process.memory run") == doctest::Approx(kPage * 1010));
  CHECK(first.at("process.cpu run") == -1);
  system.files["/proc/stat"] = "cpu  200 0 200 1600 0 0 0 0 0 0\n";
  system.files["/proc/11/stat"] = stat_line(11, "python (x) y", 'R', 10, 500 + 20 * sysconf(_SC_CLK_TCK), 1000);
  Heard second = measure(*part, {10, {}, ""}, 110);
  CHECK(second.at("process.cpu run") == doctest::Approx(2));
  CHECK(second.at("host.cpu machine") == doctest::Approx(0.2));
  CHECK(seen.gone.empty());
  system.files.erase("/proc/11/stat");
  measure(*part, {10, {}, ""}, 120);
  REQUIRE(seen.gone.size() == 1);
  CHECK(seen.gone[0].pid == 11);
  CHECK(measure(*part, {0, {}, ""}, 130).at("process.count run") == -1);
}

TEST_CASE("a process near its limit of files is named, and named once more when it no longer is") {
  FakeSystem system;
  Seen seen;
  const auto part = make_processes(system, seen);
  system.files["/proc/10/stat"] = stat_line(10, "server", 'S', 1, 0, 10);
  system.files["/proc/10/limits"] =
      "Limit     Soft Limit  Hard Limit  Units\nMax open files            1000   4096   files\n";
  for (int i = 0; i < 950; ++i) system.files[cat("/proc/10/fd/", i)] = "";
  CHECK(measure(*part, {10, {}, ""}, 10).at("process.files server (pid 10)") == doctest::Approx(0.95));
  CHECK(measure(*part, {10, {}, ""}, 20).at("process.files server (pid 10)") == -1);  // counted every 30 s
  for (int i = 100; i < 950; ++i) system.files.erase(cat("/proc/10/fd/", i));
  CHECK(measure(*part, {10, {}, ""}, 50).at("process.files server (pid 10)") == 0);
  CHECK(measure(*part, {10, {}, ""}, 90).at("process.files server (pid 10)") == -1);
}

TEST_CASE("a process that is stuck in the kernel and an engine that nobody has reaped are reported") {
  FakeSystem system;
  Seen seen;
  const auto part = make_processes(system, seen);
  system.files["/proc/10/stat"] = stat_line(10, "python", 'D', 1, 7, 10);
  system.files["/proc/11/stat"] = stat_line(11, "VLLM::EngineCor", 'S', 10, 7, 10);
  measure(*part, {10, {}, ""}, 10);
  system.files["/proc/11/stat"] = stat_line(11, "VLLM::EngineCor", 'Z', 10, 7, 0);
  Heard second = measure(*part, {10, {}, ""}, 20);
  CHECK(second.happenings.empty());
  REQUIRE(seen.gone.size() == 1);
  CHECK(seen.gone[0].bytes == doctest::Approx(kPage * 10));
  Heard third = measure(*part, {10, {}, ""}, 45);
  CHECK(third.at("process.blocked python (pid 10)") == 35);
  REQUIRE(third.happenings.size() == 1);
  CHECK(third.happenings[0].first == "vllm-core-proc-died");
  CHECK(measure(*part, {10, {}, ""}, 55).happenings.empty());
  system.files["/proc/10/stat"] = stat_line(10, "python", 'D', 1, 9, 10);  // it ran in between
  CHECK(measure(*part, {10, {}, ""}, 65).at("process.blocked python (pid 10)") == 0);
}

TEST_CASE("the tightest cgroup counts, its droppable page cache left out, and a kill in it names who is gone") {
  FakeSystem system;
  Seen seen;
  const auto part = make_memory(system, seen);
  system.files["/proc/meminfo"] = "MemTotal: 1000 kB\nMemAvailable: 400 kB\n";
  system.files["/proc/10/cgroup"] = "0::/pod/main\n";
  const std::string pod = "/sys/fs/cgroup/pod", main = "/sys/fs/cgroup/pod/main";
  system.files[main + "/memory.max"] = "max\n";
  system.files[main + "/memory.current"] = "700\n";
  system.files[main + "/memory.events"] = "low 0\noom 0\noom_kill 1\n";
  system.files[pod + "/memory.max"] = "1000\n";
  system.files[pod + "/memory.current"] = "900\n";
  system.files[pod + "/memory.stat"] = "anon 500\ninactive_file 300\n";
  const Aim aim{10, {}, ""};
  Heard first = measure(*part, aim, 10);
  CHECK(first.at("host.memory.free machine") == 400 * 1024);
  CHECK(first.at("cgroup.memory.free run") == 400);
  CHECK(first.at("cgroup.memory.size run") == 1000);
  CHECK(first.at("host.oom_kills run") == 1);
  CHECK(first.happenings.empty());  // from before the watch
  system.files[main + "/memory.events"] = "low 0\noom 1\noom_kill 2\n";
  seen.gone = {{11, "small", 5e6, false}, {12, "python", 70e9, true}};
  Heard second = measure(*part, aim, 20);
  REQUIRE(second.happenings.size() == 1);
  CHECK(second.happenings[0].first == "cgroup-oom-kill");
  CHECK(contains(second.happenings[0].second, "python (pid 12), which held 70.0 GB"));
  seen.gone.clear();
  system.files[main + "/memory.events"] = "low 0\noom 1\noom_kill 3\n";
  CHECK(measure(*part, aim, 30).happenings.size() == 1);  // a worker that no round ever saw

  // Only a group above the run's can be seen, and others share it.
  system.files["/proc/10/cgroup"] = "0::/pod/main/not-visible\n";
  CHECK(measure(*part, aim, 40).happenings.empty());
  system.files[main + "/memory.events"] = "low 0\noom 1\noom_kill 4\n";
  for (int i = 5; i < 9; ++i) CHECK(measure(*part, aim, 10 * i).happenings.empty());
  system.files[main + "/memory.events"] = "low 0\noom 1\noom_kill 5\n";
  CHECK(measure(*part, aim, 90).happenings.empty());
  seen.gone = {{12, "python", 70e9, true}};  // it took a while to die
  CHECK(measure(*part, aim, 100).happenings.size() == 1);
}

TEST_CASE("the first version of cgroups, and a machine without any") {
  FakeSystem system;
  Seen seen;
  const auto part = make_memory(system, seen);
  system.files["/proc/self/cgroup"] = "5:cpu:/\n4:memory:/not/visible/here\n0::/\n";
  system.files["/sys/fs/cgroup/memory/memory.limit_in_bytes"] = "2000\n";
  system.files["/sys/fs/cgroup/memory/memory.usage_in_bytes"] = "500\n";
  system.files["/sys/fs/cgroup/memory/memory.oom_control"] = "oom_kill_disable 0\nunder_oom 0\noom_kill 0\n";
  Heard heard = measure(*part, {}, 10);
  CHECK(heard.at("cgroup.memory.free run") == 1500);
  CHECK(heard.at("host.oom_kills run") == 0);

  FakeSystem bare;
  const auto plain = make_memory(bare, seen);
  bare.files["/proc/vmstat"] = "pgfault 1\noom_kill 3\n";
  CHECK(measure(*plain, {}, 10).at("host.oom_kills machine") == 3);
  bare.files["/proc/vmstat"] = "pgfault 1\noom_kill 4\n";
  CHECK(measure(*plain, {}, 20).happenings.empty());  // nobody of ours is gone
  seen.gone = {{12, "python", 70e9, true}};
  bare.files["/proc/vmstat"] = "pgfault 1\noom_kill 5\n";
  CHECK(measure(*plain, {}, 30).happenings.size() == 1);
}

TEST_CASE("disks are reported by mount, each once, and a checkpoint by its size") {
  FakeSystem system;
  system.files["/proc/self/mounts"] = "a / ext4 rw 0 0\nb /data nfs rw 0 0\nc /dev/shm tmpfs rw 0 0\n";
  system.spaces["/"] = {5, 100, 0, 0};
  system.spaces["/data"] = {7, 200, 30, 40};
  system.spaces["/dev/shm"] = {9, 10, 0, 0};
  system.files["/data/run/ckpt/step_5/model.bin"] = std::string(1000, 'x');
  system.files["/data/run/ckpt/step_5/optim/rank0.bin"] = std::string(500, 'x');
  const auto part = make_disks(borrowed(system));
  const Aim aim{0, {"/data/run", "/data/logs", "/home/me"}, "/data/run/ckpt/step_5"};
  Heard heard = measure(*part, aim, 10);
  for (int i = 0; i < 100 && heard.at("checkpoint.bytes /data") < 0; ++i) heard = measure(*part, aim, 11 + i);
  CHECK(heard.at("disk.free /data") == 7);
  CHECK(heard.at("disk.size /data") == 200);
  CHECK(heard.at("disk.inodes.free /data") == 30);
  CHECK(heard.at("disk.free /") == 5);
  CHECK(heard.at("disk.inodes.free /") == -1);  // it does not count them
  CHECK(heard.at("disk.free /dev/shm") == 9);
  CHECK(heard.at("checkpoint.bytes /data") == 1500);
}

/// A disk that does not answer until it is let.
class Hanging final : public System {
 public:
  explicit Hanging(std::atomic<bool>& answers) : answers_(answers) {}
  Result<std::string> read(const std::string&, size_t) override { return std::string("a / nfs rw 0 0\n"); }
  Result<std::vector<std::string>> names(const std::string&) override { return std::vector<std::string>(); }
  Result<std::string> link(const std::string& path) override { return path; }
  Result<size_t> count(const std::string&) override { return size_t{0}; }
  Result<Entry> entry(const std::string&) override { return Entry{}; }
  Result<Space> space(const std::string& path) override {
    while (path == "/dead" && !answers_) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    return Space{1, 2, 0, 0};
  }
  Result<std::string> real(const std::string& path) override { return path; }
  Result<std::vector<std::string>> kernel_lines() override { return std::vector<std::string>(); }

 private:
  std::atomic<bool>& answers_;
};

TEST_CASE("a disk that does not answer holds nobody up, and is reported as silent until it does") {
  std::atomic<bool> answers{false};
  Hanging system(answers);
  const auto part = make_disks(borrowed(system));
  const Aim aim{0, {"/dead"}, ""};
  const auto measure_for = [&](double at) {  // the round ends by its own patience
    Heard heard;
    part->begin(aim, Duration::seconds(at));
    for (int i = 0; i < 3000 && !part->collect(heard, Duration::seconds(at + i * 0.01)); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return heard;
  };
  CHECK(measure_for(10).at("disk.silent /dead") == -1);
  CHECK(measure_for(40).at("disk.silent /dead") >= 30);
  CHECK(part->busy());
  answers = true;
  for (int i = 0; i < 2000 && part->busy(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  CHECK(measure_for(50).at("disk.silent /dead") == 0);
}

TEST_CASE("pressure and network, and machines that do not report them") {
  FakeSystem system;
  const auto pressure = make_pressure(system);
  CHECK(measure(*pressure, {}, 10).unseen_things.size() == 1);
  CHECK(measure(*pressure, {}, 20).unseen_things.empty());
  system.files["/proc/pressure/memory"] =
      "some avg10=1.00 avg60=2.00 avg300=0 total=1\nfull avg10=0 avg60=1.50 avg300=0 total=1\n";
  system.files["/proc/pressure/cpu"] = "some avg10=9 avg60=40.00 avg300=0 total=1\n";
  Heard heard = measure(*pressure, {}, 30);
  CHECK(heard.at("pressure.memory machine") == doctest::Approx(0.015));
  CHECK(heard.at("pressure.cpu machine") == doctest::Approx(0.4));
  CHECK(heard.at("pressure.io machine") == -1);

  const auto network = make_network(system);
  const std::string head = "Inter-|   Receive  |  Transmit\n face |bytes packets\n";
  system.files["/proc/net/dev"] =
      head + "    lo: 999 1 0 0 0 0 0 0 999 1 0 0 0 0 0 0\n  eth0:1000 1 0 0 0 0 0 0 500 1 0 0 0 0 0 0\n";
  CHECK(measure(*network, {}, 10).figures.empty());
  system.files["/proc/net/dev"] =
      head + "    lo: 9999 1 0 0 0 0 0 0 999 1 0 0 0 0 0 0\n  eth0:3000 1 5 0 0 0 0 0 1500 1 0 0 0 0 0 0\n";
  heard = measure(*network, {}, 20);
  CHECK(heard.at("net.received machine") == doctest::Approx(200));
  CHECK(heard.at("net.sent machine") == doctest::Approx(100));
  CHECK(heard.at("net.errors machine") == doctest::Approx(0.5));
}

TEST_CASE("of the kernel's lines those about disks and GPUs count, and of processes those that name one of the run's") {
  FakeSystem system;
  Seen seen;
  seen.names = {"python", "sh"};
  seen.gone = {{11, "ray::Worker", 1e9, true}};
  const auto part = make_kernel_log(system, seen);
  system.log = {"NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.",
                "usb 1-1: new high-speed USB device",
                "Out of memory: Killed process 71 (postgres) total-vm:1kB",
                "Memory cgroup out of memory: Killed process 72 (ray::Worker) total-vm:1kB",
                "INFO: task python:4711 blocked for more than 122 seconds.",
                "I/O error, dev nvme1n1, sector 8 op 0x1:(WRITE)"};
  const Heard heard = measure(*part, {}, 10);
  CHECK(heard.lines.size() == 4);
  CHECK(measure(*part, {}, 20).lines.empty());
  seen.gone.clear();
  system.log = {"Out of memory: Killed process 73 (python) total-vm:1kB"};
  CHECK(measure(*part, {}, 30).lines.empty());
  seen.gone = {{12, "python", 1e9, true}};  // it took a while to die
  CHECK(measure(*part, {}, 40).lines.size() == 1);
  seen.gone.clear();
  system.log = {"Out of memory: Killed process 74 (python) total-vm:1kB"};
  for (int i = 5; i < 9; ++i) CHECK(measure(*part, {}, 10 * i).lines.empty());
  seen.gone = {{12, "python", 1e9, true}};  // too late to be that one
  CHECK(measure(*part, {}, 90).lines.empty());
  system.files["/proc/2/stat"] = "2 (kthreadd) S 0";  // the kernel's numbers are ours
  system.log = {"Out of memory: Killed process 74 (python) total-vm:1kB"};
  CHECK(measure(*part, {}, 100).lines.empty());
  seen.gone = {{74, "python", 1e9, true}};
  CHECK(measure(*part, {}, 110).lines.size() == 1);
}

TEST_CASE("a GPU fault of one process is the run's when the process is, one of the GPU when the run uses it") {
  FakeSystem system;
  Seen seen;
  const auto part = make_kernel_log(system, seen);
  const std::string mmu = "NVRM: Xid (PCI:0000:3b:00): 31, pid=626, name=python3, channel 0x00000136, intr 00000000.";
  const std::string bus = "NVRM: Xid (PCI:0000:3b:00): 79, pid=626, name=python3, GPU has fallen off the bus.";
  int now = 0;
  const auto lines = [&](const std::string& line) {
    system.log.clear();
    if (!line.empty()) system.log.push_back(line);
    return measure(*part, {}, now += 10).lines.size();
  };
  CHECK(lines(mmu) == 0);                             // nothing is known of the run: its own log has what befalls it
  system.files["/proc/2/stat"] = "2 (kthreadd) S 0";  // the kernel's numbers are ours
  seen.pids = {700};
  seen.names = {"python3"};
  CHECK(lines(bus) == 1);
  CHECK(lines(mmu) == 0);
  for (int round = 0; round < 4; ++round) CHECK(lines("") == 0);
  seen.pids = {700, 626};
  CHECK(lines(mmu) == 1);
  seen.pids = {700};
  CHECK(lines(mmu) == 0);
  seen.gone = {{626, "python3", 1e9, true}};  // it was seen to end a round later
  CHECK(lines("") == 1);
  system.files.erase("/proc/2/stat");  // in a container: a process of that name is gone
  seen.gone = {{9, "python3", 1e9, true}};
  CHECK(lines(mmu) == 1);
  seen.gone = {{9, "sh", 1e6, true}};
  CHECK(lines(mmu) == 0);
  CHECK(lines("NVRM: Xid (PCI:0000:3b:00): 31, pid='<unknown>', name=<unknown>, Ch 00000008") == 1);
  seen.gpus = {"0000:3b:00", "0000:1b:00"};
  seen.used_gpus = {"0000:1b:00"};
  CHECK(lines(bus) == 0);  // a GPU of somebody else's
}

TEST_CASE("the real machine shows what a real process does") {
  const auto system = make_posix_system();
  Seen seen;
  const auto processes = make_processes(*system, seen);
  const auto memory = make_memory(*system, seen);
  const pid_t child = fork();
  if (child == 0) {
    for (;;) pause();
  }
  const Aim aim{getpid(), {"/tmp"}, ""};
  Heard heard = measure(*processes, aim, 10);
  CHECK(heard.at("process.count run") >= 2);
  CHECK(heard.at("process.memory run") > 1e6);
  kill(child, SIGKILL);
  heard = measure(*processes, aim, 11);
  for (int i = 0; i < 1000 && seen.gone.empty(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    heard = measure(*processes, aim, 11 + 0.001 * i);
  }
  waitpid(child, nullptr, 0);
  REQUIRE(seen.gone.size() == 1);
  CHECK(seen.gone[0].pid == child);
  heard = measure(*memory, aim, 10);
  CHECK(heard.at("host.memory.size machine") > 1e8);
  CHECK(heard.at("host.memory.free machine") > 0);
  const auto disks = make_disks(borrowed(*system));
  CHECK(!measure(*disks, aim, 10).figures.empty());
}

/// Fills memory in a cgroup of its own until the kernel ends it.
pid_t fill_memory_in(const std::string& group) {
  const pid_t child = fork();
  if (child != 0) return child;
  std::ofstream(group + "/cgroup.procs") << getpid() << std::flush;
  const size_t piece = size_t{4} << 20;
  for (int i = 0; i < 64; ++i) std::memset(malloc(piece), 1, piece);
  _exit(0);
}

TEST_CASE("a real kill for memory in a real cgroup is reported with who it was" *
          doctest::test_suite(testing::kMachine)) {
  const bool legacy = access("/sys/fs/cgroup/memory/memory.limit_in_bytes", W_OK) == 0;
  const std::string group = cat(legacy ? "/sys/fs/cgroup/memory" : "/sys/fs/cgroup", "/midwatch-test-", getpid());
  if (mkdir(group.c_str(), 0700) != 0) {
    testing::skip("no cgroup may be made here");
    return;
  }
  std::ofstream(group + (legacy ? "/memory.limit_in_bytes" : "/memory.max")) << (32 << 20) << std::flush;
  if (!legacy && access((group + "/memory.max").c_str(), W_OK) != 0) {
    testing::skip("the memory controller is not given to this cgroup");
    rmdir(group.c_str());
    return;
  }
  const auto system = make_posix_system();
  int begin[2];
  REQUIRE(pipe(begin) == 0);
  const pid_t holder = fork();  // a process of the run that stays in the group
  if (holder == 0) {
    std::ofstream(group + "/cgroup.procs") << getpid() << std::flush;
    char word = 0;
    (void)!read(begin[0], &word, 1);
    const pid_t victim = fill_memory_in(group);
    int how = 0;
    waitpid(victim, &how, 0);
    for (;;) pause();
  }
  Seen seen;
  const auto processes = make_processes(*system, seen);
  const auto memory = make_memory(*system, seen);
  const Aim aim{holder, {}, ""};
  std::vector<std::pair<std::string, std::string>> happenings;
  double size = 0;
  for (int i = 0; i < 12'000 && happenings.empty(); ++i) {  // on a busy machine it takes long
    processes->begin(aim, Duration::seconds(i));
    Heard heard;
    processes->collect(heard, Duration::seconds(i));
    heard = measure(*memory, aim, i);
    happenings = heard.happenings;
    if (heard.at("cgroup.memory.size run") > 0) size = heard.at("cgroup.memory.size run");
    if (size > 0) (void)!write(begin[1], "x", 1);  // what was counted before is known: now one may be killed
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  kill(holder, SIGKILL);
  waitpid(holder, nullptr, 0);
  close(begin[0]);
  close(begin[1]);
  for (int i = 0; i < 100 && rmdir(group.c_str()) != 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  CHECK(size == 32 << 20);
  REQUIRE(happenings.size() == 1);
  CHECK(happenings[0].first == "cgroup-oom-kill");
}

}  // namespace
}  // namespace mw::host
