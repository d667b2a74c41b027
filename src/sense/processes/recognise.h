// What a process of a run is, by the names that frameworks give to theirs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mw::components {

/// A component: what it is, and what it is called.
struct Recognised {
  std::string_view kind;  ///< "engine", "tools", "rewards", "ray"; "" when it is none that is known
  std::string label;      ///< "VLLM::EngineCor", "vllm.entrypoints.openai.api_server"
};

/// `name` as in /proc/PID/stat (at most 15 bytes), `words` its command line. A shell is never one, whatever it starts;
/// nor is a program that only has such a name among its settings.
Recognised recognise(std::string_view name, const std::vector<std::string>& words);

bool is_shell(std::string_view name);

/// The words of /proc/PID/cmdline.
std::vector<std::string> words_of(std::string_view cmdline);

}  // namespace mw::components
