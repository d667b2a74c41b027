#include "platform/real/other_mounts.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <iterator>

#include "base/text.h"
#include "platform/open_files.h"

namespace mw {
namespace {

TEST_CASE("a container's folder is found where its file system is mounted here") {
  const char* ours =
      "22 1 8:1 / / rw shared:1 - ext4 /dev/sda1 rw\n"
      "40 22 8:17 / /data rw shared:2 - ext4 /dev/sdb1 rw\n"
      "41 22 8:17 /home/my\\040name /home rw - ext4 /dev/sdb1 rw\n"
      "nonsense\n";
  const char* theirs =
      "90 80 0:50 / / rw - overlay overlay rw,lowerdir=/a\n"
      "91 90 8:17 /runs/7 /workspace/out rw - ext4 /dev/sdb1 rw\n"
      "92 90 8:17 /home/my\\040name/x /mine rw - ext4 /dev/sdb1 rw\n"
      "93 90 8:1 /srv /covered rw - ext4 /dev/sda1 rw\n"
      "94 90 0:51 / /covered rw - tmpfs tmpfs rw\n";
  using Places = std::vector<std::string>;
  CHECK(places_of(theirs, ours, "/workspace/out/train.log") == Places{"/data/runs/7/train.log"});
  CHECK(places_of(theirs, ours, "/workspace/out") == Places{"/data/runs/7"});
  CHECK(places_of(theirs, ours, "/mine/a") == Places{"/data/home/my name/x/a", "/home/x/a"});
  CHECK(places_of(theirs, ours, "/workspace/output/a").empty());  // the container's own
  CHECK(places_of(theirs, ours, "/covered/a").empty());
  CHECK(places_of("", ours, "/a").empty());
  CHECK(places_of("90 80 8:1 / / rw -", ours, "/") == Places{"/"});
}

void put(const std::string& path, const char* text) { std::ofstream(path) << text; }

std::string content(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// A process in a mount namespace of its own, in which `from` ("": a new file system) is mounted over `at`. It works
/// there, and has a file of it open to write.
class Container {
 public:
  Container(const std::string& from, const std::string& at) {
    int ready[2];
    REQUIRE(pipe2(ready, O_CLOEXEC) == 0);
    pid_ = fork();
    if (pid_ == 0) {
      const bool own = unshare(CLONE_NEWNS) == 0 && mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
      const bool made = own && (from.empty() ? mount("tmpfs", at.c_str(), "tmpfs", 0, nullptr)
                                             : mount(from.c_str(), at.c_str(), nullptr, MS_BIND, nullptr)) == 0;
      if (made && chdir(at.c_str()) == 0 && open("train.log", O_WRONLY | O_CREAT | O_APPEND, 0600) >= 0) {
        if (write(ready[1], "+", 1) == 1) pause();
      }
      _exit(0);
    }
    close(ready[1]);
    char one = 0;
    made_ = read(ready[0], &one, 1) == 1;
    close(ready[0]);
  }
  ~Container() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  bool made() const { return made_; }
  int64_t pid() const { return pid_; }

 private:
  pid_t pid_ = 0;
  bool made_ = false;
};

TEST_CASE("the log of a process in a container is found by a name that leads to it from here") {
  char name[] = "/tmp/other-mounts-XXXXXX";
  REQUIRE(mkdtemp(name) != nullptr);
  const std::string folder = name, work = folder + "/work", data = folder + "/data";
  REQUIRE(mkdir(work.c_str(), 0700) == 0);
  REQUIRE(mkdir(data.c_str(), 0700) == 0);
  put(work + "/train.log", "of another run");
  put(data + "/train.log", "its own");
  const auto log_of = [](int64_t pid) {
    const auto files = open_files(pid);
    REQUIRE(files.ok());
    const auto found = std::find_if(files->begin(), files->end(),
                                    [](const OpenFile& one) { return contains(one.target, "train.log"); });
    REQUIRE(found != files->end());
    CHECK(found->regular);
    CHECK(found->writes);
    return found->target;
  };
  const auto works_in = [](int64_t pid) {
    const auto works = working_folder_of(pid);
    REQUIRE(works.ok());
    return *works;
  };
  SUBCASE("in a file system of its own") {
    Container container("", work);
    if (!container.made()) return;  // not allowed to mount here
    put(cat("/proc/", container.pid(), "/root", work, "/train.log"), "the container's");
    const std::string log = log_of(container.pid());
    CHECK(content(log) == "the container's");
    CHECK(content(log) != content(work + "/train.log"));
    CHECK(works_in(container.pid()) == cat("/proc/", container.pid(), "/root", work));
  }
  SUBCASE("in a folder of this machine that has another name there") {
    Container container(data, work);
    if (!container.made()) return;
    CHECK(log_of(container.pid()) == data + "/train.log");
    CHECK(works_in(container.pid()) == data);
  }
  for (const std::string& one : {work, data}) {
    unlink((one + "/train.log").c_str());
    rmdir(one.c_str());
  }
  rmdir(name);
}

}  // namespace
}  // namespace mw
