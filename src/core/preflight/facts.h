// What is known before a run begins: its settings, its command, its environment, the machine. All lints read this, and
// nothing else.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/preflight/framework.h"
#include "core/preflight/model_facts.h"
#include "core/preflight/settings.h"

namespace mw::preflight {

/// A GPU of the machine that will train.
struct Gpu {
  std::string index;  ///< "0"
  std::string name;   ///< "" where it is not known
  double bytes = 0;   ///< of memory
  double used = 0;    ///< bytes in use now
};

/// Space below one folder.
struct DiskSpace {
  std::string folder;
  std::string what;  ///< "checkpoints", "/dev/shm", "working folder"
  double free = 0;   ///< bytes for processes without privileges
  double size = 0;   ///< bytes
};

/// A TCP port on which somebody listens already.
struct TakenPort {
  int port = 0;
  std::string program;  ///< "" where it is not ours to see
};

/// What the machine shows. A value that is not there was not seen, and is not judged.
struct Host {
  bool is_here = true;  ///< false: the run will be elsewhere (--gpus): nothing of this machine is judged
  std::optional<double> open_files, open_files_hard;  ///< limits that the command would inherit
  std::optional<double> core_bytes;                   ///< limit of a core dump; infinite as such
  std::string core_pattern;                           ///< of the kernel; "" not seen
  std::vector<Gpu> gpus;
  bool gpus_seen = false;  ///< false: no driver answered
  std::string driver;      ///< "550.54.15"; "" not seen
  std::vector<DiskSpace> disks;
  std::vector<TakenPort> taken;
  std::optional<double> memory;                 ///< bytes that processes may have, a cgroup's limit counted
  std::optional<double> clock_behind_s;         ///< by how much the clock lies before what was written already
  std::map<std::string, std::string> packages;  ///< of Python, name to version
  bool python_seen = false;
  /// Names of the variables that are set, with values, those of secrets replaced by "<redacted>".
  std::map<std::string, std::string> environment;
  std::vector<std::string> logins;    ///< hosts for which ~/.netrc has a login; and "huggingface" (token file)
  std::optional<bool> program_found;  ///< the first word of the command is a program
};

/// The steps that checkpoints of one kind reach, in a folder that the run would continue.
struct OldSteps {
  std::string folder;
  std::string part;  ///< "trainer", "orchestrator"
  int64_t highest = -1;
};

/// What an earlier run was measured to need.
struct Measured {
  std::string run;  ///< its name
  std::optional<double> checkpoint_bytes;
};

/// A configuration file that could not be read, or only in part.
struct Unread {
  Place place;
  std::string what;
  bool fatal = true;  ///< the framework will not read it either
};

struct Facts {
  const Framework* framework = nullptr;  ///< nullptr: not recognised
  std::string version;                   ///< one of its versions by the keys; "" not known
  Settings settings;
  std::vector<std::string> typed;    ///< the command as it was given
  std::vector<std::string> command;  ///< the words that start the trainer: of a script, those in it
  std::string folder;                ///< in which the command would run, absolute
  std::vector<std::string> files;    ///< that were read
  std::vector<Unread> unread;
  std::optional<ModelFacts> model;  ///< of the model that is trained
  Host host;
  std::vector<OldSteps> old_steps;
  Measured measured;
  std::string cannot_start, start_fix;  ///< what that line starts with is not there: what, and what to do; "": it is
  Place command_place;                  ///< of the line that starts the trainer
  std::optional<double> processes;      ///< that the command starts; nullopt: it does not say
};

}  // namespace mw::preflight
