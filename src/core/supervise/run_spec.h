// What a supervised run is to do (run.json in its folder; act/supervise/run_spec.h writes and reads it).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/time.h"
#include "core/mode.h"
#include "core/policy.h"

namespace mw {

/// What a supervised run is to do. Written when it begins; a later midwatch reads it from there.
struct RunSpec {
  std::vector<std::string> command;
  std::string folder;                              ///< working directory of the command
  std::map<std::string, std::string> environment;  ///< on top of what midwatch was started with
  std::string config;                              ///< file of settings, "": none; whom to tell is read from there
  std::vector<std::string> also;                   ///< further files and folders of the run to read
  std::vector<std::string> checkpoints;            ///< folders that hold the run's; none = as its files tell
  std::vector<std::string> resume;                 ///< for {resume} in the command; none = as its dialect says
  bool from_scratch = false;                       ///< a later attempt may begin from nothing
  RestartLimits limits;
  Duration grace = Duration::seconds(30);  ///< from asking the command to end to killing it
  uint64_t rotate_bytes = 256ULL << 20;    ///< beyond it the output goes on in a new file
  bool breaker = true;                     ///< look for poisoned data that an attempt trains on
  Mode breaking = Mode::kAct;              ///< ending such an attempt, as a component that it needs is proven dead
  Mode breaking_learning = Mode::kAsk;     ///< ending one of which only the figures say that they are poisoned
  Mode restarting = Mode::kAct;            ///< beginning the next one
  bool dry = false;                        ///< nothing is deleted either
  /// Random, of this run alone: in what midwatch writes for itself to read again, and in its processes' environment.
  /// "" in a run that an older midwatch began.
  std::string nonce, marker;
};

}  // namespace mw
