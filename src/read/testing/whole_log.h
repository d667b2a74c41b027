// A whole log as a replay reads it, for tests.
#pragma once

#include <doctest/doctest.h>

#include <string>

#include "platform/fake/fake_disk.h"
#include "read/run_reader.h"

namespace mw {

/// What the whole of `log` says.
inline State state_of(const std::string& log) {
  FakeDisk disk;
  disk.put("/run/train.log", log);
  auto knowledge = KnowledgeBase::load({});
  REQUIRE(knowledge.ok());
  RunReader reader(disk, **knowledge, Judge::kAtClose, nullptr, {});
  REQUIRE(reader.open({"/run/train.log"}, "").ok());
  reader.read_all({});
  reader.close();
  return reader.state();
}

}  // namespace mw
