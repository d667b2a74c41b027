// Configuration files as settings: TOML, YAML, JSON. Their bytes are foreign.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/preflight/settings.h"

namespace mw::preflight {

inline constexpr size_t kSettingsBytes = size_t{4} << 20;  ///< of one file
inline constexpr size_t kSettingsDepth = 40;               ///< levels of tables and lists

/// Puts all that the text sets below `prefix` ("": the root) into `into`. `file` stands in places and messages. An
/// error reads "file:line: what"; then nothing was put. Dates, which TOML has and no framework wants, are kept as text.
Result<void> read_toml(std::string_view text, const std::string& file, const std::string& prefix, Settings& into);
/// The first document. Aliases are followed as far as the limit of settings allows; tags are left alone.
Result<void> read_yaml(std::string_view text, const std::string& file, const std::string& prefix, Settings& into);

/// By the name's end: .toml, .yaml, .yml, .json; anything else is no file of settings.
bool is_settings_file(std::string_view path);
Result<void> read_settings(std::string_view text, const std::string& file, const std::string& prefix, Settings& into);

/// `prefix` and `key`, with a dot between them where both are there.
std::string below(std::string_view prefix, std::string_view key);

/// The line of an error that reads "file:12: what"; 0 when it names none.
uint32_t line_of_error(std::string_view what, std::string_view file);

}  // namespace mw::preflight
