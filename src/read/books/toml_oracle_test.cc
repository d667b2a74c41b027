// Our TOML parser against the library toml++: they agree on what is a document, and on its values.
#include <doctest/doctest.h>

#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
// toml++ asserts on some of the damaged documents where it should report an error.
#define TOML_ASSERT(expr) static_cast<void>(0)
#include <toml++/toml.h>

#include <cmath>
#include <string>

#include "base/prng.h"
#include "base/toml.h"
#include "read/books/embedded.h"

using mw::Toml;

namespace {

bool same(const toml::node& theirs, const Toml& ours) {
  if (const auto* table = theirs.as_table()) {
    if (!ours.is_table() || table->size() != ours.members().size()) return false;
    for (auto&& [key, child] : *table) {
      const Toml* member = ours.find(key.str());
      if (member == nullptr || !same(child, *member)) return false;
    }
    return true;
  }
  if (const auto* array = theirs.as_array()) {
    if (!ours.is_array() || array->size() != ours.items().size()) return false;
    size_t i = 0;
    for (auto&& child : *array) {
      if (!same(child, ours.items()[i++])) return false;
    }
    return true;
  }
  if (const auto* text = theirs.as_string()) return ours.is_string() && ours.text() == text->get();
  if (const auto* integer = theirs.as_integer()) {
    return ours.kind() == Toml::Kind::kInteger && ours.integer() == integer->get();
  }
  if (const auto* real = theirs.as_floating_point()) {
    const double a = real->get(), b = ours.number();
    return ours.kind() == Toml::Kind::kFloat && (a == b || (std::isnan(a) && std::isnan(b)));
  }
  const auto* boolean = theirs.as_boolean();
  return boolean != nullptr && ours.kind() == Toml::Kind::kBoolean && ours.boolean() == boolean->get();
}

bool has_date(const toml::node& node) {
  if (const auto* table = node.as_table()) {
    for (auto&& [key, child] : *table) {
      if (has_date(child)) return true;
    }
  }
  if (const auto* array = node.as_array()) {
    for (auto&& child : *array) {
      if (has_date(child)) return true;
    }
  }
  return node.is_date() || node.is_time() || node.is_date_time();
}

/// Empty when the two agree on `text`.
std::string difference(const std::string& text) {
  const toml::parse_result theirs = toml::parse(text);
  const auto ours = Toml::parse(text, "t");
  const bool valid = theirs && !has_date(theirs.table());
  if (valid != ours.ok()) return valid ? "refused: " + ours.error().what : "accepted";
  return !valid || same(theirs.table(), *ours) ? "" : "other values";
}

}  // namespace

TEST_CASE("the knowledge files mean the same to toml++") {
  for (const mw::EmbeddedFile& file : mw::embedded_files("")) {
    const std::string found = difference(std::string(file.bytes));
    if (!found.empty()) FAIL_CHECK(std::string(file.path), ": ", found);
  }
}

TEST_CASE("corners of the grammar mean the same to toml++") {
  // clang-format off
  const std::vector<std::string> texts{
      "", "\n\r\n # c\n", "a = 1 # c", "a = 1 b = 2", "a.b.c = 1\na.b.d = 2", "a.b = 1\n[a]\nc = 1", "[a]\n[a.b]\n[a]",
      "[a.b]\n[a]\nx = 1", "[a]\nb.c = 1\n[a.b]\nd = 1", "[[a]]\nx = 1\n[[a]]\n[a.b]\ny = 2", "a = []\n[[a]]", "[[a]]\n[a]",
      "a = {}\n[a.b]", "a = {b = 1, c.d = 2}", "a = {b = 1,}", "a = {\nb = 1}", "a = [1, 2, # c\n 3,\n]", "a = [1 2]",
      "a = [[1], ['x', {y = 1}]]", "a = +1", "a = -0", "a = 01", "a = 1_000", "a = 1__0", "a = _1", "a = 0xFF", "a = 0o17",
      "a = 0b101", "a = +0x1", "a = 0x", "a = 0x_1", "a = 1.", "a = .5", "a = 1e3", "a = 1.5E-3", "a = 6.02_1e+2_3", "a = inf",
      "a = -inf", "a = nan", "a = Inf", "a = 9223372036854775807", "a = 9223372036854775808", "a = -9223372036854775808",
      "a = true", "a = True", "a = 'x", "a = 'x\ny'", R"(a = "\u00e9\U0001F600")", R"(a = "\ud800")", R"(a = "\e")",
      "a = \"\"\"\nx\\\n   y\"\"\"", "a = \"\"\"x\"\"\"\"\"", "a = \"\"\"x\"\"\"\"\"\"", "a = '''\nx'y''z'''",
      "'a b' = 1\n\"c.d\" = 2\n'' = 3", "a = 1\na = 2", "a = 1\na.b = 2", "= 1", "a", "a =", "[a", "[]", "[a] b = 1",
      "[ a . b ]\nc=1", "[[ a ]]", "a = \"\x01\"", "a = 1 # \x01", "a = 1\rb = 2", std::string("\xef\xbb\xbf").append("a = 1"), "a = 1979-05-27",
      "a = 07:32:00", "a = \"\xc3\x28\"", "# \xff", "-_9 = 1", "[a]\n[[a]]", "[a.b]\n[a.b.c]\n[a]\n[a.b]",
      "a = {b = 1}\na.c = 2", "a=[{b=1}]\n[a.c]", "[a]\n[b]\n[a.c]\nd=1", "[a.b]\nc=1\n[a]\nb.d=2", "a = \"\t\"", "a = 1.e3"};
  // clang-format on
  for (const std::string& text : texts) {
    const std::string found = difference(text);
    if (!found.empty()) FAIL_CHECK(text, "\n  => ", found);
  }
}

TEST_CASE("damaged documents mean the same to toml++") {
  const std::string whole =
      "a = 1\n[b.c]\nd = ['x', \"y\\n\"]\ne = {f = 1.5, g.h = true}\n[[i]]\nj = '''k\nl'''\n[[i]]\n[i.m]\n\"n\" = -3\n";
  constexpr std::string_view kBytes = "[]{}=.,'\"\\#\n ab1_-+e";
  mw::Prng prng(7);
  for (int round = 0; round < 20000; ++round) {
    std::string text = whole;
    for (uint64_t edits = 1 + prng.below(3); edits > 0; --edits) {
      const size_t at = prng.below(text.size());
      const uint64_t how = prng.below(3);
      if (how == 0) text.erase(at, 1 + prng.below(4));
      if (how == 1) text.insert(at, 1, kBytes[prng.below(kBytes.size())]);
      if (how == 2) text[at] = kBytes[prng.below(kBytes.size())];
      if (text.empty()) text = " ";
    }
    const std::string found = difference(text);
    if (!found.empty()) {
      FAIL_CHECK(text, "\n  => ", found);
      break;
    }
  }
}
