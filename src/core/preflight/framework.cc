#include "core/preflight/framework.h"

#include <algorithm>
#include <utility>

#include "base/numbers.h"
#include "base/text.h"
#include "core/preflight/facts.h"

namespace mw::preflight {
namespace {

std::string text_of(const Toml& value) {
  switch (value.kind()) {
    case Toml::Kind::kString:
      return value.text();
    case Toml::Kind::kInteger:
      return cat(value.integer());
    case Toml::Kind::kFloat:
      return format_double(value.number());
    case Toml::Kind::kBoolean:
      return value.boolean() ? "true" : "false";
    case Toml::Kind::kTable:
    case Toml::Kind::kArray:
      break;
  }
  return "";
}

/// A list of texts, or one of words between spaces; empty where the key is missing.
Result<std::vector<std::string>> texts_of(const Toml& table, std::string_view key, std::string_view path) {
  const Toml* member = table.find(key);
  return member == nullptr ? Result<std::vector<std::string>>(std::vector<std::string>{}) : member->texts(path);
}

#define MW_TEXTS(target, table, key)             \
  do {                                           \
    auto mw_texts = texts_of(table, key, path);  \
    if (!mw_texts.ok()) return mw_texts.error(); \
    target = std::move(*mw_texts);               \
  } while (false)

/// "a.b: c d e.**" in lines, the root table's without its name: ": c d".
Result<Keys> keys_of(const Toml& value, std::string_view path) {
  Keys out;
  for (const std::string_view line : split(value.text(), '\n')) {
    const std::string_view bare = trim(line);
    if (bare.empty()) continue;
    const size_t colon = bare.find(':');
    if (colon == bare.npos) return value.error(path, cat("\"", bare, "\" is no \"TABLE: KEY KEY\""));
    const std::string_view table = trim(bare.substr(0, colon));
    if (!table.empty()) out.insert(std::string(table));
    for (const std::string_view key : split(bare.substr(colon + 1), ' ')) {
      if (!key.empty()) out.insert(table.empty() ? std::string(key) : cat(table, ".", key));
    }
  }
  return out;
}

Result<Level> level_of(const Toml& table, std::string_view path) {
  const std::string word = table.text_or("level", "error");
  if (word == "error") return Level::kError;
  if (word == "warning") return Level::kWarning;
  if (word == "note") return Level::kNote;
  return table.error(path, cat("level \"", word, "\" is none of error, warning, note"));
}

Result<void> read_relation(const Toml& table, std::string_view path, Rule& rule) {
  struct Pair {
    std::string_view left, right;
    Rule::Relation relation;
  };
  static constexpr Pair kPairs[] = {{"whole", "by", Rule::Relation::kWhole},
                                    {"equal", "to", Rule::Relation::kEqual},
                                    {"at_most", "limit", Rule::Relation::kAtMost}};
  for (const Pair& pair : kPairs) {
    if (table.find(pair.left) == nullptr) continue;
    MW_TEXTS(rule.left, table, pair.left);
    MW_TEXTS(rule.right, table, pair.right);
    if (rule.left.empty() || rule.right.empty())
      return table.error(path, cat("\"", pair.left, "\" wants \"", pair.right, "\""));
    rule.relation = pair.relation;
  }
  return {};
}

Result<Rule> read_rule(const Toml& table, std::string_view path, const std::string& framework) {
  MW_TRY(table.check_keys(path, {"id", "level", "when", "whole", "by", "equal", "to", "at_most", "limit", "key", "what",
                                 "why", "fix", "source", "reported", "silent"}));
  Rule rule;
  rule.id = framework.empty() ? table.text_or("id", "") : cat(framework, "/", table.text_or("id", ""));
  const auto level = level_of(table, path);
  if (!level.ok()) return level.error();
  rule.level = *level;
  MW_TEXTS(rule.when, table, "when");
  MW_TRY(read_relation(table, path, rule));
  rule.key = table.text_or("key", "");
  rule.what = table.text_or("what", "");
  rule.why = table.text_or("why", "");
  rule.fix = table.text_or("fix", "");
  rule.source = table.text_or("source", "");
  MW_TEXTS(rule.reported, table, "reported");
  MW_TEXTS(rule.silent, table, "silent");
  for (const std::string* text : {&rule.id, &rule.what, &rule.why, &rule.fix, &rule.source}) {
    if (text->empty()) return table.error(path, "a rule wants id, what, why, fix and source");
  }
  if (rule.when.empty() && rule.relation == Rule::Relation::kNone)
    return table.error(path, "the rule asks for nothing");
  if (rule.reported.empty() || rule.silent.empty())
    return table.error(path, "a rule wants \"reported\" and \"silent\"");
  return rule;
}

Result<void> read_versions(const Toml& root, std::string_view path, Framework& out) {
  const Toml* versions = root.find("version");
  if (versions == nullptr) return {};
  for (const Toml& table : versions->items()) {
    MW_TRY(table.check_keys(path, {"id", "keys"}));
    FrameworkVersion version;
    version.id = table.text_or("id", "");
    if (const Toml* keys = table.find("keys"); keys != nullptr) {
      auto read = keys_of(*keys, path);
      if (!read.ok()) return read.error();
      version.keys = std::move(*read);
    }
    out.versions.push_back(std::move(version));
  }
  return {};
}

Result<void> read_meanings(const Toml& root, std::string_view path, Framework& out) {
  if (const Toml* meanings = root.find("meaning"); meanings != nullptr) {
    for (const auto& [name, table] : meanings->members()) {
      MW_TRY(table.check_keys(path, {"keys", "default"}));
      Meaning meaning;
      MW_TEXTS(meaning.keys, table, "keys");
      if (const Toml* otherwise = table.find("default"); otherwise != nullptr) meaning.otherwise = text_of(*otherwise);
      out.meanings[name] = std::move(meaning);
    }
  }
  if (const Toml* defaults = root.find("default"); defaults != nullptr) {
    for (const auto& [key, value] : defaults->members()) out.defaults[key] = text_of(value);
  }
  return {};
}

/// `name` is listed, and nothing below it: what may stand there is not known, and so not judged.
bool is_leaf(const Keys& keys, std::string_view name) {
  if (keys.find(name) == keys.end()) return false;
  const std::string below = cat(name, ".");
  const auto at = keys.lower_bound(below);
  return at == keys.end() || !at->starts_with(below);
}

/// How many signs of a framework are among the settings.
size_t tables_there(const Framework& framework, const Settings& settings) {
  size_t there = 0;
  for (const std::string& table : framework.tables) there += settings.has(table) ? 1 : 0;
  return there;
}

}  // namespace

std::string_view level_word(Level level) {
  return level == Level::kError ? "error" : level == Level::kWarning ? "warning" : "note";
}

Result<Framework> Framework::parse(std::string_view text, std::string_view path) {
  const auto root = Toml::parse(text, path);
  if (!root.ok()) return root.error();
  MW_TRY(root->check_keys(path, {"id", "title", "source", "words", "tables", "strict", "partial", "states", "version",
                                 "meaning", "default", "rule"}));
  Framework out;
  out.id = root->text_or("id", "");
  out.title = root->text_or("title", out.id);
  out.source = root->text_or("source", "");
  out.strict = root->boolean_or("strict", false);
  out.partial = root->boolean_or("partial", false);
  MW_TEXTS(out.words, *root, "words");
  MW_TEXTS(out.tables, *root, "tables");
  MW_TEXTS(out.states, *root, "states");
  MW_TRY(read_versions(*root, path, out));
  MW_TRY(read_meanings(*root, path, out));
  if (const Toml* rules = root->find("rule"); rules != nullptr) {
    for (const Toml& table : rules->items()) {
      auto rule = read_rule(table, path, out.id);
      if (!rule.ok()) return rule.error();
      out.rules.push_back(std::move(*rule));
    }
  }
  return out;
}

const Framework* recognise(const Catalogue& catalogue, const std::vector<std::string>& command, const Facts& facts) {
  constexpr size_t kWord = 10, kTable = 1, kLeast = 2;  // a word of the command says more than a table of a file
  const Framework* best = nullptr;
  size_t most = 0;
  for (const Framework& framework : catalogue.frameworks) {
    size_t weight = kTable * tables_there(framework, facts.settings);
    for (const std::string& word : framework.words) {
      const bool said = std::any_of(command.begin(), command.end(),
                                    [&](const std::string& given) { return fits(to_lower(word), to_lower(given)); });
      weight += said ? kWord : 0;
    }
    if (weight < kLeast || weight <= most) continue;
    most = weight;
    best = &framework;
  }
  return best;
}

bool knows_key(const Keys& keys, std::string_view key) {
  if (keys.find(key) != keys.end() || keys.find(cat(key, ".**")) != keys.end()) return true;
  for (size_t dot = key.rfind('.'); dot != key.npos; dot = key.substr(0, dot).rfind('.')) {
    const std::string_view table = key.substr(0, dot);
    if (keys.find(cat(table, ".**")) != keys.end() || is_leaf(keys, table)) return true;
  }
  const size_t bar = key.find('_', key.rfind('.') + 1);
  return bar != key.npos && keys.find(cat(key.substr(0, bar), "_*")) != keys.end();
}

std::string version_of(const Framework& framework, const Facts& facts) {
  if (framework.versions.size() == 1) return framework.versions.front().id;
  std::vector<size_t> known(framework.versions.size());
  size_t known_at_all = 0;
  for (const auto& [name, setting] : facts.settings.all()) {
    const std::string key = without_numbers(name);
    bool any = false;
    for (size_t i = 0; i < framework.versions.size(); ++i) {
      const bool knows = knows_key(framework.versions[i].keys, key);
      known[i] += knows ? 1 : 0;
      any = any || knows;
    }
    known_at_all += any ? 1 : 0;
  }
  const auto best = std::max_element(known.begin(), known.end());
  if (best == known.end() || std::count(known.begin(), known.end(), *best) > 1 || known_at_all - *best > kForeign)
    return "";
  return framework.versions[static_cast<size_t>(best - known.begin())].id;
}

#undef MW_TEXTS

}  // namespace mw::preflight
