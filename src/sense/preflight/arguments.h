// The words of a command as settings and names of files.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/preflight/settings.h"
#include "sense/preflight/shell_script.h"

namespace mw::preflight {

/// A file of settings that the command names.
struct NamedFile {
  std::string path;    ///< as the command has it
  std::string prefix;  ///< of its keys: "trainer" of `--trainer @ trainer.toml`
  Place place;
  bool maybe = false;  ///< hydra may find it elsewhere (in the framework's package)
};

struct Arguments {
  std::vector<NamedFile> files;      ///< in the order in which they count: the last wins
  Settings settings;                 ///< of the arguments themselves
  std::vector<std::string> removed;  ///< hydra's `~key`
};

/// Takes `--key value`, `--key=value`, `--flag`, `key=value`, `+key=value`, `@ FILE`, `--config FILE`, and hydra's
/// --config-path and --config-name apart. "-" in the names of options becomes "_", as argparse and pydantic have it.
Arguments read_arguments(const std::vector<ShellWord>& words, size_t first);

/// The words of a command that say what is started: `python3 -m verl.trainer.main_ppo`, `uv run rl`, `python3
/// train.py`. Arguments of the trainer follow.
struct Launch {
  size_t begin = 0, end = 0;  ///< [begin, end)
  bool script = false;        ///< it is a Python script or module
};
Launch launch_of(const std::vector<ShellWord>& words, const std::function<bool(const std::string&)>& is_name);

/// What a command that begins with a Python gives it to run; both "": something else, or known only when it runs.
struct PythonStart {
  std::string script, module;
};
PythonStart python_start(const std::vector<ShellWord>& words);

}  // namespace mw::preflight
