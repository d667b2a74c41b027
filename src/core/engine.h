// An inference engine, as knowledge/engines/NAME.toml describes it (docs/formats/engine.md): what it is called where
// the run shows it.
#pragma once

#include <string>
#include <vector>

namespace mw {

struct Engine {
  /// A process of the engine whose death has a signature of its own.
  struct Worker {
    std::string title;      ///< its name begins so (the kernel keeps 15 bytes)
    std::string signature;  ///< id in knowledge/signatures
  };
  std::string name;                        ///< also of the dialect of its own log, and of the layer of its failures
  std::vector<std::string> titles;         ///< names that its processes give themselves begin so
  std::vector<std::string> programs;       ///< modules and scripts that start it
  std::vector<std::string> serves;         ///< programs that start it with the word "serve"
  std::vector<std::string> idle;           ///< in lines that it writes while nobody asks it anything; lower case
  std::vector<std::string> shared_memory;  ///< names in /dev/shm, as patterns (act/cleanup/resource_ledger.cc)
  /// Names of its Prometheus metrics, the present one first.
  std::vector<std::string> running, waiting, generated, kv_usage;
  std::vector<Worker> workers;
};

}  // namespace mw
