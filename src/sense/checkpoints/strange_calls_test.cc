#include "sense/checkpoints/strange_calls.h"

#include <doctest/doctest.h>

#include "base/text.h"
#include "sense/checkpoints/samples_for_test.h"
#include "sense/checkpoints/verify.h"

namespace mw {
namespace {

using State = CheckpointVerdict::State;

std::string call_of(const std::string& module, const std::string& name, bool called = true) {
  return cat("\x80\x02", "c", module, "\n", name, "\n",
             called ? std::string("X\x04\0\0\0true\x85R.", 12) : std::string("."));
}

std::string found(const std::string& bytes) {
  const auto pickle = read_pickle(bytes);
  REQUIRE(pickle.ok());
  return strange_call(*pickle);
}

TEST_CASE("what starts programs or runs texts is named; what healthy checkpoints call is not") {
  CHECK(found(call_of("posix", "system")) == "posix.system");
  CHECK(found(call_of("os", "execv")) == "os.execv");
  CHECK(found(call_of("subprocess", "Popen")) == "subprocess.Popen");
  CHECK(found(call_of("builtins", "eval")) == "builtins.eval");
  CHECK(found(call_of("__builtin__", "exec")) == "__builtin__.exec");
  CHECK(found(call_of("posix", "system", false)).empty());
  for (const auto& [module, name] : {std::pair("builtins", "getattr"),
                                     {"builtins", "set"},
                                     {"os", "_Environ"},
                                     {"collections", "OrderedDict"},
                                     {"torch._utils", "_rebuild_tensor_v2"},
                                     {"torch.storage", "_load_from_bytes"},
                                     {"subprocess", "CompletedProcess"},
                                     {"my_trainer", "system"},
                                     {"pathlib", "PosixPath"}}) {
    const std::string called = name;
    CAPTURE(called);
    CHECK(found(call_of(module, name)).empty());
  }
}

TEST_CASE("a checkpoint that would run a program is corrupt, and none to resume from") {
  for (const char* file : {"optimizer.pt", "scheduler.pt", "training_args.bin"}) {
    CAPTURE(file);
    FakeDisk disk;
    testing::put_samples(disk);
    disk.put(cat("/ck/trl/checkpoint-20/", file), call_of("posix", "system"));
    VerifyOptions options;
    options.now = Time::from_seconds(1768500000);
    const auto verdict = verify_checkpoint(disk, "/ck/trl/checkpoint-20", options);
    REQUIRE(verdict.ok());
    CHECK(verdict->state == State::kCorrupt);
    CHECK(verdict->resumable == CheckpointVerdict::Resumable::kNo);
    REQUIRE_FALSE(verdict->problems.empty());
    CHECK(contains(verdict->problems[0].what, "whoever loads it runs posix.system"));
  }
}

TEST_CASE("an optimizer's file without a state of one is none to resume from") {
  FakeDisk disk;
  testing::put_samples(disk);
  disk.put("/ck/trl/checkpoint-20/optimizer.pt", "\x80\x02}.");
  VerifyOptions options;
  options.now = Time::from_seconds(1768500000);
  const auto verdict = verify_checkpoint(disk, "/ck/trl/checkpoint-20", options);
  REQUIRE(verdict.ok());
  CHECK(verdict->resumable == CheckpointVerdict::Resumable::kNo);
  REQUIRE_FALSE(verdict->lacks.empty());
  CHECK(verdict->lacks[0] == Piece::kOptimizer);
}

}  // namespace
}  // namespace mw
