// What is wrong before a run begins: what is asked, and what is answered.
#pragma once

#include <string>
#include <vector>

#include "core/preflight/lint.h"

namespace mw {

struct PreflightRequest {
  std::vector<std::string> command;  ///< as typed behind "--"; may be empty where files are given
  std::vector<std::string> files;    ///< of settings, on top of those that the command names
  std::string gpus;                  ///< of a machine that is elsewhere: "2xH100"; "": this machine's
  std::string disk;                  ///< free there for checkpoints: "500GB"; "": of this machine
  std::string like;                  ///< an earlier run, or its files, that was measured; "": none
  std::string home;                  ///< where runs are recorded, for `like`
  std::vector<std::string> ignored;  ///< names of lints
};

struct PreflightAnswer {
  std::vector<preflight::Finding> findings;  ///< errors first, then warnings, then notes
  std::string framework, version;            ///< titles; "" not recognised
  std::string model;                         ///< with what is known of it; "" not known
  std::vector<std::string> command;          ///< that starts the trainer: of a script the one in it; without secrets
  std::vector<std::string> files;            ///< of settings that were read
  std::string machine;                       ///< one line: GPUs, and whether it is this one
  size_t settings = 0;                       ///< how many were checked
  size_t lints = 0;                          ///< how many lints and rules were asked
};

}  // namespace mw
