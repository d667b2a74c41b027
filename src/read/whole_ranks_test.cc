// Which failure leads where the processes of one run die of each other: the order of their lines in a log is that in
// which they were flushed.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "read/testing/whole_log.h"

namespace mw {
namespace {

using Lines = std::vector<std::string>;

std::string steps() {
  std::string log;
  for (int i = 1; i <= 60; ++i) {
    log += cat("step ", i, "/200 | reward 0.3", i % 10, " | kl 0.011 | loss 0.0012 | grad_norm 0.4", i % 7, "\n");
  }
  return log;
}

Lines raised(int rank, std::string_view exception, bool prefixed = true) {
  const std::string prefix = prefixed ? cat("[rank", rank, "]: ") : "";
  Lines lines;
  for (const std::string_view line :
       {std::string_view("Traceback (most recent call last):"),
        std::string_view("  File \"/w/train.py\", line 40, in <module>"), std::string_view("    main()"),
        std::string_view("  File \"/w/work.py\", line 9, in update"), std::string_view("    out = f(batch)"),
        exception}) {
    lines.push_back(cat(prefix, line));
  }
  return lines;
}

Lines timed_out(int rank) {
  return {cat("[rank", rank, "]:[E1120 12:10:12.511 ProcessGroupNCCL.cpp:632] [Rank ", rank,
              "] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=45, OpType=ALLREDUCE, NumelIn=10, "
              "NumelOut=10, Timeout(ms)=600000) ran for 600012 milliseconds before timing out.")};
}

const Incident* worst_of(const State& state) {
  const auto worst = std::max_element(state.incidents.begin(), state.incidents.end(),
                                      [](const Incident& a, const Incident& b) { return a.severity < b.severity; });
  return worst == state.incidents.end() ? nullptr : &*worst;
}

/// The kind of the worst incident of a log that ends with these lines.
std::string kind_after(const std::vector<Lines>& said) {
  std::string log = steps();
  for (const Lines& lines : said) {
    for (const std::string& line : lines) log += line + "\n";
  }
  const State state = state_of(log);
  const Incident* worst = worst_of(state);
  return worst == nullptr ? "" : worst->kind;
}

/// The lines of all in turns.
Lines mixed(const std::vector<Lines>& said) {
  Lines all;
  for (size_t i = 0; i < 6; ++i) {
    for (const Lines& lines : said) {
      if (i < lines.size()) all.push_back(lines[i]);
    }
  }
  return all;
}

constexpr std::string_view kStore =
    "torch.distributed.DistNetworkError: Failed to recv, got 0 bytes. Connection was likely closed.";
constexpr std::string_view kBarrier =
    "RuntimeError: Rank 1 successfully reached monitoredBarrier, but received errors while waiting to send/recv for "
    "rank 0.";
constexpr std::string_view kPeer =
    "torch.distributed.DistBackendError: NCCL error in: NCCLUtils.hpp:31, remote process exited or there was a network "
    "error, NCCL version 2.21.5";
constexpr std::string_view kActor =
    "ray.exceptions.ActorDiedError: The actor died unexpectedly before finishing this task.";

TEST_CASE("a rank's own failure leads over what other ranks say of its death, before and after it") {
  const auto key = "KeyError: 'slot_7'",
             memory = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB.",
             service =
                 "requests.exceptions.ConnectionError: HTTPConnectionPool(host='judge', port=80): Max retries "
                 "exceeded with url: /score";
  for (const std::string_view echo : {kStore, kBarrier, kPeer, kActor}) {
    for (const bool prefixed : {true, false}) {
      CAPTURE(std::string(echo));
      const Lines one = raised(1, echo, prefixed), two = raised(2, echo, prefixed);
      const auto both = [&](std::string_view root) {
        const Lines own = raised(0, root, prefixed);
        const std::string first = kind_after({own, one, two}), last = kind_after({one, two, own});
        CHECK(first == last);
        return last;
      };
      CHECK(both(key) == "code-error");
      CHECK(both(memory) == "gpu-out-of-memory");
      CHECK(both(service) == "network");
    }
  }
  CHECK(kind_after({raised(1,
                           "torch.distributed.DistStoreError: Timed out after 61 seconds waiting for clients. 1/2 "
                           "clients joined."),
                    raised(0, "ModuleNotFoundError: No module named 'acme'")}) == "dependency-broken");
  // They had waited for minutes: what is said after that came of the abort, but where it had waited, too.
  CHECK(kind_after({raised(0, key), timed_out(1), timed_out(2)}) == "code-error");
  CHECK(kind_after({timed_out(1), timed_out(2), raised(0, key)}) == "collective-timeout");
  CHECK(kind_after({timed_out(1), timed_out(2), raised(0, "TimeoutError: the scorer did not answer in 300 s")}) ==
        "crash");
}

TEST_CASE("the lines of several ranks' tracebacks may be mixed") {
  for (const std::string_view echo : {kStore, kBarrier, kPeer, kActor}) {
    CAPTURE(std::string(echo));
    CHECK(kind_after({mixed({raised(1, echo), raised(0, "KeyError: 'slot_7'"), raised(2, echo)})}) == "code-error");
  }
  CHECK(kind_after({mixed({raised(0, "KeyError: 'slot_7'"), timed_out(1), timed_out(2)})}) == "code-error");
}

TEST_CASE("where no rank says an error of its own, the echo leads") {
  CHECK(kind_after({raised(1, kStore), raised(2, kStore)}) == "worker-lost");
  CHECK(kind_after({raised(1, "torch.distributed.DistNetworkError: Connection reset by peer")}) == "worker-lost");
  CHECK(kind_after({raised(1, kBarrier), raised(2, kBarrier)}) == "collective-timeout");
  CHECK(kind_after({timed_out(1), timed_out(2)}) == "collective-timeout");
  // What a person does about a run that hangs, and what a rank says after it heard of another's death, is no root.
  CHECK(kind_after({timed_out(1), raised(0, "KeyboardInterrupt")}) == "collective-timeout");
  CHECK(kind_after({raised(1, kBarrier), raised(1, "ValueError: no result")}) == "collective-timeout");
}

TEST_CASE("where the interpreter was when it was aborted is said") {
  const State state = state_of(cat(steps(),
                                   "Fatal Python error: Aborted\n\nCurrent thread 0x1 (most recent call first):\n"
                                   "  File \"/w/pack.py\", line 3 in pack\n"));
  const Incident* worst = worst_of(state);
  REQUIRE(worst != nullptr);
  REQUIRE(!worst->evidence.empty());
  CHECK(worst->evidence[0].text == "Fatal Python error: Aborted, in pack.py:3 in pack");
}

TEST_CASE("a shell's word of an abort says nothing of why; what was printed before it does") {
  const std::string shell = "run.sh: line 9: 4411 Aborted                 (core dumped) python train.py\n";
  const auto cause_of = [&](std::string_view before) {
    const State state = state_of(cat(steps(), before, shell));
    const Incident* worst = worst_of(state);
    return worst == nullptr || worst->causes.empty() ? std::string() : worst->causes[0].id;
  };
  CHECK(cause_of("") == "cpp-terminate");
  CHECK(cause_of("terminate called after throwing an instance of 'acme::Closed'\n  what():  queue 3 was closed\n") ==
        "native-exception");
  CHECK(cause_of("python: ring.c:9: push: Assertion `head != tail' failed.\n") == "native-check-failed");
  CHECK(cause_of("F1120 12:01:14.123456 48211 pool.cc:20] Check failed: left > 0 (0 vs. 0) arena 2\n") ==
        "native-check-failed");
  CHECK(cause_of("Fatal Python error: Aborted\n\nCurrent thread 0x1 (most recent call first):\n"
                 "  File \"/w/pack.py\", line 3 in pack\n") == "cpp-terminate");
  CHECK(cause_of("free(): invalid pointer\n") == "heap-corruption-abort");
}

}  // namespace
}  // namespace mw
