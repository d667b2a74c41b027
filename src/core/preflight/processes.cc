#include "core/preflight/processes.h"

#include <algorithm>
#include <string_view>

#include "base/numbers.h"
#include "base/text.h"

namespace mw::preflight {
namespace {

std::string_view program_in(std::string_view path) { return path.substr(path.rfind('/') + 1); }

/// The value of an option of a launcher, whose names have '-' or '_' between words; nullopt: it is not given.
std::optional<std::string> option(const std::vector<std::string>& words, std::string_view name) {
  for (size_t i = 0; i < words.size(); ++i) {
    std::string word = words[i].substr(0, words[i].find('='));
    std::replace(word.begin(), word.end(), '-', '_');
    if (word != cat("__", name)) continue;
    const size_t is = words[i].find('=');
    if (is != std::string::npos) return words[i].substr(is + 1);
    return i + 1 < words.size() ? words[i + 1] : std::string();
  }
  return std::nullopt;
}

/// A whole number above 0. nullopt: it is another word ("auto", "1:4"), or a variable.
std::optional<double> count_in(const std::optional<std::string>& text, double otherwise) {
  if (!text.has_value()) return otherwise;
  const auto number = parse_int(*text);
  return number.has_value() && *number > 0 ? std::optional<double>(static_cast<double>(*number)) : std::nullopt;
}

}  // namespace

std::optional<double> processes_of(const std::vector<std::string>& command) {
  // What follows the script is the trainer's.
  const auto script =
      std::find_if(command.begin(), command.end(), [](const std::string& word) { return word.ends_with(".py"); });
  if (script == command.end()) return std::nullopt;
  const std::vector<std::string> words(command.begin(), script);
  bool torch = false;
  for (const std::string& word : words) {
    if (program_in(word) == "accelerate") {
      return option(words, "num_processes") ? count_in(option(words, "num_processes"), 1) : std::nullopt;
    }
    torch = torch || program_in(word) == "torchrun" || word == "torch.distributed.run";
  }
  if (torch) {
    const auto each = count_in(option(words, "nproc_per_node"), 1), nodes = count_in(option(words, "nnodes"), 1);
    return each && nodes ? std::optional<double>(*each * *nodes) : std::nullopt;
  }
  const bool plain = words.size() == 1 && program_in(words.front()).starts_with("python");
  return plain ? std::optional<double>(1) : std::nullopt;
}

}  // namespace mw::preflight
