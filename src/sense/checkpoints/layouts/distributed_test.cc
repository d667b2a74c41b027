// PyTorch DCP saved without collectives: each rank has a .metadata of its own.
#include <doctest/doctest.h>

#include "base/text.h"
#include "sense/checkpoints/samples_for_test.h"
#include "sense/checkpoints/scan.h"
#include "sense/checkpoints/verify.h"

namespace mw {
namespace {

using State = CheckpointVerdict::State;

/// Two ranks, each with all of the sample's tensors in a file of its own.
struct Ranks {
  FakeDisk disk;
  Ranks() {
    testing::put_samples(disk);
    const std::string from = "/ck/prime-rl/checkpoints/step_20/trainer/";
    for (const char* rank : {"0", "1"}) {
      std::string metadata = disk.content(from + ".metadata");
      for (size_t at = 0; (at = metadata.find("__0_0.distcp", at)) != std::string::npos; at += 12)
        metadata.replace(at, 12, cat("__", rank, "_0.distcp"));
      disk.put(path(cat("__", rank, ".metadata")), metadata);
      disk.put(path(cat("__", rank, "_0.distcp")), disk.content(from + "__0_0.distcp"));
    }
  }
  static std::string path(const std::string& name) { return cat("/out/step-20/", name); }
  CheckpointVerdict look() {
    VerifyOptions options;
    options.now = Time::from_seconds(4e9);
    auto verdict = verify_checkpoint(disk, "/out/step-20", options);
    REQUIRE(verdict.ok());
    return std::move(*verdict);
  }
  std::string first_problem() {
    const CheckpointVerdict verdict = look();
    CHECK(verdict.state == State::kPartial);
    return verdict.problems.empty() ? "" : cat(verdict.problems[0].path, ": ", verdict.problems[0].what);
  }
};

TEST_CASE("a .metadata of each rank is as good as one of all") {
  Ranks on;
  CHECK(on.look().state == State::kWhole);
  CHECK(scan_checkpoint(on.disk, "/out/step-20", 20, nullptr).seen.how == event::CheckpointSeen::How::kWhole);
}

TEST_CASE("what a rank lacks of its own is missing") {
  Ranks named;
  named.disk.unlink(Ranks::path("__1.metadata"));
  CHECK(named.first_problem() == "__1.metadata: it is missing, and other ranks have theirs");
  Ranks first;
  first.disk.unlink(Ranks::path("__0.metadata"));
  first.disk.unlink(Ranks::path("__0_0.distcp"));
  CHECK(first.first_problem() == "__0.metadata: it is missing, and other ranks have theirs");
  Ranks data;
  data.disk.unlink(Ranks::path("__1_0.distcp"));
  CHECK(data.first_problem() == "__1_0.distcp: it is missing, and __1.metadata names it");
  Ranks cut;
  const std::string content = cut.disk.content(Ranks::path("__0_0.distcp"));
  cut.disk.put(Ranks::path("__0_0.distcp"), content.substr(0, content.size() / 2));
  CHECK(contains(cut.first_problem(), "__0_0.distcp: it is cut"));
}

}  // namespace
}  // namespace mw
