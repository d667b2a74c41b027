#include "read/lines/metric_line.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/byte_set.h"
#include "base/numbers.h"
#include "base/text.h"
#include "read/lines/held_out.h"
#include "read/lines/metric_text.h"

namespace mw {
namespace {

using metric_text::is_digit;
using metric_text::is_letter;
using metric_text::is_space;
using metric_text::is_statistic_name;
using metric_text::kNone;
using metric_text::skip_space;
using metric_text::starts_with;
using metric_text::wide_letter;
using metric_text::wide_letter_before;

constexpr size_t kTextValueLimit = 400;  // bytes of a textual value worth keeping
constexpr double kPercent = 100;
constexpr size_t kBracketLimit = 200;  // bytes that a bracket in a line of pairs may span; keeps reading linear

// Past the closing quote of the string that begins at `at`; kNone when it does not end.
size_t skip_string(std::string_view text, size_t at) {
  const char quote = text[at];
  for (size_t i = at + 1; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == quote) {
      return i + 1;
    }
  }
  return kNone;
}

// Past the bracket that closes the one at `at`, strings respected.
size_t skip_brackets(std::string_view text, size_t at) {
  int depth = 0;
  for (size_t i = at; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"' || c == '\'') {
      i = skip_string(text, i);
      if (i == kNone) return kNone;
      --i;
    } else if (c == '[' || c == '(' || c == '{') {
      ++depth;
    } else if (c == ']' || c == ')' || c == '}') {
      if (--depth == 0) return i + 1;
    }
  }
  return kNone;
}

bool is_unit(std::string_view text) {
  if (text.size() > 16) return false;
  for (const char c : text) {
    if (!is_letter(c) && c != '%' && c != '/' && c != '.' && c != '_' && static_cast<unsigned char>(c) < 0x80) {
      return false;
    }
  }
  return true;
}

// "mean=0.5": a statistic and its value.
bool is_statistic(std::string_view text) {
  return is_statistic_name(text.substr(0, std::min(text.find('='), text.size())));
}

// A unit that a writer left between a value and the next name ("3.2 s loss: 0.5").
std::string_view drop_leading_unit(std::string_view key) {
  static constexpr std::array<std::string_view, 14> kUnits = {
      "s", "ms", "sec", "secs", "seconds", "%", "tokens/s", "GB", "GiB", "MB", "it/s", "s/it", "tokens", "tok/s"};
  const size_t space = key.find(' ');
  if (space == kNone) return key;
  const std::string_view word = key.substr(0, space);
  double seconds = 0;  // "22.1s reward: 0.5"
  if (is_digit(word[0]) && metric_duration(word, &seconds)) return trim(key.substr(space + 1));
  for (const std::string_view unit : kUnits) {
    if (word == unit) return trim(key.substr(space + 1));
  }
  return key;
}

/// Behind "0.25 -> 0.5" from its arrow on, the value that is now; kNone when there is no such thing at `at`.
size_t new_value(std::string_view text, size_t at) {
  static constexpr std::array<std::string_view, 2> kArrows = {"->", "\u2192"};
  const size_t arrow = skip_space(text, at);
  for (const std::string_view one : kArrows) {
    if (!text.substr(std::min(arrow, text.size())).starts_with(one)) continue;
    const size_t value = skip_space(text, arrow + one.size());
    const bool sign = value + 1 < text.size() && (text[value] == '-' || text[value] == '+');
    if (value < text.size() && is_digit(text[sign ? value + 1 : value])) return value;
  }
  return kNone;
}

// A name without what decorates it: brackets, bullets, quotes, emoji at either end.
std::string_view clean_key(std::string_view key) {
  static constexpr ByteSet kFirst("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%");
  static constexpr ByteSet kLast("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%/).");
  while (!key.empty() && !kFirst.holds(key.front()) && wide_letter(key, 0) == 0) key.remove_prefix(1);
  while (!key.empty() && !kLast.holds(key.back()) && wide_letter_before(key, key.size()) == 0) key.remove_suffix(1);
  return key;
}

bool is_key(std::string_view key) {
  if (key.empty() || key.size() > MetricLine::kKeyLimit) return false;
  const bool begins = is_letter(key.front()) || key.front() == '_' || key.front() == '%' || wide_letter(key, 0) > 0;
  return begins && key.find("://") == kNone;
}

}  // namespace

void MetricLine::clear() {
  numbers_.clear();
  texts_.clear();
  arena_used_ = 0;
  open_ = false;
}

std::string_view MetricLine::keep(std::string_view first, std::string_view second, char between) {
  if (arena_used_ == arena_.size()) arena_.emplace_back();
  std::string& place = arena_[arena_used_++];
  place.assign(first);
  if (between != 0) place.push_back(between);
  place.append(second);
  return place;
}

void MetricLine::add(std::string_view key, double value, double whole) {
  if (numbers_.size() < kReadingLimit) numbers_.push_back({keep(key, "", 0), value, whole});
}

bool MetricLine::value(std::string_view key, std::string_view text, bool loose) {
  if (numbers_.size() >= kReadingLimit) return false;
  double number = 0;
  text = trim(text);
  if (metric_number(text, &number)) {
    numbers_.push_back({key, number});
    return true;
  }
  if (text.empty()) return false;
  size_t used = 0;
  if (!is_digit(text[0]) && text[0] != '-' && text[0] != '+' && text[0] != '.') return false;
  const auto prefix = parse_double_prefix(text, &used);
  if (!prefix) return false;
  std::string_view rest = text.substr(used);
  if (starts_with(rest, "/") && statistics(key, text)) return true;
  if (starts_with(rest, "/") && rest.size() > 1 && is_digit(rest[1])) {  // "12/200 (6%)"
    rest.remove_prefix(1);
    const auto total = parse_double_prefix(rest, &used);
    numbers_.push_back({key, *prefix, total && *total > 0 ? *total : 1});
    if (total) numbers_.push_back({keep(key, "total", '/'), *total});
    return true;
  }
  double seconds = 0;
  if (metric_duration(text, &seconds)) {
    numbers_.push_back({key, seconds, 1, true});
    return true;
  }
  rest = trim(rest);
  const double whole = starts_with(rest, "%") ? kPercent : 1;
  for (const std::string_view spread : {"\u00b1", "+/-", "+-"}) {  // "0.5±0.1"
    if (starts_with(rest, spread)) rest = {};
  }
  const size_t note = rest.find(" (");
  if (loose && note != kNone) rest = trim(rest.substr(0, note));
  if (loose && starts_with(rest, "(")) rest = {};
  if (!is_unit(rest)) return false;
  numbers_.push_back({key, *prefix, whole});
  return true;
}

bool MetricLine::read_field(std::string_view field, bool loose) {
  field = trim(field);
  if (field.empty()) return false;
  size_t split = field.rfind(": ");
  if (split == kNone) split = field.rfind('=');
  if (split == kNone) split = field.rfind(':');
  if (split != kNone) {
    const std::string_view key = clean_key(field.substr(0, split));
    if (is_key(key) && value(key, field.substr(split + 1), loose)) return true;
  }
  if (!loose) return false;
  for (size_t i = 1; i < field.size(); ++i) {  // "Grad. Norm 0.15", "Throughput 10432 tokens/s"
    if (!is_space(field[i - 1])) continue;
    const char c = field[i];
    const bool number = is_digit(c) || ((c == '-' || c == '+') && i + 1 < field.size() && is_digit(field[i + 1])) ||
                        field.substr(i) == "nan" || field.substr(i) == "inf";
    if (!number) continue;
    std::string_view key = clean_key(field.substr(0, i));
    for (const std::string_view verb : {" was", " is"}) {
      if (key.ends_with(verb)) key.remove_suffix(verb.size());
    }
    return is_key(key) && value(key, field.substr(i), true);
  }
  double seconds = 0;
  if (is_digit(field[0]) && metric_duration(field, &seconds)) {
    numbers_.push_back({"duration", seconds});
    return true;
  }
  return false;
}

void MetricLine::read_dashes(std::string_view text) {
  while (!text.empty() && numbers_.size() < kReadingLimit) {
    const size_t end = text.find(" - ");
    const std::string_view field = text.substr(0, end);
    const size_t split = field.rfind(':');
    if (split != kNone) {
      const std::string_view key = trim(field.substr(0, split));
      if (!key.empty() && key.size() <= kKeyLimit) value(key, field.substr(split + 1), false);
    }
    if (end == kNone) break;
    text.remove_prefix(end + 3);
  }
}

void MetricLine::read_bars(std::string_view text) {
  while (!text.empty() && numbers_.size() < kReadingLimit) {
    const size_t end = text.find('|');
    const std::string_view field = text.substr(0, end);
    size_t separators = 0;
    for (const char c : field) separators += c == '=' || c == ':';
    if (separators > 1) {
      read_commas(field);
    } else {
      read_field(field, true);
    }
    if (end == kNone) break;
    text.remove_prefix(end + 1);
  }
}

namespace {

/// "->", or the sign for it.
bool is_arrow(std::string_view text, size_t at) {
  return (text[at] == '-' && text.substr(at, 2) == "->") || (text[at] == '\xe2' && text.substr(at, 3) == "\u2192");
}

/// Past the value that begins at `first`, brackets within it respected.
size_t end_of_value(std::string_view text, size_t first) {
  static constexpr ByteSet kValueEnds(" \t\n\r,;|)]}");
  size_t end = first;
  int depth = 0;
  while (end < text.size() && end - first < kBracketLimit && (depth > 0 || !kValueEnds.holds(text[end]))) {
    if (end > first && is_arrow(text, end)) break;
    depth += text[end] == '(' || text[end] == '[';
    depth -= depth > 0 && (text[end] == ')' || text[end] == ']');
    ++end;
  }
  return end;
}

}  // namespace

void MetricLine::read_commas(std::string_view text) {
  static constexpr ByteSet kStops("[(,;|=:");
  size_t begin = 0;        // of the name that is being collected
  std::string_view group;  // "reward: mean=0.5 std=0.1": whose statistics come
  for (size_t at = 0; at < text.size() && numbers_.size() < kReadingLimit; ++at) {
    const char c = text[at];
    if (!kStops.holds(c)) continue;
    if (c == '[' || c == '(') {  // "(step=3)" is read, "[0.1, 0.2]" is passed over
      if (const std::string_view field = trim(text.substr(begin, at - begin)); !field.empty() && field.size() < 60) {
        read_field(field, true);
      }
      size_t close = skip_brackets(text.substr(at, kBracketLimit), 0);
      if (close != kNone) close += at;
      const std::string_view inner = close == kNone ? std::string_view() : text.substr(at, close - at);
      if (close != kNone && inner.find('=') == kNone && inner.find(": ") == kNone) {
        std::string_view field = inner.substr(1, inner.size() - 2);
        if (field.size() < 40) read_field(field, true);
        at = close - 1;
        begin = close;
      } else {
        begin = at + 1;
      }
      continue;
    }
    if (c == ',' || c == ';' || c == '|') {
      if (const std::string_view field = text.substr(begin, at - begin); field.size() < 60) read_field(field, true);
      begin = at + 1;
      continue;
    }
    if (c != '=' && c != ':') continue;
    if (at + 1 < text.size() && (text[at + 1] == '/' || text[at + 1] == ':' || text[at + 1] == '=')) continue;
    if (c == ':' && at > 0 && is_digit(text[at - 1]) && at + 1 < text.size() && is_digit(text[at + 1])) continue;
    const std::string_view name = trim(text.substr(begin, at - begin));
    size_t first = skip_space(text, at + 1);
    size_t end = end_of_value(text, first);
    if (const size_t now = new_value(text, end); now != kNone && first < end && is_digit(text[end - 1])) {
      first = now;
      end = end_of_value(text, now);
    }
    if (text.substr(end).starts_with(" %")) end += 2;  // "35.0 %"
    std::string_view key = clean_key(drop_leading_unit(clean_key(name)));
    if (c == ':' && is_key(key) && is_statistic(text.substr(first, end - first))) group = key;
    if (!group.empty() && is_statistic_name(key)) key = keep(group, key, '/');
    if (is_key(key) && end > first && value(key, text.substr(first, end - first), false)) {
      begin = end;
      at = end - 1;
      continue;
    }
    read_field(name, true);  // "Step 12: loss=0.5"
    begin = at + 1;
  }
  if (begin < text.size()) {
    const std::string_view field = trim(text.substr(begin));
    if (field.size() < 60 && !field.empty()) read_field(field, true);
  }
}

/// "0.5 reward, 0.25 loss"
bool MetricLine::read_values_first(std::string_view text) {
  const size_t before = numbers_.size();
  if (trim(text).empty() || !is_digit(trim(text)[0])) return false;
  for (const std::string_view field : split(text, ',')) {
    const std::string_view one = trim(field);
    const size_t end = one.find(' ');
    double number = 0;
    if (end == kNone || !metric_number(one.substr(0, end), &number)) continue;
    const std::string_view name = clean_key(trim(one.substr(end)));
    if (is_key(name) && std::none_of(name.begin(), name.end(), is_digit) && numbers_.size() < kReadingLimit) {
      numbers_.push_back({name, number});
    }
  }
  return numbers_.size() > before;
}

void MetricLine::read_words(std::string_view text) {
  std::string_view name, before;
  size_t at = 0;
  if (read_values_first(text)) return;
  while (at < text.size() && numbers_.size() < kReadingLimit) {
    at = skip_space(text, at);
    size_t end = at;
    while (end < text.size() && !is_space(text[end])) ++end;
    const std::string_view word = clean_key(text.substr(at, end - at));
    double number = 0;
    std::string_view bare = text.substr(at, end - at);
    while (!bare.empty() && (bare.back() == ',' || bare.back() == ':' || bare.back() == ';')) bare.remove_suffix(1);
    const bool percent = bare.size() > 1 && bare.back() == '%' && is_digit(bare[bare.size() - 2]);
    if (percent) bare.remove_suffix(1);
    if (!name.empty() && metric_number(bare, &number)) {
      numbers_.push_back({name, number, percent ? kPercent : 1});
      name = {};
    } else if (bare != "was" && bare != "is" && bare != "of" && bare != "=") {
      name = is_key(word) ? word : std::string_view();
      // "val loss 0.5": the word before is of the name.
      const bool held_out = !name.empty() && !before.empty() && is_held_out_word(to_lower(before));
      if (held_out) name = {before.data(), static_cast<size_t>(name.data() + name.size() - before.data())};
    }
    before = word.size() == bare.size() ? word : std::string_view();
    at = end;
  }
}

bool MetricLine::read_cells(std::string_view text) {
  static constexpr std::array<std::string_view, 4> kBars = {"\u2502", "\u2503", "\u2551", "|"};
  const size_t before = numbers_.size();
  for (const std::string_view bar : kBars) {
    if (text.find(bar) == kNone) continue;
    std::string_view key;
    bool have_key = false;
    bool cells = false;
    while (true) {
      const size_t end = text.find(bar);
      const std::string_view cell = trim(text.substr(0, end));
      if (!cell.empty()) {
        cells = true;
        double number = 0;
        if (have_key && metric_number(cell, &number)) {
          if (numbers_.size() < kReadingLimit) numbers_.push_back({key, number});
          have_key = false;
        } else {
          key = cell;
          have_key = cell.size() <= kKeyLimit;
        }
      }
      if (end == kNone) break;
      text.remove_prefix(end + bar.size());
    }
    return cells || numbers_.size() > before;
  }
  return false;
}

size_t MetricLine::dict_value(std::string_view text, size_t at, std::string_view key, int depth) {
  const char c = text[at];
  if (c == '{') return dict(text, at, key, depth + 1);
  if (c == '[' || c == '(') return skip_brackets(text, at);
  if (c == '\'' || c == '"') {
    const size_t end = skip_string(text, at);
    if (end == kNone) return kNone;
    const std::string_view inner = text.substr(at + 1, end - at - 2);
    if (!value(key, inner, false) && inner.size() <= kTextValueLimit && texts_.size() < kReadingLimit) {
      texts_.push_back({key, inner});
    }
    return end;
  }
  size_t end = at;
  while (end < text.size() && text[end] != ',' && text[end] != '}') {
    if (text[end] == '(' || text[end] == '[') {
      const size_t close = skip_brackets(text, end);
      if (close == kNone) return kNone;
      end = close;
    } else {
      ++end;
    }
  }
  if (end == text.size()) return kNone;
  const std::string_view word = trim(text.substr(at, end - at));
  if (!value(key, word, false) && word.size() <= kTextValueLimit && word != "None" && word != "null" &&
      texts_.size() < kReadingLimit) {
    texts_.push_back({key, word});
  }
  return end;
}

// The dict at text[at] == '{'; names get `path` before them. Returns the place after '}'; kNone when it is open or no
// dict (open_ says which).
size_t MetricLine::dict(std::string_view text, size_t at, std::string_view path, int depth) {
  if (depth > kDepthLimit) return skip_brackets(text, at);
  ++at;
  while (true) {
    at = skip_space(text, at);
    if (at < text.size() && text[at] == ',') at = skip_space(text, at + 1);
    if (at >= text.size()) break;
    if (text[at] == '}') return at + 1;
    size_t key_end = at;
    std::string_view key;
    if (text[at] == '\'' || text[at] == '"') {
      key_end = skip_string(text, at);
      if (key_end == kNone) break;
      key = text.substr(at + 1, key_end - at - 2);
    } else {
      while (key_end < text.size() && (is_letter(text[key_end]) || is_digit(text[key_end]) || text[key_end] == '_')) {
        ++key_end;
      }
      if (key_end == at) return kNone;
      key = text.substr(at, key_end - at);
    }
    at = skip_space(text, key_end);
    if (at >= text.size()) break;
    if (text[at] != ':' || key.size() > kKeyLimit) return kNone;
    at = skip_space(text, at + 1);
    if (at >= text.size()) break;
    if (!path.empty()) key = keep(path, key, '/');
    at = dict_value(text, at, key, depth);
    if (at == kNone) break;
  }
  open_ = true;
  return kNone;
}

size_t MetricLine::read_dict(std::string_view text) {
  open_ = false;
  if (text.empty() || text[0] != '{') return 0;
  const size_t end = dict(text, 0, {}, 0);
  return end == kNone ? 0 : end;
}

MetricLine::Form MetricLine::read(std::string_view text) {
  clear();
  text = trim(text);
  if (text.empty()) return Form::kNone;
  if (text[0] == '{') {
    const size_t end = read_dict(text);
    return end > 0 || open_ ? Form::kDict : Form::kNone;
  }
  const size_t dash = find_part(text, " - ");
  if (dash != kNone && text.substr(0, dash).find(':') != kNone && text.find(':', dash) != kNone) {
    read_dashes(text);
    return numbers_.empty() ? Form::kNone : Form::kDashes;
  }
  if (text.find('|') != kNone) {
    read_bars(text);
    return numbers_.empty() ? Form::kNone : Form::kBars;
  }
  read_commas(text);
  return numbers_.empty() ? Form::kNone : Form::kCommas;
}

}  // namespace mw
