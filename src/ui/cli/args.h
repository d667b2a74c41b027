// Command-line options of one verb. CLI11 behind it.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mw {

struct Verb;
struct Console;
class Services;

/// What a verb accepts. Order of declaration is the order in --help.
struct ArgSpec {
  struct Option {
    std::string name;  ///< "output" for --output
    char letter = 0;   ///< 'o' for -o
    std::string help;
    std::string value;  ///< what the value is called in help ("FILE"); empty: a flag
    std::string otherwise;
    std::vector<std::string> choices;
    bool bare = false;  ///< its value may stand alone, where the verb takes no words: "status NAME" for "--run NAME"
  };
  struct Positional {
    std::string name, help;
    bool many = false, required = true;
  };
  std::vector<Option> options;
  std::vector<Positional> positionals;

  void flag(std::string name, std::string help, char letter = 0);
  void option(std::string name, std::string value, std::string help, std::string otherwise = "", char letter = 0,
              std::vector<std::string> choices = {});
  /// The option that was declared last may be given without its name.
  void or_bare() { options.back().bare = true; }
  void positional(std::string name, std::string help, bool many, bool required);
};

/// What a person gave.
class Args {
 public:
  bool has(std::string_view name) const;         ///< flag set, or option or positional given
  std::string get(std::string_view name) const;  ///< its value, or the default
  std::vector<std::string> list(std::string_view name) const;

 private:
  friend struct ParsedCommand;
  friend class CommandParser;
  friend int run_command(int argc, char** argv, std::span<const Verb* const> verbs, Services& services,
                         const Console& console);
  std::map<std::string, std::vector<std::string>, std::less<>> values_;
  std::map<std::string, std::string, std::less<>> defaults_;
};

}  // namespace mw
