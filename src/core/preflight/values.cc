#include "core/preflight/values.h"

#include <algorithm>
#include <limits>
#include <map>

#include "base/numbers.h"
#include "base/text.h"

namespace mw::preflight {
namespace {

using Kind = Setting::Kind;

Value of_text(std::string_view key, std::string_view text, bool set) {
  Value value;
  const Setting read = read_scalar(std::string(key), text, {});
  value.key = std::string(key);
  value.text = read.text;
  value.known = true;
  value.set = set;
  if (read.kind == Kind::kNumber || read.kind == Kind::kTruth || read.kind == Kind::kList) value.number = read.number;
  return value;
}

Value of_setting(const Setting& setting) {
  Value value;
  value.setting = &setting;
  value.key = setting.key;
  value.text = setting.text;
  value.set = true;
  value.known = !setting.unsure;
  const bool counted = setting.kind == Kind::kNumber || setting.kind == Kind::kTruth || setting.kind == Kind::kList;
  if (counted && !setting.unsure) value.number = setting.number;
  return value;
}

Value of_map(const std::map<std::string, std::string>& map, std::string_view name) {
  const auto at = map.find(std::string(name));
  return at == map.end() ? Value{} : of_text(name, at->second, true);
}

/// "host:open_files": a figure of the machine that rules may use.
Value of_host(const Host& host, std::string_view name) {
  std::optional<double> number;
  if (name == "gpus" && host.gpus_seen) number = static_cast<double>(host.gpus.size());
  if (name == "open_files") number = host.open_files;
  if (name == "python" && host.python_seen) number = 1;
  Value value;
  value.key = std::string(name);
  value.number = number;
  value.set = value.known = number.has_value();
  if (number.has_value()) value.text = format_short(*number, 12);
  return value;
}

/// "launch:processes": what the command itself says.
Value of_launch(const Facts& facts, std::string_view name) {
  Value value;
  value.key = std::string(name);
  if (name != "processes" || !facts.processes) return value;
  value.number = facts.processes;
  value.set = value.known = true;
  value.text = format_short(*facts.processes, 12);
  return value;
}

/// The item of the highest number below a list "a.b", whose keys "a.b.0" or "a.b.0.c" are; nullopt without any.
std::optional<double> items_below(const Settings& settings, std::string_view key) {
  const std::string below = cat(key, ".");
  double most = -1;
  for (auto at = settings.all().lower_bound(below); at != settings.all().end() && at->first.starts_with(below); ++at) {
    const std::string_view rest = std::string_view(at->first).substr(below.size());
    const auto number = parse_int(rest.substr(0, rest.find('.')));
    if (number.has_value()) most = std::max(most, static_cast<double>(*number));
  }
  return most < 0 ? std::nullopt : std::optional<double>(most + 1);
}

Value of_key(const Facts& facts, std::string_view key) {
  if (const Setting* setting = facts.settings.find(key); setting != nullptr) {
    Value value = of_setting(*setting);
    if (setting->kind == Kind::kTable && !value.number.has_value()) value.number = items_below(facts.settings, key);
    if (setting->kind != Kind::kNone) return value;
    value.known = true;  // "null": it is off
    return value;
  }
  if (facts.settings.has(key)) {  // a table of which only what is in it was set
    Value value;
    value.key = std::string(key);
    value.set = value.known = true;
    value.number = items_below(facts.settings, key);
    return value;
  }
  Value value;
  value.key = std::string(key);
  if (facts.framework == nullptr) return value;
  const auto otherwise = facts.framework->defaults.find(key);
  return otherwise == facts.framework->defaults.end() ? value : of_text(key, otherwise->second, false);
}

}  // namespace

Value value_of(const Facts& facts, std::string_view name) {
  const size_t colon = name.find(':');
  const std::string_view space = colon == name.npos ? "" : name.substr(0, colon);
  const std::string_view rest = colon == name.npos ? name : name.substr(colon + 1);
  if (space == "env") return of_map(facts.host.environment, rest);
  if (space == "package") return of_map(facts.host.packages, rest);
  if (space == "host") return of_host(facts.host, rest);
  if (space == "launch") return of_launch(facts, rest);
  if (parse_double(name).has_value()) return of_text("", name, false);
  if (facts.framework == nullptr) return of_key(facts, name);
  const auto meaning = facts.framework->meanings.find(name);
  if (meaning == facts.framework->meanings.end()) return of_key(facts, name);
  for (const std::string& key : meaning->second.keys) {
    Value value = of_key(facts, key);
    const bool off = value.setting != nullptr && value.setting->kind == Kind::kNone;
    if (value.set && !off) return value;
  }
  const std::string first = meaning->second.keys.empty() ? std::string() : meaning->second.keys.front();
  if (!meaning->second.otherwise.empty()) return of_text(first, meaning->second.otherwise, false);
  Value none;
  none.key = first;
  return none;
}

std::optional<double> number_of(const Facts& facts, std::string_view name) { return value_of(facts, name).number; }

std::optional<bool> truth_of(const Facts& facts, std::string_view name) {
  const Value value = value_of(facts, name);
  if (value.setting != nullptr && value.setting->unsure) return std::nullopt;
  if (value.setting != nullptr && value.setting->kind == Kind::kNone) return false;
  if (value.setting != nullptr && value.setting->kind == Kind::kTable) return true;
  if (value.set && value.setting == nullptr) return true;
  if (value.number.has_value()) return *value.number != 0;
  if (!value.known) return std::nullopt;
  const std::string lower = to_lower(value.text);
  return !(lower.empty() || lower == "none" || lower == "null" || lower == "off" || lower == "no" ||
           lower == "disable" || lower == "disabled");
}

int compare_versions(std::string_view a, std::string_view b) {
  const auto one = split(a, '.'), other = split(b, '.');
  for (size_t i = 0; i < std::max(one.size(), other.size()); ++i) {
    size_t used = 0;
    const auto x = i < one.size() ? parse_double_prefix(one[i], &used) : std::optional<double>(0);
    const auto y = i < other.size() ? parse_double_prefix(other[i], &used) : std::optional<double>(0);
    if (x.value_or(0) != y.value_or(0)) return x.value_or(0) < y.value_or(0) ? -1 : 1;
  }
  return 0;
}

namespace {

struct Comparison {
  std::string_view name, sign, wanted;
};

std::optional<Comparison> comparison_of(std::string_view condition) {
  for (const std::string_view sign : {" != ", " <= ", " >= ", " = ", " < ", " > ", " is "}) {
    const size_t at = condition.find(sign);
    if (at != condition.npos)
      return Comparison{trim(condition.substr(0, at)), trim(sign), trim(condition.substr(at + sign.size()))};
  }
  return std::nullopt;
}

std::optional<bool> is_of_kind(const Value& value, std::string_view wanted) {
  if (!value.set) return false;
  const Kind kind = value.setting == nullptr ? Kind::kTable : value.setting->kind;
  if (value.setting != nullptr && value.setting->unsure) return std::nullopt;
  if (wanted == "text") return kind == Kind::kText;
  if (wanted == "table") return kind == Kind::kTable;
  if (wanted == "list") return kind == Kind::kList;
  return wanted == "number" && kind == Kind::kNumber;
}

bool in_order(double a, std::string_view sign, double b) {
  if (sign == "<") return a < b;
  if (sign == ">") return a > b;
  return sign == "<=" ? a <= b : a >= b;
}

}  // namespace

std::optional<bool> holds(const Facts& facts, std::string_view condition) {
  const auto asked = comparison_of(condition);
  if (!asked.has_value()) {
    const bool negated = condition.starts_with('!');
    const std::string_view name = negated ? trim(condition.substr(1)) : condition;
    const Value value = value_of(facts, name);
    const bool of_machine = name.starts_with("env:") || name.starts_with("package:");
    if (of_machine && !value.set && !facts.host.is_here) return std::nullopt;  // it may be set there
    const bool none = value.setting != nullptr && value.setting->kind == Kind::kNone;
    return (value.set && !none) != negated;
  }
  const Value value = value_of(facts, asked->name);
  if (asked->sign == "is") return is_of_kind(value, asked->wanted);
  if (!value.known) return std::nullopt;
  if (asked->name.starts_with("package:")) {
    const int order = compare_versions(value.text, asked->wanted);
    if (asked->sign == "=" || asked->sign == "!=") return (order == 0) == (asked->sign == "=");
    return in_order(order, asked->sign, 0);
  }
  const auto wanted = parse_double(asked->wanted);
  if (asked->sign == "=" || asked->sign == "!=") {
    const bool same = wanted.has_value() && value.number.has_value()
                          ? *wanted == *value.number
                          : fits(to_lower(asked->wanted), to_lower(value.text));
    return same == (asked->sign == "=");
  }
  if (!wanted.has_value() || !value.number.has_value()) return std::nullopt;
  return in_order(*value.number, asked->sign, *wanted);
}

}  // namespace mw::preflight
