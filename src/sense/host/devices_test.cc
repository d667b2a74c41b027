#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "base/text.h"
#include "platform/fake/borrowed.h"
#include "sense/host/host.h"
#include "sense/host/testing/heard.h"

namespace mw::host {
namespace {

/// The beginning of an ELF file of this type (2: a program, 4: a core dump).
std::string elf(char type) {
  std::string head(
      "\x7f"
      "ELF\x02\x01\x01",
      7);
  head.resize(16);
  head += type;
  head += '\0';
  return head + std::string(2'000'000, 'x');
}

TEST_CASE("core dumps are found where the run's processes work, by what they are, and reported as gone") {
  FakeSystem system;
  Seen seen;
  seen.pids = {10};
  const auto part = make_core_dumps(borrowed(system), seen, {});
  const auto measure_twice = [&](double at) {
    Heard found;
    part->begin({0, {"/work"}, ""}, Duration::seconds(at));
    for (int i = 0; i < 2000 && part->busy(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    part->collect(found, Duration::seconds(at));
    return found;
  };
  system.files["/work/core.12"] = elf(4);
  system.files["/work/core"] = elf(2);
  system.files["/work/core.py"] = "print(1)";
  system.files["/proc/10/cwd/core"] = elf(4);
  system.files["/cores/core-python-7"] = elf(4);
  system.files["/proc/sys/kernel/core_pattern"] = "/cores/core-%e-%p\n";
  Heard heard = measure_twice(10);
  CHECK(heard.figures.size() == 3);
  CHECK(heard.at("process.core_dump /work/core.12") == 2'000'018);
  CHECK(heard.at("process.core_dump /proc/10/cwd/core") > 0);
  CHECK(heard.at("process.core_dump /cores/core-python-7") > 0);
  system.files.erase("/work/core.12");
  heard = measure_twice(60);
  CHECK(heard.at("process.core_dump /work/core.12") == 0);
  CHECK(heard.figures.size() == 3);
  CHECK(measure_twice(120).figures.size() == 2);
}

/// GPUs whose answers the test sets.
class FakeGpus final : public Gpus {
 public:
  Result<GpuSnapshot> look() override {
    while (hangs) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (!answers) return Error{Error::Code::kNotFound, "no driver", ""};
    return world;
  }
  GpuSnapshot world;
  std::atomic<bool> answers{true}, hangs{false};
};

TEST_CASE("GPUs are reported with what is known of them, lost ones, the driver's words, and a driver that hangs") {
  FakeGpus gpus;
  Seen seen;
  const auto part = make_gpu_part(borrowed(gpus), seen);
  gpus.answers = false;
  CHECK(measure(*part, {}, 10).unseen_things.size() == 1);
  gpus.answers = true;
  CHECK(measure(*part, {}, 20).figures.empty());  // it is not asked again so soon
  gpus.world.gpus.resize(2);
  gpus.world.gpus[0].index = "0";
  gpus.world.gpus[0].memory_used = 5;
  gpus.world.gpus[1].index = "1";
  gpus.world.gpus[1].lost = true;
  gpus.world.lines = {"NVRM: Xid (PCI:0000:3b:00): 79, as NVML reports"};
  Heard heard = measure(*part, {}, 700);
  CHECK(heard.at("gpu.memory.used 0") == 5);
  CHECK(heard.at("gpu.busy 0") == -1);
  CHECK(heard.at("gpu.lost 0") == -1);
  CHECK(heard.at("gpu.lost 1") == 1);
  CHECK(heard.lines.size() == 1);
  gpus.world.gpus[1].lost = false;
  CHECK(measure(*part, {}, 710).at("gpu.lost 1") == 0);
  CHECK(measure(*part, {}, 720).at("gpu.lost 1") == -1);
  gpus.answers = false;
  CHECK(measure(*part, {}, 730).at("gpu.lost driver") == 1);
  gpus.answers = true;
  gpus.hangs = true;
  part->begin({}, Duration::seconds(740));
  Heard silent;
  CHECK_FALSE(part->collect(silent, Duration::seconds(740)));
  CHECK(part->collect(silent, Duration::seconds(742)));
  CHECK(silent.figures.empty());
  part->begin({}, Duration::seconds(810));
  CHECK(part->collect(silent, Duration::seconds(812)));
  CHECK(silent.at("gpu.lost driver") == 1);
  CHECK(part->busy());
  gpus.hangs = false;
  while (part->busy()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

TEST_CASE("on a shared machine the GPUs of others and the faults of their processes are left out") {
  FakeGpus gpus;
  Seen seen;
  const auto part = make_gpu_part(borrowed(gpus), seen);
  seen.pids = {10, 11};
  gpus.world.gpus.resize(3);
  for (size_t i = 0; i < 3; ++i) {
    gpus.world.gpus[i].index = cat(i);
    gpus.world.gpus[i].place = cat("00000000:0", i, ":00.0");
    gpus.world.gpus[i].slowed = 1;
  }
  gpus.world.gpus[0].pids = {11};
  gpus.world.gpus[1].pids = {11, 900};
  gpus.world.gpus[2].pids = {900};
  const auto lines = [&](std::vector<std::string> said, int now) {
    gpus.world.lines = std::move(said);
    return measure(*part, {}, now).lines.size();
  };
  const auto xid = [](int gpu, int number) {
    return cat("NVRM: Xid (PCI:00000000:0", gpu, ":00): ", number, ", as NVML reports");
  };
  CHECK(lines({xid(0, 79), xid(2, 79)}, 10) == 1);  // what ends a GPU: on those that the run uses
  CHECK(lines({xid(0, 31)}, 20) == 1);              // nobody else is there
  CHECK(lines({xid(1, 31), xid(2, 31)}, 30) == 0);  // whose, is not known
  seen.gone = {{11, "python", 1e9, true}};
  CHECK(lines({xid(1, 31)}, 40) == 1);  // one of the run's is gone with it
  seen.kernel_log = true;
  CHECK(lines({xid(0, 31), xid(0, 79)}, 50) == 1);  // the kernel's log says whose
  const Heard heard = measure(*part, {}, 60);
  CHECK(heard.at("gpu.slowed 0") == 1);
  CHECK(heard.at("gpu.slowed 2") == -1);
}

}  // namespace
}  // namespace mw::host
