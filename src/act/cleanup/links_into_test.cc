// Links into checkpoints: what stays needs what it is made of.
#include "act/cleanup/links_into.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "act/cleanup/linked_checkpoints.h"
#include "act/cleanup/place_for_test.h"
#include "platform/real/posix_disk.h"

namespace mw {
namespace {

namespace fs = std::filesystem;

/// A file of step `of` that is a link into another place.
void link(Place& p, int of, const std::string& name, const std::string& text) {
  const std::string path = cat("/data/ck/step_", of, "/", name);
  p.put(path, safetensors());
  p.system.files[path] = text;
}

std::string why(const CleanupPlan& plan, const std::string& name) {
  for (const CleanupItem& one : plan.left) {
    if (one.name == name) return one.why;
  }
  return "";
}

TEST_CASE("the checkpoint in which a file of those that stay lies is kept, and the reason is given") {
  Place p;
  for (const int step : {10, 20, 30, 40}) p.whole(step);
  for (const int step : {20, 30, 40}) link(p, step, "frozen.safetensors", "../step_10/model.safetensors");
  p.settings.what = {"old-checkpoints"};
  p.settings.keep_last = 1;
  p.settings.explain = true;
  const CleanupPlan plan = p.all();
  CHECK(p.plan() == Names{"step_20", "step_30"});
  CHECK(why(plan, "step_10") == "a link leads to it, /data/ck/step_40/frozen.safetensors");
}

TEST_CASE("what only those need that go as well goes after them") {
  Place p;
  for (const int step : {10, 20, 30, 40}) p.whole(step);
  link(p, 20, "frozen.safetensors", "../step_10/model.safetensors");
  link(p, 30, "frozen.safetensors", "/data/ck/step_20/frozen.safetensors");  // by way of 20
  p.settings.what = {"old-checkpoints"};
  p.settings.keep_last = 1;
  CHECK(p.plan() == Names{"step_30", "step_20", "step_10"});
  p.settings.keep_last = 2;
  CHECK(p.plan().empty());
}

TEST_CASE("a link deep in a folder that is no checkpoint keeps what it leads to") {
  Place p;
  for (const int step : {10, 20, 30}) p.whole(step);
  p.put("/data/ck/export/for/serving/model.safetensors", safetensors());
  p.system.files["/data/ck/export/for/serving/model.safetensors"] = "../../../step_10/model.safetensors";
  p.settings.what = {"old-checkpoints"};
  p.settings.keep_last = 1;
  CHECK(p.plan() == Names{"step_20"});
}

TEST_CASE("a link that came since the plan was made keeps what it leads to") {
  Remover p;
  p.settings.keep_last = 1;
  const CleanupItem item = p.all().items.at(0);
  REQUIRE(item.name == "step_10");
  p.put("/data/ck/mixed/base", "");
  p.system.files["/data/ck/mixed/base"] = "../step_10";
  const auto removed = p.remove(item);
  REQUIRE_FALSE(removed.ok());
  CHECK(removed.error().what == "a link leads to it by now, /data/ck/mixed/base");
}

TEST_CASE("parts of one step in several trees hold each other only together") {
  Place p;
  p.scope.roots.emplace_back("/data/weights");
  p.scope.own.snapshot.folders["/data/weights"];
  p.scope.own.declared.emplace("/data/weights");
  for (const int step : {10, 20, 30}) {
    p.whole(step);
    p.put(cat("/data/weights/step_", step, "/model.safetensors"), safetensors());
    p.put(cat("/data/weights/step_", step, "/optimizer"), "");
    p.system.files[cat("/data/weights/step_", step, "/optimizer")] = cat("/data/ck/step_", step);
  }
  p.settings.what = {"old-checkpoints"};
  p.settings.keep_last = 1;
  CHECK(p.plan() == Names{"step_10", "step_20", "step_10", "step_20"});
}

/// On a real disk, where links are followed.
struct Folder {
  std::string root = (fs::temp_directory_path() / "midwatch-links-into-XXXXXX").string();
  std::string ck;
  std::shared_ptr<Disk> disk = make_posix_disk();
  std::unique_ptr<System> system = make_posix_system();
  Folder() {
    REQUIRE(::mkdtemp(root.data()) != nullptr);
    root = fs::canonical(root).string();
    ck = root + "/ck";
    for (const char* name : {"/ck/step_10/critic", "/ck/step_20", "/ck/step_30", "/shared"})
      fs::create_directories(root + name);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { fs::remove_all(root); }
  void link(const std::string& text, const std::string& name) const { fs::create_symlink(text, cat(root, "/", name)); }
  std::vector<std::string> found() const {
    const auto links = links_into(*disk, *system, {ck}, {ck});
    REQUIRE(links.ok());
    std::vector<std::string> out;
    for (const LinkInto& one : *links) {
      out.push_back(cat(basename(one.into), " from ", one.from.empty() ? "nowhere" : basename(one.from)));
    }
    return out;
  }
};

TEST_CASE("links to folders, through links and by way of folders elsewhere are followed") {
  const Folder on;
  on.link("../step_10/critic", "ck/step_20/critic");
  CHECK(on.found() == Names{"step_10 from step_20"});
  on.link("../step_20/critic", "ck/step_30/critic");  // both are needed
  CHECK(on.found() == Names{"step_10 from step_20", "step_10 from step_30", "step_20 from step_30"});
  fs::remove(on.ck + "/step_20/critic");  // now 30's leads to nothing, and holds nothing
  CHECK(on.found().empty());
  on.link("../../shared", "ck/step_30/base");
  on.link("../ck/step_10", "shared/frozen");
  CHECK(on.found() == Names{"step_10 from step_30"});
}

TEST_CASE("circles, links upwards and links within one checkpoint end, and hold nothing") {
  const Folder on;
  on.link("..", "ck/step_20/up");
  on.link("../..", "ck/step_20/all");
  on.link("critic", "ck/step_10/value");
  on.link("b", "ck/a");
  on.link("a", "ck/b");
  CHECK(on.found().empty());
}

}  // namespace
}  // namespace mw
