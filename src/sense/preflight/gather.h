// Facts of a command before it begins. Reads files and looks at the machine; starts nothing of the command and writes
// nothing.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "core/preflight/lint.h"
#include "platform/gpus.h"
#include "platform/system.h"
#include "sense/preflight/catalogue.h"

namespace mw::preflight {

struct Asked {
  std::vector<std::string> command;      ///< may be empty where files are given
  std::vector<std::string> files;        ///< of settings, on top of those that the command names
  std::string folder;                    ///< in which the command would run, absolute
  std::optional<std::vector<Gpu>> gpus;  ///< of a machine that is elsewhere
  std::optional<double> disk;            ///< bytes that are free there for checkpoints
  Measured measured;
  Time now;
  /// Does that Python find a top-level module of that name in the command's folder? nullopt: it did not say.
  std::function<std::optional<bool>(const std::string& python, const std::string& module)> finds_module;
};

/// `look_at_gpus` may take seconds; an empty answer means that none was seen.
Facts gather(System& system, const Knowledge& knowledge, const Asked& asked,
             const std::function<GpuSnapshot()>& look_at_gpus);

}  // namespace mw::preflight
