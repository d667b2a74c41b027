#include "platform/system.h"

#include <doctest/doctest.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <thread>

#include "base/testing/skip.h"
#include "platform/background_call.h"

namespace mw {
namespace {

std::string make_folder() {
  std::string name = "/tmp/midwatch-system-XXXXXX";
  REQUIRE(mkdtemp(name.data()) != nullptr);
  return name;
}

TEST_CASE("the kernel's small files are read, those of this machine and copies of them") {
  const auto system = make_posix_system();
  const auto stat = system->read("/proc/self/stat");
  REQUIRE(stat.ok());
  CHECK(stat->substr(0, stat->find(' ')) == std::to_string(getpid()));
  CHECK(system->read("/proc/self/stat", 3)->size() == 3);
  CHECK(system->read("/proc/no-such-thing").error().code == Error::Code::kNotFound);
  CHECK(system->count("/proc/self/fd").value() >= 3);

  const std::string root = make_folder();
  REQUIRE(system->real(root).ok());
  REQUIRE(mkdir((root + "/proc").c_str(), 0700) == 0);
  std::ofstream(root + "/proc/meminfo") << "MemTotal: 7 kB\n";
  const auto copied = make_posix_system(root);
  CHECK(copied->read("/proc/meminfo").value() == "MemTotal: 7 kB\n");
  CHECK(copied->names("/proc").value() == std::vector<std::string>{"meminfo"});
  const auto entry = system->entry(root + "/proc");
  CHECK(entry->folder);
  CHECK(entry->name == "proc");
  unlink((root + "/proc/meminfo").c_str());
  rmdir((root + "/proc").c_str());
  rmdir(root.c_str());
}

TEST_CASE("a file system returns its free space and files, and when both run out" *
          doctest::test_suite(testing::kMachine)) {
  const std::string folder = make_folder();
  if (mount("midwatch-test", folder.c_str(), "tmpfs", 0, "size=1m,nr_inodes=8") != 0) {
    testing::skip("mounting a small tmpfs needs root");
    rmdir(folder.c_str());
    return;
  }
  const auto system = make_posix_system();
  const auto before = system->space(folder);
  {
    std::ofstream file(folder + "/big", std::ios::binary);
    file << std::string(2 << 20, 'x');
  }
  for (int i = 0; i < 10; ++i) std::ofstream(folder + "/small" + std::to_string(i));
  const auto after = system->space(folder);
  umount(folder.c_str());
  rmdir(folder.c_str());
  REQUIRE(before.ok());
  REQUIRE(after.ok());
  CHECK(before->size == 1 << 20);
  CHECK(before->free == 1 << 20);
  CHECK(before->files_size == 8);
  CHECK(after->free == 0);
  CHECK(after->files_free == 0);
}

TEST_CASE("a call aside is asked for until it answers, and one that never does is left alone") {
  BackgroundCall<int> aside;
  CHECK_FALSE(aside.started());
  CHECK_FALSE(aside.take().has_value());
  aside.start([] { return 42; });
  std::optional<int> answer;
  for (int i = 0; i < 2000 && !answer; ++i) {
    answer = aside.take();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  CHECK(answer == 42);
  CHECK_FALSE(aside.started());
  const auto may_answer = std::make_shared<std::atomic<bool>>(false);
  {
    BackgroundCall<int> stuck;
    stuck.start([may_answer] {
      while (!*may_answer) std::this_thread::yield();
      return 1;
    });
    CHECK(stuck.busy());
    CHECK_FALSE(stuck.take().has_value());
  }  // does not wait
  *may_answer = true;
  while (may_answer.use_count() > 1) std::this_thread::yield();  // the call comes back to nobody, and takes itself away
}

TEST_CASE("a fake machine answers like a real one") {
  FakeSystem fake;
  fake.files["/proc/1/stat"] = "1 (init) S";
  fake.files["/proc/1/fd/0"] = "";
  fake.files["/proc/meminfo"] = "MemTotal: 7 kB\n";
  fake.spaces["/"] = {1, 2, 3, 4};
  fake.spaces["/data"] = {5, 6, 7, 8};
  CHECK(fake.names("/proc").value() == std::vector<std::string>{"1", "meminfo"});
  CHECK(fake.count("/proc/1/fd").value() == 1);
  CHECK(fake.read("/proc/meminfo", 3).value() == "Mem");
  CHECK(fake.read("/proc/2/stat", 9).error().code == Error::Code::kNotFound);
  CHECK(fake.space("/data/run").value().free == 5);
  CHECK(fake.space("/home").value().free == 1);
  CHECK(fake.entry("/proc/1")->folder);
}

}  // namespace
}  // namespace mw
