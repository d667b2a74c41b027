#include "app/config/rule_settings.h"

#include "base/text.h"

namespace mw {
namespace {

constexpr std::string_view kRules = "rule";

std::string path_of(std::string_view name, std::string_view key) { return cat(kRules, ".", name, ".", key); }

Severity severity_of(std::string_view word) {
  for (const Severity one : {Severity::kInfo, Severity::kCritical}) {
    if (word == severity_name(one)) return one;
  }
  return Severity::kWarning;
}

}  // namespace

std::vector<UserRule> user_rules(const Config& config) {
  std::vector<UserRule> rules;
  for (const std::string& name : config.names(kRules)) {
    UserRule rule;
    rule.name = name;
    rule.signal = config.text(path_of(name, "signal"));
    if (config.given(path_of(name, "below"))) rule.below = config.real(path_of(name, "below"));
    if (config.given(path_of(name, "above"))) rule.above = config.real(path_of(name, "above"));
    rule.points = static_cast<uint32_t>(config.number(path_of(name, "for")));
    rule.after_step = config.number(path_of(name, "after_step"));
    rule.severity = severity_of(config.text(path_of(name, "severity")));
    rule.breaker = config.boolean(path_of(name, "breaker"));
    rule.text = config.text(path_of(name, "text"));
    rules.push_back(std::move(rule));
  }
  return rules;
}

std::vector<ConfigProblem> rule_problems(const Config& config) {
  std::vector<ConfigProblem> problems;
  for (const UserRule& rule : user_rules(config)) {
    const auto line = [&](std::string_view key) {
      const ConfigValue* value = config.find(path_of(rule.name, key));
      return value == nullptr || value->line == 0 ? config.line_of(kRules, rule.name) : value->line;
    };
    const auto wrong = [&](std::string_view key, std::string_view what, std::string hint) {
      problems.push_back({line(key), cat("rule ", rule.name, what), std::move(hint)});
    };
    if (rule.signal.empty()) {
      wrong("signal", " names no signal",
            "Say what it looks at: signal = \"reward.mean\". docs/signals.md has them all.");
    }
    if (!rule.below && !rule.above) wrong("below", " has no bounds", "Give it below = …, above = … or both.");
    if (rule.below && rule.above && *rule.below > *rule.above) {
      wrong("above", ": every value is below the one or above the other",
            "Good is what lies between: below is the lower end, above the upper one.");
    }
    if (rule.breaker && rule.severity != Severity::kCritical) {
      wrong("breaker", " ends the attempt, and is not critical", "Write severity = \"critical\".");
    }
  }
  return problems;
}

Result<std::vector<UserRule>> read_user_rules(std::string_view text, const std::string& path) {
  const Config config = Config::parse(text, path);
  MW_TRY(config.check());
  for (const auto& [key, value] : config.all()) {
    if (value->line == 0 || key.starts_with(cat(kRules, "."))) continue;
    return Error{Error::Code::kInvalid, cat(path, ":", value->line, ": ", key, " is no part of a rule"),
                 "Only [rule.NAME] belongs here; the rest stands in midwatch.toml."};
  }
  return user_rules(config);
}

}  // namespace mw
