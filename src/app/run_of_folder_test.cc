#include "app/run_of_folder.h"

#include <doctest/doctest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "act/supervise/run_files.h"
#include "base/text.h"
#include "platform/real/posix_disk.h"

namespace mw {
namespace {

/// A home with recorded runs and folders of checkpoints beside it, on the real disk.
struct Place {
  std::string base = "/tmp/midwatch-folder-XXXXXX";
  std::unique_ptr<Disk> disk = make_posix_disk();
  Place() {
    REQUIRE(mkdtemp(base.data()) != nullptr);
    for (const char* folder : {"/one", "/two/deep", "/ckpts", "/work/out"})
      std::filesystem::create_directories(base + folder);
  }
  ~Place() { std::filesystem::remove_all(base); }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  void run(const std::string& name, const std::vector<std::string>& checkpoints, const std::string& folder = "/srv") {
    RunSpec spec;
    spec.command = {"true"};
    spec.folder = folder;
    spec.checkpoints = checkpoints;
    const std::string run_folder = home() + "/runs/" + name;
    std::filesystem::create_directories(run_folder + "/journal");
    std::ofstream(cat(run_folder, "/", kRunSpecFile)) << run_spec_text(spec);
  }
  std::string home() const { return base + "/home"; }
  /// What prune is to work on when it is given `word`.
  Result<CleanupRequest> asked(const std::string& word) {
    CleanupRequest request{home(), word, {"old-checkpoints"}, {}, RetentionRules{2, 0, ""}};
    return with_run_of_folder(*disk, std::move(request));
  }
};

TEST_CASE(
    "prune takes a folder of checkpoints, a checkpoint in it, or a folder around it for the run that declared it") {
  Place p;
  p.run("grpo", {p.base + "/one"});
  p.run("other", {p.base + "/two"});
  for (const char* path : {"/one", "/one/"}) {
    const auto one = p.asked(p.base + path);
    REQUIRE_MESSAGE(one.ok(), (one.ok() ? "" : one.error().what));
    CHECK(one->run == p.home() + "/runs/grpo");
    CHECK(one->below == absolute_path(p.base + path));
  }
  CHECK(p.asked(p.base + "/two/deep")->run == p.home() + "/runs/other");
  std::filesystem::create_directories(p.base + "/around/three");
  p.run("alone", {p.base + "/around/three"});
  CHECK(p.asked(p.base + "/around")->run == p.home() + "/runs/alone");
  CHECK(p.asked("grpo")->run == "grpo");  // a name stays a name
  CHECK(p.asked("grpo")->below.empty());
  CHECK(p.asked("gr")->run == "gr");
  CHECK(p.asked(p.home() + "/runs/grpo")->run == p.home() + "/runs/grpo");
  CleanupRequest cleanup{p.home(), p.base + "/one", {}, {}, {}};  // `midwatch cleanup` takes runs only
  CHECK(with_run_of_folder(*p.disk, cleanup)->below.empty());
}

TEST_CASE("where no run declared the folder, or several did, it is said what to type instead") {
  Place p;
  p.run("grpo", {p.base + "/one"});
  p.run("works", {}, p.base + "/work");
  const auto none = p.asked(p.base + "/ckpts");
  REQUIRE_FALSE(none.ok());
  CHECK(none.error().code == Error::Code::kInvalid);
  CHECK(contains(none.error().what, "no recorded run declared"));
  CHECK(contains(none.error().hint, cat("midwatch checkpoint list ", p.base, "/ckpts")));
  for (const char* const top : {"/", "/tmp"})  // around that of the one run, and of everybody else's
    CHECK(contains(p.asked(top).error().what, "no recorded run declared"));
  const auto works = p.asked(p.base + "/work/out");
  REQUIRE_FALSE(works.ok());
  CHECK(contains(works.error().what, "run works works in"));
  CHECK(contains(works.error().hint, "--checkpoints"));
  CHECK(p.asked(p.base + "/missing").error().code == Error::Code::kNotFound);
  // "/one-more" is not below "/one".
  std::filesystem::create_directories(p.base + "/one-more");
  CHECK_FALSE(p.asked(p.base + "/one-more").ok());
  p.run("next", {p.base + "/one"});
  const auto several = p.asked(p.base + "/one");
  REQUIRE_FALSE(several.ok());
  CHECK(contains(several.error().what, "2 runs keep checkpoints in"));
  CHECK(contains(several.error().hint, "midwatch checkpoint prune next"));
}

}  // namespace
}  // namespace mw
