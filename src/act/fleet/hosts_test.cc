// Two users of one host: what the other one runs is not touched, not taken for nothing, and said.
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "act/fleet/provider.h"
#include "base/text.h"

namespace mw::fleet {
namespace {

namespace fs = std::filesystem;

constexpr uid_t kOther = 65533, kOwn = 65534;

/// A program "midwatch" that another user runs, and an ssh in the PATH that leads here, as a user of its own.
class Host {
 public:
  Host() : path_(std::getenv("PATH")) {
    root_ = (fs::temp_directory_path() / "midwatch-hosts-XXXXXX").string();
    REQUIRE(::mkdtemp(root_.data()) != nullptr);
    REQUIRE(::chmod(root_.c_str(), 0755) == 0);
    program("midwatch", "#!/bin/sh\nwhile :; do sleep 60; done\n");
    program("ssh", cat("#!/bin/sh\nexec setpriv --reuid=", kOwn, " --regid=", kOwn, " --clear-groups sh -s\n"));
    ::setenv("PATH", cat(root_, ":", path_).c_str(), 1);
  }
  ~Host() {
    ::setenv("PATH", path_.c_str(), 1);
    if (child_ > 0) {
      ::kill(-child_, SIGKILL);
      ::waitpid(child_, nullptr, 0);
    }
    fs::remove_all(root_);
  }
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  void other_runs(const char* verb) {
    child_ = ::fork();
    if (child_ == 0) {
      ::setpgid(0, 0);
      const std::string path = root_ + "/midwatch";
      if (::setgid(kOther) == 0 && ::setuid(kOther) == 0)
        ::execl("/bin/sh", "sh", path.c_str(), verb, "--from", "/x", nullptr);
      ::_exit(1);
    }
    ::setpgid(child_, child_);
    const std::string path = cat("/proc/", child_, "/cmdline");
    for (int i = 0; i < 1000; ++i) {  // until it is that program
      std::ifstream file(path);
      const std::string text((std::istreambuf_iterator<char>(file)), {});
      if (contains(text, verb)) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    FAIL("the other user's program did not start");
  }

  /// Is it this test's alone? Tests of whole programs run for other users, too.
  static bool alone(Provider& provider) {
    const auto listed = provider.list();
    REQUIRE(listed.ok());
    if (!listed->notes.empty()) MESSAGE("not tried: " << listed->notes[0]);
    return listed->notes.empty();
  }

  static std::unique_ptr<Provider> provider() {
    ProviderSpec spec;
    spec.kind = spec.name = "ssh";
    spec.values["folder"] = "/tmp/midwatch-hosts";
    spec.words = {"node1"};
    return std::move(*make_provider(spec));
  }

 private:
  void program(const std::string& name, const std::string& text) const {
    std::ofstream(root_ + "/" + name) << text;
    REQUIRE(::chmod((root_ + "/" + name).c_str(), 0755) == 0);
  }

  const std::string path_;
  std::string root_;
  pid_t child_ = -1;
};

TEST_CASE("a host on which another user's run goes on is not taken, and the list says why" *
          doctest::skip(::geteuid() != 0)) {
  Host host;
  const auto provider = Host::provider();
  if (!Host::alone(*provider)) return;
  CHECK(provider->search({})->size() == 1);
  host.other_runs("onstart");
  const auto listed = provider->list();
  REQUIRE(listed.ok());
  CHECK(listed->size() == 0);
  CHECK(listed->whole);  // of this user's own nothing is missing
  REQUIRE(listed->notes.size() == 1);
  CHECK(contains(listed->notes[0], cat("another user (uid ", kOther, ") runs midwatch onstart on node1")));
  CHECK(provider->search({})->empty());
}

TEST_CASE("who only watches there takes no host" * doctest::skip(::geteuid() != 0)) {
  Host host;
  const auto provider = Host::provider();
  if (!Host::alone(*provider)) return;
  host.other_runs("attach");
  CHECK(provider->list()->notes.empty());
  CHECK(provider->search({})->size() == 1);
}

}  // namespace
}  // namespace mw::fleet
