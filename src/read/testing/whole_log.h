// A whole log as a replay reads it, for tests.
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <string_view>

#include "base/text.h"
#include "platform/fake/fake_disk.h"
#include "read/run_reader.h"

namespace mw {

/// The knowledge that midwatch is built with. It is loaded once: that takes a tenth of a second under the sanitizers.
inline const KnowledgeBase& built_in_knowledge() {
  static const auto loaded = KnowledgeBase::load({});
  REQUIRE(loaded.ok());
  return **loaded;
}

/// What the whole of `log` says, in a file of that name.
inline State state_of(const std::string& log, std::string_view name = "train.log") {
  FakeDisk disk;
  const std::string path = cat("/run/", name);
  disk.put(path, log);
  RunReader reader(disk, built_in_knowledge(), Judge::kAtClose, nullptr, {});
  REQUIRE(reader.open({path}, "").ok());
  reader.read_all({});
  reader.close();
  return reader.state();
}

}  // namespace mw
