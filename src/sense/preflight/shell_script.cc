#include "sense/preflight/shell_script.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/numbers.h"
#include "base/text.h"
#include "sense/preflight/shell_parser.h"

namespace mw::preflight {
namespace {

/// Splits "NAME=value" or "NAME+=value"; the name is empty when it is no assignment.
std::string name_of(std::string_view word, std::string& value, bool& more) {
  size_t end = 0;
  const auto named = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c >= '0' && c <= '9');
  };
  while (end < word.size() && named(word[end])) ++end;
  if (end == 0 || (word[0] >= '0' && word[0] <= '9') || end >= word.size()) return "";
  more = word.substr(end).starts_with("+=");
  if (!more && word[end] != '=') return "";
  value = std::string(word.substr(end + (more ? 2 : 1)));
  return std::string(word.substr(0, end));
}

bool is_shell(std::string_view word) {
  const std::string_view name = basename(word);
  return name == "bash" || name == "sh" || name == "dash" || name == "zsh";
}

}  // namespace

/// A process of its own.
void ShellReader::read(std::string_view text, const std::string& file, const std::vector<std::string>& arguments) {
  const size_t before = std::exchange(process_, script_.exported.size());
  const size_t own = process_;
  script_.exported.emplace_back();
  read_text(text, file, arguments);
  for (const auto& [name, variable] : variables_) {
    const bool here = variable.exported && !variable.inherited && !variable.values.empty();
    if (here) script_.exported[own][name] = variable.values.front();
  }
  process_ = before;
}

void ShellReader::read_text(std::string_view text, const std::string& file, const std::vector<std::string>& arguments) {
  if (++scripts_ > kScripts || text.size() > kBytes) {
    script_.unread.push_back({file, 0});
    return;
  }
  const std::vector<std::string> before = std::exchange(arguments_, arguments);
  ShellParser(*this, text, file).run();
  arguments_ = before;
}

void ShellReader::assign(const std::string& name, const ShellWord& value, bool more, size_t depth) {
  Variable& variable = variables_[name];
  const bool same = variable.values.size() == 1 && variable.values.front().text == value.text;
  ShellWord word = value;
  word.unsure = word.unsure || (depth > 0 && !same);
  variable.inherited = false;
  if (more && !variable.values.empty()) {
    ShellWord& last = variable.values.back();
    last.text = clip(last.text + word.text, kWordBytes);
    last.unsure = last.unsure || word.unsure;
  } else {
    variable.values = {std::move(word)};
  }
}

void ShellReader::export_names(const std::vector<ShellWord>& words, size_t depth) {
  for (size_t i = 1; i < words.size(); ++i) {
    std::string value;
    bool more = false;
    const std::string name = name_of(words[i].text, value, more);
    if (!name.empty()) assign(name, {value, words[i].unsure, words[i].place}, more, depth);
    const auto at = variables_.find(name.empty() ? words[i].text : name);
    if (at != variables_.end()) at->second.exported = true;
  }
}

void ShellReader::set_limits(const std::vector<ShellWord>& words) {
  for (size_t i = 1; i + 1 < words.size(); ++i) {
    const std::string& option = words[i].text;
    if (option.empty() || option.front() != '-' || words[i + 1].unsure) continue;
    const auto number =
        words[i + 1].text == "unlimited" ? std::optional<double>(INFINITY) : parse_double(words[i + 1].text);
    if (option.ends_with('n')) script_.open_files = number;
    if (option.ends_with('c') && number.has_value()) script_.core_bytes = *number * 1024;  // bash counts in 1024 bytes
  }
}

void ShellReader::load_script(const std::vector<ShellWord>& words, size_t at, bool own_variables) {
  while (at < words.size() && words[at].text.starts_with('-')) {
    if (words[at].text == "-c") return;  // its text would have to be taken apart once more
    ++at;
  }
  if (at >= words.size() || words[at].unsure) return;
  const std::string path = words[at].text;
  const auto text = load_(!folder_.empty() && !path.starts_with('/') ? cat(folder_, "/", path) : path);
  if (!text.has_value()) {
    script_.unread.push_back(words[at].place);
    return;
  }
  std::vector<std::string> arguments;
  for (size_t i = at + 1; i < words.size(); ++i) arguments.push_back(words[i].text);
  if (!own_variables) return read_text(*text, path, arguments);
  const std::map<std::string, Variable> kept = variables_;
  std::erase_if(variables_, [](const auto& entry) { return !entry.second.exported; });
  read(*text, path, arguments);
  variables_ = kept;
}

void ShellReader::run(std::vector<ShellWord> words, size_t depth) {
  std::map<std::string, ShellWord> own;
  size_t first = 0;
  for (; first < words.size(); ++first) {
    std::string value;
    bool more = false;
    const std::string name = name_of(words[first].text, value, more);
    if (name.empty()) break;
    own[name] = {value, words[first].unsure, words[first].place};
    if (first + 1 == words.size()) {  // nothing but assignments: they stay
      for (auto& [each, kept] : own) assign(each, kept, more, depth);
      return;
    }
  }
  words.erase(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(first));
  if (words.empty() || script_.commands.size() >= kCommands) return;
  const std::string& program = words.front().text;
  if (program == "export" || program == "declare" || program == "local" || program == "readonly" ||
      program == "typeset") {
    return export_names(words, depth);
  }
  if (program == "ulimit") return set_limits(words);
  if (program == "source" || program == ".") return load_script(words, 1, false);
  if (is_shell(program)) load_script(words, 1, true);
  if (program == "cd" && words.size() == 2)
    folder_ = words[1].unsure                                     ? ""
              : words[1].text.starts_with('/') || folder_.empty() ? words[1].text
                                                                  : cat(folder_, "/", words[1].text);
  ShellCommand command;
  command.environment = std::move(own);
  command.words = std::move(words);
  command.folder = folder_;
  command.process = process_;
  script_.commands.push_back(std::move(command));
}

}  // namespace mw::preflight
