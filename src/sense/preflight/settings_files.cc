#include "sense/preflight/settings_files.h"

#include "base/numbers.h"
#include "base/text.h"
#include "base/toml.h"

namespace mw::preflight {
namespace {

using Kind = Setting::Kind;

void put_toml(const Toml& value, const std::string& key, const std::string& file, size_t depth, Settings& into) {
  if (depth > kSettingsDepth) return;
  Setting setting;
  setting.key = key;
  setting.place = {file, value.line()};
  switch (value.kind()) {
    case Toml::Kind::kString:
      setting.text = value.text();
      if (value.text() == "None") setting.kind = Kind::kNone;  // how prime-rl writes nothing in TOML
      break;
    case Toml::Kind::kInteger:
      setting.kind = Kind::kNumber;
      setting.number = static_cast<double>(value.integer());
      setting.text = cat(value.integer());
      break;
    case Toml::Kind::kFloat:
      setting.kind = Kind::kNumber;
      setting.number = value.number();
      setting.text = format_double(value.number());
      break;
    case Toml::Kind::kBoolean:
      setting.kind = Kind::kTruth;
      setting.number = value.boolean() ? 1 : 0;
      setting.text = value.boolean() ? "true" : "false";
      break;
    case Toml::Kind::kTable:
      setting.kind = Kind::kTable;
      break;
    case Toml::Kind::kArray:
      setting.kind = Kind::kList;
      setting.number = static_cast<double>(value.items().size());
      break;
  }
  if (!key.empty()) into.put(std::move(setting));
  for (const auto& [name, member] : value.members()) put_toml(member, below(key, name), file, depth + 1, into);
  for (size_t i = 0; i < value.items().size(); ++i)
    put_toml(value.items()[i], below(key, cat(i)), file, depth + 1, into);
}

/// `text` with bare dates in quotes: "when = 2026-01-05" is TOML, and nothing here needs to know what day that was.
std::string with_quoted_dates(std::string_view text) {
  std::string out;
  for (const std::string_view line : split(text, '\n')) {
    const size_t is = line.find("= ");
    const std::string_view value = is == line.npos ? std::string_view() : trim(line.substr(is + 2));
    const auto digit = [&](size_t at) { return at < value.size() && value[at] >= '0' && value[at] <= '9'; };
    const bool date = value.size() >= 10 && digit(0) && digit(1) && digit(2) && digit(3) && value[4] == '-' &&
                      digit(5) && value[7] == '-';
    const bool plain = date && value.find_first_of("\"'#[]{}") == value.npos;
    out += plain ? cat(line.substr(0, is + 2), "\"", value, "\"") : std::string(line);
    out += '\n';
  }
  return out;
}

}  // namespace

std::string below(std::string_view prefix, std::string_view key) {
  if (prefix.empty()) return std::string(key);
  return key.empty() ? std::string(prefix) : cat(prefix, ".", key);
}

uint32_t line_of_error(std::string_view what, std::string_view file) {
  if (!what.starts_with(cat(file, ":"))) return 0;
  size_t used = 0;
  const auto number = parse_double_prefix(what.substr(file.size() + 1), &used);
  return number.has_value() && *number >= 1 && *number < 1e9 ? static_cast<uint32_t>(*number) : 0;
}

Result<void> read_toml(std::string_view text, const std::string& file, const std::string& prefix, Settings& into) {
  if (text.size() > kSettingsBytes)
    return Error{Error::Code::kLimit, cat(file, ": larger than ", kSettingsBytes, " bytes"), ""};
  auto root = Toml::parse(text, file);
  if (!root.ok() && contains(root.error().what, "dates and times")) root = Toml::parse(with_quoted_dates(text), file);
  if (!root.ok()) return root.error();
  put_toml(*root, prefix, file, 0, into);
  return {};
}

bool is_settings_file(std::string_view path) {
  for (const std::string_view end : {".toml", ".yaml", ".yml", ".json"}) {
    if (path.size() > end.size() && path.ends_with(end)) return true;
  }
  return false;
}

Result<void> read_settings(std::string_view text, const std::string& file, const std::string& prefix, Settings& into) {
  if (file.ends_with(".toml")) return read_toml(text, file, prefix, into);
  return read_yaml(text, file, prefix, into);  // JSON is YAML as well
}

}  // namespace mw::preflight
