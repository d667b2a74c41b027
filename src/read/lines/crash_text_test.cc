// Crash texts of programs that are not Python's.
#include "read/lines/crash_text.h"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

#include "base/text.h"

namespace mw {
namespace {

/// What is read of the lines: "exception: message @ frame", one after the other.
std::string read(std::string_view text) {
  CrashTextReader reader;
  std::string all;
  const auto add = [&all](const event::TraceSeen& trace) {
    all += cat(all.empty() ? "" : " | ", trace.exception, ": ", trace.message, " @ ", trace.frame);
  };
  uint64_t number = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    ++number;
    for (bool again = true; again;) {
      const bool done = reader.feed(text.substr(begin, end - begin), number);
      again = done && reader.again();
      if (done) add(reader.take());
    }
    begin = end + 1;
  }
  if (const auto rest = reader.flush()) add(*rest);
  return all;
}

TEST_CASE("Rust: the message stands in the line after the head, or in it") {
  CHECK(
      read("thread 'main' (41) panicked at src/pool.rs:23:17:\nslot 12 is free\nnote: run with `RUST_BACKTRACE=1`\n") ==
      "Rust panic: slot 12 is free @ src/pool.rs:23:17");
  CHECK(read("thread 'main' panicked at 'slot 12 is free', src/pool.rs:23:17\nstep 4\n") ==
        "Rust panic: slot 12 is free @ src/pool.rs:23:17");
  CHECK(read("thread 'main' panicked at src/pool.rs:23:17:\n").empty());
}

TEST_CASE("Go: the stack has to follow") {
  CHECK(
      read(
          "panic: queue 4 is closed\n\ngoroutine 1 [running]:\nmain.(*Q).Put(0xc0, 0x11)\n\t/src/q/q.go:14 +0x1d4\n") ==
      "Go panic: queue 4 is closed @ /src/q/q.go:14");
  CHECK(read("panic: the model wrote\nstep 5 | reward 0.3\ngoroutine 1 [running]:\n").empty());
}

TEST_CASE("Java and .NET: with the last cause, or without one") {
  CHECK(read("Exception in thread \"main\" org.acme.BadState: drained\n\tat org.acme.Pump.run(Pump.java:18)\n"
             "\tat org.acme.Main.main(Main.java:4)\nCaused by: java.io.EOFException: peer gone\n"
             "\tat org.acme.Frame.read(Frame.java:6)\n\t... 1 more\nstep 4\n") ==
        "org.acme.BadState: drained; caused by java.io.EOFException: peer gone @ Pump.java:18 in org.acme.Pump.run");
  CHECK(read("Exception in thread \"main\" org.acme.BadState: drained\n\tat org.acme.Pump.run(Pump.java:18)\n") ==
        "org.acme.BadState: drained @ Pump.java:18 in org.acme.Pump.run");
  CHECK(read("Unhandled exception. Acme.Gone: ticket 8\n   at Acme.Pool.Rent() in /src/Pool.cs:line 52\nAborted\n") ==
        "Acme.Gone: ticket 8 @ /src/Pool.cs:52 in Acme.Pool.Rent");
}

TEST_CASE("Node.js: its last line says that nothing caught the error") {
  const std::string error =
      "PoolError: no browser for task-9\n    at Pool.take (/srv/dist/index.js:88:11)\n"
      "    at next (node:internal/task_queues:95:5) {\n  code: 'EPOOL'\n}\n\n";
  CHECK(read(error + "Node.js v20.1.0\n") == "PoolError: no browser for task-9 @ /srv/dist/index.js:88 in Pool.take");
  CHECK(read(error).empty());
  CHECK(read("ValueError: bad\nstep 4\nNode.js v20.1.0\n").empty());
}

TEST_CASE("Julia: the stack has to follow") {
  CHECK(read("ERROR: LoadError: DomainError with -3.0:\nthe root is not real\nStacktrace:\n [1] root(x::Float64)\n"
             "   @ Base.Math ./math.jl:33\n") ==
        "LoadError: DomainError with -3.0: the root is not real @ ./math.jl:33");
  CHECK(read("ERROR: no matching distribution\nstep 4\n\nstep 5\n").empty());
}

TEST_CASE("the interpreter's own crash says where its thread was") {
  CHECK(read("Fatal Python error: Aborted\n\nThread 0x1 (most recent call first):\n  File \"/usr/x.py\", line 3 in "
             "wait\n\n"
             "Current thread 0x2 (most recent call first):\n  File \"/w/rl/pack.py\", line 77 in pack\n") ==
        "Fatal Python error: Aborted, in pack.py:77 in pack @ /w/rl/pack.py:77 in pack");
  CHECK(read("Fatal Python error: could not acquire lock at interpreter shutdown\n").empty());
}

TEST_CASE("whatever the lines are, nothing breaks") {
  CHECK(read("thread '\nthread 'a' panicked at \n\x01\n").empty() == false);
  CHECK(read("Exception in thread \"x\" : \n\tat\nUnhandled exception. \nNode.js v\nERROR: \n").empty());
}

}  // namespace
}  // namespace mw
