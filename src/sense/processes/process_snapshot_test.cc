#include "sense/processes/process_snapshot.h"

#include <doctest/doctest.h>
#include <sys/syscall.h>

#include "base/text.h"
#include "sense/processes/stat_field.h"

using namespace mw;
using namespace mw::components;

namespace {

/// A line of /proc/PID/stat; `ticks` of processor time.
std::string stat(int64_t pid, const std::string& name, char state, int64_t parent, int64_t session, int64_t ticks) {
  return cat(pid, " (", name, ") ", std::string(1, state), " ", parent, " ", session, " ", session,
             " 0 -1 4194304 0 0 0 0 ", ticks, " 0 0 0 20 0 1 0 ", 1000 + pid, " 1 1 1\n");
}

struct World {
  FakeSystem system;
  void process(int64_t pid, const std::string& name, char state, int64_t parent, int64_t ticks,
               const std::string& command = "") {
    system.files[cat("/proc/", pid, "/stat")] = stat(pid, name, state, parent, 100, ticks);
    system.files[cat("/proc/", pid, "/cmdline")] = command;
    thread(pid, pid, name, state, "", "");
  }
  void thread(int64_t pid, int64_t tid, const std::string& name, char state, const std::string& call,
              const std::string& kernel) {
    const std::string place = cat("/proc/", pid, "/task/", tid);
    system.files[place + "/stat"] = stat(tid, name, state, 1, 100, 7);
    system.files[place + "/syscall"] = call;
    system.files[place + "/wchan"] = kernel;
  }
  void file(int64_t pid, int descriptor, const std::string& thing) {
    system.files[cat("/proc/", pid, "/fd/", descriptor)] = thing;
  }
  /// State as /proc/net/tcp has it; queues in hexadecimal; peer 10.0.0.7:8000.
  void socket(int64_t pid, int inode, const std::string& state, const std::string& queues) {
    system.files[cat("/proc/", pid, "/net/tcp")] +=
        cat("   0: 0100007F:9C40 0700000A:1F40 ", state, " ", queues, " 00:00000000 00000000  1000        0 ", inode,
            " 1 0000000000000000 100 0 0 10 0\n");
  }
};

std::string words(std::initializer_list<std::string_view> all) {
  std::string text;
  for (const std::string_view word : all) text.append(word).push_back('\0');
  return text;
}

}  // namespace

TEST_CASE("a system call is known by its number, and its file where it has one") {
  const Call reads = call_of(cat(SYS_recvfrom, " 0x1f 0x7ffe 0x1 0x0 0x0 0x0 0x7ffd 0x7f3c\n"));
  CHECK(reads.name == "recvfrom");
  CHECK(reads.descriptor == 31);
  const Call waits = call_of(cat(SYS_futex, " 0x7f 0x80 0x0 0x0 0x0 0x0 0x7ffd 0x7f3c"));
  CHECK(waits.name == "futex");
  CHECK(waits.descriptor == -1);
  CHECK(call_of("running").name.empty());
  CHECK(call_of("-1 0x7ffd 0x7f3c").name.empty());
  CHECK(call_of("").name.empty());
  CHECK(call_of("9999 0x1").name == "system call 9999");
  CHECK(call_of(cat(SYS_read, " 0xffffffffffffffff 0x0")).descriptor == -1);
}

TEST_CASE("a trainer that waits for an engine is described by where it waits and what it is connected with") {
  World world;
  world.process(100, "keeper", 'S', 1, 900);
  world.process(101, "bash", 'S', 100, 1, words({"bash", "train.sh"}));
  world.process(102, "python3", 'S', 101, 5000, words({"python3", "-u", "/work/run/train.py", "--lr", "1"}));
  world.thread(102, 102, "python3", 'S', cat(SYS_recvfrom, " 0x5 0x0 0x0 0x0"), "wait_woken");
  world.thread(102, 103, "nccl", 'R', "running", "0");
  world.thread(102, 104, "saver", 'S', "", "io_schedule");
  world.file(102, 5, "socket:[71]");
  world.file(102, 6, "socket:[72]");
  world.file(102, 7, "pipe:[73]");
  world.socket(102, 71, "01", "00000000:00000000");
  world.socket(102, 72, "01", "00000000:0000012C");
  world.socket(102, 99, "01", "00000000:00000001");  // somebody else's
  const RunSnapshot run = snapshot_run(world.system, {100, false, 0, {}, {}});
  REQUIRE(run.suspects.size() == 1);
  const ProcessSnapshot& snapshot = run.suspects.front();
  CHECK(snapshot.label == "train.py");
  CHECK(snapshot.info.id == ProcessId{102, 1102});
  CHECK(snapshot.threads == 3);
  CHECK(snapshot.connections.size() == 2);
  Surroundings around;
  around.peers = {{"10.0.0.7:8000", "engine, silent"}};
  around.gpus = "GPUs idle";
  around.stacks = "py-spy: train.py:12 in step";
  CHECK(sentence_of(snapshot, around) ==
        "3 threads, the main thread waits in recvfrom on 10.0.0.7:8000 (ESTABLISHED), 1 other runs; py-spy: "
        "train.py:12 in "
        "step; 2 sockets to 10.0.0.7:8000 (engine, silent), 300 B unread; GPUs idle");
  CHECK(contains(run.tree, "102 (of 101) S python3"));
  CHECK_FALSE(contains(run.tree, "keeper"));
  const std::string whole = full_text(snapshot, around);
  CHECK(contains(whole, "ESTABLISHED 127.0.0.1:40000 -> 10.0.0.7:8000, 300 unread, 0 unsent"));
  CHECK(contains(whole, "104 S saver: io_schedule"));
}

TEST_CASE("the clients of a server are listed together, those that gave up before those that wait") {
  ProcessSnapshot snapshot;
  snapshot.threads = 1;
  snapshot.connections = {{"LISTEN", "0.0.0.0:8000", "0.0.0.0:0", 0, 0},
                          {"ESTABLISHED", "127.0.0.1:8000", "127.0.0.1:40001", 0, 0},
                          {"CLOSE_WAIT", "127.0.0.1:8000", "127.0.0.1:40002", 0, 1},
                          {"CLOSE_WAIT", "127.0.0.1:8000", "127.0.0.1:40003", 0, 1},
                          {"ESTABLISHED", "127.0.0.1:40004", "10.0.0.9:80", 7, 0},
                          {"SYN_SENT", "127.0.0.1:40005", "10.0.0.9:81", 0, 0}};
  CHECK(
      sentence_of(snapshot, {}) ==
      "1 thread; 2 clients at 127.0.0.1:8000, hung up by the other side, 2 B unread; 1 socket to 10.0.0.9:80, 7 B not "
      "taken by the other side; 1 socket to 10.0.0.9:81, not answered; and 1 more");
}

TEST_CASE("what it used between two snapshots is stated") {
  World world;
  world.process(102, "python3", 'R', 1, 5000);
  const auto before = snapshot_process(world.system, {102, 1102});
  REQUIRE(before);
  world.process(102, "python3", 'R', 1, 5150);
  const auto after = snapshot_process(world.system, {102, 1102});
  REQUIRE(after);
  Surroundings around{&*after, 1.0, "", {}, ""};
  CHECK(contains(sentence_of(*before, around), "the main thread runs; uses 1.5 processors"));
  CHECK(contains(sentence_of(*after, around), "uses no processor time"));
}

TEST_CASE("a process that has the number of one that is gone is not it") {
  World world;
  world.process(102, "python3", 'S', 1, 1);
  CHECK_FALSE(snapshot_process(world.system, {102, 77}));
  CHECK_FALSE(snapshot_process(world.system, {103, 1103}));
  world.process(102, "python3", 'Z', 1, 1);
  CHECK_FALSE(snapshot_process(world.system, {102, 1102}));
}

TEST_CASE("parts in trouble come first, wherever they live, then those that worked most") {
  World world;
  world.process(100, "keeper", 'S', 1, 1);
  for (int64_t pid = 110; pid < 115; ++pid) world.process(pid, "python3", 'S', 100, pid);
  world.process(200, "keeper", 'S', 1, 1);
  world.process(201, "VLLM::EngineCor", 'T', 200, 3);
  world.process(300, "python3", 'S', 1, 9999);  // nobody of the run's
  world.file(111, 4, "socket:[5]");
  world.system.files["/proc/111/net/tcp"] = "   0: 0100007F:2328 00000000:0000 0A 0:2 00:0 0 1000 0 5 1\n";
  const RunSnapshot run = snapshot_run(world.system, {100, false, 0, {201}, {"localhost:9000"}});
  REQUIRE(run.suspects.size() == 3);
  CHECK(run.suspects[0].info.id.pid == 111);
  CHECK(run.suspects[1].info.id.pid == 201);
  CHECK(run.suspects[2].info.id.pid == 114);
  CHECK(contains(sentence_of(run.suspects[0], {}), "listens at 127.0.0.1:9000, 2 connections not accepted"));
  CHECK(sentence_of(run.suspects[1], {}) == "1 thread, stopped (SIGSTOP)");
}

TEST_CASE("of ranks that wait for one, the one is looked at first") {
  World world;
  world.process(100, "keeper", 'S', 1, 1);
  for (int64_t pid = 110; pid < 114; ++pid) {
    world.process(pid, "python3", 'S', 100, 900 + pid);
    world.thread(pid, pid, "python3", 'S', cat(SYS_futex, " 0x1"), "");
  }
  world.process(120, "python3", 'S', 100, 3);  // a helper: it has done nothing
  world.process(121, "python3", 'S', 1, 1);
  CHECK(snapshot_run(world.system, {100, false, 0, {}, {}}).suspects[0].info.id.pid == 113);
  world.thread(111, 111, "python3", 'S', cat(SYS_read, " 0x9"), "");
  const RunSnapshot run = snapshot_run(world.system, {100, false, 0, {}, {}});
  REQUIRE(run.suspects.size() == 3);
  CHECK(run.suspects[0].info.id.pid == 111);
  CHECK(sentence_of(run.suspects[0], {}) ==
        "1 thread, the main thread waits in read, unlike 3 other processes like it, which wait in futex");
  CHECK(run.suspects[1].info.id.pid == 113);
  CHECK(run.suspects[1].among.empty());
  world.thread(112, 112, "python3", 'R', "running", "");  // two of four: nobody is odd
  CHECK(snapshot_run(world.system, {100, false, 0, {}, {}}).suspects[0].info.id.pid == 113);
}

TEST_CASE("a process whose command line may hang the reader is called by its name") {
  World world;
  world.process(102, "python3", 'D', 1, 1, words({"python3", "train.py"}));
  world.thread(102, 102, "python3", 'D', "", "rpc_wait_bit_killable");
  world.thread(102, 103, "saver", 'D', "", "io_schedule");
  const auto snapshot = snapshot_process(world.system, {102, 1102});
  REQUIRE(snapshot);
  CHECK(snapshot->label == "python3");
  CHECK(
      sentence_of(*snapshot, {}) ==
      "2 threads, the main thread waits for a device or a disk (state D) in rpc_wait_bit_killable, 1 other waits for a "
      "device (state D)");
}

TEST_CASE("a machine that shows nothing, or a run without processes, gives no suspects") {
  FakeSystem nothing;
  CHECK(snapshot_run(nothing, {100, false, 0, {1, 2, 3}, {"x"}}).suspects.empty());
  World world;
  world.process(100, "keeper", 'S', 1, 1);
  CHECK(snapshot_run(world.system, {100, false, 0, {}, {}}).suspects.empty());
  world.process(101, "bash", 'S', 100, 1);
  REQUIRE(snapshot_run(world.system, {100, false, 0, {}, {}}).suspects.size() == 1);  // better than nobody
  CHECK(snapshot_run(world.system, {100, true, 0, {}, {}}).suspects.size() == 1);
}
