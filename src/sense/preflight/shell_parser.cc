#include "sense/preflight/shell_parser.h"

#include <algorithm>
#include <utility>

#include "base/numbers.h"
#include "base/text.h"

namespace mw::preflight {
namespace {

bool is_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c >= '0' && c <= '9'); }
bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/// The name in front of "=" or "+=", when the word is an assignment; "" else.
std::string_view assigned_name(std::string_view word, bool& more) {
  size_t end = 0;
  while (end < word.size() && is_name(word[end])) ++end;
  if (end == 0 || (word[0] >= '0' && word[0] <= '9')) return {};
  more = end + 1 < word.size() && word[end] == '+' && word[end + 1] == '=';
  return more || (end < word.size() && word[end] == '=') ? word.substr(0, end) : std::string_view();
}

}  // namespace

void ShellParser::next() {
  if (peek() == '\n') ++line_;
  ++at_;
}

/// Blanks, line ends after a backslash, comments. True when something was skipped.
bool ShellParser::blanks() {
  const size_t before = at_;
  while (!ended()) {
    if (is_blank(peek())) {
      next();
    } else if (peek() == '\\' && (peek(1) == '\n' || (peek(1) == '\r' && peek(2) == '\n'))) {
      while (peek() != '\n') next();
      next();
    } else if (peek() == '#' && (at_ == 0 || is_blank(text_[at_ - 1]) || text_[at_ - 1] == '\n' ||
                                 contains(";&|()", text_.substr(at_ - 1, 1)))) {
      while (!ended() && peek() != '\n') next();
    } else {
      break;
    }
  }
  return at_ > before;
}

void ShellParser::heredoc_mark() {
  at_ += 2;
  if (peek() == '-') ++at_;
  while (is_blank(peek())) ++at_;
  std::string mark;
  while (!ended() && !is_blank(peek()) && peek() != '\n' && !contains(";|&)", text_.substr(at_, 1))) {
    if (peek() != '\'' && peek() != '"' && peek() != '\\') mark += peek();
    ++at_;
  }
  if (!mark.empty()) heredocs_.push_back(std::move(mark));
}

void ShellParser::skip_heredocs() {
  for (const std::string& mark : heredocs_) {
    while (!ended()) {
      const size_t end = std::min(text_.find('\n', at_), text_.size());
      const std::string_view line = trim(text_.substr(at_, end - at_));
      at_ = std::min(end + 1, text_.size());
      ++line_;
      if (line == mark) break;
    }
  }
  heredocs_.clear();
}

/// Takes an operator; a redirection's target is skipped with it. False: there is none here.
bool ShellParser::operator_here() {
  const char c = peek();
  if (c == '\n') {
    next();
    end_command();
    skip_heredocs();
    return true;
  }
  size_t digits = 0;
  while (peek(digits) >= '0' && peek(digits) <= '9') ++digits;
  const bool both = c == '&' && peek(1) == '>';
  const char sign = both ? '>' : peek(digits);
  if (sign == '<' || sign == '>') {
    if (digits > 0 && at_ > 0 && !is_blank(text_[at_ - 1])) return false;
    at_ += both ? 1 : digits;
    if (peek() == '<' && peek(1) == '<' && peek(2) != '<') {
      heredoc_mark();
      return true;
    }
    if ((peek() == '<' || peek() == '>') && peek(1) == '(') {  // <(command)
      Building building;
      next();
      substitution(building, '(', ')');
      return true;
    }
    while (peek() == '<' || peek() == '>' || peek() == '&' || peek() == '|') ++at_;
    while (is_blank(peek())) ++at_;
    std::vector<ShellWord> kept = std::move(words_);
    words_.clear();
    if (!ended() && peek() != '\n') word();
    words_ = std::move(kept);
    return true;
  }
  if (c == ';' || c == '&' || c == '|' || c == '(' || c == ')') {
    next();
    end_command();
    return true;
  }
  return false;
}

void ShellParser::add(Building& building, std::string_view value, bool quoted) const {
  const size_t left = ShellReader::kExpanded - std::min(ShellReader::kExpanded, reader_.expanded_);
  const size_t room = std::min(left, ShellReader::kWordBytes - std::min(ShellReader::kWordBytes, building.text.size()));
  reader_.expanded_ += std::min(room, value.size()) + 1;
  if (value.size() > room) {
    building.unsure = true;
    value = value.substr(0, room);
  }
  if (quoted) {
    building.text += value;
    building.begun = true;
    return;
  }
  bool gap = false;
  for (const char c : value) {
    if (is_blank(c) || c == '\n') {
      gap = true;
      continue;
    }
    if (gap && building.begun && building.done.size() < ShellReader::kCommands) {
      building.done.push_back({std::move(building.text), building.unsure, building.place});
      building.text.clear();
    }
    gap = false;
    building.text += c;
    building.begun = true;
  }
}

/// Ends the word that is being built; another one begins.
void ShellParser::split_word(Building& building) {
  if (building.begun) building.done.push_back({std::move(building.text), building.unsure, building.place});
  building.text.clear();
  building.begun = building.unsure = false;
}

/// Puts in what a variable holds.
void ShellParser::use(Building& building, const std::string& name, bool quoted, bool all) {
  if (reader_.expanded_ >= ShellReader::kExpanded) {
    building.unsure = true;
    return;
  }
  std::vector<ShellWord> given;
  const std::vector<ShellWord>* values = &given;
  if (name == "@" || name == "*") {
    for (const std::string& argument : reader_.arguments_) given.push_back({argument, false, {}});
  } else if (const auto number = parse_int(name); number.has_value()) {
    const auto index = static_cast<size_t>(std::max<int64_t>(*number, 0));
    if (index == 0) given.push_back({file_, false, {}});
    if (index > 0 && index <= reader_.arguments_.size()) given.push_back({reader_.arguments_[index - 1], false, {}});
    if (given.empty()) building.unsure = true;
  } else {
    const auto at = reader_.variables_.find(name);
    if (at == reader_.variables_.end()) {
      building.unsure = true;
      add(building, cat("$", name), true);
      return;
    }
    values = &at->second.values;
  }
  const size_t count = all ? values->size() : std::min<size_t>(values->size(), 1);
  for (size_t i = 0; i < count && building.done.size() < ShellReader::kCommands; ++i) {
    const ShellWord& value = (*values)[i];
    if (i > 0) split_word(building);
    if (all) building.place = value.place;
    building.unsure = building.unsure || value.unsure;
    const bool nothing = value.unsure && value.text.empty();
    add(building, nothing ? cat("$", name) : value.text, quoted || nothing);
  }
}

/// "(...)" with everything in it; what comes of it is not known.
void ShellParser::substitution(Building& building, char open, char close) {
  const size_t begin = at_;
  size_t depth = 0;
  char quote = 0;
  while (!ended()) {
    const char c = peek();
    if (c == '\\' && quote != '\'') {
      next();
    } else if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (c == open) {
      ++depth;
    } else if (c == close && --depth == 0) {
      next();
      break;
    }
    if (!ended()) next();
  }
  building.unsure = building.begun = true;
  building.text += cat("$", text_.substr(begin, std::min<size_t>(at_ - begin, 200)));
}

void ShellParser::backquoted(Building& building) {
  next();
  while (!ended() && peek() != '`') next();
  if (!ended()) next();
  building.unsure = building.begun = true;
  building.text += "$(...)";
}

/// "{NAME...}" behind a dollar.
void ShellParser::braced(Building& building, bool quoted, size_t nested) {
  next();
  std::string name;
  if (peek() == '@' || peek() == '*') {
    name = peek();
    next();
  }
  while (is_name(peek())) {
    name += peek();
    next();
  }
  bool all = false;
  if (peek() == '[') {
    const size_t close = std::min(text_.find(']', at_), text_.size());
    const std::string_view index = text_.substr(at_ + 1, close - at_ - 1);
    all = index == "@" || index == "*";
    if (!all && index != "0") building.unsure = true;
    at_ = std::min(close + 1, text_.size());
  }
  const bool colon = peek() == ':' && (peek(1) == '-' || peek(1) == '=' || peek(1) == '+');
  const char how = colon ? peek(1) : peek();
  const auto known = reader_.variables_.find(name);
  const bool set = known != reader_.variables_.end() &&
                   !(colon && known->second.values.size() == 1 && known->second.values.front().text.empty());
  if (how == '}') {
    use(building, name, quoted, all);
  } else if (!name.empty() && (how == '-' || how == '=' || how == '+')) {
    for (int skip = colon ? 2 : 1; skip > 0; --skip) next();
    Building other;
    while (!ended() && peek() != '}' && nested < kNested) {
      if (peek() == '$') {
        dollar(other, true, nested + 1);
      } else if (peek() == '"') {
        double_quoted(other, nested + 1);
      } else if (peek() == '\'') {
        single_quoted(other);
      } else {
        other.text += peek();
        next();
      }
    }
    if (set == (how == '+')) {
      building.unsure = building.unsure || other.unsure;
      add(building, other.text, quoted);
    } else if (set) {
      use(building, name, quoted, all);
    }
  } else {
    building.unsure = building.begun = true;  // ${#NAME}, ${NAME%...}, ${NAME/a/b}, ...
    building.text += cat("$", name);
  }
  size_t depth = 0;
  while (!ended() && !(peek() == '}' && depth == 0)) {
    if (peek() == '{') ++depth;
    if (peek() == '}') --depth;
    next();
  }
  if (!ended()) next();
}

void ShellParser::dollar(Building& building, bool quoted, size_t nested) {
  next();
  const char c = peek();
  if (c == '(') {
    substitution(building, '(', ')');
  } else if (c == '{' && nested < kNested) {
    braced(building, quoted, nested);
  } else if (c == '\'') {
    single_quoted(building);
  } else if (c == '@' || c == '*' || (c >= '0' && c <= '9')) {
    next();
    use(building, std::string(1, c), quoted, true);
  } else if (is_name(c)) {
    std::string name;
    while (is_name(peek())) {
      name += peek();
      next();
    }
    use(building, name, quoted, false);
  } else if (c == '#' || c == '?' || c == '!' || c == '$' || c == '-') {
    next();
    building.unsure = building.begun = true;
  } else {
    building.text += '$';
    building.begun = true;
  }
}

void ShellParser::single_quoted(Building& building) {
  next();
  building.begun = true;
  while (!ended() && peek() != '\'') {
    building.text += peek();
    next();
  }
  if (!ended()) next();
}

void ShellParser::double_quoted(Building& building, size_t nested) {
  next();
  const bool empty_list = text_.substr(at_).starts_with("$@\"") && reader_.arguments_.empty();
  building.begun = building.begun || !empty_list;
  while (!ended() && peek() != '"') {
    if (peek() == '\\' && contains("$`\"\\\n", text_.substr(at_ + 1, 1)) && at_ + 1 < text_.size()) {
      next();
      if (peek() != '\n') building.text += peek();
      next();
    } else if (peek() == '$') {
      dollar(building, true, nested);
    } else if (peek() == '`') {
      backquoted(building);
    } else {
      building.text += peek();
      next();
    }
  }
  if (!ended()) next();
}

void ShellParser::finish_word(Building& building, uint32_t line) {
  split_word(building);
  for (ShellWord& word : building.done) {
    if (words_.size() >= ShellReader::kCommands) return;
    if (word.place.line == 0) word.place = {file_, line};
    word.text = clip(word.text, ShellReader::kWordBytes);
    words_.push_back(std::move(word));
  }
}

/// The "(" of NAME=(...): the words of an array.
bool ShellParser::array(const std::string& name, bool more) {
  next();
  std::vector<ShellWord> kept = std::move(words_);
  words_.clear();
  while (!ended() && peek() != ')') {
    if (blanks()) continue;
    if (peek() == '\n') {
      next();
      continue;
    }
    const size_t before = at_;
    word();
    if (at_ == before) next();
  }
  if (!ended()) next();
  ShellReader::Variable& variable = reader_.variables_[name];
  if (!more) variable = {};
  for (ShellWord& word : words_) {
    if (variable.values.size() < ShellReader::kCommands) variable.values.push_back(std::move(word));
  }
  words_ = std::move(kept);
  return true;
}

/// One word, with all that is glued to it.
void ShellParser::word() {
  const uint32_t line = line_;
  Building building;
  while (!ended()) {
    const char c = peek();
    if (is_blank(c) || c == '\n' || c == ';' || c == '&' || c == '|' || c == ')') break;
    if (c == '(') {
      bool more = false;
      const std::string text = building.text;
      const std::string_view name = assigned_name(text, more);
      if (name.empty() || text.size() != name.size() + (more ? 2 : 1) || !building.done.empty()) break;
      array(std::string(name), more);
      return;
    }
    if ((c == '<' || c == '>') && building.begun) break;
    if (c == '\\') {
      next();
      if (ended()) break;
      if (peek() != '\n') building.text += peek();
      building.begun = true;
      next();
    } else if (c == '\'') {
      single_quoted(building);
    } else if (c == '"') {
      double_quoted(building, 0);
    } else if (c == '`') {
      backquoted(building);
    } else if (c == '$') {
      bool more = false;
      const bool assignment = words_.empty() && building.done.empty() && !assigned_name(building.text, more).empty();
      dollar(building, assignment, 0);
    } else {
      building.text += c;
      building.begun = true;
      next();
    }
  }
  finish_word(building, line);
}

/// Words of the shell's own grammar at the beginning of a command.
void ShellParser::keyword() {
  while (!words_.empty()) {
    const std::string first = words_.front().text;
    const bool opens =
        first == "if" || first == "while" || first == "until" || first == "for" || first == "case" || first == "select";
    if (opens) ++branches_;
    if ((first == "fi" || first == "done" || first == "esac") && branches_ > 0) --branches_;
    if (first == "for" || first == "case" || first == "select" || first == "fi" || first == "done" || first == "esac" ||
        first == "function") {
      if (first == "for" && words_.size() > 1) {
        reader_.assign(words_[1].text, {"", true, words_[1].place}, false, branches_);
      }
      words_.clear();
      return;
    }
    const bool goes_on = opens || first == "then" || first == "else" || first == "elif" || first == "do" ||
                         first == "!" || first == "{" || first == "}" || first == "time";
    if (!goes_on) return;
    words_.erase(words_.begin());
  }
}

void ShellParser::end_command() {
  keyword();
  if (!words_.empty()) reader_.run(std::move(words_), branches_);
  words_.clear();
}

void ShellParser::run() {
  while (!ended()) {
    if (blanks() || operator_here()) continue;
    const size_t before = at_;
    word();
    if (at_ == before) next();  // never stand still
  }
  end_command();
}

}  // namespace mw::preflight
