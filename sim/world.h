// What the simulated run leaves behind: files, each a list of what its lines say, growing with time.
#pragma once

#include <string>
#include <vector>

#include "core/event.h"
#include "core/knowledge.h"

namespace mw::sim {

/// A file of the run. Its n-th line (from 1) says lines[n-1].
struct SimFile {
  std::string path, kind;
  std::vector<Event> lines;
};

struct World {
  std::vector<SimFile> files;
  /// Everything the files hold, read one file after the other as replay does, SourceOpened to Closed.
  std::vector<Event> as_replay() const;
  Event opened(uint32_t source) const;
  Event ended(uint32_t source) const;
};

/// The signatures that the simulated trainer's lines can match.
Knowledge sim_knowledge();

}  // namespace mw::sim
