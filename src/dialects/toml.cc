#include "dialects/toml.h"

#include <algorithm>

#include "base/text.h"

#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

namespace mw {

/// Copies the library's tree into ours. Depth is bounded by the library (256 levels).
class TomlBuilder {
 public:
  /// False when `node` holds a date or time; `bad_line` then gets its line.
  static bool build(const toml::node& node, Toml& out, uint32_t& bad_line) {
    out.line_ = node.source().begin.line;
    switch (node.type()) {
      case toml::node_type::table:
        out.kind_ = Toml::Kind::kTable;
        return build_table(*node.as_table(), out, bad_line);
      case toml::node_type::array:
        out.kind_ = Toml::Kind::kArray;
        return build_array(*node.as_array(), out, bad_line);
      case toml::node_type::string:
        out.kind_ = Toml::Kind::kString;
        out.text_ = node.as_string()->get();
        return true;
      case toml::node_type::integer:
        out.kind_ = Toml::Kind::kInteger;
        out.integer_ = node.as_integer()->get();
        return true;
      case toml::node_type::floating_point:
        out.kind_ = Toml::Kind::kFloat;
        out.number_ = node.as_floating_point()->get();
        return true;
      case toml::node_type::boolean:
        out.kind_ = Toml::Kind::kBoolean;
        out.boolean_ = node.as_boolean()->get();
        return true;
      default:
        bad_line = out.line_;
        return false;
    }
  }

 private:
  static bool build_table(const toml::table& table, Toml& out, uint32_t& bad_line) {
    out.members_.reserve(table.size());
    for (auto&& [key, child] : table) {
      out.members_.emplace_back(std::string(key.str()), Toml());
      if (!build(child, out.members_.back().second, bad_line)) return false;
    }
    // The library's own order is that of its map; ours is a promise.
    std::sort(out.members_.begin(), out.members_.end(),
              [](const Toml::Member& a, const Toml::Member& b) { return a.first < b.first; });
    return true;
  }

  static bool build_array(const toml::array& array, Toml& out, uint32_t& bad_line) {
    out.items_.reserve(array.size());
    for (auto&& child : array) {
      if (!build(child, out.items_.emplace_back(), bad_line)) return false;
    }
    return true;
  }
};

namespace {

Error error_at(std::string_view path, uint32_t line, std::string_view what) {
  return {Error::Code::kInvalid, cat(path, ":", line, ": ", what), "mend that line; see docs/formats/"};
}

}  // namespace

Result<Toml> Toml::parse(std::string_view text, std::string_view path) {
  if (text.size() > kTomlBytesLimit) {
    return Error{Error::Code::kLimit, cat(path, ": larger than ", kTomlBytesLimit, " bytes"), "split the file"};
  }
  toml::parse_result parsed = toml::parse(text);
  if (!parsed) {
    const toml::parse_error& problem = parsed.error();
    return error_at(path, problem.source().begin.line, sanitize_utf8(problem.description()));
  }
  Toml root;
  uint32_t bad_line = 0;
  if (!TomlBuilder::build(parsed.table(), root, bad_line)) {
    return error_at(path, bad_line, "dates and times are not used here; write a string");
  }
  return root;
}

std::string_view Toml::kind_name() const {
  switch (kind_) {
    case Kind::kTable:
      return "a table";
    case Kind::kArray:
      return "an array";
    case Kind::kString:
      return "a string";
    case Kind::kInteger:
      return "an integer";
    case Kind::kFloat:
      return "a number";
    case Kind::kBoolean:
      return "true or false";
  }
  return "";
}

const Toml* Toml::find(std::string_view key) const {
  const auto at = std::lower_bound(members_.begin(), members_.end(), key,
                                   [](const Member& member, std::string_view name) { return member.first < name; });
  return at != members_.end() && at->first == key ? &at->second : nullptr;
}

double Toml::number() const { return kind_ == Kind::kInteger ? static_cast<double>(integer_) : number_; }

std::string Toml::text_or(std::string_view key, std::string_view fallback) const {
  const Toml* member = find(key);
  return member != nullptr && member->is_string() ? member->text() : std::string(fallback);
}

double Toml::number_or(std::string_view key, double fallback) const {
  const Toml* member = find(key);
  const bool fits = member != nullptr && (member->kind() == Kind::kInteger || member->kind() == Kind::kFloat);
  return fits ? member->number() : fallback;
}

bool Toml::boolean_or(std::string_view key, bool fallback) const {
  const Toml* member = find(key);
  return member != nullptr && member->kind() == Kind::kBoolean ? member->boolean() : fallback;
}

Result<std::vector<std::string>> Toml::texts(std::string_view path) const {
  if (is_string()) return std::vector<std::string>{text_};
  if (!is_array()) return error(path, cat("strings are expected here, not ", kind_name()));
  std::vector<std::string> all;
  all.reserve(items_.size());
  for (const Toml& item : items_) {
    if (!item.is_string()) return item.error(path, cat("a string is expected here, not ", item.kind_name()));
    all.push_back(item.text());
  }
  return all;
}

Error Toml::error(std::string_view path, std::string_view what) const { return error_at(path, line_, what); }

Result<void> Toml::check_keys(std::string_view path, const std::vector<std::string_view>& known) const {
  for (const auto& [key, value] : members_) {
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      return value.error(path, cat("unknown key \"", clip(sanitize_utf8(key), 80), "\""));
    }
  }
  return {};
}

}  // namespace mw
