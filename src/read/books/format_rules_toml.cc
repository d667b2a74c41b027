// Rule files (docs/formats/rules.md) as values.
#include <cmath>

#include "base/text.h"
#include "base/toml.h"
#include "read/books/embedded.h"
#include "read/books/format_rules.h"

namespace mw {
namespace {

constexpr size_t kLiteralLeast = 3;  // bytes, as for the shapes of a dialect

class Reader {
 public:
  Reader(std::string_view path, bool built_in) : path_(path), built_in_(built_in) {}
  Result<FormatRuleSet> read(const Toml& root);

 private:
  Result<std::vector<std::string>> texts(const Toml& table, std::string_view key);
  Result<std::vector<std::string>> literals(const Toml& table, std::string_view key);
  Result<void> regex_of(const Toml& table, std::string_view key, std::string& out);
  Result<AnswerPlace> place(const Toml& table);
  Result<AnswerTest> test(const Toml& table);
  Result<void> count(const Toml& table, AnswerTest& out);
  Result<void> rule(const Toml& table, FormatRuleSet& set);
  Result<void> sample(const Toml& table, FormatRuleSet& set);
  template <typename Each>
  Result<void> each(const Toml& root, std::string_view key, const Each& take);

  std::string_view path_;
  bool built_in_;
};

template <typename Each>
Result<void> Reader::each(const Toml& root, std::string_view key, const Each& take) {
  const Toml* list = root.find(key);
  if (list == nullptr) return {};
  if (!list->is_array()) return list->error(path_, cat("\"", key, "\" must be an array of tables"));
  for (const Toml& item : list->items()) {
    if (!item.is_table()) return item.error(path_, cat("\"", key, "\" must hold tables"));
    MW_TRY(take(item));
  }
  return {};
}

Result<std::vector<std::string>> Reader::texts(const Toml& table, std::string_view key) {
  const Toml* value = table.find(key);
  if (value == nullptr) return std::vector<std::string>();
  return value->texts(path_);
}

Result<std::vector<std::string>> Reader::literals(const Toml& table, std::string_view key) {
  auto found = texts(table, key);
  if (!found.ok()) return found.error();
  for (const std::string& literal : *found) {
    if (literal.size() < kLiteralLeast) return table.error(path_, cat("\"", key, "\" needs at least 3 bytes of text"));
  }
  return found;
}

Result<void> Reader::regex_of(const Toml& table, std::string_view key, std::string& out) {
  out = table.text_or(key, "");
  if (out.empty() || built_in_) return {};
  auto compiled = Regex::compile(out);
  if (!compiled.ok()) return table.error(path_, compiled.error().what);
  return {};
}

Result<AnswerPlace> Reader::place(const Toml& table) {
  const std::string word = table.text_or("place", "any");
  if (word == "any") return AnswerPlace::kAny;
  if (word == "last") return AnswerPlace::kLast;
  if (word == "not-last") return AnswerPlace::kNotLast;
  return table.error(path_, "\"place\" must be \"any\", \"last\" or \"not-last\"");
}

Result<void> Reader::count(const Toml& table, AnswerTest& out) {
  for (const std::string_view key : {"exactly", "least", "most"}) {
    const Toml* value = table.find(key);
    if (value == nullptr) continue;
    if (value->kind() != Toml::Kind::kInteger || value->integer() < 0) {
      return table.error(path_, cat("\"", key, "\" must be a whole number, 0 or more"));
    }
    const auto number = static_cast<uint64_t>(value->integer());
    if (key != "most") out.least = number;
    if (key != "least") out.most = number;
  }
  if (out.least == 0 && out.most == UINT64_MAX) return table.error(path_, "a count needs exactly, least or most");
  return {};
}

Result<AnswerTest> Reader::test(const Toml& table) {
  MW_TRY(table.check_keys(path_, {"starts_with", "ends_with", "count", "exactly", "least", "most", "first_of", "after",
                                  "is", "matches", "lacks"}));
  struct Word {
    std::string_view key;
    AnswerTest::Kind kind;
  };
  constexpr Word kWords[] = {{"starts_with", AnswerTest::Kind::kStartsWith},
                             {"ends_with", AnswerTest::Kind::kEndsWith},
                             {"count", AnswerTest::Kind::kCount},
                             {"first_of", AnswerTest::Kind::kFirstOf},
                             {"matches", AnswerTest::Kind::kMatches},
                             {"lacks", AnswerTest::Kind::kLacks}};
  AnswerTest out;
  const Word* word = nullptr;
  for (const Word& candidate : kWords) {
    if (table.find(candidate.key) == nullptr) continue;
    if (word != nullptr) return table.error(path_, "an answer's test has one condition");
    word = &candidate;
  }
  if (word == nullptr) return table.error(path_, "an answer's test needs a condition (starts_with, count, ...)");
  out.kind = word->kind;
  if (out.kind == AnswerTest::Kind::kMatches || out.kind == AnswerTest::Kind::kLacks) {
    const std::string expression = table.text_or(word->key, "");
    if (built_in_) {
      out.regex = Regex::compile_later(expression);
      return out;
    }
    auto regex = Regex::compile(expression);
    if (!regex.ok()) return table.error(path_, regex.error().what);
    out.regex = std::move(*regex);
    return out;
  }
  auto found = texts(table, word->key);
  if (!found.ok()) return found.error();
  for (const std::string& text : *found) {
    if (text.empty()) return table.error(path_, cat("\"", word->key, "\" is empty"));
    out.texts.push_back(to_lower(text));
  }
  if (out.texts.empty()) return table.error(path_, cat("\"", word->key, "\" is empty"));
  out.after = to_lower(table.text_or("after", ""));
  out.is = to_lower(table.text_or("is", ""));
  if (out.kind == AnswerTest::Kind::kCount) MW_TRY(count(table, out));
  return out;
}

Result<void> Reader::rule(const Toml& table, FormatRuleSet& set) {
  MW_TRY(table.check_keys(path_, {"id", "title", "place", "failed", "failed_regex", "answer"}));
  FormatRule rule;
  rule.id = table.text_or("id", "");
  rule.title = table.text_or("title", rule.id);
  if (rule.id.empty()) return table.error(path_, "a rule needs an \"id\"");
  for (const FormatRule& other : set.rules) {
    if (other.id == rule.id) return table.error(path_, cat("a second rule \"", rule.id, "\""));
  }
  auto where = place(table);
  if (!where.ok()) return where.error();
  rule.place = *where;
  auto failed = literals(table, "failed");
  if (!failed.ok()) return failed.error();
  rule.failed = std::move(*failed);
  MW_TRY(regex_of(table, "failed_regex", rule.failed_regex));
  MW_TRY(each(table, "answer", [&](const Toml& item) -> Result<void> {
    auto one = test(item);
    if (!one.ok()) return one.error();
    rule.tests.push_back(std::move(*one));
    return {};
  }));
  if (rule.failed.empty() && rule.tests.empty()) return table.error(path_, "a rule needs \"failed\" or \"answer\"");
  set.rules.push_back(std::move(rule));
  return {};
}

Result<void> Reader::sample(const Toml& table, FormatRuleSet& set) {
  MW_TRY(table.check_keys(path_, {"answer", "place", "broken", "line", "lines", "expect"}));
  if (table.find("answer") != nullptr) {
    auto where = place(table);
    if (!where.ok()) return where.error();
    set.samples.push_back({table.text_or("answer", ""), *where, table.text_or("broken", ""), table.line()});
    return {};
  }
  Dialect::Sample line;
  line.text = table.text_or("line", table.text_or("lines", ""));
  line.expect = table.text_or("expect", "");
  line.line = table.line();
  if (line.text.empty()) return table.error(path_, "a sample needs an \"answer\" or a \"line\"");
  set.lines.push_back(std::move(line));
  return {};
}

Result<FormatRuleSet> Reader::read(const Toml& root) {
  MW_TRY(root.check_keys(path_, {"id", "title", "verdict", "verdict_regex", "fields", "rule", "sample"}));
  FormatRuleSet set;
  set.id = root.text_or("id", "");
  set.title = root.text_or("title", set.id);
  if (set.id.empty()) return root.error(path_, "\"id\" is missing");
  auto verdict = literals(root, "verdict");
  if (!verdict.ok()) return verdict.error();
  set.verdict = std::move(*verdict);
  MW_TRY(regex_of(root, "verdict_regex", set.verdict_regex));
  if (!set.verdict.empty() && set.verdict_regex.find("?P<verdict>") == std::string::npos) {
    return root.error(path_, "\"verdict_regex\" needs a capture \"verdict\"");
  }
  auto fields = texts(root, "fields");
  if (!fields.ok()) return fields.error();
  set.fields = std::move(*fields);
  MW_TRY(each(root, "rule", [&](const Toml& table) { return rule(table, set); }));
  MW_TRY(each(root, "sample", [&](const Toml& table) { return sample(table, set); }));
  if (set.rules.empty()) return root.error(path_, "there is no [[rule]]");
  return set;
}

}  // namespace

Result<FormatRuleSet> parse_format_rules(std::string_view toml, std::string_view path, bool built_in) {
  auto root = Toml::parse(toml, path);
  if (!root.ok()) return root.error();
  return Reader(path, built_in).read(*root);
}

Result<std::vector<FormatRuleSet>> built_in_format_rules() {
  std::vector<FormatRuleSet> sets;
  for (const EmbeddedFile& file : embedded_files("rules/")) {
    auto set = parse_format_rules(file.bytes, file.path, true);
    if (!set.ok()) return set.error();
    sets.push_back(std::move(*set));
  }
  return sets;
}

}  // namespace mw
