#include "sense/processes/recognise.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "read/books/engine_book.h"

namespace mw::components {
namespace {

constexpr size_t kWordsRead = 8;    // of a command line: what it runs stands among its first words
constexpr size_t kLabelBytes = 60;  // of a name for people

struct Row {
  std::string_view kind, face;
};

/// Names that processes give themselves, besides those of engines (knowledge/engines).
constexpr std::array kTitles = {Row{"tools", "practice_tools"}, Row{"ray", "raylet"}, Row{"ray", "gcs_server"}};

/// Modules and scripts, as a word of the command line or as the end of a path; likewise.
constexpr std::array kPrograms = {
    Row{"tools", "tool_server"},          Row{"tools", "tools_server"},
    Row{"tools", "sandbox_server"},       Row{"tools", "practice_tools"},
    Row{"rewards", "reward_server"},      Row{"rewards", "reward_model_server"},
    Row{"rewards", "serve_reward_model"}, Row{"rewards", "openrlhf.cli.serve_rm"},
};

bool begins_with_one(std::string_view name, const std::vector<std::string>& faces) {
  return std::any_of(faces.begin(), faces.end(), [name](const std::string& face) { return name.starts_with(face); });
}

/// Is `program` that module, or one within it?
bool is_program(std::string_view program, std::string_view face) {
  return program.starts_with(face) && (program.size() == face.size() || program[face.size()] == '.');
}

/// "engine", "tools", "rewards"; "" where the word names nothing that is known.
std::string_view kind_of(std::string_view program) {
  for (const Engine& engine : built_in_engines()) {
    for (const std::string& face : engine.programs) {
      if (is_program(program, face)) return "engine";
    }
  }
  for (const Row& row : kPrograms) {
    if (is_program(program, row.face)) return row.kind;
  }
  return "";
}

bool serves(std::string_view program) {
  const auto& all = built_in_engines();
  return std::any_of(all.begin(), all.end(), [program](const Engine& engine) {
    return std::find(engine.serves.begin(), engine.serves.end(), program) != engine.serves.end();
  });
}

/// The program that a word names: without folders and ".py".
std::string_view program_of(std::string_view word) {
  if (const size_t slash = word.rfind('/'); slash != std::string_view::npos) word = word.substr(slash + 1);
  if (word.size() > 3 && word.substr(word.size() - 3) == ".py") word.remove_suffix(3);
  return word;
}

}  // namespace

bool is_shell(std::string_view name) {
  constexpr std::array<std::string_view, 12> kShells = {"sh",   "bash", "dash", "zsh",     "ksh",      "fish",
                                                        "tini", "sudo", "env",  "timeout", "torchrun", "srun"};
  return std::find(kShells.begin(), kShells.end(), name) != kShells.end();
}

Recognised recognise(std::string_view name, const std::vector<std::string>& words) {
  if (is_shell(name)) return {};
  for (const Engine& engine : built_in_engines()) {
    if (begins_with_one(name, engine.titles)) return {"engine", std::string(name)};
  }
  for (const Row& row : kTitles) {
    if (name.starts_with(row.face)) return {row.kind, std::string(name)};
  }
  for (size_t i = 0; i < std::min(words.size(), kWordsRead); ++i) {
    const std::string& word = words[i];
    if (word == "-c") break;  // a text to run, not a name
    if (word.front() == '-' || word.find('=') != std::string::npos) continue;
    const std::string_view program = program_of(word);
    if (i + 1 < words.size() && words[i + 1] == "serve" && serves(program)) return {"engine", cat(program, " serve")};
    if (const std::string_view kind = kind_of(program); !kind.empty()) return {kind, clip(program, kLabelBytes)};
    // A script or module that is somebody else's: what follows are its settings.
    if ((i > 0 && words[i - 1] == "-m") || program.size() < basename(word).size()) break;
  }
  return {};
}

std::vector<std::string> words_of(std::string_view cmdline) {
  std::vector<std::string> words;
  while (!cmdline.empty() && words.size() < kWordsRead) {
    const size_t end = std::min(cmdline.find('\0'), cmdline.size());
    if (end > 0) words.emplace_back(cmdline.substr(0, end));
    cmdline.remove_prefix(std::min(end + 1, cmdline.size()));
  }
  return words;
}

}  // namespace mw::components
