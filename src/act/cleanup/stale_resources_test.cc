#include "act/cleanup/stale_resources.h"

#include <doctest/doctest.h>

#include <map>

#include "act/cleanup/remove_item.h"
#include "act/cleanup/resource_ledger.h"
#include "act/keeper/record.h"
#include "base/text.h"
#include "journal/journal.h"
#include "platform/fake/fake_disk.h"
#include "platform/fake/fake_process.h"

namespace mw {
namespace {

using namespace std::string_literals;

constexpr const char* kSession = "session_2026-02-19_09-08-11_123456_4711";
constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kUser = 1000;

/// A machine with one run: its first attempt began at 100 s, by the keeper 10 and the command 11.
struct Machine {
  FakeDisk disk;
  FakeSystem system;
  FakeProcesses processes;
  bool unheld = true;
  CleanupScope scope{{"/data/run", "/data/work", {}}, {}, Time{1000 * kSecond}};

  Machine() {
    system.files["/proc/1/cmdline"] = "init\0"s;
    system.files["/proc/net/unix"] = "Num";
    const ProcessId keeper = processes.add(10, 1, 10);
    const ProcessId command = processes.add(11, 10, 11);
    record(1, {record_keeping(keeper, "boot", Time{99 * kSecond}), record_started(command, Time{100 * kSecond})});
  }
  void record(int attempt, const std::vector<std::string>& lines) {
    const std::string folder = cat("/data/run/attempts/", attempt, "/record");
    REQUIRE(disk.make_folders(folder).ok());
    auto journal = Journal::open(disk, folder, nullptr);
    REQUIRE(journal.ok());
    for (const std::string& line : lines) (void)(*journal)->append(line);
    REQUIRE((*journal)->sync().ok());
  }
  void shared(const std::string& name, uint64_t inode, int64_t born_s = 150, int64_t user = kUser) {
    const std::string path = cat("/dev/shm/", name);
    system.files[path] = "x";
    Entry entry;
    entry.name = name;
    entry.file = true;
    entry.bytes = 4096;
    entry.born_ns = entry.changed_ns = born_s * kSecond;
    entry.device = 27;
    entry.inode = inode;
    entry.owner = user;
    system.entries[path] = entry;
  }
  void session(int64_t born_s = 150) {
    const std::string path = cat("/tmp/ray/", kSession);
    system.files[path + "/logs/raylet.out"] = "x";
    Entry entry;
    entry.folder = true;
    entry.born_ns = entry.changed_ns = born_s * kSecond;
    entry.device = 8;
    entry.inode = 77;
    entry.owner = kUser;
    system.entries[path] = entry;
    processes.add(12, 11, 11);
    processes.alive[12].name = "raylet";
    system.files["/proc/12/cmdline"] = cat("raylet\0--raylet_socket_name="s, path, "/sockets/raylet");
  }
  void maps(int64_t pid, const std::string& name, uint64_t inode) {
    system.files[cat("/proc/", pid, "/maps")] += cat("1-2 rw-s 0 00:1b ", inode, " /dev/shm/", name, "\n");
  }
  void snapshot() {
    auto known = ledger();
    const auto found = find_resources({disk, system, processes, kUser}, "/data/run", "/dev/shm", known, {}, true);
    disk.put("/data/run/resources.json", resource_ledger_text(found.all));
  }
  std::vector<HeldResource> ledger() {
    const auto text = disk.info("/data/run/resources.json").ok() ? disk.content("/data/run/resources.json") : "";
    const auto known = parse_resource_ledger(text);
    return known.ok() ? *known : std::vector<HeldResource>();
  }
  void end() {
    record(1, {record_done(Time{500 * kSecond})});
    for (const int64_t pid : {10, 11, 12}) {
      processes.alive.erase(pid);
      system.files.erase(cat("/proc/", pid, "/maps"));
      system.files.erase(cat("/proc/", pid, "/cmdline"));
    }
  }
  std::vector<std::string> may(const std::string& word, std::vector<std::string>* left = nullptr) {
    CleanupPlan plan;
    const CleanupDoors doors{system, processes, [this](const auto&, const auto&, const auto&) { return unheld; },
                             kUser};
    plan_stale_resources(disk, doors, scope, word, "/dev/shm", plan);
    std::vector<std::string> names;
    for (const CleanupItem& item : plan.items) names.push_back(item.name);
    for (const CleanupItem& item : plan.left) {
      if (left != nullptr) left->push_back(item.why);
    }
    return names;
  }
};

using Names = std::vector<std::string>;

TEST_CASE("shared memory that a dead attempt held is deleted, and nothing else") {
  Machine m;
  m.shared("psm_0a1b2c3d", 1);
  m.shared("torch_11_99_0", 2);
  m.shared("nccl-Ab12Cd", 3);           // no process of the run holds it
  m.shared("my-dataset", 4);            // somebody may open it again
  m.shared("psm_00000005", 5, 50);      // was there before
  m.shared("psm_00000006", 6, 150, 0);  // another user's
  m.shared("psm_00000007", 7);          // of a process of another run
  m.processes.add(20, 1, 20);
  for (const auto& [name, inode] : std::map<std::string, uint64_t>{
           {"psm_0a1b2c3d", 1}, {"torch_11_99_0", 2}, {"my-dataset", 4}, {"psm_00000005", 5}, {"psm_00000006", 6}}) {
    m.maps(11, name, inode);
  }
  m.maps(20, "psm_00000007", 7);
  m.snapshot();
  CHECK(m.may("shared-memory").empty());  // the attempt is running
  m.end();
  Names left;
  CHECK(m.may("shared-memory", &left) == Names{"psm_0a1b2c3d", "torch_11_99_0"});
  CHECK(left.size() == 2);  // 3 and 7 are reported, too
  m.unheld = false;
  CHECK(m.may("shared-memory").empty());
}

TEST_CASE("another file of the same name is not the one that was seen") {
  for (const int change : {0, 1, 2, 3}) {
    CAPTURE(change);
    Machine m;
    m.shared("psm_0a1b2c3d", 1);
    m.maps(11, "psm_0a1b2c3d", 1);
    m.snapshot();
    m.end();
    CHECK(m.may("shared-memory").size() == 1);
    Entry& entry = m.system.entries["/dev/shm/psm_0a1b2c3d"];
    if (change == 0) entry.inode = 9;
    if (change == 1) entry.device = 9;
    if (change == 2) entry.born_ns += 1;
    if (change == 3) entry.links = 2;
    CHECK(m.may("shared-memory").empty());
  }
}

TEST_CASE("a process that has reused a dead one's pid proves nothing") {
  Machine m;
  m.shared("psm_0a1b2c3d", 1);
  m.maps(11, "psm_0a1b2c3d", 2);  // by the same name another file, which is gone
  m.snapshot();
  CHECK(m.ledger().empty());
  m.system.files.erase("/proc/11/maps");
  m.maps(11, "psm_0a1b2c3d", 1);
  struct Changing final : Processes {  // the pid is reused between reading the process and checking who it is
    FakeProcesses& real;
    explicit Changing(FakeProcesses& of) : real(of) {}
    Result<ProcessInfo> info(int64_t pid) override {
      auto one = real.info(pid);
      if (pid == 11 && one.ok()) one->id.start += 1;
      return one;
    }
    std::vector<ProcessInfo> all() override { return real.all(); }
    Result<void> signal(const ProcessId& id, int number) override { return real.signal(id, number); }
    std::string boot() override { return real.boot(); }
    bool carries(const ProcessInfo& one, std::string_view mark) override { return real.carries(one, mark); }
    bool carries_further(const ProcessInfo& one, std::string_view mark) override {
      return real.carries_further(one, mark);
    }
    bool between_programs(const ProcessInfo& one) override { return real.between_programs(one); }
  } changing(m.processes);
  CHECK(find_resources({m.disk, m.system, changing, kUser}, "/data/run", "/dev/shm", {}, {}, true).all.empty());
}

TEST_CASE("on another start of the machine, or another machine, what was seen proves nothing") {
  Machine m;
  m.shared("psm_0a1b2c3d", 1);
  m.maps(11, "psm_0a1b2c3d", 1);
  m.session();
  m.snapshot();
  m.end();
  auto all = m.ledger();
  REQUIRE(all.size() == 2);
  for (HeldResource& one : all) one.boot = "another";
  m.disk.put("/data/run/resources.json", resource_ledger_text(all));
  CHECK(m.may("shared-memory").empty());
  CHECK(m.may("ray-sessions").empty());
}

TEST_CASE("a Ray session is deleted when its attempt has ended and nobody uses it") {
  Machine m;
  m.session();
  m.snapshot();
  Names left;
  CHECK(m.may("ray-sessions", &left).empty());
  CHECK(left == Names{"attempts/1 is still running"});
  m.end();
  CHECK(m.may("ray-sessions") == Names{kSession});
  m.scope.now = Time{200 * kSecond};
  CHECK(m.may("ray-sessions").empty());  // its logs have just changed
  m.scope.now = Time{1000 * kSecond};
  m.system.files["/proc/30/cmdline"] = cat("tail -f /tmp/ray/", kSession, "/logs/raylet.out");
  CHECK(m.may("ray-sessions").empty());
  CleanupItem item{"ray-sessions", "/tmp/ray", kSession, 0, "", {}};
  CHECK_FALSE(remove_item(m.system, item).ok());  // somebody came after the plan was made
  m.system.files.erase("/proc/30/cmdline");
  CHECK(m.may("ray-sessions") == Names{kSession});
  m.system.files.erase("/proc/1/cmdline");
  CHECK(m.may("ray-sessions").empty());  // not every process can be checked
}

TEST_CASE("a session that is older than the attempt, or that no raylet of it ran, is not the run's") {
  Machine old;
  old.session(50);
  old.snapshot();
  CHECK(old.ledger().empty());
  Machine other;
  other.session();
  other.processes.alive[12].parent = 1;  // of somebody else's cluster
  other.snapshot();
  CHECK(other.ledger().empty());
  Names left;
  CHECK(other.may("ray-sessions", &left).empty());
  CHECK(left.size() == 1);  // only reported
  Machine reader;
  reader.session();
  reader.processes.alive[12].name = "python";
  reader.snapshot();
  CHECK(reader.ledger().empty());
}

TEST_CASE("names of what libraries make, and only those") {
  for (const char* name : {"torch_4711_123456_0", "torch_4711_99", "psm_0a1b2c3d", "nccl-Ab12Cd", "plasmaAb12Cd",
                           "sem.mp-ab_12cde", "vllm_offload_63f63241-9def.mmap", "__KMP_REGISTERED_LIB_11_0"}) {
    CAPTURE(name);
    CHECK_FALSE(maker_of(name).empty());
  }
  for (const char* name :
       {"", "torch_", "torch_model", "torch_4711_x", "psm_model", "psm_0a1b2c3d4", "nccl-", "nccl-Ab1",
        "my_psm_0a1b2c3d", "vllm_offload_.mmap", "vllm_offload_a/b.mmap", "psm_0a1b2c3/"}) {
    CAPTURE(name);
    CHECK(maker_of(name).empty());
  }
  CHECK(is_ray_session(kSession));
  for (const char* name :
       {"session_latest", "session_2026-02-19_09-08-11_123456_", "session_2026-02-19_09-08-11_123456_x",
        "session_2026-02-19_09-08-11_12345_4711", "Session_2026-02-19_09-08-11_123456_4711"}) {
    CAPTURE(name);
    CHECK_FALSE(is_ray_session(name));
  }
}

TEST_CASE("what was recorded is read back; anything else is no proof") {
  const std::vector<HeldResource> all = {
      {HeldResource::What::kShared, "/dev/shm", "psm_0a1b2c3d", 27, 553, 17, "attempts/1", "boot"},
      {HeldResource::What::kRay, "/tmp/ray", kSession, 8, UINT64_MAX, 0, "components/engine/2", "boot"}};
  const auto read = parse_resource_ledger(resource_ledger_text(all));
  REQUIRE(read.ok());
  CHECK(*read == all);
  for (const char* text : {"", "{}", "[]", R"({"all":1})", R"({"all":[{"what":"ray-session"}]})",
                           R"({"all":[{"what":"ray-session","folder":"/","name":"../x","inode":1}]})"}) {
    CHECK_FALSE(parse_resource_ledger(text).ok());
  }
}

}  // namespace
}  // namespace mw
