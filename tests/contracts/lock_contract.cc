// What every Locks promises: run over the machine's files and over the simulation's.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "platform/lock.h"
#include "sim/doors.h"

namespace mw {
namespace {

void run_contract(Locks& locks, const std::string& root) {
  auto first = locks.take(root + "/one");
  REQUIRE(first.ok());
  const auto again = locks.take(root + "/one");
  REQUIRE_FALSE(again.ok());
  CHECK(again.error().code == Error::Code::kDenied);
  const auto other = locks.take(root + "/other");
  CHECK(other.ok());
  first->reset();  // let go
  auto later = locks.take(root + "/one");
  REQUIRE(later.ok());
  CHECK_FALSE(locks.take(root + "/one").ok());
  CHECK_FALSE(locks.take(root + "/other").ok());
}

TEST_CASE("lock contract: simulation") {
  sim::SimLocks locks;
  run_contract(locks, "/locks");
}

TEST_CASE("lock contract: posix") {
  std::string root = (std::filesystem::temp_directory_path() / "midwatch-locks-XXXXXX").string();
  REQUIRE(::mkdtemp(root.data()) != nullptr);
  run_contract(*make_posix_locks(), root);
  std::filesystem::remove_all(root);
}

}  // namespace
}  // namespace mw
