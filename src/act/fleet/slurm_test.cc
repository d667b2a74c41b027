// The provider of kind "slurm", against programs of Slurm's names that print what a real one printed.
#include <doctest/doctest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "act/fleet/provider.h"
#include "base/text.h"

namespace mw::fleet {
namespace {

namespace fs = std::filesystem;

/// A PATH in which a program of Slurm's does what `script` says.
struct Programs {
  Programs() {
    root = (fs::temp_directory_path() / "midwatch-slurm-test-XXXXXX").string();
    REQUIRE(::mkdtemp(root.data()) != nullptr);
    ::setenv("PATH", (root + ":" + path).c_str(), 1);
  }
  ~Programs() {
    ::setenv("PATH", path.c_str(), 1);
    fs::remove_all(root);
  }
  void program(const std::string& name, std::string_view script) const {
    std::ofstream(root + "/" + name) << "#!/bin/sh\n" << script << "\n";
    REQUIRE(::chmod((root + "/" + name).c_str(), 0755) == 0);
  }
  const std::string path = std::getenv("PATH");
  std::string root;
};

std::unique_ptr<Provider> slurm() {
  ProviderSpec spec;
  spec.kind = spec.name = "slurm";
  spec.values["partition"] = "gpu";
  return std::move(*make_provider(spec));
}

Order starting(const std::string& start) {
  Order order;
  order.label = "midwatch-test-0badcafe-3-00000000000000a1";
  order.start = start;
  order.environment["SECRET"] = "not to be shown";
  return order;
}

Error refusal(const Programs& programs, std::string_view says) {
  programs.program("sbatch", cat("cat >/dev/null; printf '%s\\n' ", says, " >&2; exit 1"));
  const auto made = slurm()->create({}, starting("true"));
  REQUIRE_FALSE(made.ok());
  return made.error();
}

}  // namespace

TEST_CASE("what sbatch refuses is said in one line, and what it refuses now only is no mistake") {
  const Programs programs;
  const Error wrong = refusal(programs,
                              "'sbatch: error: invalid partition specified: gpu' "
                              "'sbatch: error: Batch job submission failed: Invalid partition name specified'");
  CHECK(wrong.code == Error::Code::kInvalid);
  CHECK(wrong.what ==
        "sbatch: invalid partition specified: gpu; Batch job submission failed: Invalid partition name specified");
  const Error full = refusal(programs,
                             "'sbatch: error: Batch job submission failed: Job violates accounting/QOS policy (job "
                             "submit limit, the user size and/or time limits)'");
  CHECK(full.code == Error::Code::kFull);
  const Error unheard = refusal(programs, "'sbatch: error: Unable to contact slurm controller (connect failure)'");
  CHECK(unheard.code == Error::Code::kIo);
}

TEST_CASE("a job that ended is listed with Slurm's word for it, as long as Slurm knows it") {
  const Programs programs;
  programs.program(
      "squeue",
      "case \"$*\" in *--states=all*) echo '7|midwatch-a-0badcafe-1-00000000000000a1|FAILED|NonZeroExitCode';"
      " esac; echo '8|midwatch-a-0badcafe-3-00000000000000a2|RUNNING|None'");
  const auto listed = slurm()->list();
  REQUIRE(listed.ok());
  REQUIRE(listed->size() == 2);
  CHECK(listed->instances.front().state == InstanceState::kGone);
  CHECK(listed->instances.front().says == "FAILED, NonZeroExitCode");
  CHECK(listed->instances.back().state == InstanceState::kRunning);
}

TEST_CASE("an array of jobs would train the run several times, and is refused; a comment is none") {
  const Programs programs;
  programs.program("sbatch", "cat >/dev/null; echo 12");
  for (const char* const start : {"#SBATCH --array=0-3\ntrain", "# first\n\n#SBATCH  -a 0-3\ntrain"}) {
    const auto made = slurm()->create({}, starting(start));
    REQUIRE_FALSE(made.ok());
    CHECK(made.error().code == Error::Code::kInvalid);
  }
  for (const char* const start : {"#SBATCH --mem=100G\ntrain", "train\n#SBATCH --array=0-3"}) {
    const auto made = slurm()->create({}, starting(start));
    REQUIRE(made.ok());
    CHECK(made->id == "12");
  }
}

TEST_CASE("what would be submitted is shown, without the values of the environment") {
  const auto shown = slurm()->preview({}, starting("exec midwatch onstart"));
  REQUIRE(shown.ok());
  CHECK(contains(*shown, "--partition=gpu"));
  CHECK(contains(*shown, "exec midwatch onstart\nEND\n"));
  CHECK_FALSE(contains(*shown, "not to be shown"));
}

}  // namespace mw::fleet
