#include "sense/processes/recognise.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace mw::components {
namespace {

constexpr size_t kWordsRead = 8;    // of a command line: what it runs stands among its first words
constexpr size_t kLabelBytes = 60;  // of a name for people

struct Row {
  std::string_view kind, face;
};

/// Names that processes give themselves (prctl, setproctitle): vllm/v1/utils.py, sglang/srt/utils, ray/_private.
constexpr std::array kTitles = {
    Row{"engine", "VLLM::"},          Row{"engine", "sglang::"},      Row{"engine", "ray::vLLM"},
    Row{"engine", "ray::AsyncvLLM"},  Row{"engine", "ray::LLMRay"},   Row{"engine", "ray::SGLang"},
    Row{"engine", "practice_engine"}, Row{"tools", "practice_tools"}, Row{"ray", "raylet"},
    Row{"ray", "gcs_server"},
};

/// Modules and scripts, as a word of the command line or as the end of a path.
constexpr std::array kPrograms = {
    Row{"engine", "vllm.entrypoints"},
    Row{"engine", "vllm_serve"},
    Row{"engine", "vllm-serve"},
    Row{"engine", "trl.scripts.vllm_serve"},
    Row{"engine", "sglang.launch_server"},
    Row{"engine", "sglang.srt"},
    Row{"engine", "sglang_router"},
    Row{"engine", "lmdeploy.serve"},
    Row{"engine", "text-generation-launcher"},
    Row{"engine", "text-generation-router"},
    Row{"engine", "trtllm-serve"},
    Row{"engine", "llama-server"},
    Row{"engine", "practice_engine"},
    Row{"tools", "tool_server"},
    Row{"tools", "tools_server"},
    Row{"tools", "sandbox_server"},
    Row{"tools", "practice_tools"},
    Row{"rewards", "reward_server"},
    Row{"rewards", "reward_model_server"},
    Row{"rewards", "serve_reward_model"},
    Row{"rewards", "openrlhf.cli.serve_rm"},
};

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
  for (const Row& row : kTitles) {
    if (name.substr(0, row.face.size()) == row.face) return {row.kind, std::string(name)};
  }
  for (size_t i = 0; i < std::min(words.size(), kWordsRead); ++i) {
    const std::string& word = words[i];
    if (word == "-c") break;  // a text to run, not a name
    if (word.front() == '-' || word.find('=') != std::string::npos) continue;
    const std::string_view program = program_of(word);
    const bool serves = i + 1 < words.size() && words[i + 1] == "serve" && (program == "vllm" || program == "lmdeploy");
    if (serves) return {"engine", cat(program, " serve")};
    for (const Row& row : kPrograms) {
      const bool whole = program.substr(0, row.face.size()) == row.face &&
                         (program.size() == row.face.size() || program[row.face.size()] == '.');
      if (whole) return {row.kind, clip(program, kLabelBytes)};
    }
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
