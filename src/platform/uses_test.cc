#include "platform/uses.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <fstream>
#include <map>

#include "base/text.h"

namespace mw {
namespace {

using namespace std::string_literals;

constexpr const char* kSession = "session_2026-02-19_09-08-11_123456_4711";

/// A machine on which process 7 does nothing of interest.
FakeSystem machine() {
  FakeSystem system;
  system.files["/proc/1/cmdline"] = "init\0"s;
  system.files["/proc/7/cmdline"] = "python\0train.py\0"s;
  system.files["/proc/7/environ"] = "HOME=/root\0"s;
  system.files["/proc/7/cwd"] = "/data";
  system.files["/proc/7/fd/3"] = "/data/log";
  system.files["/proc/7/maps"] = "7f00-7f01 r--p 00000000 08:01 99 /usr/lib/libc.so.6\n";
  system.files["/proc/net/unix"] = "Num RefCount\n";
  return system;
}

std::string how_used(const FakeSystem& made) {
  FakeSystem system = made;
  const Uses uses = uses_of(system, kSession);
  CHECK(uses.complete);
  REQUIRE(uses.found.size() < 2);
  return uses.found.empty() ? "" : uses.found.front().how;
}

TEST_CASE("whoever shows the word in any way uses it") {
  CHECK(how_used(machine()).empty());
  const std::string path = cat("/tmp/ray/", kSession);
  for (const auto& one : std::map<std::string, std::string>{{"/proc/7/cmdline", cat("raylet\0--x="s, path)},
                                                            {"/proc/7/environ", cat("DIR=", path)},
                                                            {"/proc/7/cwd", cat(path, "/logs")},
                                                            {"/proc/7/fd/3", cat(path, "/logs/a.log")},
                                                            {"/proc/7/maps", cat("0-1 rw-s 0 8:1 5 ", path)},
                                                            {"/proc/net/unix", cat(path, "/sockets/raylet")}}) {
    const std::string &file = one.first, &text = one.second;
    CAPTURE(file);
    FakeSystem system = machine();
    system.files[file] = text;
    CHECK_FALSE(how_used(system).empty());
  }
}

TEST_CASE("what cannot be asked makes the answer incomplete; who has ended does not") {
  FakeSystem hidden = machine();
  hidden.files.erase("/proc/1/cmdline");  // /proc shows this user's processes only
  CHECK_FALSE(uses_of(hidden, kSession).complete);
  FakeSystem sockets = machine();
  sockets.files.erase("/proc/net/unix");
  CHECK_FALSE(uses_of(sockets, kSession).complete);
  FakeSystem ended = machine();
  ended.files.erase("/proc/7/cmdline");
  CHECK(uses_of(ended, kSession).complete);
}

TEST_CASE("which things in a folder are used, by name") {
  FakeSystem system = machine();
  system.files["/proc/7/cwd"] = "/ck/step_10";
  system.files["/proc/7/fd/3"] = "/ck/step_20/model.safetensors";
  system.files["/proc/7/fd/4"] = "/ck";
  system.files["/proc/7/fd/5"] = "/ckpt/step_40/model.safetensors";
  system.files["/proc/7/maps"] = "0-1 r--s 0 8:1 5 /ck/step_30/optim.pt";
  const auto used = used_below(system, "/ck", 1);
  REQUIRE(used.size() == 3);
  CHECK(used.at("step_10").how == "works in it");
  CHECK(used.at("step_20").how == "has a file of it open");
  CHECK(used.at("step_30").how == "maps a file of it");
  CHECK(used.at("step_30").pid == 7);
  CHECK(used_below(system, "/ck", 7).empty());
}

TEST_CASE("which things in a folder command lines name") {
  const auto named = [](const std::string& command, const std::string& works = "/work") {
    FakeSystem system = machine();
    for (const char* file :
         {"step_10/model.safetensors", "step_20/model.safetensors", "epoch=3-step=10.ckpt", "epoch=4.ckpt"})
      system.files[cat("/ck/", file)] = "x";
    system.files["/proc/7/cmdline"] = command;
    system.files["/proc/7/cwd"] = works;
    std::string all;
    for (const auto& [name, use] : used_or_named_below(system, "/ck", 1)) all += cat(all.empty() ? "" : " ", name);
    return all;
  };
  CHECK(named("vllm\0serve\0/ck/step_10\0--port\0008001\0"s) == "step_10");
  CHECK(named("lm_eval\0--model_args\0pretrained=/ck/step_10/,dtype=bfloat16\0"s) == "step_10");
  CHECK(named("python\0--model-path\0../ck/./step_10/actor\0"s) == "step_10");
  CHECK(named("python\0step_10\0step_20\0"s, "/ck") == "step_10 step_20");
  CHECK(named("bash\0-c\0serve '/ck/step_10' /ck/step_20; x\0"s) == "step_10 step_20");
  CHECK(named("python\0{\"model\": \"/ck/step_10\"}\0"s) == "step_10");
  CHECK(named("eval\0--ckpt=/ck/epoch=3-step=10.ckpt\0/ck/epoch=4.ckpt\0"s) == "epoch=3-step=10.ckpt epoch=4.ckpt");
  CHECK(named("python\0step_10\0/ck\0/ck/\0/ckpt/step_10\0/other/step_10\0"s).empty());
  FakeSystem system = machine();
  system.files["/proc/7/cmdline"] = "python\0/ck/step_10\0"s;
  CHECK(used_or_named_below(system, "/ck", 7).empty());
  CHECK(used_or_named_below(system, "/ck", 1).at("step_10").how == "names it in its command line");
}

TEST_CASE("what a process maps or has open below a folder") {
  FakeSystem system = machine();
  system.files["/proc/7/maps"] =
      "7f00-7f01 r--p 00000000 08:01 99                         /usr/lib/libc.so.6\n"
      "7f01-7f02 rw-s 00000000 00:1b 553                        /dev/shm/psm_0a1b2c3d\n"
      "7f02-7f03 rw-s 00000000 00:1b 554                        /dev/shm/nccl-Ab12Cd (deleted)\n"
      "7f03-7f04 rw-s 00000000 00:1b 555                        /dev/shmem/other\n"
      "7f04-7f05 rw-s 00000000 00:1b x /dev/shm/none\n"
      "/dev/shm/";
  system.files["/proc/7/fd/3"] = "/dev/shm/psm_0a1b2c3e";
  const auto held = held_by(system, 7, "/dev/shm");
  REQUIRE(held.ok());
  REQUIRE(held->size() == 2);
  CHECK((*held)[0].path == "/dev/shm/psm_0a1b2c3d");
  CHECK((*held)[0].inode == 553);
  CHECK((*held)[1].path == "/dev/shm/psm_0a1b2c3e");
  CHECK_FALSE(held_by(system, 8, "/dev/shm").ok());
}

TEST_CASE("this process is found by a file that it has open") {
  const std::string path = cat("/tmp/midwatch-uses-", getpid());
  std::ofstream file(path);
  const auto system = make_posix_system();
  const Uses uses = uses_of(*system, path);
  unlink(path.c_str());
  REQUIRE_FALSE(uses.found.empty());
  CHECK(uses.found.front().pid == getpid());
}

}  // namespace
}  // namespace mw
