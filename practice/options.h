// What the command line of the practice run asks for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "practice/faults.h"
#include "practice/resume_words.h"

namespace practice {

struct Options {
  std::string speak = "areal", out = ".";
  int64_t steps = 120;
  int64_t kill_engine_at = 0;  // 0: never
  int64_t save_every = 20, eval_every = 20;
  int64_t keep_last = 0;  // checkpoints; 0: all
  uint64_t seed = 7;
  std::string when_engine_dies = "usual";  // "usual" (as the framework does), "zero", "crash", "hang", "retry"
  std::string checkpoints;                 // folder; "": none are written
  bool resume_on_request = false;          // resume only when `resume` says so
  ResumeRequest resume;
  int engine_port = 0;              // of a practice_engine on this machine; 0: the engine is a child
  int tools_port = 0;               // of a practice_tools on this machine; 0: the reward needs no tool
  double request_timeout = 0;       // seconds that it is given to answer; 0: for ever
  std::string sinks, sinks_folder;  // "jsonl,tfevents,wandb"; "": the folder of the log
  double pace = 0;                  // seconds a step takes at least, with a live clock
  bool live = false;
  bool mismatch = false;  // log how far trainer and engine disagree, where the framework leaves that open
  Faults faults;
  int groups = 32, group_size = 16, updates = 2;
  double lr = 0.004, clip = 0.2, max_norm = 1.0;
};

/// nullopt: the words are wrong, and the usage was printed to standard error.
std::optional<Options> parse_options(int argc, char** argv);

}  // namespace practice
