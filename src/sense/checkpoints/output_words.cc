#include "sense/checkpoints/output_words.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "core/event.h"
#include "sense/checkpoints/ownership.h"

namespace mw {
namespace {

/// The last parts of such names, with "_" for "-".
constexpr std::array<std::string_view, 14> kOutputs = {
    "output_dir", "output_folder",  "default_local_dir", "ckpt_path", "ckpt_dir",        "checkpoint_dir",   "save",
    "save_dir",   "save_directory", "save_path",         "save_root", "checkpoints_dir", "default_root_dir", "outdir"};

class Words {
 public:
  explicit Words(const std::string& folder) : folder_(folder) {}

  void see(std::string_view word) {
    if (contains(word, " ") || contains(word, "\n")) {  // of sh -c
      Words within(folder_);
      size_t from = 0;
      while (from < word.size()) {
        const size_t end = std::min(word.find_first_of(" \t\n;&|", from), word.size());
        if (end > from) within.see(word.substr(from, end - from));
        from = end + 1;
      }
      for (const std::string& one : within.found) add(one);
      option_ = {};
      return;
    }
    word = bare(word);
    const size_t equals = word.find('=');
    if (equals != std::string_view::npos) {
      if (names_output(word.substr(0, equals))) add(bare(word.substr(equals + 1)));
      option_ = {};
    } else if (word.starts_with("-")) {
      option_ = word;
    } else {
      if (!option_.empty() && names_output(option_)) add(word);
      option_ = {};
    }
  }

  std::vector<std::string> found;

 private:
  static std::string_view bare(std::string_view word) {
    while (!word.empty() && (word.front() == '\'' || word.front() == '"')) word.remove_prefix(1);
    while (!word.empty() && (word.back() == '\'' || word.back() == '"')) word.remove_suffix(1);
    return word;
  }
  void add(std::string_view path) {
    if (path.empty() || path.size() > kTextLimit || path.find_first_of("$`*~") != std::string_view::npos ||
        contains(path, "://"))
      return;
    std::string plain = plain_path(path.starts_with('/') ? std::string(path) : cat(folder_, "/", path));
    if (plain.size() > 1 && std::find(found.begin(), found.end(), plain) == found.end())
      found.push_back(std::move(plain));
  }

  const std::string& folder_;
  std::string_view option_;
};

}  // namespace

bool names_output(std::string_view option) {
  while (option.starts_with('-') || option.starts_with('+')) option.remove_prefix(1);
  const size_t cut = option.find_last_of("./");
  std::string name(cut == std::string_view::npos ? option : option.substr(cut + 1));
  std::replace(name.begin(), name.end(), '-', '_');
  return std::find(kOutputs.begin(), kOutputs.end(), name) != kOutputs.end();
}

std::vector<std::string> output_folders(const std::vector<std::string>& words, const std::string& folder) {
  Words seen(folder);
  for (const std::string& word : words) seen.see(word);
  return std::move(seen.found);
}

}  // namespace mw
