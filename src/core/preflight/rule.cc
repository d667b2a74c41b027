#include "core/preflight/rule.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/numbers.h"
#include "base/text.h"
#include "core/preflight/values.h"

namespace mw::preflight {
namespace {

/// The name that a condition is about: "a.b" of "!a.b", "a.b = 3".
std::string_view subject_of(std::string_view condition) {
  if (condition.starts_with('!')) condition.remove_prefix(1);
  return trim(condition.substr(0, condition.find(' ')));
}

std::optional<double> product_of(const Facts& facts, const std::vector<std::string>& names) {
  double product = 1;
  for (const std::string& name : names) {
    const auto number = number_of(facts, name);
    if (!number.has_value()) return std::nullopt;
    product *= *number;
  }
  return product;
}

/// The relation is broken; nullopt: not known.
std::optional<bool> broken(const Rule& rule, double left, double right) {
  switch (rule.relation) {
    case Rule::Relation::kWhole:
      if (right <= 0 || left < 0) return std::nullopt;
      return std::fmod(left, right) != 0;
    case Rule::Relation::kEqual:
      return left != right;
    case Rule::Relation::kAtMost:
      return left > right;
    case Rule::Relation::kNone:
      break;
  }
  return true;
}

std::string shown(const Value& value) { return value.text.empty() ? std::string("unset") : clip(value.text, 120); }

/// `text` with {KEY} replaced by what it stands for.
std::string filled(const Facts& facts, std::string_view text, double left, double right) {
  std::string out;
  while (true) {
    const size_t open = text.find('{'), close = text.find('}', open == text.npos ? 0 : open);
    if (open == text.npos || close == text.npos) break;
    const std::string_view name = text.substr(open + 1, close - open - 1);
    out += text.substr(0, open);
    if (name == "left" || name == "right") {
      out += format_short(name == "left" ? left : right, 12);
    } else {
      out += shown(value_of(facts, name));
    }
    text = text.substr(close + 1);
  }
  return out += text;
}

/// The setting that the finding points at: the rule's own, else the first that somebody set.
Value pointed_at(const Facts& facts, const Rule& rule) {
  std::vector<std::string> names;
  if (!rule.key.empty()) names.push_back(rule.key);
  names.insert(names.end(), rule.left.begin(), rule.left.end());
  names.insert(names.end(), rule.right.begin(), rule.right.end());
  for (const std::string& condition : rule.when) names.emplace_back(subject_of(condition));
  Value first;
  for (const std::string& name : names) {
    Value value = value_of(facts, name);
    if (value.setting != nullptr) return value;
    const bool better = value.set && !first.set;
    if (better) first = std::move(value);
  }
  return first;
}

}  // namespace

std::optional<Finding> judge_rule(const Facts& facts, const Rule& rule) {
  for (const std::string& condition : rule.when) {
    if (!holds(facts, condition).value_or(false)) return std::nullopt;
  }
  double left = 0, right = 0;
  if (rule.relation != Rule::Relation::kNone) {
    const auto one = product_of(facts, rule.left), other = product_of(facts, rule.right);
    if (!one.has_value() || !other.has_value()) return std::nullopt;
    left = *one;
    right = *other;
    if (!broken(rule, left, right).value_or(false)) return std::nullopt;
  }
  const Value value = pointed_at(facts, rule);
  if (!value.set) return std::nullopt;
  Finding finding;
  finding.lint = rule.id;
  finding.level = rule.level;
  if (value.setting != nullptr) finding.place = value.setting->place;
  finding.on_machine =
      value.setting == nullptr && value_of(facts, value.key).setting == nullptr && !facts.settings.has(value.key);
  finding.key = value.key;
  finding.value = clip(value.text, 200);
  finding.what = filled(facts, rule.what, left, right);
  finding.why = rule.why;
  finding.fix = filled(facts, rule.fix, left, right);
  finding.source = rule.source;
  return finding;
}

}  // namespace mw::preflight
