#include "core/supervise/program_on_input.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/text.h"

namespace mw {
namespace {

bool is_shell(std::string_view name) {
  static constexpr std::array<std::string_view, 5> kShells = {"sh", "bash", "dash", "zsh", "ksh"};
  return std::find(kShells.begin(), kShells.end(), name) != kShells.end();
}

/// "python", "python3", "python3.11".
bool is_python(std::string_view name) {
  constexpr std::string_view kName = "python";
  return name.starts_with(kName) &&
         name.substr(kName.size()).find_first_not_of("0123456789.") == std::string_view::npos;
}

/// What may stand before the program that it starts. One with arguments of its own ends the search.
bool is_wrapping(std::string_view word) {
  static constexpr std::array<std::string_view, 9> kWrappers = {"env",  "nohup", "nice",   "ionice", "sudo",
                                                                "time", "exec",  "setsid", "stdbuf"};
  const std::string_view name = basename(word);
  return word.starts_with("-") || contains(word, "=") ||
         std::find(kWrappers.begin(), kWrappers.end(), name) != kWrappers.end();
}

/// Options after which the next word belongs to them.
bool takes_a_word(std::string_view option, bool shell) {
  return shell ? option == "-o" || option == "+o" || option == "-O" || option == "--rcfile" || option == "--init-file"
               : option == "-W" || option == "-X";
}

}  // namespace

size_t past_wrappers(std::span<const std::string> command) {
  size_t i = 0;
  const auto is_number_of_option = [&command](size_t at) {  // `nice -n 10`
    return at > 0 && command[at - 1].starts_with("-") && !command[at].empty() &&
           command[at].find_first_not_of("0123456789") == std::string::npos;
  };
  while (i < command.size() && (is_wrapping(command[i]) || is_number_of_option(i))) ++i;
  return i;
}

bool reads_program_from_input(std::span<const std::string> command) {
  size_t i = past_wrappers(command);
  if (i == command.size()) return false;
  const bool shell = is_shell(basename(command[i]));
  if (!shell && !is_python(basename(command[i]))) return false;
  for (++i; i < command.size(); ++i) {
    const std::string_view word = command[i];
    if (word == "-" || word == "/dev/stdin") return true;
    if (!word.starts_with("-") && !word.starts_with("+")) return false;  // its script
    if (word == "--version" || word == "--help" || word == "-V") return false;
    if (takes_a_word(word, shell)) {
      ++i;
      continue;
    }
    if (word.starts_with("--")) continue;
    const std::string_view letters = word.substr(1);
    if (contains(letters, "c") || (!shell && (contains(letters, "m") || contains(letters, "h")))) return false;
    if (shell && contains(letters, "s")) return true;
  }
  return true;
}

}  // namespace mw
