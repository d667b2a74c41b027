#include "sense/processes/stacks.h"

#include <doctest/doctest.h>

#include "base/text.h"

using namespace mw;
using namespace mw::components;

namespace {

const std::string kPySpy =
    "Process 4711: python3 train.py\nPython v3.10.4 (/usr/bin/python3.10)\n\n"
    "Thread 4722 (idle): \"pin_memory\"\n    wait (threading.py:320)\n"
    "Thread 4711 (idle): \"MainThread\"\n    readinto (socket.py:705)\n    ask (client.py:41)\n    step (train.py:12)\n"
    "    main (train.py:80)\n    <module> (train.py:99)\n";
const std::string kGdb =
    "[New LWP 4722]\n[Thread debugging using libthread_db enabled]\n0x00007f3c in __recv () from libc.so.6\n\n"
    "Thread 2 (Thread 0x7f3c (LWP 4722) \"helper\"):\n#0  0x00007f3c11 in pthread_cond_wait () from libc.so.6\n\n"
    "Thread 1 (Thread 0x7f3d (LWP 4711) \"python3\"):\n#0  0x00007f3c12 in __libc_recv (fd=5, n=1) at recv.c:28\n"
    "#1  sock_call (self=0x0) at socketmodule.c:12\n#2  0x00007f3c14 in ?? ()\n";
const std::string kEuStack =
    "PID 4711 - process\nTID 4711:\n#0  0x00007f3c8a1 __libc_recv\n#1  0x00007f3c8b2 - 1 sock_recv\nTID 4722:\n#0  "
    "0x01 futex\n";

struct World {
  FakeSystem system;
  std::vector<std::string> asked;
  std::map<std::string, Result<ProgramEnd>> answers;
  World() { is('S'); }
  void is(char state, int start = 99) {
    system.files["/proc/4711/stat"] =
        cat("4711 (python3) ", std::string(1, state), " 1 1 1 0 -1 0 0 0 0 0 1 1 0 0 20 0 1 0 ", start, " 1 1\n");
  }
  Stacks ask(bool may_stop = true) {
    return stacks_of(
        system,
        [this](const ProgramRequest& request) -> Result<ProgramEnd> {
          asked.push_back(request.command.front());
          const auto found = answers.find(request.command.front());
          if (found == answers.end()) return Error{Error::Code::kNotFound, "", ""};
          return found->second;
        },
        {4711, 99}, may_stop);
  }
};

ProgramEnd wrote(const std::string& text, int code = 0, bool late = false) {
  ProgramEnd end;
  end.code = code;
  end.late = late;
  end.output = text;
  return end;
}

}  // namespace

TEST_CASE("the innermost functions of a thread are read from what each program writes") {
  CHECK(innermost(kPySpy, 4711) ==
        "socket.py:705 in readinto <- client.py:41 in ask <- train.py:12 in step <- train.py:80 in main");
  CHECK(innermost(kPySpy, 4722) == "threading.py:320 in wait");
  CHECK(innermost(kGdb, 4711) == "__libc_recv <- sock_call");
  CHECK(innermost(kEuStack, 4711) == "__libc_recv <- sock_recv");
  CHECK(innermost(kEuStack, 471) == "__libc_recv <- sock_recv");  // the first, where none has that number
  CHECK(innermost("", 1).empty());
  CHECK(innermost("Thread 1\n#0\n#1  \n    (\n    )\n", 1).empty());
}

TEST_CASE("py-spy comes first, and after one that prints no stacks the next is tried") {
  World world;
  world.answers = {{"py-spy", wrote(kPySpy)}};
  Stacks stacks = world.ask();
  CHECK(stacks.tool == "py-spy");
  CHECK(world.asked == std::vector<std::string>{"py-spy"});
  world.asked.clear();
  world.answers = {{"py-spy", wrote("Error: Failed to find python version\n", 1)}, {"gdb", wrote(kGdb)}};
  stacks = world.ask();
  CHECK(stacks.tool == "gdb");
  CHECK(stacks.why_not.empty());
  CHECK(world.asked == std::vector<std::string>{"py-spy", "eu-stack", "gdb"});
}

TEST_CASE("the reason why there are no stacks is given") {
  World world;
  CHECK(contains(world.ask().why_not, "neither py-spy"));
  world.answers = {{"gdb", wrote("warning: something\nptrace: Operation not permitted.\n")}};
  CHECK(world.ask().why_not == "gdb: ptrace: Operation not permitted.");
  world.answers = {{"gdb", wrote("", -1, true)}};
  const Stacks late = world.ask();
  CHECK(late.late);
  CHECK(contains(late.why_not, "was not done within"));
}

TEST_CASE("one that is stopped, waits for a device, or is another by now is left alone") {
  World world;
  for (const char state : {'T', 't', 'D', 'Z'}) {
    world.is(state);
    CHECK(world.ask().tool.empty());
  }
  world.is('S', 98);
  CHECK(world.ask().why_not == "it was gone");
  world.system.files["/proc/sys/kernel/yama/ptrace_scope"] = "3\n";
  world.is('S');
  CHECK(world.ask().why_not == "kernel.yama.ptrace_scope is 3");
  CHECK(world.asked.empty());
}

TEST_CASE("what stops a process is not asked where that may be well") {
  World world;
  world.answers = {{"gdb", wrote(kGdb)}};
  CHECK(contains(world.ask(false).why_not, "is not there, and nothing that stops a process"));
  CHECK(world.asked == std::vector<std::string>{"py-spy"});
}

TEST_CASE("secrets do not stay in what a program wrote") {
  World world;
  world.answers = {{"py-spy", wrote(kPySpy + "    login (api_key=abcdef0123456789abcdef)\n")}};
  const Stacks stacks = world.ask();
  CHECK(stacks.tool == "py-spy");
  CHECK_FALSE(contains(stacks.text, "abcdef0123456789"));
}
