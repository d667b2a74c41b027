#include "read/interpret/shares.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace mw {

void Shares::set_rules(const std::vector<ShareRule>* rules) {
  rules_.clear();
  if (rules == nullptr) return;
  for (const ShareRule& rule : *rules) {
    const std::string whole = rule.rest.empty() ? rule.of : cat("(", rule.counted, " + ", rule.rest, ")");
    rules_.push_back({&rule, std::make_shared<const FigureName>(rule.signal, cat(rule.counted, " / ", whole)), false});
  }
}

void Shares::configured(std::string_view key, std::string_view value) {
  const auto number = parse_double(trim(value));
  if (!number || !std::isfinite(*number)) return;
  const size_t cut = key.find_last_of("/.");
  const std::string_view name = cut == std::string_view::npos ? key : key.substr(cut + 1);
  for (const Dialect& dialect : book_.dialects()) {
    const auto counts = [name](const ShareRule& rule) { return rule.of == name; };
    if (std::any_of(dialect.shares.begin(), dialect.shares.end(), counts)) settings_[std::string(name)] = *number;
  }
}

void Shares::look_up(KnownName& name) const {
  name.share_counted = name.share_rest = name.share_zero = 0;
  for (size_t i = 0; i < rules_.size(); ++i) {
    const ShareRule& rule = *rules_[i].rule;
    const auto bit = static_cast<uint8_t>(1U << i);
    if (name_matches(rule.counted, name.raw)) name.share_counted |= bit;
    if (rule.rest == name.raw) name.share_rest |= bit;
    if (rule.zero_with == name.raw) name.share_zero |= bit;
  }
}

/// What `counted` is a share of; 0 where that is not known.
double Shares::whole_of(const Rule& rule, double counted, double rest) const {
  if (!rule.rule->rest.empty()) return counted + rest;
  const auto known = settings_.find(rule.rule->of);
  return known == settings_.end() ? 0 : known->second;
}

void Shares::add(std::span<KnownName* const> names, std::span<const RowNumber> numbers,
                 std::vector<Reading>& readings) {
  for (size_t i = 0; i < rules_.size(); ++i) {
    Rule& rule = rules_[i];
    const auto bit = static_cast<uint8_t>(1U << i);
    double counted = 0, rest = 0;
    bool any = false, beside = rule.rule->rest.empty(), zero = false;
    for (size_t n = 0; n < names.size(); ++n) {
      const KnownName& name = *names[n];
      if ((name.share_counted & bit) != 0) {
        counted += numbers[n].value;
        any = true;
      }
      if ((name.share_rest & bit) != 0) {
        rest += numbers[n].value;
        beside = true;
      }
      zero = zero || (name.share_zero & bit) != 0;
    }
    rule.seen = rule.seen || any;
    if (!beside || !(any || (zero && rule.seen))) continue;
    const double share = counted / whole_of(rule, counted, rest);
    const bool sound = share >= 0 && share <= 1;  // of another whole, or of none
    const bool known = std::any_of(readings.begin(), readings.end(),
                                   [&rule](const Reading& reading) { return reading.signal() == rule.rule->signal; });
    if (sound && !known) readings.push_back({rule.figure, share});
  }
}

}  // namespace mw
