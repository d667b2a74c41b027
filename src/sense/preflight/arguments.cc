#include "sense/preflight/arguments.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "sense/preflight/settings_files.h"

namespace mw::preflight {
namespace {

bool is_option(const ShellWord& word) { return word.text.size() > 2 && word.text.starts_with("--"); }

/// "--ckpt.keep-last" as "ckpt.keep_last".
std::string key_of(std::string_view option) {
  std::string key(option.substr(option.starts_with("--") ? 2 : 0));
  std::replace(key.begin(), key.end(), '-', '_');
  return key;
}

/// Hydra's and OmegaConf's keys: letters, digits, "_", ".", "@", "/", "-"; "[0]" becomes ".0".
std::string dotted(std::string_view key) {
  std::string out;
  for (const char c : key) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (c == '[') {
      out += '.';
    } else if (letter || c == '_' || c == '.' || c == '-' || c == '@' || c == '/') {
      out += c;
    } else if (c != ']') {
      return "";
    }
  }
  return out;
}

std::string unquoted(std::string_view text) {
  const bool quoted = text.size() >= 2 && (text.front() == '\'' || text.front() == '"') && text.front() == text.back();
  return std::string(quoted ? text.substr(1, text.size() - 2) : text);
}

bool names_file(std::string_view key) {
  return key == "config" || key == "config_file" || key == "cfg" || key == "cfg_path" || key == "config_yaml" ||
         key == "file";
}

class Reader {
 public:
  explicit Reader(const std::vector<ShellWord>& words) : words_(words) {}

  Arguments read(size_t first) {
    for (at_ = first; at_ < words_.size();) one();
    finish_hydra();
    return std::move(out_);
  }

 private:
  const ShellWord& here() const { return words_[at_]; }

  void put(const std::string& key, const std::string& text, const ShellWord& word) {
    if (key.empty()) return;
    Setting setting = read_scalar(key, text, word.place);
    const std::string bare = unquoted(setting.text);
    if (bare.size() != setting.text.size()) {  // 'abc' that the trainer takes the quotes off
      setting.text = bare;
      setting.kind = Setting::Kind::kText;
    }
    setting.unsure = word.unsure;
    out_.settings.put(std::move(setting));
  }

  void file(const ShellWord& word, std::string_view path, const std::string& prefix) {
    if (!word.unsure && !path.empty()) out_.files.push_back({std::string(path), prefix, word.place, false});
  }

  void one() {
    const ShellWord& word = here();
    const std::string& text = word.text;
    if (text == "@" && at_ + 1 < words_.size()) {  // prime-rl: `rl @ FILE`
      file(words_[at_ + 1], words_[at_ + 1].text, "");
      at_ += 2;
    } else if (text.size() > 1 && text.front() == '@') {
      file(word, std::string_view(text).substr(1), "");
      ++at_;
    } else if (is_option(word)) {
      option();
    } else {
      assignment();
      ++at_;
    }
  }

  void option() {
    const ShellWord& word = here();
    const size_t is = word.text.find('=');
    if (is != std::string::npos) {
      value(key_of(word.text.substr(0, is)), word.text.substr(is + 1), word);
      ++at_;
      return;
    }
    const std::string key = key_of(word.text);
    const size_t last = last_value();
    if (last == at_) {
      put(key, "true", word);
    } else if (words_[at_ + 1].text == "@" && at_ + 2 < words_.size()) {  // `--trainer @ FILE`
      file(words_[at_ + 2], words_[at_ + 2].text, key);
      at_ += 3;
      return;
    } else {
      ShellWord joined = words_[at_ + 1];
      for (size_t i = at_ + 2; i <= last; ++i) {
        joined.text = clip(cat(joined.text, " ", words_[i].text), ShellReader::kWordBytes);
        joined.unsure = joined.unsure || words_[i].unsure;
      }
      value(key, joined.text, joined);
    }
    at_ = last + 1;
  }

  /// The index up to which words belong to the option here.
  size_t last_value() const {
    size_t last = at_;
    while (last + 1 < words_.size() && !is_option(words_[last + 1])) {
      const std::string& text = words_[last + 1].text;
      if (last > at_ && (text == "@" || text.find('=') != std::string::npos)) break;
      ++last;
      if (words_[at_ + 1].text == "@") break;
    }
    return last;
  }

  void value(const std::string& key, const std::string& text, const ShellWord& word) {
    if (key == "config_path") {
      hydra_folder_ = text;
    } else if (key == "config_name") {
      hydra_name_ = text;
      hydra_word_ = &word == &here() ? &here() : &words_[std::min(at_ + 1, words_.size() - 1)];
    } else if (names_file(key) && is_settings_file(text)) {
      file(word, text, "");
    } else {
      put(key, text, word);
    }
  }

  void assignment() {
    const ShellWord& word = here();
    std::string_view text = word.text;
    while (text.starts_with('+')) text.remove_prefix(1);
    if (text.starts_with('~')) {
      out_.removed.push_back(dotted(text.substr(1, text.find('=') - 1)));
      return;
    }
    const size_t is = text.find('=');
    if (is == text.npos || is == 0) return;
    put(dotted(text.substr(0, is)), std::string(text.substr(is + 1)), word);
  }

  void finish_hydra() {
    if (hydra_name_.empty() || hydra_word_ == nullptr || hydra_word_->unsure) return;
    const std::string end = is_settings_file(hydra_name_) ? "" : ".yaml";
    const std::string path = cat(hydra_folder_, hydra_folder_.empty() ? "" : "/", hydra_name_, end);
    out_.files.insert(out_.files.begin(), {path, "", hydra_word_->place, true});
  }

  const std::vector<ShellWord>& words_;
  size_t at_ = 0;
  std::string hydra_folder_, hydra_name_;
  const ShellWord* hydra_word_ = nullptr;
  Arguments out_;
};

}  // namespace

Arguments read_arguments(const std::vector<ShellWord>& words, size_t first) { return Reader(words).read(first); }

Launch launch_of(const std::vector<ShellWord>& words, const std::function<bool(const std::string&)>& is_name) {
  Launch out;
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i].text == "--") out.begin = i + 1;  // `ray job submit ... -- python3 train.py ...`
  }
  const auto python = [&](const ShellWord& word) { return word.text.ends_with(".py"); };
  for (size_t i = out.begin; i + 1 < words.size(); ++i) {
    const std::string& module = words[i + 1].text;
    const bool launcher = module.starts_with("torch.distributed") || module.starts_with("accelerate.commands");
    if (words[i].text != "-m" || launcher) continue;
    out.end = i + 2;
    out.script = true;
    return out;
  }
  const auto first = words.begin() + static_cast<std::ptrdiff_t>(out.begin);
  const auto at = std::find_if(
      first, words.end(), [&](const ShellWord& word) { return python(word) || (!word.unsure && is_name(word.text)); });
  out.script = at != words.end() && python(*at);
  out.end = at == words.end() ? words.size() : static_cast<size_t>(at - words.begin()) + 1;
  return out;
}

PythonStart python_start(const std::vector<ShellWord>& words) {
  if (words.empty() || words.front().unsure) return {};
  const std::string_view name = basename(words.front().text);
  if (!name.starts_with("python") || name.find_first_not_of("0123456789.", 6) != std::string_view::npos) return {};
  for (size_t i = 1; i < words.size(); ++i) {
    const std::string& word = words[i].text;
    if (words[i].unsure || word == "-" || word == "-c") return {};
    if (word == "-m") {
      const bool known = i + 1 < words.size() && !words[i + 1].unsure;
      return known ? PythonStart{"", words[i + 1].text} : PythonStart{};
    }
    if (word == "-W" || word == "-X") {
      ++i;
    } else if (!word.starts_with("-")) {
      return {word, ""};
    }
  }
  return {};
}

}  // namespace mw::preflight
