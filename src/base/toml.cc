#include "base/toml.h"

#include <algorithm>

#include "base/text.h"
#include "base/toml_parser.h"

namespace mw {
namespace {

Error error_at(std::string_view path, uint32_t line, std::string_view what) {
  return {Error::Code::kInvalid, cat(path, ":", line, ": ", what), "mend that line; see docs/formats/"};
}

}  // namespace

Result<Toml> Toml::parse(std::string_view text, std::string_view path) {
  if (text.size() > kTomlBytesLimit) {
    return Error{Error::Code::kLimit, cat(path, ": larger than ", kTomlBytesLimit, " bytes"), "split the file"};
  }
  return TomlParser(text, path).parse();
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
