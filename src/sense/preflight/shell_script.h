// Bash scripts as the commands that they would run, without running them. The text is foreign.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/preflight/settings.h"

namespace mw::preflight {

/// A word of a command after quotes and what is known of variables.
struct ShellWord {
  std::string text;
  bool unsure = false;  ///< it holds something that is known only when it runs: `$(...)`, a variable set nowhere
  Place place;
};

struct ShellCommand {
  std::vector<ShellWord> words;
  std::map<std::string, ShellWord> environment;  ///< assignments in front of it
  size_t process = 0;                            ///< of ShellScript::exported: `bash FILE` begins another one
  std::string folder;                            ///< that `cd` went to before; "" none
};

struct ShellScript {
  std::vector<ShellCommand> commands;            ///< simple commands, in the order of the text
  std::optional<double> open_files, core_bytes;  ///< by `ulimit -n`, `ulimit -c`
  /// By process, at its end, without what was there before.
  std::vector<std::map<std::string, ShellWord>> exported;
  std::vector<Place> unread;  ///< of scripts that were named and could not be read
};

/// Follows assignments, arrays, quotes, ${NAME:-default}, `source` and `bash FILE`. Branches of `if` and loops are all
/// read; a variable that is set in one of them is unsure from there on.
class ShellReader {
 public:
  using Load = std::function<std::optional<std::string>(const std::string& path)>;
  static constexpr size_t kBytes = size_t{1} << 20;  ///< of one script
  static constexpr size_t kScripts = 20;             ///< read in all
  static constexpr size_t kCommands = 2000;          ///< and words of one command
  static constexpr size_t kWordBytes = 65536;        ///< of one word, after its variables
  static constexpr size_t kExpanded = size_t{8}
                                      << 20;  ///< bytes that variables put in, in all: they can double each line

  /// `load` reads a file that a script names, relative to the working folder; nullopt: it is not there.
  ShellReader(Load load, std::map<std::string, std::string> environment) : load_(std::move(load)) {
    for (auto& [name, value] : environment) variables_[name] = {{{value, value == "<redacted>", {}}}, true, true};
  }

  /// Reads a script. `arguments` are what "$1" and "$@" stand for; `file` is its name in places.
  void read(std::string_view text, const std::string& file, const std::vector<std::string>& arguments);
  ShellScript take() { return std::move(script_); }

 private:
  friend class ShellParser;
  struct Variable {
    std::vector<ShellWord> values;  ///< several of an array
    bool exported = false, inherited = false;
  };

  void read_text(std::string_view text, const std::string& file, const std::vector<std::string>& arguments);
  void run(std::vector<ShellWord> words, size_t depth);
  void set_limits(const std::vector<ShellWord>& words);
  void load_script(const std::vector<ShellWord>& words, size_t at, bool own_variables);
  void assign(const std::string& name, const ShellWord& value, bool more, size_t depth);
  void export_names(const std::vector<ShellWord>& words, size_t depth);

  Load load_;
  std::map<std::string, Variable> variables_;
  std::vector<std::string> arguments_;
  std::string folder_;
  ShellScript script_;
  size_t scripts_ = 0, expanded_ = 0, process_ = 0;
};

}  // namespace mw::preflight
