// links: app
#include "act/cleanup/resource_ledger.h"
#include "base/text.h"
#include "fuzz.h"
#include "platform/uses.h"

std::vector<std::string> mw::fuzz_seeds() {
  const HeldResource one = {HeldResource::What::kShared, "/dev/shm", "psm_0a1b2c3d", 27, 553, 17, "attempts/1", "boot"};
  return {resource_ledger_text({one, one}),
          "7f01-7f02 rw-s 00000000 00:1b 553                        /dev/shm/psm_0a1b2c3d\n",
          "raylet --raylet_socket_name=/tmp/ray/session_2026-02-19_09-08-11_123456_4711/sockets/raylet",
          "torch_4711_123456_0", "vllm_offload_63f63241-9def.mmap"};
}

/// What a process may call itself and its files is anything.
void mw::fuzz_one(std::string_view input) {
  if (const auto all = parse_resource_ledger(input); all.ok()) {
    const auto again = parse_resource_ledger(resource_ledger_text(*all));
    MW_CHECK(again.ok() && again->size() == all->size());
    for (const HeldResource& one : *all) MW_CHECK(!contains(one.name, "/") && one.inode != 0);
  }
  if (!maker_of(input).empty() || is_ray_session(input)) MW_CHECK(!contains(input, "/"));
  FakeSystem system;
  system.files["/proc/7/maps"] = input;
  system.files["/proc/7/fd/3"] = input;
  const auto held = held_by(system, 7, "/dev/shm");
  MW_CHECK(held.ok());
  for (const Mapped& one : *held) MW_CHECK(one.path.starts_with("/dev/shm/"));
  for (const std::string& path : ray_sessions_in(input)) {
    MW_CHECK(path.front() == '/' && is_ray_session(basename(path)));
  }
}
